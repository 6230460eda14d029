// SPDX-License-Identifier: MIT
// What all parts use: the data, elements, figures with units, colours.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);

// element("td", {class: "name", title: "…"}, "text" or children …)
function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) e.setAttribute(key, value);
  e.append(...children.filter(c => c !== undefined && c !== null));
  return e;
}

function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children.filter(c => c !== undefined));
  return e;
}

const digits = v => v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
function time(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const ns = seconds * 1e9;
  if (ns < 999.5) return ns.toFixed(0) + " ns";
  for (const [limit, unit] of [[1e3, "µs"], [1e6, "ms"], [1e9, "s"]])
    if (ns < 999.5 * limit) return (ns / limit).toFixed(digits(ns / limit)) + " " + unit;
  const minutes = Math.floor(seconds / 60);
  return Math.floor(minutes / 60) + "h" + String(minutes % 60).padStart(2, "0") + "m";
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let u = 0;
  while (n >= 999.5 && u < 6) { n /= 1024; u++; }
  return n.toFixed(u ? digits(n) : 0) + " " + units[u];
}
const percent = v => v === null || v === undefined ? "–" : (100 * v).toFixed(1) + " %";
const count = n => n.toLocaleString("en").replaceAll(",", " ");
const plural = (n, word) => count(n) + " " + word + (n === 1 ? "" : "s");
const cut = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;

// Kinds of time, with their colours.
const kinds = { computation: "computation", omp: "OpenMP", p2p: "point to point", completion: "completion, probe", collective: "collective",
  onesided: "one-sided", io: "I/O", mpi: "MPI", other: "other MPI calls" };
const colour = kind => `var(--${kinds[kind] ? kind : "other"})`;
function legend(wanted) {
  return element("div", { class: "legend" }, ...Object.keys(kinds).filter(k => wanted.has(k)).map(k =>
    element("span", {}, element("i", { style: `background:${colour(k)}` }), kinds[k])));
}
// Parts of a whole as stripes: [[kind, part], …].
function stripes(parts) {
  const sum = parts.reduce((s, p) => s + p[1], 0) || 1;
  let at = 0;
  return "linear-gradient(to right," + parts.map(([kind, part]) => {
    const from = at;
    at += 100 * part / sum;
    return `${colour(kind)} ${from.toFixed(2)}% ${at.toFixed(2)}%`;
  }).join() + ")";
}

// Arrow keys move among the boxes or rows of a container.
function arrows(container, selector) {
  container.addEventListener("keydown", event => {
    const all = [...container.querySelectorAll(selector)], at = all.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (at < 0 || !step) return;
    const next = all[at + step];
    if (next) { next.focus(); event.preventDefault(); }
  });
}

const tile = (value, text, title) => element("div", { class: "tile", title }, element("b", {}, value), element("span", {}, text));

// head: [[heading, class of the cells], …], where "name" are texts. A row is its cells, or [attributes, cells]; a cell what it shows, or
// [that, attributes].
function fillTable(table, head, rows) {
  const cell = (c, i) => {
    const [text, more] = Array.isArray(c) ? c : [c, {}], style = head[i][1];
    return element("td", { class: style, title: style ? text : undefined, ...more }, String(text));
  };
  const row = r => Array.isArray(r[1]) && !Array.isArray(r[0]) && typeof r[0] === "object" ? r : [{}, r];
  table.append(element("thead", {}, element("tr", {}, ...head.map(([text, style]) => element("th", { class: style, scope: "col" }, text)))),
    element("tbody", {}, ...rows.map(row).map(([attributes, cells]) => element("tr", attributes, ...cells.map(cell)))));
  return table;
}
