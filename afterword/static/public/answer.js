// Niceties of the answer page, which works without them: tells that a person saw it, and counts what is left to write,
// and keeps an exclusive choice alone.
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
