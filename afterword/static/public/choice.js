// The score that was chosen in a mail: recorded once a person is there, provisional while the page is only looked at.
// Without this script its button stores the choice.
(() => {
  const note = document.querySelector("[data-choice]"), form = document.querySelector("main form");
  const { choice: url, token, question, field, seconds } = note.dataset;
  const unsaved = note.textContent, chosen = () => new FormData(form).get(field) ?? "", marked = chosen();
  const automated = navigator.webdriver || !screen.width || !screen.height || /headless/i.test(navigator.userAgent);
  let waiting = Promise.resolve(), timer, ticks, isBusy = false, isPerson = false;
  note.textContent = "\u00a0"; // keeps its line

  const send = (sign) => {
    const body = new URLSearchParams({ token, q: question, v: isPerson ? chosen() : marked, sign });
    if (automated) body.set("automated", "1");
    waiting = waiting.then(() => fetch(url, { method: "POST", keepalive: true, credentials: "omit", body }))
      .then((answer) => (answer.status === 200 ? answer.json() : {})).catch(() => ({}))
      .then(({ said, next }) => {
        if (sign !== "person") return;
        note.textContent = said ?? unsaved;
        if (next && !isBusy) location.replace(next);
      });
  };

  // Browsers trust `scroll` events of scripts too; people scroll by wheel, touch and keys, of which a script makes none.
  // A browser without a screen reports a pointer that stands still.
  const gestures = ["pointermove", "pointerdown", "keydown", "touchstart", "wheel"];
  let first;
  const seen = ({ isTrusted, type, target, clientX, clientY }) => {
    if (!isTrusted || document.visibilityState !== "visible") return;
    if (type === "pointermove") {
      const place = `${clientX} ${clientY}`;
      if ((first ??= place) === place) return;
    }
    for (const name of gestures) removeEventListener(name, seen);
    clearInterval(ticks);
    isPerson = true;
    // A press in the form may change the choice or send the page: these tell it themselves.
    isBusy = /down|start/.test(type) && form.contains(target);
    timer = setTimeout(send, isBusy ? 600 : 0, "person");
  };
  for (const name of gestures) addEventListener(name, seen, { passive: true });
  for (const name of ["pointerdown", "keydown"]) form.addEventListener(name, () => { isBusy = true; });
  form.addEventListener("submit", () => clearTimeout(timer));
  form.addEventListener("change", ({ target }) => {
    if (!isPerson || target.name !== field) return;
    clearTimeout(timer);
    send("person");
  });

  const begin = () => {
    send("opened");
    let left = 4 * seconds;
    if (left) ticks = setInterval(() => {
      if (document.visibilityState !== "visible" || !document.hasFocus() || --left) return;
      clearInterval(ticks);
      send("seen");
    }, 250);
  };
  if (document.prerendering) document.addEventListener("prerenderingchange", begin, { once: true });
  else begin();
})();
