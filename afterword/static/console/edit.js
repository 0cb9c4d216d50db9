// The editor of a questionnaire: its form is saved after two seconds of quiet, or when a field is left, and a field that was
// left wrong says so until it is mended. Rows are dragged by their grip, or moved by Alt and an arrow; both
// send the form that "Move" sends. Without this file the buttons do both. Forms that are
// not saved by themselves (data-warn) ask before they are left, also by sending another one.
(() => {
  "use strict";
  const QUIET = 2000, KEPT_CHARACTERS_MAX = 60000; // of a request that outlives its page (Fetch: 64 KiB)
  const left = new Set(); // forms with words that would be lost
  const visited = new Set(); // names of fields that somebody left
  let form = null, timer = 0, running = null, again = false, unsaved = false, drag = null, field = null;

  // Parts that say how the draft stands now are replaced; what is typed stays, and so does the link that has the focus.
  function refresh(page, isAll) {
    for (const part of document.querySelectorAll("[data-fresh]")) {
      const fresh = page.getElementById(part.id), focused = document.activeElement, isInside = part.contains(focused);
      const place = isInside && focused.closest("[data-place] > a")?.parentElement.dataset.place;
      if (isInside && !place && !isAll) continue;
      if (fresh) part.replaceWith(fresh); else if (document.querySelector(".panes > #open.pane")) part.remove(); // nothing to preview
      if (place) document.querySelector(`[data-place="${place}"] > a`)?.focus();
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

  // The choices of the preview stand in the address, and the answer shows it by them.
  function address(isAsked) {
    const url = new URL(form.action);
    if (form.closest(".panes")) url.search = location.search;
    url.searchParams.delete("done");
    if (isAsked) url.searchParams.set("uncounted", "1");
    return url;
  }

  // A field that is left empty is asked about, though nothing was typed that could be saved.
  function ask() {
    const request = new XMLHttpRequest(), own = form;
    request.open("GET", address(true));
    request.responseType = "document";
    request.onload = () => { if (request.status === 200 && !unsaved && own === form) judge(request.response); };
    request.send();
  }

  const typed = () => new URLSearchParams([...new FormData(form), ["autosave", "1"]]);

  // Resolves to whether it was saved. What is typed before the answer comes stays, and is saved after it.
  function save() {
    clearTimeout(timer);
    timer = 0;
    const own = form, request = new XMLHttpRequest();
    if (form.dataset.saving) document.getElementById("saved").textContent = form.dataset.saving;
    running = new Promise((resolve) => {
      request.open("POST", address());
      request.responseType = "document"; // as in console.js
      request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
      request.onload = () => { running = null; resolve(own === form ? read(request) : request.status === 200); };
      request.onerror = () => { running = null; resolve(own === form && lost(form.dataset.lost)); };
      request.send(typed().toString());
    });
    return running;
  }

  function read(request) {
    const page = request.response, press = again;
    again = false;
    if (request.status === 412) { // its page shows both versions
      unsaved = false;
      if (form.closest(".panes")) form.requestSubmit(); else form.submit();
      return true;
    }
    if (request.status === 422 && form.dataset.unready) {
      if (press) form.requestSubmit(); // its page shows what is wrong
      return lost(form.dataset.unready);
    }
    if (request.status !== 200 || !page?.querySelector("[name^=seen]")) return lost(form.dataset.lost);
    for (const mark of form.querySelectorAll("[name^=seen]")) mark.value = page.getElementsByName(mark.name)[0]?.value ?? mark.value;
    unsaved = timer !== 0;
    refresh(page);
    document.title = page.title;
    for (const part of document.querySelectorAll(".toast > :not(.done)")) part.remove(); // it undoes what came before
    if (!timer) judge(page);
    if (press) form.requestSubmit();
    return true;
  }

  function lost(text) {
    again = false;
    document.getElementById("saved").textContent = text;
    return false;
  }

  // Whether leaving now would lose something: what waits for its moment of quiet is sent by "pagehide".
  function isLost() {
    if (!unsaved) return false;
    if (!timer) return !running;
    return running || Boolean(form.dataset.unready) || typed().toString().length > KEPT_CHARACTERS_MAX;
  }

  function last() {
    if (timer || running) fetch(form.action, { method: "POST", body: typed(), keepalive: true });
  }

  const isBusy = () => running || form.closest("[aria-busy]");

  function type() {
    unsaved = true;
    clearTimeout(timer);
    timer = setTimeout(() => { if (isBusy()) type(); else save(); }, QUIET);
  }

  addEventListener("input", ({ target }) => {
    const typedIn = target.form ?? target.closest("form");
    if (typedIn && typedIn === form) type();
    if (typedIn?.matches("[data-warn]")) left.add(typedIn);
  });
  addEventListener("focusout", ({ target }) => {
    if (!form || target.form !== form || !target.name || !("judged" in form.dataset)) return;
    const isFirst = !visited.has(target.name);
    visited.add(target.name);
    if (timer && !isBusy()) save(); else if (isFirst && !unsaved && target.value === "") ask();
  });
  addEventListener("change", ({ target }) => {
    if (form && target.form === form && target.name === "type") form.requestSubmit();
  });
  addEventListener("submit", (event) => {
    left.delete(event.target);
    if (event.defaultPrevented || event.target !== form) return;
    clearTimeout(timer);
    timer = 0;
    if (running) { again = true; event.preventDefault(); } else unsaved = false;
  });
  // The panel shows something else, or sends a form: what was typed is saved before, or by that form.
  addEventListener("leave", (event) => {
    const { form: sent, waits } = event.detail;
    if ([...left].some((one) => one !== sent && one.isConnected)) { event.preventDefault(); return; }
    if (!form) return;
    if (sent === form) { clearTimeout(timer); timer = 0; unsaved = Boolean(running); }
    if (running) waits.push(running);
    if (timer) waits.push(Promise.resolve(running).then(() => (timer ? save() : !unsaved)));
    else if (unsaved && !running) waits.push(false);
  });
  addEventListener("swap", ({ detail: isSame }) => { if (form && !isSame) last(); });
  addEventListener("beforeunload", (event) => { if (isLost() || [...left].some((one) => one.isConnected)) event.preventDefault(); });
  addEventListener("pagehide", () => { if (form) last(); });

  addEventListener("focusin", ({ target }) => { if (target.matches("#open textarea, #open input.text")) field = target; });

  // Names of variables become buttons that insert them where the cursor stood.
  function offer(code) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small quiet";
    button.textContent = code.textContent;
    button.addEventListener("click", () => {
      const target = field?.isConnected ? field : document.querySelector("#open textarea, #open input.text");
      target.setRangeText(button.textContent, target.selectionStart, target.selectionEnd, "end");
      target.dispatchEvent(new Event("input", { bubbles: true }));
      target.focus();
    });
    code.replaceWith(button);
  }

  function begin() {
    const found = document.querySelector("form[data-save]");
    if (found !== form) {
      clearTimeout(timer);
      if (form?.action.split("?")[0] !== found?.action.split("?")[0]) visited.clear();
      form = found;
      timer = 0;
      unsaved = false;
    }
    for (const code of document.querySelectorAll("[data-insert] code")) offer(code);
  }
  addEventListener("fresh", ({ detail }) => { if (detail) refresh(detail, true); begin(); });
  begin();
  if (form && location.hash === "#title") form.elements.title?.select?.();

  // Words that are changed in the preview: the panel of their question opens, and gets what is typed there.
  let wanted = "";
  addEventListener("message", ({ data, source }) => {
    const frame = document.querySelector("#preview iframe"), id = data?.question || wanted;
    if (!id || source !== frame?.contentWindow) return;
    const title = form?.action.split("?")[0].endsWith(`/edit/${id}`) && form.elements.title;
    if (title && typeof data.words === "string") {
      title.value = data.words;
      title.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (title) {
      wanted = "";
      frame.focus();
      source.postMessage({ question: id, words: title.value }, "*");
    } else if (data.question) {
      wanted = id;
      document.querySelector(`#order [data-place="${CSS.escape(id)}"] > a:not(.plus)`)?.click();
    }
  });

  function move(place, to) {
    const send = document.getElementById("move");
    send.action = `${send.dataset.path}/${place}/move`;
    send.elements.to.value = to;
    send.requestSubmit();
  }

  addEventListener("keydown", (event) => {
    const to = { ArrowUp: "up", ArrowDown: "down" }[event.key], row = event.altKey && event.target.closest?.("#order [data-row]");
    if (!to || !row) return;
    event.preventDefault();
    move(row.dataset.place, to);
  });

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
    const row = drag, place = placeAt(event);
    mark(null);
    row.classList.remove("dragged");
    drag = null;
    if (place && place !== row) move(row.dataset.place, place.dataset.place);
  });
})();
