// SPDX-License-Identifier: MIT
// Pictures on a canvas: as wide as what they stand in, drawn anew when that or the colours change; what is under the
// pointer is told beside it.
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const pictures = [];
const redrawPictures = () => pictures.forEach(draw => draw());

function showTip(event, text) {
  const tip = byId("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (event.clientY + 18 + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 10) : event.clientY + 18) + "px";
}

// draw(context, width) paints; height(width) says how high; tell(x, y, width) gives the text of a point.
function picture(target, label, height, draw, tell) {
  const canvas = element("canvas", { class: "picture", role: "img", "aria-label": label });
  target.append(canvas);
  const redraw = () => {
    const width = target.clientWidth || 600, ratio = devicePixelRatio || 1, high = height(width);
    canvas.width = width * ratio;
    canvas.height = high * ratio;
    canvas.style.height = high + "px";
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    c.font = "11px system-ui, sans-serif";
    draw(c, width);
  };
  canvas.addEventListener("pointermove", e => showTip(e, tell(e.offsetX, e.offsetY, canvas.clientWidth)));
  canvas.addEventListener("pointerleave", e => showTip(e, ""));
  pictures.push(redraw);
  redraw();
  let seen = target.clientWidth;
  new ResizeObserver(() => { if (target.clientWidth !== seen) { seen = target.clientWidth; redraw(); } }).observe(target);
  return { canvas, redraw };
}

// A time axis under [left, left + width): round numbers, as many as there is room for.
function timeAxis(c, left, width, y, from, to) {
  const most = Math.max(2, Math.floor(width / 80)), rough = (to - from) / most || 1e-9, ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * [1, 2, 5, 10].find(k => k * ten >= rough * 0.999);
  c.fillStyle = css("--soft");
  c.strokeStyle = css("--line");
  for (let t = Math.ceil(from / step - 1e-6) * step; t <= to * (1 + 1e-9); t += step) {
    const x = left + width * (t - from) / ((to - from) || 1), text = Math.abs(t) < step / 1000 ? "0" : time(t), wide = c.measureText(text).width;
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x, y + 4);
    c.stroke();
    c.fillText(text, Math.max(left, Math.min(x - wide / 2, left + width - wide)), y + 15);
  }
}

// Names of rows at the left, as many as fit.
const namesWidth = width => width < 500 ? 50 : 76;
function rowNames(c, names, left, top, high) {
  const every = Math.max(1, Math.ceil(13 / high));
  c.fillStyle = css("--soft");
  names.forEach((name, i) => { if (i % every === 0) c.fillText(name, left - 6 - c.measureText(name).width, top + (i + 0.5) * high + 4); });
}

// Light or dark as the reader has it, until he says otherwise; returns what changes it.
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  redrawPictures();
}
function startTheme() {
  const wantsDark = matchMedia("(prefers-color-scheme: dark)"), toggle = () => setTheme(document.documentElement.dataset.theme !== "dark");
  setTheme(wantsDark.matches);
  wantsDark.addEventListener("change", e => setTheme(e.matches));
  byId("theme").addEventListener("click", toggle);
  return toggle;
}
