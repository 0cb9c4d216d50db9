// Niceties of the answer page, which works without them: tells that a person saw it, counts what is left to write, keeps
// an exclusive choice alone, and searches long lists.
(() => {
  const form = document.querySelector("form[data-view]");
  const gestures = ["pointermove", "pointerdown", "keydown", "touchstart", "wheel"];

  // A link scanner with a real browser shows the page too; a person also moves, touches or types. Browsers without a
  // screen report a pointer that stands still, so the first place of one is only noted.
  let first;
  const seen = (event) => {
    if (!event.isTrusted || document.visibilityState !== "visible") return;
    if (event.type === "pointermove") {
      const place = `${event.clientX} ${event.clientY}`;
      if ((first ??= place) === place) return;
    }
    gestures.forEach((name) => removeEventListener(name, seen));
    fetch(form.dataset.view, {
      method: "POST", keepalive: true, credentials: "omit", body: new URLSearchParams({ token: form.dataset.token }),
    }).catch(() => {});
  };
  if (form) gestures.forEach((name) => addEventListener(name, seen, { passive: true }));

  addEventListener("change", ({ target }) => {
    if (!target.matches(".choices [type=checkbox]") || !target.checked) return;
    for (const other of target.closest(".choices").querySelectorAll("[type=checkbox]")) {
      if (other !== target && ("exclusive" in target.dataset || "exclusive" in other.dataset)) other.checked = false;
    }
  });

  const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  for (const list of document.querySelectorAll("select[data-search]")) {
    const all = [...list.options], field = document.createElement("input");
    Object.assign(field, { type: "search", className: "text search", placeholder: list.dataset.search, dir: "auto" });
    field.setAttribute("aria-label", list.dataset.search);
    field.setAttribute("aria-controls", list.id);
    list.before(field);
    field.addEventListener("input", () => {
      const wanted = folded(field.value.trim()), chosen = list.value;
      const found = all.filter(({ value, text }) => !value || value === chosen || folded(text).includes(wanted));
      list.replaceChildren(...found);
      list.value = chosen;
      list.size = wanted ? Math.min(8, found.length) : 0;
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault(); // it would send the page
      if (event.key === "ArrowDown") list.focus();
    });
  }

  for (const area of document.querySelectorAll("textarea[data-left]")) {
    const note = document.createElement("p");
    note.className = "note";
    note.setAttribute("role", "status");
    area.after(note);
    area.addEventListener("input", () => {
      const left = area.maxLength - area.value.length;
      note.textContent = left <= area.maxLength / 10 ? area.dataset.left.replace("{count}", left) : "";
    });
  }
})();
