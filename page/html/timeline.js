// SPDX-License-Identifier: MIT
// All ranks over time: the whole run from each rank's own time series, and one turn of the main loop as it was replayed.
const seriesKinds = ["computation", "omp", "mpi"];
const rowHeight = (rows, all, least, most) => Math.max(least, Math.min(most, Math.floor(all / Math.max(rows, 1))));

// --- The whole run ---
function drawSeries() {
  const target = byId("series"), rows = data.series || [];
  if (!rows.length) { target.append("This job has no time series."); return; }
  // When each rank began, on the job's one clock, after the first one.
  const first = Math.min(...rows.map(s => s.begin_seconds)), begin = s => s.begin_seconds - first;
  const used = seriesKinds.filter(k => rows.some(s => s[k].some(v => v > 0))), end = Math.max(...rows.map(s => begin(s) + s[used[0] || "mpi"].length * s.step_seconds));
  const high = rowHeight(rows.length, 440, 2, 24), top = 4;
  const name = s => s.ranks > 1 ? `${s.rank}–${s.rank + s.ranks - 1}` : `rank ${s.rank}`;
  const choice = element("select", { "aria-label": "What is shown" }, ...(high >= 8 ? [element("option", { value: "all" }, "all, stacked")] : []),
    ...used.map(k => element("option", { value: k }, kinds[k])));
  const note = element("span", { class: "scale" });
  // A step's share of a kind. What is missing to a whole step is the run's end, or a pause.
  const share = (s, k, i) => s[k][i] / s.step_seconds;
  let low = 0, most = 1;
  const range = kind => {
    const all = rows.flatMap(s => s[kind].slice(0, -1).map((v, i) => share(s, kind, i)));
    low = Math.min(...all, 1);
    most = Math.max(...all, low + 1e-9);
    note.replaceChildren(`${percent(low)} `, element("i", { style: `background:linear-gradient(to right, var(--panel), ${colour(kind)})` }), ` ${percent(Math.min(most, 1))} of a step of ${time(rows[0].step_seconds)}`);
  };
  const draw = (c, width) => {
    const left = namesWidth(width), wide = width - left - 6, kind = choice.value;
    rowNames(c, rows.map(name), left, top, high);
    c.fillStyle = css("--panel");
    c.fillRect(left, top, wide, rows.length * high);
    rows.forEach((s, r) => {
      const steps = s[seriesKinds[0]].length, y = top + r * high, gap = high > 5 ? 1 : 0;
      for (let i = 0; i < steps; i++) {
        const x = left + wide * (begin(s) + i * s.step_seconds) / end, w = wide * s.step_seconds / end + 0.4;
        if (kind !== "all") {
          c.globalAlpha = Math.max(0, Math.min(1, (share(s, kind, i) - low) / (most - low)));
          c.fillStyle = css("--" + kind);
          c.fillRect(x, y, w, high - gap);
          c.globalAlpha = 1;
          continue;
        }
        let at = y + high - gap;
        for (const k of used) {
          const part = Math.min(share(s, k, i), 1) * (high - gap);
          c.fillStyle = css("--" + k);
          c.fillRect(x, at - part, w, part);
          at -= part;
        }
      }
    });
    timeAxis(c, left, wide, top + rows.length * high, 0, end);
  };
  const tell = (x, y, width) => {
    const s = rows[Math.floor((y - top) / high)], i = s ? Math.floor(((x - namesWidth(width)) / (width - namesWidth(width) - 6) * end - begin(s)) / s.step_seconds) : -1;
    if (!s || i < 0 || i >= s.mpi.length) return "";
    const one = k => `${kinds[k]} ${percent(share(s, k, i))}` + (s.ranks > 1 ? ` (${percent(s[k + "_least"][i] / s.step_seconds)} to ${percent(s[k + "_most"][i] / s.step_seconds)})` : "");
    return `${name(s)}, ${time(begin(s) + i * s.step_seconds)} to ${time(begin(s) + (i + 1) * s.step_seconds)}\n` + used.map(one).join("\n");
  };
  target.append(element("p", {}, element("label", {}, "Show ", choice), " ", note), legend(new Set(used)));
  const shown = picture(target, "Ranks over the time of the run", () => rows.length * high + top + 22, draw, tell);
  const choose = () => { if (choice.value === "all") note.replaceChildren(); else range(choice.value); shown.redraw(); };
  if (high < 8 && used.includes("mpi")) choice.value = "mpi";
  choice.addEventListener("change", choose);
  choose();
}

// --- One turn, replayed ---
const turn = data.turn_replayed || { why: "this page was made without one" };
const COMPUTES = 0, WAITS = 2, JOINED = -1;
const pieceColour = p => p[2] === JOINED ? "--other" : p[2] === COMPUTES ? "--computation" : p[3] < 0 ? "--other" : "--" + (kinds[turn.places[p[3]][1]] ? turn.places[p[3]][1] : "other");
const placeText = p => p[3] < 0 ? "" : turn.places[p[3]][0] + (turn.places[p[3]][2] ? ` at ${turn.places[p[3]][2]}` : "");
function pieceText(rank, p) {
  const long = time(p[1] / 1e9);
  if (p[2] === JOINED) return `rank ${rank}: ${plural(p[3], "short part")}, ${long}`;
  if (p[2] === COMPUTES) return `rank ${rank}: computes ${long} before ${placeText(p)}`;
  return `rank ${rank}: ` + (p[2] === WAITS ? `waits ${long} for rank ${p[4]} in ${placeText(p)}` : `${long} in ${placeText(p)}`);
}

// What a rank does most in [begin, begin + length): why others wait for it.
function doesMost(row, begin, length) {
  const within = p => Math.min(p[0] + p[1], begin + length) - Math.max(p[0], begin);
  return row && row.length ? row.reduce((a, b) => within(b) > within(a) ? b : a) : null;
}

// Whom a wait is for in the end, and what that one does: who is waited for may itself wait meanwhile, for somebody who
// is late then.
function lateInTheEnd(wait) {
  let late = wait[4], begin = wait[0], end = wait[0] + wait[1], does;
  for (let steps = 0; steps < turn.ranks.length; steps++) {
    does = doesMost(turn.rows[turn.ranks.indexOf(late)], begin, end - begin);
    if (!does || does[2] !== WAITS) break;
    late = does[4];
    begin = Math.max(begin, does[0]);
    end = Math.min(end, does[0] + does[1]);
  }
  return { late, does };
}

// The waits of the turn by who is late and where: most first.
function worstWaits() {
  const sums = new Map();
  turn.rows.forEach((row, r) => {
    for (const p of row.filter(p => p[2] === WAITS)) {
      const { late, does } = lateInTheEnd(p), key = late + "/" + p[3], sum = sums.get(key) || { late, does, place: p, ns: 0, ranks: new Set(), longest: p };
      sum.ns += p[1];
      sum.ranks.add(turn.ranks[r]);
      if (p[1] > sum.longest[1]) Object.assign(sum, { longest: p, does });
      sums.set(key, sum);
    }
  });
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

function describeWaits() {
  const all = turn.rows.flat().reduce((s, p) => s + p[1], 0), lines = worstWaits().filter(w => w.ns > 0.01 * all).slice(0, 5);
  if (!lines.length) return element("p", { class: "note" }, "No wait for one rank in one call is more than 1 % of the ranks' time.");
  return element("ul", {}, ...lines.map(w => {
    const does = w.does;
    return element("li", {}, `${plural(w.ranks.size, "rank")} wait${w.ranks.size === 1 ? "s" : ""} ${time(w.ns / 1e9)} in ${placeText(w.place)} for rank ${w.late}` +
      (does && does[2] === COMPUTES ? `, which computes before ${placeText(does)}` : does && does[2] === 1 ? `, which is in ${placeText(does)}` : does && does[2] === WAITS ? `, which itself waits for rank ${does[4]}` : ""));
  }));
}

function hatch(c) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const t = tile.getContext("2d");
  t.strokeStyle = css("--wait");
  t.lineWidth = 1.6;
  for (const d of [-6, 0, 6]) { t.beginPath(); t.moveTo(d, 6); t.lineTo(d + 6, 0); t.stroke(); }
  return c.createPattern(tile, "repeat");
}

function drawTurn() {
  const target = byId("turn");
  const l = data.main_loop, at = l && l.function ? l.function + (l.file ? `@${l.file}${l.line ? ":" + l.line : ""}` : "") : "the main loop";
  if (turn.why) { target.append(element("p", { class: "note" }, `${l ? "No turn of the main loop" : "No replay"} is shown: ${turn.why}.`)); return; }
  const ns = turn.seconds * 1e9, high = rowHeight(turn.rows.length, 460, 5, 26), top = 6, row = new Map(turn.ranks.map((r, i) => [r, i]));
  let from = 0, to = ns;
  target.append(element("h3", {}, turn.whole ? "The whole job, replayed" : `One turn of ${at}, replayed`),
    element("p", { class: "note" },
      (turn.whole ? "" : `One of ${count(l ? l.turns : 0)}: ${time(turn.seconds)}, from ${time(turn.begin)} on. `) +
      "Not a recording: a replay from each rank's own mean times" +
      (data.job.ranks > 1 ? " and a model of the network, all ranks on one clock" : "") +
      ` (the whole job: recorded ${time(turn.recorded)}, replayed ${time(turn.replayed)}).` +
      (turn.unmatched > 0.001 ? ` ${percent(turn.unmatched)} of the calls are drawn without their message ` +
        "and without waiting for it: their peers are not known." : "") +
      (turn.ranks.length < data.job.ranks ? ` ${turn.ranks.length} of ${data.job.ranks} ranks.` : "") + (turn.left_out ? ` ${count(turn.left_out)} messages are left out.` : "")));
  const x = (t, left, wide) => left + wide * (t - from) / (to - from), middle = r => top + (row.get(r) + 0.5) * high;
  const draw = (c, width) => {
    const left = namesWidth(width), wide = width - left - 6, stripes = hatch(c);
    rowNames(c, turn.ranks.map(r => "rank " + r), left, top, high);
    c.save();
    c.beginPath();
    c.rect(left, 0, wide, top + turn.rows.length * high);
    c.clip();
    turn.rows.forEach((pieces, r) => {
      for (const p of pieces) {
        const a = x(p[0], left, wide), b = Math.max(x(p[0] + p[1], left, wide), a + 0.5), y = top + r * high + 1;
        if (b < left || a > left + wide) continue;
        c.globalAlpha = p[2] === WAITS ? 0.3 : 1;
        c.fillStyle = css(pieceColour(p));
        c.fillRect(a, y, b - a, high - 2);
        c.globalAlpha = 1;
        if (p[2] === WAITS && b - a > 1) { c.fillStyle = stripes; c.fillRect(a, y, b - a, high - 2); }
      }
    });
    c.strokeStyle = c.fillStyle = css("--text");
    const seen = turn.messages.filter(m => m[3] >= from && m[2] <= to);
    c.globalAlpha = Math.max(0.05, Math.min(0.7, 100 / seen.length)); // so many that none would be seen are a shade
    c.lineWidth = 1;
    for (const [a, b, sent, received] of seen) {
      c.beginPath();
      c.moveTo(x(sent, left, wide), middle(a));
      c.lineTo(x(received, left, wide), middle(b));
      c.stroke();
      if (seen.length <= 500) {
        c.beginPath();
        c.arc(x(received, left, wide), middle(b), 1.8, 0, 7);
        c.fill();
      }
    }
    c.globalAlpha = 1;
    c.strokeStyle = c.fillStyle = css("--wait");
    c.setLineDash([4, 3]);
    turn.rows.forEach((pieces, r) => {
      for (const p of pieces) {
        if (p[2] !== WAITS || !row.has(p[4]) || p[1] < 0.01 * (to - from)) continue;
        const end = x(p[0] + p[1], left, wide);
        c.beginPath();
        c.moveTo(end, top + (r + 0.5) * high);
        c.lineTo(end, middle(p[4]));
        c.stroke();
        c.beginPath();
        c.arc(end, middle(p[4]), 3, 0, 7);
        c.fill();
      }
    });
    c.restore();
    c.setLineDash([]);
    timeAxis(c, left, wide, top + turn.rows.length * high, from / 1e9, to / 1e9);
  };
  const tell = (px, py, width) => {
    const left = namesWidth(width), r = Math.floor((py - top) / high), t = from + (px - left) / (width - left - 6) * (to - from);
    const p = px >= left && turn.rows[r] ? turn.rows[r].find(p => t >= p[0] && t <= p[0] + p[1]) : null;
    if (!p) return "";
    const near = turn.messages.filter(m => (m[0] === turn.ranks[r] && m[2] >= p[0] && m[2] <= p[0] + p[1]) || (m[1] === turn.ranks[r] && m[3] >= p[0] && m[3] <= p[0] + p[1])).slice(0, 6);
    return [pieceText(turn.ranks[r], p), ...near.map(m => m[0] === turn.ranks[r] ? `sends ${bytes(m[4])} to rank ${m[1]}` : `has ${bytes(m[4])} from rank ${m[0]}`)].join("\n");
  };
  let shown = null;
  const move = (a, b) => {
    const wide = Math.min(Math.max(b - a, ns / 1e5, 10), ns);
    from = Math.max(0, Math.min(a, ns - wide));
    to = from + wide;
    shown.redraw();
  };
  const button = (text, title, act) => element("button", { type: "button", title, onclick: act }, text);
  const width = () => to - from, zoom = by => move(from + width() * (1 - by) / 2, from + width() * (1 + by) / 2);
  target.append(element("div", { class: "legend" }, ...legend(new Set(["computation", ...turn.places.map(p => p[1])])).childNodes,
    ...[["waits", "waiting, joined to who is late"], ["line", "message"]].filter(() => data.job.ranks > 1).map(
      ([style, text]) => element("span", {}, element("i", { class: style }), text))),
  element("p", { class: "zoom" }, button("+", "nearer", () => zoom(0.5)), button("−", "farther", () => zoom(2)), button("◂", "earlier", () => move(from - width() / 3, to - width() / 3)),
    button("▸", "later", () => move(from + width() / 3, to + width() / 3)), button("all", "the whole turn", () => move(0, ns))));
  shown = picture(target, "Ranks over one turn: computation, calls, waits, messages", () => turn.rows.length * high + top + 22, draw, tell);
  if (data.job.ranks > 1) target.append(describeWaits());
}
