// SPDX-License-Identifier: MIT
// The program's loops as a tree with bars of their time, and its call paths as an icicle.

// --- Loops: data.loops, as the structure view has them ---
const figure = v => count(Number(v.toPrecision(4)));
const between = (least, most) => least === most ? `${least}` : `${least}–${most}`;

function turnsText(loop) {
  if (loop.turns === null) return "turns not known";
  if (loop.entries > 1 && loop.turns_min !== null) return `${between(loop.turns_min, loop.turns_max)} turns, ${figure(loop.entries)} times`;
  const { turns_min: least, turns_max: most } = loop.by_stream;
  return (least !== null && least !== most ? `${between(least, most)} turns` : plural(Number(loop.turns.toPrecision(4)), "turn")) +
    (loop.entries > 1 ? ` in ${figure(loop.entries)}` : "");
}

function rateText(call, loop) {
  const by = call.streams < loop.by_stream.streams ? `by ${call.streams} of ${loop.by_stream.streams}` : "", rate = call.per_turn;
  const text = call.every ? `1 in ${call.every} turns` : rate === null || rate === 1 ? "" : Number.isInteger(rate) ? `× ${rate}` : `${rate.toPrecision(3)} a turn`;
  return [text, by].filter(t => t).join(", ");
}

// parts: [kind, seconds], one after the other.
function timeRow(name, text, parts, all, title) {
  const share = percent(parts.reduce((s, p) => s + p[1], 0) / all);
  const part = ([kind, seconds]) => element("i", { style: `width:${(100 * seconds / all).toFixed(2)}%;background:${colour(kind)}` });
  return element("div", { class: "pair", title }, element("span", {}, name),
    element("div", {}, element("div", { class: "bar" }, ...parts.map(part))),
    element("span", { class: "wide" }, [text, share].filter(t => t).join(", ")));
}

const LEAST = 0.001; // of all: what takes less is left out
let smaller = 0;
const large = all => part => {
  const shown = part.seconds >= LEAST * all;
  smaller += shown ? 0 : 1;
  return shown;
};

// What was computed before the call, then the call itself.
function callRow(c, loop, all) {
  const before = c.seconds - c.call_seconds, name = `${c.call} ${c.callsite}`;
  return timeRow(name, rateText(c, loop), [["computation", before], [kindOfCall(c.call), c.call_seconds]], all,
    `${name}\n${plural(c.count, "call")}: ${time(c.call_seconds)}, computation before: ${time(before)}`);
}

function loopTree(loop, all) {
  const place = loop.file && loop.line ? ` ${loop.file}:${loop.line}` : "", { seconds } = loop;
  const name = loop.function + place, title = `${name}\n${turnsText(loop)}${loop.turns === null ? "" : `, ${time(loop.seconds_per_turn)} each`}\n${percent(loop.share / 100)} of the ranks' time`;
  return element("details", { class: "loop", open: "" },
    element("summary", {}, timeRow(name, turnsText(loop), [["computation", seconds]], all, title)),
    ...loop.calls.filter(large(all)).map(c => callRow(c, loop, all)),
    ...loop.loops.filter(large(all)).map(l => loopTree(l, all)));
}

function drawLoops() {
  const all = data.job.base_seconds || 1;
  byId("loops").append(...data.loops.filter(large(all)).map(l => loopTree(l, all)));
  if (!data.loops.length) byId("loops").append("Nothing was seen to repeat.");
  byId("loops-note").textContent = (data.loops_by === "code" ? "Loops of the machine code." : "By what repeats in the events: there is no code to read.") +
    (smaller ? ` ${plural(smaller, "part")} of less than 0.1 % left out.` : "");
}

// --- Call paths: data.calltree; a click magnifies ---
const NARROW = 0.002;
const callKinds = new Map(data.callsites.map(s => [s.function, s.class]));
const kindOfCall = name => callKinds.get(name) || "omp";
const nameOf = path => path.function ?? path.call ?? `[${path.region}]`;
const zoomed = [];

// What is in a path, and its own time, as boxes from `at` on; the parts of a call are in it.
function placePaths(path, at, width, depth, levels) {
  (levels[depth] = levels[depth] || []).push({ path, at, width });
  const parts = path.inside.length && path.own_seconds > 0 ? [...path.inside, { own: true, seconds: path.own_seconds, inside: [] }] : path.inside;
  for (const part of parts) {
    const own = width * part.seconds / (path.seconds || 1);
    if (own >= NARROW) placePaths(part, at, own, depth + 1, levels);
    at += own;
  }
}

function describePath(path) {
  if (path.own) return `computation before the calls that stand here\n${time(path.seconds)}`;
  const place = path.file ? ` ${path.file}${path.line ? ":" + path.line : ""}` : "";
  return [nameOf(path) + place, `${time(path.seconds)}, own ${time(path.own_seconds)}`,
    `${plural(path.count, "call")}: ${time(path.call_seconds)}, of these waiting ${time(path.waiting_seconds)}`,
    `computation ${time(path.computation_seconds)}, ${bytes(path.bytes)}`].join("\n");
}

function drawCallPaths(focus) {
  const target = byId("path-rows"), top = zoomed[zoomed.length - 1] || data.calltree, levels = [];
  target.replaceChildren();
  placePaths(top, 0, 1, 0, levels);
  for (const boxes of levels)
    target.append(element("div", { class: "level" }, ...boxes.map(({ path, at, width }) => {
      const open = path.inside.length > 0 && path !== top, kind = path.own ? "computation" : path.call && kindOfCall(path.call);
      const name = path.own ? "computation" : nameOf(path);
      return element("button", {
        class: "box" + (open ? " opens" : ""), type: "button", title: describePath(path), "aria-label": `${name}, ${percent(path.seconds / (top.seconds || 1))}`,
        style: `left:${(100 * at).toFixed(3)}%;width:${(100 * width).toFixed(3)}%;background:${kind ? colour(kind) : "var(--line);color:var(--text)"}`,
        onclick: () => { if (open) { zoomed.push(path); drawCallPaths(true); } },
      }, width > 0.015 ? name : "");
    })));
  if (focus) target.querySelector(".box").focus({ preventScroll: true });
}

function startStructure() {
  drawLoops();
  byId("legend").replaceWith(legend(new Set(["computation", "omp", ...callKinds.values()])));
  arrows(byId("path-rows"), ".box");
  byId("path-rows").addEventListener("keydown", e => {
    if (e.key === "Escape" && zoomed.length) { zoomed.pop(); drawCallPaths(true); }
  });
  drawCallPaths();
}
