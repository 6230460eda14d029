// SPDX-License-Identifier: MIT
// Puts the page together; keys that work everywhere.
const sections = [...document.querySelectorAll("main section")];

function start() {
  const toggle = startTheme();
  addEventListener("beforeprint", () => setTheme(false));
  byId("nav").append(...sections.map((s, i) => element("a", { href: "#" + s.id, title: `key ${i + 1}` }, s.querySelector("h2").textContent)));
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "t") toggle();
    const section = sections[Number(event.key) - 1];
    if (section && event.key >= "1") {
      section.scrollIntoView();
      const first = section.querySelector("button, select, input, th");
      if (first) first.focus({ preventScroll: true });
    }
  });
  byId("filter")?.addEventListener("input", drawCalls);
  for (const draw of [drawFindings, drawSummary, drawSeries, drawTurn, startStructure, drawCalls, drawSums, drawInside, drawNamed, drawRegions, drawTasks, drawBalance, drawOwn, drawPatterns, drawMatrix, drawPrediction]) draw();
  document.documentElement.dataset.ready = "yes";
}
start();
