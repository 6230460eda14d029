// SPDX-License-Identifier: MIT
// Tables of calls and of parallel regions, and the summary's figures.
const MOST_ROWS = 200;
const place = c => c.file ? `${c.file}${c.line ? ":" + c.line : ""}` : c.module ? `${c.module}+0x${(c.offset || 0).toString(16)}` : "–";

const columns = [
  ["call", c => c.function + (c.number === null ? "" : "@" + c.number), null, "name"],
  ["in", c => c.caller || "–", null, "name"],
  ["at", place, null, "name"],
  ["calls", c => count(c.count), c => c.count],
  ["total", c => time(c.time_seconds), c => c.time_seconds],
  ["app", c => c.app_percent === null ? "–" : c.app_percent.toFixed(2) + " %", c => c.app_percent, "share"],
  ["mean", c => time(c.count ? c.time_seconds / c.count : 0), c => c.count ? c.time_seconds / c.count : 0],
  ["min", c => time(c.min_seconds), c => c.min_seconds],
  ["max", c => time(c.max_seconds), c => c.max_seconds],
  ["cov", c => c.cov === null ? "–" : c.cov.toFixed(2), c => c.cov],
  ["worst rank", c => c.worst_rank === null ? "–" : c.worst_rank, c => c.worst_rank],
  ["bytes", c => bytes(c.bytes), c => c.bytes],
  ["a call", c => bytes(c.count ? c.bytes / c.count : 0), c => c.count ? c.bytes / c.count : 0],
];
let order = { column: 4, down: true }, showAll = false;

function sortedCalls() {
  const wanted = byId("filter").value.toLowerCase();
  const rows = data.callsites.filter(c => !wanted || [c.function, c.caller, c.path, c.module].some(t => (t || "").toLowerCase().includes(wanted)));
  const [, text, value] = columns[order.column], key = value || text;
  rows.sort((a, b) => {
    const x = key(a), y = key(b);
    const less = x === null ? -1 : y === null ? 1 : typeof x === "string" ? x.localeCompare(y) : x - y;
    return order.down ? -less : less;
  });
  return rows;
}

function drawCalls() {
  if (!data.callsites.length) return byId("filter")?.closest("p").replaceChildren("No call was recorded.");
  const table = byId("calls"), rows = sortedCalls(), shown = showAll ? rows : rows.slice(0, MOST_ROWS);
  const head = element("tr", {}, ...columns.map(([name, , , style], i) => element("th", {
    class: style === "name" ? "name" : undefined, tabindex: 0, scope: "col", "aria-sort": i === order.column ? (order.down ? "descending" : "ascending") : undefined,
    onclick: () => sortBy(i), onkeydown: e => { if (e.key === "Enter" || e.key === " ") { sortBy(i); e.preventDefault(); } },
  }, name + (i === order.column ? (order.down ? " ▾" : " ▴") : ""))));
  const most = Math.max(...rows.slice(0, 1000).map(c => c.app_percent), 1e-9);
  const body = shown.map(c => element("tr", {}, ...columns.map(([, text, , style]) => element("td", {
    class: style, title: style === "name" ? text(c) : undefined,
    style: style === "share" ? `--w:${(100 * c.app_percent / most).toFixed(1)}%` : undefined,
  }, String(text(c))))));
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  const note = byId("filter-note"), more = (data.callsites_left_out || 0) + rows.length - shown.length;
  note.replaceChildren(rows.length ? plural(rows.length + (data.callsites_left_out || 0), "call") + (more ? `, ${count(shown.length)} shown ` : "") : "none");
  if (rows.length > shown.length)
    note.append(element("button", { type: "button", onclick: () => { showAll = true; drawCalls(); } }, "show all"));
}

function sortBy(column) {
  order = { column, down: order.column === column ? !order.down : columns[column][2] !== null };
  drawCalls();
  byId("calls").querySelectorAll("th")[column].focus();
}

// What the oracle knows of changing a region's team, and did.
function known(c) {
  if (!c) return [];
  const left = c.changed ? "otherwise left alone" : "left alone", lines = c.kept.map(reason => `oracle: ${left}: ${reason}`);
  if (c.changed)
    lines.unshift(`oracle: ${count(c.changed)} of ${count(c.executions)} with another team than the program's ${c.own_size}`);
  if (c.controls)
    lines.push(`oracle: ${count(c.controls)} control turns with ${c.own_size}: mean ${time(c.control_seconds / c.controls)}, where the chosen size takes ${time(c.control_chosen_seconds / c.controls)}`);
  return lines;
}

function drawRegions() {
  const table = byId("region-table");
  if (!data.regions.length) { table.replaceWith("No parallel region was recorded."); return; }
  const most = Math.max(...data.regions.map(r => r.time_seconds), 1e-12), blank = ["", { title: undefined }], team = { class: "team" };
  const head = [["region", "name"], ["at", "name"], ["executions"], ["total"], ["of all"], ["mean"], ["team"], ["efficiency"], ["fork and join"], ["cov"], ["worst rank"]];
  fillTable(table, head, data.regions.slice(0, 1000).flatMap(r => {
    const only = r.team_sizes.length === 1 ? r.team_sizes[0] : null; // then it needs no row of its own
    const isBest = t => r.best_size !== null && r.best_size === t.size, mean = x => time(x.count ? x.time_seconds / x.count : 0);
    const teamCells = t => [(t.size === null ? "other" : t.size) + (isBest(t) ? " (best)" : ""),
      t.efficiency === null ? "–" : percent(t.efficiency), t.fork_join_at_most === null ? "–" : "< " + percent(t.fork_join_at_most)];
    const share = [percent(data.accounting.wall_seconds ? r.time_seconds / data.accounting.wall_seconds : 0), { class: "share", style: `--w:${(100 * r.time_seconds / most).toFixed(1)}%` }];
    const teamRow = t => { const [size, ...rest] = teamCells(t); return [team, [blank, blank, count(t.count), time(t.time_seconds), "", mean(t), isBest(t) ? [size, { class: "best" }] : size, ...rest, "", ""]]; };
    return [[r.function || "–", place(r), count(r.count), time(r.time_seconds), share, mean(r), ...(only ? teamCells(only) : ["", "", ""]),
      r.cov === null ? "–" : r.cov.toFixed(2), r.worst_rank === null ? "–" : r.worst_rank],
    ...known(r.choice).map(line => [team, [[line, { colspan: head.length, title: undefined }]]]), ...(only ? [] : r.team_sizes).map(teamRow)];
  }));
}

// Regions that the program names, each with the job's figures as if there were nothing else.
function drawNamed() {
  const table = byId("named-table"), rows = data.user_regions || [];
  const part = x => x === null || x === undefined ? "–" : percent(x);
  if (!rows.length) { byId("named").remove(); return; }
  const head = [["region by name", "name"], ["entries"], ["total"], ["of all"], ["efficiency"], ["load balance"],
    ["communication"], ["waiting"], ["ranks"]];
  fillTable(table, head, rows.slice(0, 1000).map(r => {
      const e = r.efficiency || {};
      return [r.name, count(r.entries), time(r.seconds), percent(r.share / 100), part(e.parallel),
        part(e.load_balance), part(e.communication),
        r.waiting_seconds === null ? "–" : time(r.waiting_seconds), count(r.ranks)];
    }));
}

function drawTasks() {
  const table = byId("task-table"), rows = data.tasks || [];
  if (!rows.length) { table.remove(); return; }
  const timed = (t, seconds) => [time(seconds), { title: `of ${count(t.timed)} that were timed` }];
  fillTable(table, [["tasks", "name"], ["at", "name"], ["depth"], ["created"], ["at once"], ["mean"], ["max"], ["with subtree"], ["deferring"]], rows.slice(0, 1000).map(t =>
    [`${t.construct} in ${t.function || "–"}`, place(t), t.depth, count(t.created), percent(t.created ? t.at_once / t.created : 0),
      timed(t, t.timed ? t.time_seconds / t.timed : 0), timed(t, t.max_seconds), time(t.subtree_seconds), time(t.deferring_seconds)]));
}

// What costs most, first of all on the page.
function drawFindings() {
  const table = byId("findings"), rows = data.findings || [], delay = data.run_delay;
  if (delay && delay.share >= 0.01)
    table.before(element("p", {}, `No processor for ranks that were ready: ${percent(delay.share)} of their time.`));
  if (data.job.missing_ranks)
    table.after(element("p", { class: "note" }, "Waits for ranks that are missing: not known."));
  if (!rows.length) {
    const among = data.job.missing_ranks ? " for each other" : "";
    table.replaceWith(element("p", {}, data.findings ?
      `Nothing costs more than 1 % of the ranks' time by waiting${among}.` : ""));
    return;
  }
  fillTable(table, [["cost"], ["of all"], ["what", "name"], ["at", "name"], ["because of", "name"], ["what to try", "name"]], rows.slice(0, 5).map(f =>
    [time(f.seconds), percent(f.share), f.kind.replaceAll("_", " "), f.where,
      f.ranks + (f.cause === f.where ? "" : ", before " + f.cause) + (f.inside ? ": " + f.inside : ""), f.advice]));
}

// Functions between the calls and in them, by samples: those with most.
function drawInside() {
  const table = byId("inside"), rows = data.inside || [], share = x => x === null ? "–" : percent(x);
  if (!rows.length) { table.remove(); return; }
  const what = i => i.before === null ? "what no call came after" : i.before === "thread" ? "threads that make no calls" : `${typeof i.before === "number" ? "computation before" : "in"} ${i.call} (${i.number})`;
  fillTable(table, [["samples"], ["share"], ["of", "name"], ["function", "name"], ["at", "name"], ["ranks", "name"]],
    [...rows].sort((a, b) => b.samples - a.samples).slice(0, 30).map(i => [count(i.samples),
      [share(i.share), { title: i.share === null ? "too few samples" : `${share(i.share_low)} to ${share(i.share_high)}` }], what(i),
      (i.function || "–") + (i.inlined ? ` (${i.inlined})` : ""), i.line ? `${i.file}:${i.line}` : i.module || "–", i.ranks_text]));
}

function drawSummary() {
  const j = data.job, e = data.efficiency, name = (j.program || "?").replace(/.*\//, "");
  document.title = `${name}: Pythia report`;
  byId("title").textContent = `${name}: ${plural(j.ranks, "rank")}` + (j.threads ? ` × ${plural(j.threads, "thread")}` : "");
  byId("subtitle").textContent = cut([j.arguments, j.mpi, j.start_time ? new Date(1000 * j.start_time).toISOString().slice(0, 16).replace("T", " ") + " UTC" : ""].filter(Boolean).join(" · "), 300);
  const tiles = [tile(time(j.wall_seconds), "wall time", "from MPI_Init, or the program's begin, to the end of the slowest rank"),
    tile(count(j.events), "events", "calls and parallel regions of all ranks and threads")];
  if (e) tiles.push(tile(percent(e.parallel), "parallel efficiency", "share of the threads' time that was useful work: MPI × OpenMP"),
    ...(e.openmp_threads > 1 ? [tile(percent(e.mpi), "MPI efficiency", "load balance × communication"),
      tile(percent(e.openmp), "OpenMP efficiency", "load balance in regions × fork and join × serial part")] : []),
    ...(data.callsites.length ? [tile(percent(e.load_balance), "load balance", "mean time outside MPI over the longest rank's: below 100 % some ranks have more work"),
    tile(percent(e.communication), "communication", "the longest rank's time outside MPI over the wall time: serialisation × transfer"),
    tile(percent(e.serialisation), "serialisation", 
      "below 100 % ranks wait though work is even: for what others do first, or who is late in turn; from the replay"),
    tile(percent(e.transfer), "transfer", "what moving data costs: below 100 % it takes time; estimated from the shortest calls")] : []));
  if (data.main_loop) {
    const l = data.main_loop;
    tiles.push(tile(`${count(l.turns)} × ${time(l.seconds_per_turn)}`, "main loop", "the program's time loop, turns × mean time of one" +
      (l.function ? `: in ${l.function}${l.file ? `, ${l.file}${l.line ? ":" + l.line : ""}` : ""}` : "")));
  }
  tiles.push(tile(plural(data.classes.length, "group"), "of ranks", "ranks and threads of one group do the same in the same order"),
    tile(j.pythia_seconds === null ? "not known" : time(j.pythia_seconds), "taken by Pythia, all ranks", data.pythia.text));
  byId("tiles").append(...tiles);
  if (j.missing_ranks) byId("where").append(element("p", {}, `Incomplete: ${j.missing_ranks} of ${j.ranks} ranks are missing.`));
  if (j.lost) byId("where").append(element("p", {}, `The memory cap was reached: the order of ${count(j.lost)} events was given up.`));
  const sums = { computation: data.accounting.gap_seconds, omp: data.accounting.region_seconds };
  for (const c of data.callsites.filter(c => c.app_percent !== null)) { // what is before the run is no part of it
    const kind = callKind(c.class);
    sums[kind] = (sums[kind] || 0) + c.time_seconds;
  }
  const all = j.base_seconds || 1, parts = Object.entries(sums).filter(p => p[1] >= 0.0005 * all);
  byId("where").append(element("div", { class: "bar", role: "img", "aria-label": "Where the time went" },
    ...parts.map(([k, s]) => element("i", { style: `width:${100 * s / all}%;background:${colour(k)}`, title: `${kinds[k]}: ${percent(s / all)}` }))),
  element("div", { class: "legend" }, ...parts.sort((a, b) => b[1] - a[1]).map(([k, s]) =>
    element("span", {}, element("i", { style: `background:${colour(k)}` }), `${kinds[k]} ${percent(s / all)}`))));
}
const callKind = c => ({ p2p: "p2p", completion: "completion", probe: "completion", collective: "collective", onesided: "onesided", io: "io" })[c] || "other";
