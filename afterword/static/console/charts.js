// The points of a chart are read by pointer, touch and the arrow keys, in a line below it that hides nothing. Without this
// file a pointer shows the line inside the chart, and the table has all figures. “Print or save as PDF” is here, too.
(() => {
  "use strict";
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  let isTouch = false, wasRead = null;

  const pointsOf = (chart) => [...chart.querySelectorAll(".point")];

  function read(chart, point) {
    for (const one of pointsOf(chart)) one.classList.toggle("is-read", one === point);
    chart.querySelector(".read-out").textContent = point?.querySelector(".reading").textContent ?? "";
  }

  function begin() {
    for (const chart of document.querySelectorAll(".reads:not([tabindex])")) {
      chart.tabIndex = 0;
      chart.setAttribute("aria-description", chart.dataset.keys);
    }
  }

  function onPointer(event) {
    isTouch = event.pointerType === "touch";
    const chart = event.target.closest?.(".reads");
    if (!chart) return;
    // A finger that slides stays with the point where it began.
    const point = (isTouch ? document.elementFromPoint(event.clientX, event.clientY) : event.target)?.closest(".reads .point");
    if (event.type === "pointerdown") wasRead = chart.querySelector(".is-read");
    if (point && chart.contains(point)) read(chart, point);
  }

  addEventListener("pointerdown", onPointer);
  addEventListener("pointermove", onPointer);
  addEventListener("pointerout", (event) => {
    const chart = event.target.closest?.(".reads");
    if (chart && event.pointerType !== "touch" && !chart.contains(event.relatedTarget)) read(chart, null);
  });
  addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) print();
    // The first touch reads a point, the second one follows its link.
    const point = isTouch && event.target.closest(".reads a.point");
    if (point && point !== wasRead) event.preventDefault();
  }, true);
  addEventListener("keydown", (event) => {
    const chart = event.target, step = STEPS[event.key];
    if (!chart.matches?.(".reads")) return;
    const points = pointsOf(chart), at = points.findIndex((one) => one.matches(".is-read"));
    if (event.key === "Enter" && points[at]?.href) { location.assign(points[at].href.baseVal); return; }
    if (event.key === "Escape") read(chart, null);
    if (!step || !points.length || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const last = points.length - 1;
    const isMirrored = document.documentElement.dir === "rtl" && /Left|Right/.test(event.key);
    const next = at < 0 ? (step > 0 ? 0 : last) : at + (isMirrored ? -step : step);
    const wanted = Number.isFinite(step) ? next : step;
    read(chart, points[Math.min(Math.max(wanted, 0), last)]);
  });

  begin();
  new MutationObserver(begin).observe(document.body, { childList: true, subtree: true });
})();
