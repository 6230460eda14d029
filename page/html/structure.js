// SPDX-License-Identifier: MIT
// Timeline and flame view of one class. data.structure[class].rules[k] is a list of nodes
//   [symbol, exponent, executions of one member, ns before and ns in one turn, what it moves]
// symbol: a terminal's number, or -1 - k for rule k, or null where the file holds more than is shown.
const terminals = data.terminals || [];  // [name, kind, place]
let current = { index: 0, path: [], zoom: [] };

const isRule = node => node[0] !== null && node[0] < 0;
const ruleOf = node => data.structure[current.index].rules[-1 - node[0]];
const turnNs = node => node[3] + node[4];
const kindOf = node => node[0] === null ? "other" : isRule(node) ? "other" : terminals[node[0]][1];

// What a node's time is spent on, as shares of the kinds; rules are looked at once.
let mixes = new Map();
function mix(node) {
  if (!isRule(node)) {
    const all = turnNs(node) || 1;
    return { computation: node[3] / all, [kindOf(node)]: node[4] / all };
  }
  if (mixes.has(node[0])) return mixes.get(node[0]);
  const sum = {};
  mixes.set(node[0], sum);
  let all = 0;
  for (const part of ruleOf(node)) {
    const ns = turnNs(part) * part[1];
    all += ns;
    for (const [kind, share] of Object.entries(mix(part))) sum[kind] = (sum[kind] || 0) + share * ns;
  }
  for (const kind in sum) sum[kind] /= all || 1;
  return sum;
}

function label(node) {
  const [symbol, turns] = node;
  const times = turns > 1 ? count(turns) + " × " : "";
  if (symbol === null) return node[5] || "…";
  if (isRule(node)) return times + "[" + time(turnNs(node) / 1e9) + "]";
  return times + terminals[symbol][0];
}
function describe(node) {
  const [symbol, turns, executions, gap, duration, message] = node;
  const lines = [label(node)];
  if (symbol !== null && !isRule(node) && terminals[symbol][2]) lines.push(terminals[symbol][2]);
  if (symbol !== null && !isRule(node) && message) lines.push(message);
  lines.push(`a turn: ${time(gap / 1e9)} computation before, ${time(duration / 1e9)} ${isRule(node) ? "in calls and regions" : "inside"}`);
  if (executions) lines.push(`${plural(executions, "turn")} in the run, ${time(executions * (gap + duration) / 1e9)}`);
  return lines.join("\n");
}

// --- Timeline: a row for each box that is open ---
const LEAST = 0.0012; // of the width: what is narrower is drawn together

function boxes(nodes) {
  const all = nodes.reduce((s, n) => s + turnNs(n) * n[1], 0) || 1;
  const out = [];
  let at = 0, small = null;
  const flush = () => { if (small) out.push(small); small = null; };
  for (const node of nodes) {
    const width = turnNs(node) * node[1] / all;
    if (width < LEAST) {
      if (!small) small = { at, width: 0, parts: 0, ns: 0, kinds: {} };
      for (const [kind, share] of Object.entries(mix(node)))
        small.kinds[kind] = (small.kinds[kind] || 0) + share * turnNs(node) * node[1];
      small.width += width;
      small.parts++;
      small.ns += turnNs(node) * node[1];
      if (small.width > 4 * LEAST) flush();
    } else {
      flush();
      out.push({ at, width, node });
    }
    at += width;
  }
  flush();
  return out;
}

const inOrder = parts => Object.keys(kinds).filter(k => parts[k] > 0.001).map(k => [k, parts[k]]);

function opens(node) { return node[0] !== null && (isRule(node) || node[1] > 1); }

function drawBox(box, level) {
  const style = `left:${(100 * box.at).toFixed(3)}%;width:${(100 * box.width).toFixed(3)}%;`;
  if (!box.node) {
    const title = `${plural(box.parts, "short part")}, ${time(box.ns / 1e9)}`;
    return element("button", { class: "box", type: "button", tabindex: -1, title, "aria-label": title, style: style + "background:" + stripes(inOrder(box.kinds)) });
  }
  const parts = inOrder(mix(box.node));
  const text = label(box.node), open = current.path[level] === box.node;
  return element("button", {
    class: "box" + (opens(box.node) ? " opens" : "") + (open ? " open" : ""), type: "button", title: describe(box.node),
    "aria-expanded": opens(box.node) ? String(open) : undefined, "aria-label": text,
    style: style + "background:" + stripes(parts), onclick: () => openBox(level, box.node),
  }, box.width > 0.02 ? element("b", {}, text) : "");
}

function openBox(level, node) {
  if (!opens(node)) return;
  current.path = current.path[level] === node ? current.path.slice(0, level) : [...current.path.slice(0, level), node];
  drawTimeline(level);
}

function bodyOf(node) { return isRule(node) ? ruleOf(node) : [[node[0], 1, node[2], node[3], node[4], node[5]]]; }

function drawTimeline(focusLevel) {
  const rows = byId("rows"), shape = data.structure[current.index];
  rows.replaceChildren();
  if (!shape || !shape.rules.length) { rows.append("No events were recorded."); return; }
  let nodes = shape.rules[0];
  for (let level = 0; level <= current.path.length; level++) {
    const above = current.path[level - 1], all = (above ? turnNs(above) : nodes.reduce((s, n) => s + turnNs(n) * n[1], 0)) / 1e9;
    const head = above ? (above[1] > 1 ? `one turn of ${label(above)}` : label(above)) : "the whole run";
    rows.append(element("div", { class: "row-head" }, `${head}: ${time(all)}`));
    const row = element("div", { class: "row", role: "group", "aria-label": head });
    row.append(...boxes(nodes).map(box => drawBox(box, level)));
    rows.append(row);
    if (level === focusLevel) {
      const again = row.querySelector(".box.open") || row.querySelector(".box.opens");
      if (again) again.focus({ preventScroll: true });
    }
    if (current.path[level]) nodes = bodyOf(current.path[level]);
  }
}

// --- Flame: equal parts of a body together, most time first ---
const DEEPEST = 12, NARROW = 0.002;

function merged(nodes) {
  const groups = new Map();
  let computation = 0;
  const add = (key, part) => {
    const old = groups.get(key);
    if (old) { old.ns += part.ns; old.times += part.times; } else groups.set(key, part);
  };
  for (const node of nodes) {
    const [symbol, turns] = node;
    if (isRule(node)) {
      add(symbol + "/" + turns, { node, ns: turnNs(node) * turns, times: 1 });
    } else {
      computation += node[3] * turns;
      add("t" + symbol, { node, ns: node[4] * turns, times: turns, leaf: true });
    }
  }
  const out = [...groups.values()];
  if (computation) out.push({ ns: computation, times: 1, kind: "computation" });
  return out.sort((a, b) => b.ns - a.ns);
}

function flameLabel(part) {
  if (part.kind) return "computation";
  if (part.node[0] === null) return part.node[5] || "…";
  return part.leaf ? (part.times > 1 ? count(part.times) + " × " : "") + terminals[part.node[0]][0]
    : (part.times > 1 ? count(part.times) + " times " : "") + label(part.node);
}

function drawFlame(focus) {
  const target = byId("flame-rows"), shape = data.structure[current.index];
  target.replaceChildren();
  if (!shape || !shape.rules.length) { target.append("No events were recorded."); return; }
  const top = current.zoom.length ? current.zoom[current.zoom.length - 1] : null;
  const rootNodes = top ? ruleOf(top) : shape.rules[0];
  const all = rootNodes.reduce((s, n) => s + turnNs(n) * n[1], 0);
  const levels = [];
  const place = (parts, from, width, depth) => {
    const sum = parts.reduce((s, p) => s + p.ns, 0) || 1;
    let at = from;
    for (const part of parts) {
      const own = width * part.ns / sum;
      if (own >= NARROW) {
        (levels[depth] = levels[depth] || []).push({ part, at, width: own });
        if (part.node && isRule(part.node) && depth < DEEPEST) place(merged(ruleOf(part.node)), at, own, depth + 1);
      }
      at += own;
    }
  };
  place(merged(rootNodes), 0, 1, 0);
  target.append(element("div", { class: "row-head" }, (top ? (top[1] > 1 ? `one turn of ${label(top)}` : label(top)) : "the whole run") + ": " + time(all / 1e9)));
  for (const boxes of levels) {
    const level = element("div", { class: "level" });
    for (const { part, at, width } of boxes) {
      const rule = part.node && isRule(part.node), kind = part.kind || (rule ? "rule" : kindOf(part.node));
      const text = flameLabel(part), share = percent(width);
      level.append(element("button", {
        class: "box" + (rule ? " opens" : ""), type: "button", title: `${text}\n${share} of what is shown`, "aria-label": `${text}, ${share}`,
        style: `left:${(100 * at).toFixed(3)}%;width:${(100 * width).toFixed(3)}%;background:${rule ? "var(--line)" : colour(kind)};` +
          (rule ? "color:var(--text)" : ""),
        onclick: () => { if (rule) { current.zoom.push(part.node); drawFlame(true); } },
      }, width > 0.015 ? text : ""));
    }
    target.append(level);
  }
  if (focus) { const first = target.querySelector(".box"); if (first) first.focus({ preventScroll: true }); }
}

function chooseClass(index) {
  const c = data.classes[index];
  current = { index, path: [], zoom: [] };
  mixes = new Map();
  if (!c) return;
  byId("class-note").textContent = `${plural(c.members, "member")}, ${plural(c.events, "event")} each` +
    (c.difference ? `; other than class 0: ${c.difference}` : "") +
    (data.structure[index] && data.structure[index].folded ? "; its shortest parts are folded" : "");
  // The main loop is what people look for first: boxes that are most of their row stand open.
  let nodes = data.structure[index] ? data.structure[index].rules[0] || [] : [];
  while (nodes.length && current.path.length < 4) {
    const all = nodes.reduce((s, n) => s + turnNs(n) * n[1], 0);
    const longest = nodes.reduce((a, b) => turnNs(b) * b[1] > turnNs(a) * a[1] ? b : a);
    if (!opens(longest) || turnNs(longest) * longest[1] < 0.4 * all) break;
    current.path.push(longest);
    nodes = bodyOf(longest);
  }
  drawTimeline();
  drawFlame();
}

function startStructure() {
  const select = byId("class");
  data.classes.forEach((c, i) => select.append(element("option", { value: i }, cut(`${i}: ${c.ranks_text}`, 60))));
  select.addEventListener("change", () => chooseClass(Number(select.value)));
  byId("legend").replaceWith(legend(new Set(["computation", ...terminals.map(t => t[1])])));
  arrows(byId("rows"), ".box");
  arrows(byId("flame-rows"), ".box");
  byId("rows").addEventListener("keydown", e => {
    if (e.key === "Escape" && current.path.length) { current.path.pop(); drawTimeline(current.path.length); }
  });
  byId("flame-rows").addEventListener("keydown", e => {
    if (e.key === "Escape" && current.zoom.length) { current.zoom.pop(); drawFlame(true); }
  });
  chooseClass(0);
  if (!data.classes.length) { drawTimeline(); drawFlame(); }
}
