// The editor of a questionnaire: its form is saved after two seconds of quiet, and rows are dragged by their grip; the drop
// sends the form that "Move it" sends. Without this file the buttons do both.
(() => {
  "use strict";
  const QUIET = 2000, form = document.querySelector("form[data-save]");
  let timer = 0, running = false, again = false, drag = null;

  // Parts that say how the draft stands now are replaced; what is typed stays.
  function refresh(page) {
    for (const part of document.querySelectorAll("[data-fresh]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && !part.contains(document.activeElement)) part.replaceWith(fresh);
    }
  }

  function save() {
    const request = new XMLHttpRequest();
    clearTimeout(timer);
    timer = 0;
    running = true;
    request.open("POST", form.action);
    request.responseType = "document"; // as in swap.js
    request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.onload = () => {
      const page = request.response, seen = page && page.getElementById("seen");
      running = false;
      if (request.status === 412) { form.submit(); return; } // its page shows both versions
      if (request.status !== 200 || !seen) { lost(); return; }
      form.elements.seen.value = seen.value;
      refresh(page);
      if (again) form.requestSubmit();
    };
    request.onerror = lost;
    request.send(new URLSearchParams(new FormData(form)).toString());
  }

  function lost() {
    running = again = false;
    document.getElementById("saved").textContent = form.dataset.lost;
  }

  if (form) {
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { if (running) form.dispatchEvent(new Event("input")); else save(); }, QUIET);
    });
    form.addEventListener("change", (event) => { if (event.target.name === "type") form.requestSubmit(); });
    form.addEventListener("submit", (event) => {
      clearTimeout(timer);
      timer = 0;
      if (running) { again = true; event.preventDefault(); }
    });
    addEventListener("pagehide", () => {
      if (timer && !running) fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), keepalive: true });
    });
  }

  // Names of variables become buttons that insert them where the cursor stood.
  let field = null;
  addEventListener("focusin", (event) => { if (event.target.matches("#open textarea, #open input.text")) field = event.target; });
  for (const code of document.querySelectorAll("[data-insert] code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small quiet";
    button.textContent = code.textContent;
    button.addEventListener("click", () => {
      const target = field ?? document.querySelector("#open textarea, #open input.text");
      target.setRangeText(button.textContent, target.selectionStart, target.selectionEnd, "end");
      target.dispatchEvent(new Event("input", { bubbles: true }));
      target.focus();
    });
    code.replaceWith(button);
  }

  addEventListener("change", (event) => { if (event.target.form?.matches("[data-now]")) event.target.form.requestSubmit(); });

  const placeAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-place]");

  function mark(place) {
    document.querySelector(".drop-here")?.classList.remove("drop-here");
    if (place && place !== drag) place.classList.add("drop-here");
  }

  addEventListener("pointerdown", (event) => {
    if (event.button || !event.target.closest(".grip")) return;
    event.preventDefault();
    drag = event.target.closest("[data-place]");
    drag.classList.add("dragged");
  });
  addEventListener("pointermove", (event) => { if (drag) mark(placeAt(event)); });
  addEventListener("pointercancel", () => { mark(null); drag?.classList.remove("dragged"); drag = null; });
  addEventListener("pointerup", (event) => {
    if (!drag) return;
    const row = drag, place = placeAt(event), move = document.getElementById("move");
    mark(null);
    row.classList.remove("dragged");
    drag = null;
    if (!place || place === row) return;
    move.action = `${move.dataset.path}/${row.dataset.place}/move`;
    move.elements.to.value = place.dataset.place;
    move.requestSubmit();
  });
})();
