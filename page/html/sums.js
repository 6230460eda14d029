// SPDX-License-Identifier: MIT
// What a plugin counted before each call. Without one there is nothing, not even a heading.
function drawSums() {
  const calls = data.callsites.filter(c => c.sums && Object.keys(c.sums).length), names = [...new Set(calls.flatMap(c => Object.keys(c.sums)))];
  if (!calls.length) return;
  const ratio = v => v === null || v === undefined ? "–" : v.toFixed(2), shown = calls.slice(0, MOST_ROWS);
  const head = [["call", "name"], ["at", "name"], ["burst"], ["burst to call"], ["IPC"], ...names.map(n => [n])];
  const table = fillTable(element("table"), head, shown.map(c => [
    c.function + (c.number === null ? "" : "@" + c.number), place(c), time(c.count ? c.gap_seconds / c.count : 0),
    ratio(c.time_seconds ? c.gap_seconds / c.time_seconds : null), ratio(c.ipc),
    ...names.map(n => ratio(c.sums[n] ? c.sums[n].total / c.sums[n].samples : null))]));
  byId("sums").append(element("h3", {}, "Before each call"),
    element("p", { class: "note" }, "The CPU burst that ends at the call: its mean time, its time to that in the call, instructions a cycle, and what was counted a burst" +
      (shown.length < calls.length ? `; ${count(shown.length)} of ${plural(calls.length, "call")}.` : ".")),
    element("div", { class: "scroll" }, table));
}
