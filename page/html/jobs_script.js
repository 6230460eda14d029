// SPDX-License-Identifier: MIT
// Several jobs: how a program scales, or what differs between two jobs.
const fileName = f => f.replace(/.*\//, "");
const ratio = v => v === null || !isFinite(v) ? "–" : v < 9.995 ? v.toFixed(2) : v.toFixed(1);

function section(title, note, ...children) {
  byId("main").append(element("section", {}, element("h2", {}, title), note ? element("p", { class: "note" }, note) : null, ...children));
}
function table(head, rows, hidden) {
  return element("div", { class: "scroll" }, fillTable(element("table"), head, rows),
    hidden ? element("p", { class: "note" }, `${plural(hidden, "row")} more: --format json has them.`) : null);
}
const MOST_LINES = 200, LINES = ["--accent", "--p2p", "--omp", "--collective", "--onesided"];

// Lines over the jobs, both axes logarithmic where `log`: [[name, values], …]; `ideal`: what would be best.
function linePlot(target, label, xs, series, log, text, ideal) {
  const values = [...series, ...(ideal ? [ideal] : [])].flatMap(s => s[1]).filter(v => v > 0), low = log ? Math.min(...values) : 0, most = Math.max(...values, low + 1e-12);
  const across = x => (Math.log(x) - Math.log(xs[0])) / (Math.log(xs[xs.length - 1]) - Math.log(xs[0]) || 1);
  const up = v => log ? (Math.log(Math.max(v, low)) - Math.log(low)) / (Math.log(most) - Math.log(low) || 1) : v / most;
  const place = (width, x, v) => [62 + (width - 80) * across(x), 190 - 170 * up(v)];
  const draw = (c, width) => {
    c.strokeStyle = css("--line");
    c.fillStyle = css("--soft");
    for (const v of log ? [low, Math.sqrt(low * most), most] : [0, most / 2, most]) {
      const y = place(width, xs[0], v)[1];
      c.beginPath();
      c.moveTo(62, y);
      c.lineTo(width - 18, y);
      c.stroke();
      c.fillText(text(v), 56 - c.measureText(text(v)).width, y + 4);
    }
    let last = -100;
    for (const x of xs) {
      const at = place(width, x, low || most)[0], wide = c.measureText(String(x)).width;
      if (at - last < 26) continue;
      last = at;
      c.fillText(String(x), at - wide / 2, 206);
    }
    for (const [k, [, line]] of [...series, ...(ideal ? [ideal] : [])].entries()) {
      const best = k === series.length;
      c.strokeStyle = c.fillStyle = best ? css("--soft") : css(LINES[k % LINES.length]);
      c.setLineDash(best ? [4, 4] : []);
      c.lineWidth = best ? 1 : 2;
      c.beginPath();
      line.forEach((v, i) => { const [x, y] = place(width, xs[i], v); if (v !== null) c[i ? "lineTo" : "moveTo"](x, y); });
      c.stroke();
      c.setLineDash([]);
      for (const [i, v] of best ? [] : line.entries()) if (v !== null) {
        const [x, y] = place(width, xs[i], v); c.beginPath(); c.arc(x, y, 3.5, 0, 7); c.fill(); }
    }
  };
  const tell = (px, py, width) => {
    const i = xs.map((x, i) => [Math.abs(place(width, x, most)[0] - px), i]).sort((a, b) => a[0] - b[0])[0][1];
    return `${xs[i]} processors\n` + series.map(s => `${s[0]}: ${s[1][i] === null ? "–" : text(s[1][i])}`).join("\n");
  };
  const box = element("div", { class: "plot" }, element("h3", {}, label), element("div", { class: "legend" },
    ...series.map((s, k) => element("span", {}, element("i", { style: `background:var(${LINES[k % LINES.length]})` }), s[0])), ideal ? element("span", {}, "– – " + ideal[0]) : null));
  target.append(box);
  picture(box, label, () => 212, draw, tell);
}

function drawScaling() {
  const jobs = data.jobs, used = jobs.map(j => j.ranks * Math.max(j.threads, 1));
  byId("title").textContent = `${data.program}: ${jobs.length} jobs side by side`;
  document.title = `${data.program}: scaling`;
  byId("subtitle").textContent = "By processors used, ranks × threads; efficiencies as POP defines them for a problem that stays the same.";
  const plots = element("div", { class: "plots" });
  section("How it scales", null, plots);
  const of = key => jobs.map(j => j[key]);
  linePlot(plots, "Wall time", used, [["wall time", of("wall_seconds")]], true, time, ["ideal", used.map(n => jobs[0].wall_seconds * used[0] / n)]);
  linePlot(plots, "Efficiencies", used, [["global", of("global_efficiency")], ["parallel", of("parallel_efficiency")], ["load balance", of("load_balance")],
    ["communication", of("communication_efficiency")], ["computation", of("computation_scaling")]], false, percent);
  const part = x => x === null ? "–" : percent(x); // not known where the arguments differ
  section("Jobs", null, table([["job", "name"], ["ranks"], ["threads"], ["wall"], ["speed-up"], ["efficiency"], ["global"], ["parallel"], ["load balance"], ["commun."], ["comput."], ["turns"]],
    jobs.map(j => [fileName(j.file), j.ranks, j.threads, time(j.wall_seconds), j.speedup === null ? "–" : ratio(j.speedup), part(j.efficiency), part(j.global_efficiency), part(j.parallel_efficiency),
      part(j.load_balance), part(j.communication_efficiency), part(j.computation_scaling), j.main_loop_turns === null ? "–" : count(j.main_loop_turns)])));
  const name = c => c.function + (c.caller ? ` in ${c.caller}` : ""), share = (c, i) => jobs[i].all_seconds ? c.time_seconds[i] / jobs[i].all_seconds : 0;
  const top = data.calls.slice(0, 5), calls = element("div", {});
  if (top.length) linePlot(calls, "Calls with most of the ranks' time", used, top.map(c => [name(c), jobs.map((j, i) => share(c, i))]), false, percent);
  section("Calls", "Share of the ranks' time, and bytes a call.", calls, table([["call", "name"], ...jobs.flatMap(j => [[`${j.ranks} × ${Math.max(j.threads, 1)}`], ["bytes"]])],
    data.calls.slice(0, MOST_LINES).map(c => [name(c), ...jobs.flatMap((j, i) => [percent(share(c, i)), bytes(c.bytes_per_call[i])])]), Math.max(data.calls.length - MOST_LINES, 0)));
}

// What moved most: bars of A's and B's time.
function pairBars(rows) {
  const most = Math.max(...rows.flatMap(r => r.pair), 1e-12);
  return element("div", {}, ...rows.map(r => element("div", { class: "pair" }, element("span", { title: r.full || r.name }, r.name),
    element("div", {}, ...r.pair.map((v, i) => element("div", { class: "bar", title: `${"AB"[i]}: ${time(v)}` }, element("i", { style: `width:${100 * v / most}%;background:var(${i ? "--p2p" : "--accent"})` })))),
    element("span", { class: "wide" }, `${time(r.pair[0])} → ${time(r.pair[1])}` + (r.pair[0] > 0 ? ` (${r.pair[1] >= r.pair[0] ? "+" : "−"}${percent(Math.abs(r.pair[1] / r.pair[0] - 1))})` : "")))));
}

function drawComparison() {
  const [a, b] = data.jobs, name = c => `${c.function || "?"} ${c.callsites[0] || c.callsites[1] || ""}`;
  byId("title").textContent = `${fileName(a.program || "?")}: two jobs compared`;
  document.title = `${fileName(a.program || "?")}: compared`;
  byId("subtitle").textContent = `A: ${fileName(a.file)}, ${plural(a.ranks, "rank")}; B: ${fileName(b.file)}, ${plural(b.ranks, "rank")}`;
  const changed = data.calls.filter(c => c.change !== "none"), moved = c => c.gap.moved || c.duration.moved;
  section("Answer", null, element("div", { class: "tiles" },
    tile(data.structure_equal ? "equal" : "differs", "structure", "calls, loops and team sizes of both jobs"), tile(data.times_equal === null ? "not compared" : data.times_equal ? "as before" : "moved", "times", "moved: beyond their spread; not compared where the arguments differ"),
    tile(count(changed.length), "calls changed", "of other count, added or removed"), tile(count(data.calls.filter(moved).length), "calls whose time moved", "mean gap or duration, beyond the deviation"),
    tile(count(data.loops.filter(l => l.change !== "none").length), "loops changed", "of other turns, added or removed")));
  section("Where the time goes", null, element("div", { class: "legend" }, ...["A", "B"].map((t, i) => element("span", {}, element("i", { style: `background:var(${i ? "--p2p" : "--accent"})` }), `${t}: ${fileName(data.jobs[i].file)}`))),
    pairBars(data.totals.map(t => ({ name: t.name + (t.moved ? " (moved)" : ""), pair: t.seconds }))));
  const all = (c, i) => c.count[i] * (c.gap.mean_seconds[i] + c.duration.mean_seconds[i]), rows = data.calls.map(c => ({ c, name: name(c).replace(" ", "\n"), full: name(c), pair: [all(c, 0), all(c, 1)] }));
  const most = rows.filter(r => r.pair[0] !== r.pair[1]).sort((x, y) => Math.abs(y.pair[1] - y.pair[0]) - Math.abs(x.pair[1] - x.pair[0])).slice(0, 12);
  if (most.length) section("Calls that differ most", "Time in the call and before it, all ranks together.", pairBars(most));
  const law = o => o.scales ? `${o.scales}${o.exponent !== undefined ? ` (P^${o.exponent.toFixed(2)})` : ""}` : "–", arrow = (p, f) => `${f(p[0])} → ${f(p[1])}`;
  const grown = f => `${f.function || f.module || "code made at run time"} ${arrow(f.seconds, time)}`;
  const by = c => [...c.gap.functions, ...c.duration.functions].slice(0, 2).map(grown).join(", ");
  section("Calls", null, table([["call", "name"], ["at", "name"], ["change"], ["calls"], ["with P"], ["before"], ["in call"], ["moved", "name"]], data.calls.slice(0, MOST_LINES).map(c =>
    [c.function || "?", c.callsites[1] || c.callsites[0] || "–", c.change, arrow(c.count, count), law(c), arrow(c.gap.mean_seconds, time), arrow(c.duration.mean_seconds, time), moved(c) ? by(c) || "yes" : ""]), Math.max(data.calls.length - MOST_LINES, 0)));
  if (data.loops.length) section("Loops", null, table([["begins with", "name"], ["at", "name"], ["change"], ["turns"], ["with P"], ["executions"]], data.loops.slice(0, MOST_LINES).map(l =>
    [l.function || "?", l.callsites[1] || l.callsites[0] || "–", l.change, arrow(l.turns, ratio), law(l), arrow(l.executions, count)]), Math.max(data.loops.length - MOST_LINES, 0)));
}

const toggle = startTheme();
document.addEventListener("keydown", e => { if (e.key === "t" && !e.ctrlKey && !e.metaKey && !e.altKey) toggle(); });
(data.totals ? drawComparison : drawScaling)();
document.documentElement.dataset.ready = "yes";
