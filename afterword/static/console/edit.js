// The editor of a questionnaire: its form is saved after two seconds of quiet, or when a field is left, and a field that was
// left wrong says so until it is mended. Rows are dragged by their grip; the drop
// sends the form that "Move" sends. Without this file the buttons do both. Forms that are
// not saved by themselves (data-warn) ask before they are left, also by sending another one.
(() => {
  "use strict";
  const QUIET = 2000, KEPT_CHARACTERS_MAX = 60000; // of a request that outlives its page (Fetch: 64 KiB)
  const form = document.querySelector("form[data-save]");
  const left = new Set(); // forms with words that would be lost
  const visited = new Set(); // names of fields that somebody left
  let timer = 0, running = false, again = false, unsaved = false, drag = null;

  // Parts that say how the draft stands now are replaced; what is typed stays.
  function refresh(page) {
    for (const part of document.querySelectorAll("[data-fresh]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && !part.contains(document.activeElement)) part.replaceWith(fresh);
    }
  }

  function judge(page) {
    for (const fresh of page.querySelectorAll("form[data-judged] .field")) {
      const now = fresh.querySelector("[name]"), control = now && form.querySelector(`[name="${CSS.escape(now.name)}"]`);
      const field = control?.closest(".field"), shown = field?.querySelector(".error"), fault = fresh.querySelector(".error");
      if (!field || (!shown && !visited.has(now.name))) continue;
      shown?.remove();
      if (fault) field.firstElementChild.after(fault);
      field.classList.toggle("wrong", Boolean(fault));
      for (const name of ["aria-invalid", "aria-describedby"]) {
        if (now.hasAttribute(name)) control.setAttribute(name, now.getAttribute(name)); else control.removeAttribute(name);
      }
    }
  }

  // A field that is left empty is asked about, though nothing was typed that could be saved.
  function ask() {
    const request = new XMLHttpRequest(), url = new URL(form.action);
    url.searchParams.set("uncounted", "1");
    request.open("GET", url);
    request.responseType = "document";
    request.onload = () => { if (request.status === 200 && !unsaved) judge(request.response); };
    request.send();
  }

  const typed = () => new URLSearchParams([...new FormData(form), ["autosave", "1"]]);

  function save() {
    const request = new XMLHttpRequest();
    clearTimeout(timer);
    timer = 0;
    running = true;
    request.open("POST", form.action);
    request.responseType = "document"; // as in console.js
    request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.onload = () => {
      const page = request.response;
      running = false;
      if (request.status === 412) { unsaved = false; form.submit(); return; } // its page shows both versions
      if (request.status === 422 && form.dataset.unready) {
        const press = again;
        lost(form.dataset.unready);
        if (press) form.requestSubmit(); // its page shows what is wrong
        return;
      }
      if (request.status !== 200 || !page?.querySelector("[name^=seen]")) { lost(form.dataset.lost); return; }
      for (const mark of form.querySelectorAll("[name^=seen]")) mark.value = page.getElementsByName(mark.name)[0]?.value ?? mark.value;
      unsaved = timer !== 0;
      refresh(page);
      document.title = page.title;
      if (!timer) judge(page);
      if (again) form.requestSubmit();
    };
    request.onerror = () => lost(form.dataset.lost);
    request.send(typed().toString());
  }

  function lost(text) {
    running = again = false;
    document.getElementById("saved").textContent = text;
  }

  // Whether leaving now would lose something: what waits for its moment of quiet is sent by "pagehide".
  function isLost() {
    if (!unsaved) return false;
    if (!timer) return !running;
    return running || Boolean(form.dataset.unready) || typed().toString().length > KEPT_CHARACTERS_MAX;
  }

  if (form) {
    form.addEventListener("input", () => {
      unsaved = true;
      clearTimeout(timer);
      timer = setTimeout(() => { if (running) form.dispatchEvent(new Event("input")); else save(); }, QUIET);
    });
    form.addEventListener("focusout", ({ target }) => {
      if (!target.name || !("judged" in form.dataset)) return;
      const isFirst = !visited.has(target.name);
      visited.add(target.name);
      if (timer && !running) save(); else if (isFirst && !unsaved && target.value === "") ask();
    });
    if (location.hash === "#title") form.elements.title?.select?.();
    form.addEventListener("change", (event) => { if (event.target.name === "type") form.requestSubmit(); });
    form.addEventListener("submit", (event) => {
      clearTimeout(timer);
      timer = 0;
      if (running) { again = true; event.preventDefault(); } else unsaved = false;
    });
    addEventListener("beforeunload", (event) => { if (isLost()) event.preventDefault(); });
    addEventListener("pagehide", () => {
      if (timer || running) fetch(form.action, { method: "POST", body: typed(), keepalive: true });
    });
  }

  for (const each of document.querySelectorAll("form[data-warn]")) {
    each.addEventListener("input", () => left.add(each));
    each.addEventListener("submit", () => left.delete(each));
  }
  addEventListener("beforeunload", (event) => { if (left.size) event.preventDefault(); });

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
