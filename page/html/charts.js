// SPDX-License-Identifier: MIT
// Balance of ranks, communication matrix, accuracy and calibration of predictions.
const MOST_RANKS = 256, MOST_CELLS = 64;

function drawBalance() {
  const target = byId("balance"), ranks = data.streams.filter(s => s.thread === 0)
    .map(s => ({ ...s, wall_seconds: s.wall_seconds - s.init_seconds, mpi_seconds: s.mpi_seconds - s.init_seconds })); // the run
  if (!ranks.length) { target.append("No rank was recorded."); return; }
  const longest = Math.max(...ranks.map(s => s.wall_seconds), 1e-12);
  // Of many ranks the ones at regular distances, and always the extremes of time in MPI.
  const name = s => s.ranks > 1 ? `${s.rank}–${s.rank + s.ranks - 1}` : "rank " + s.rank; // a block of ranks in a large job
  const step = Math.ceil(ranks.length / MOST_RANKS), mpi = s => s.mpi_seconds / (s.wall_seconds || 1);
  const least = ranks.reduce((a, b) => mpi(b) < mpi(a) ? b : a), most = ranks.reduce((a, b) => mpi(b) > mpi(a) ? b : a);
  const any = kind => ranks.some(s => s[kind] > 0) ? [kind.replace("_seconds", "")] : [];
  target.append(legend(new Set(["computation", ...any("omp_seconds"), ...any("mpi_seconds")])));
  if (ranks.length > 1) target.append(element("p", { class: "note" },
    `Least in MPI: ${name(least)} (${percent(mpi(least))}); most: ${name(most)} (${percent(mpi(most))}).` +
    (step > 1 ? ` Every ${step}th of ${ranks.length} is shown.` : "")));
  for (const s of ranks.filter((s, i) => i % step === 0 || s === least || s === most)) {
    const own = Math.max(s.wall_seconds - s.mpi_seconds - s.omp_seconds, 0);
    const part = (kind, seconds) => element("i", { style: `width:${100 * seconds / longest}%;background:${colour(kind)}`, title: `${time(seconds)}` });
    target.append(element("div", { class: "rank", title: `${name(s)}${s.class === null ? "" : ", group " + s.class}` }, element("span", {}, name(s)),
      element("div", { class: "bar" }, part("computation", own), part("omp", s.omp_seconds), part("mpi", s.mpi_seconds)),
      element("span", { class: "wide" }, `${time(s.wall_seconds)}, MPI ${percent(mpi(s))}`)));
  }
}

// Where one rank computes longer than the others: mean time before a call, rank by rank.
function drawOwn() {
  const rows = (data.own || []).filter(o => o.rank.length > 1).map(o => {
    const calls = o.calls.reduce((s, n) => s + n, 0), mean = o.gap_seconds.reduce((s, v, i) => s + v * o.calls[i], 0) / (calls || 1);
    const at = o.gap_seconds.indexOf(Math.max(...o.gap_seconds)), low = o.gap_seconds.indexOf(Math.min(...o.gap_seconds));
    return { o, mean, at, low, excess: (o.gap_seconds[at] - mean) * o.calls[at] };
  }).filter(r => r.excess > 0.001 * data.job.wall_seconds).sort((a, b) => b.excess - a.excess).slice(0, 10);
  if (!rows.length) return;
  const cells = r => [[r.o.function + (r.o.number === null ? "" : "@" + r.o.number), { title: undefined }], time(r.o.gap_seconds[r.low]), r.o.rank[r.low], time(r.mean), time(r.o.gap_seconds[r.at]), r.o.rank[r.at], time(r.excess)];
  const table = fillTable(element("table"), [["before", "name"], ["least"], ["of rank"], ["mean"], ["most"], ["of rank"], ["in the run"]],
    rows.map(r => [{ title: r.o.gap_seconds.slice(0, 64).map((v, i) => `rank ${r.o.rank[i]}: ${time(v)}`).join("\n") }, cells(r)]));
  byId("balance").append(element("h3", {}, "Computation before a call, by rank"), element("div", { class: "scroll" }, table),
    element("p", { class: "note" }, "In the run: how much longer than the mean the longest rank computes there."));
}

function drawPatterns() {
  const target = byId("patterns"), m = data.matrix;
  if (!m.patterns.length && !m.unplaced_messages) { target.append("No point-to-point or one-sided communication was recorded."); return; }
  for (const p of m.patterns.slice(0, 12))
    target.append(element("div", {}, element("b", {}, p.pattern), ` ${p.function ? `${p.function}${p.number === null ? "" : "@" + p.number}` : "all calls"}: ` +
      `${plural(p.messages, "message")}, ${bytes(p.bytes)}`));
  if (m.unplaced_messages)
    target.append(element("p", { class: "note" }, `Not placed: ${plural(m.unplaced_messages, "message")}, ${bytes(m.unplaced_bytes)}: their peers follow no rule, or are ranks of a part of the job.`));
}

// A cell is a pair of ranks; of more than 64 ranks, a pair of blocks of ranks.
function drawMatrix() {
  const edges = data.matrix.edges, ranks = data.job.ranks;
  if (!edges.length) return;
  const block = Math.ceil(ranks / MOST_CELLS), cells = Math.ceil(ranks / block), sums = new Map();
  for (const [from, to, messages, size] of edges) {
    const key = Math.floor(from / block) * cells + Math.floor(to / block), sum = sums.get(key) || [0, 0];
    sum[0] += messages;
    sum[1] += size;
    sums.set(key, sum);
  }
  const most = Math.max(...[...sums.values()].map(s => s[1]), 1), edge = Math.max(8, Math.min(34, Math.floor(520 / cells))), left = 46, size = edge * cells;
  const picture = svg("svg", { width: left + size + 10, height: size + 40, role: "img", "aria-label": "Bytes from rank to rank" });
  picture.append(svg("rect", { x: left, y: 24, width: size, height: size, class: "grid" }));
  for (const [key, [messages, sum]] of sums) {
    const from = Math.floor(key / cells), to = key % cells, shade = 0.12 + 0.88 * Math.sqrt(sum / most);
    const name = i => block > 1 ? `ranks ${i * block}–${Math.min((i + 1) * block, ranks) - 1}` : `rank ${i}`;
    picture.append(svg("rect", { x: left + to * edge, y: 24 + from * edge, width: edge - 1, height: edge - 1, fill: "var(--accent)", "fill-opacity": shade.toFixed(3) },
      svg("title", {}, `${name(from)} to ${name(to)}: ${bytes(sum)} in ${plural(messages, "message")}`)));
  }
  const every = Math.ceil(cells / Math.floor(size / 26));
  for (let i = 0; i < cells; i += every)
    picture.append(svg("text", { x: left - 5, y: 24 + (i + 0.5) * edge + 4, "text-anchor": "end" }, String(i * block)),
      svg("text", { x: left + (i + 0.5) * edge, y: 19, "text-anchor": "middle" }, String(i * block)));
  byId("matrix").append(element("p", { class: "note" }, `Bytes from rank (down) to rank (across); darkest ${bytes(most)}` + (block > 1 ? `; a cell is ${block} × ${block} ranks` : "")), picture);
}

// --- Prediction ---
const lineColours = ["--accent", "--p2p", "--omp", "--collective"];

function accuracyPlot(o) {
  const known = o.distances.filter(d => d.predictions), picture = svg("svg", { width: 380, height: 40 + 30 * known.length, role: "img", "aria-label": "Accuracy" });
  picture.append(svg("text", { x: 0, y: 14 }, "Right answers, by how many events ahead"));
  known.forEach((d, i) => {
    const share = d.hits / d.predictions, unknown = d.unknown / d.predictions, y = 26 + 30 * i;
    picture.append(svg("text", { x: 40, y: y + 15, "text-anchor": "end" }, String(d.distance)),
      svg("rect", { x: 48, y, width: 240, height: 20, class: "grid" }),
      svg("rect", { x: 48, y, width: 240 * share, height: 20, fill: `var(${lineColours[i % 4]})` },
        svg("title", {}, `${count(d.hits)} of ${count(d.predictions)}`)),
      svg("rect", { x: 48 + 240 * share, y, width: 240 * unknown, height: 20, fill: "var(--line)" }, svg("title", {}, `did not know: ${percent(unknown)}`)),
      svg("text", { x: 296, y: y + 15 }, percent(share)));
  });
  return picture;
}

// Of the answers given at a probability, which part was right: on the diagonal is what calibrated means.
function calibrationPlot(o) {
  const size = 240, left = 44, top = 26, x = v => left + size * v, y = v => top + size * (1 - v);
  const picture = svg("svg", { width: 420, height: size + 74, role: "img", "aria-label": "Calibration" });
  picture.append(svg("text", { x: 0, y: 14 }, "Calibration: stated probability and what came true"), svg("rect", { x: left, y: top, width: size, height: size, class: "grid" }),
    svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "grid", "stroke-dasharray": "4 4" }));
  for (const v of [0, 0.5, 1])
    picture.append(svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, String(v)), svg("text", { x: x(v), y: top + size + 16, "text-anchor": "middle" }, String(v)));
  picture.append(svg("text", { x: x(0.5), y: top + size + 34, "text-anchor": "middle" }, "stated probability"));
  o.distances.forEach((d, k) => {
    const most = Math.max(...d.answers, 1);
    const points = d.answers.map((n, i) => [n, (i + 0.5) / d.answers.length, n ? d.right[i] / n : 0]).filter(p => p[0]);
    if (points.length > 1)
      picture.append(svg("polyline", { points: points.map(p => `${x(p[1]).toFixed(1)},${y(p[2]).toFixed(1)}`).join(" "), fill: "none", stroke: `var(${lineColours[k % 4]})`, "stroke-opacity": 0.6 }));
    for (const [n, stated, right] of points)
      picture.append(svg("circle", { cx: x(stated), cy: y(right), r: 3 + 5 * Math.sqrt(n / most), fill: `var(${lineColours[k % 4]})`, "fill-opacity": 0.75 },
        svg("title", {}, `distance ${d.distance}: ${count(n)} answers near ${stated.toFixed(2)}, ${percent(right)} right`)));
    if (points.length)
      picture.append(svg("circle", { cx: left + size + 22, cy: top + 12 + 20 * k, r: 5, fill: `var(${lineColours[k % 4]})` }), svg("text", { x: left + size + 32, y: top + 16 + 20 * k }, "distance " + d.distance));
  });
  return picture;
}

function drawPrediction() {
  const target = byId("prediction"), o = data.oracle;
  if (!o) { target.append("This job was not predicted from yet: pythia predict stores here how good its predictions were."); return; }
  target.append(element("p", {}, `Last predicted run: ${plural(o.events, "event")} on ${plural(o.ranks, "rank")}, ${time(o.wall_seconds)}` +
    (o.recorded_wall_seconds === null ? "" : `, ${time(o.recorded_wall_seconds)} when recorded`) +
    (o.time_error_median === null ? "" : `; median error of the time to the next event ${percent(o.time_error_median)}`) +
    `; ${plural(o.actions, "action")}, cost of the oracle ${time(o.cost_seconds)}.`),
  element("div", { class: "plots" }, accuracyPlot(o), calibrationPlot(o)));
}
