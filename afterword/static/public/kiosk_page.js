// The page of a kiosk. It sends each form itself and shows the answer in place, so that a lost connection never leads to
// an error page: what cannot be sent waits in localStorage. Each person's form has a nonce of its own, so a post that
// arrives twice makes one response.
(() => {
  const { path, idle, thanks } = document.body.dataset, own = document.currentScript.src;
  const key = `afterword:${path}`, SEND_MS = 10_000, RETRY_MS = 15_000, CLOSED_MS = 60_000, COUNTDOWN = 10, QUEUE_MAX = 2_000;
  const dialog = document.getElementById("idle"), note = dialog.querySelector("p");
  let first = document.cloneNode(true);
  let isStart = true, isDirty = false, isDone = false, hasLeft = false, isSending = false, isFlushing = false, timer, countdown;
  let questions = [], step = 0;

  let queue = [];
  try { queue = JSON.parse(localStorage[key]); } catch { /* nothing waits */ }
  const save = () => { try { localStorage[key] = JSON.stringify(queue); } catch { /* kept while the page is open */ } };

  const send = async (action, body, more) => {
    const answer = await fetch(action, {
      method: "POST", body: new URLSearchParams(body), signal: AbortSignal.timeout(SEND_MS), ...more,
    });
    if (answer.status === 429 || answer.status >= 500) throw new Error(answer.status);
    return answer;
  };

  // The server redirects once it has stored a post. All else stays and is tried again.
  const flush = async () => {
    if (isFlushing) return;
    isFlushing = true;
    try {
      for (const entry of [...queue]) {
        const { type } = await send(entry.action, entry.body, { redirect: "manual" });
        if (type !== "opaqueredirect") continue;
        queue = queue.filter((other) => other !== entry);
        save();
      }
    } catch { /* still without a connection */ }
    isFlushing = false;
  };
  const wait = (form, body, go) => {
    body.set("go", go);
    if (queue.length < QUEUE_MAX) queue.push({ action: form.getAttribute("action"), body: `${body}` });
    save();
    flush();
  };

  const rest = () => { clearTimeout(timer); clearInterval(countdown); dialog.close(); };
  const after = (seconds, act) => { rest(); timer = setTimeout(act, seconds * 1_000); };

  const fresh = async () => {
    show(first);
    try {
      const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(SEND_MS) }), page = await read(answer);
      if (answer.ok) first = page;
      else if (answer.status < 500 && isStart && !isDirty) show(page);
    } catch { /* the questions that were here last are shown */ }
  };

  const abandon = () => {
    const form = document.querySelector(".sheet form");
    if (isDirty && form?.elements.page) wait(form, new URLSearchParams(new FormData(form)), "keep");
    fresh();
  };

  const warn = () => {
    let left = COUNTDOWN;
    const tick = () => {
      note.textContent = note.dataset.text.replace("{count}", left);
      if (left-- === 0) abandon();
    };
    dialog.showModal();
    tick();
    countdown = setInterval(tick, 1_000);
  };

  const touch = () => {
    if (hasLeft || isDone) return;
    rest();
    if (!isStart || isDirty || step) after(idle, warn);
  };

  // One question at a time: all stand in one form, so that it works without a connection, and all but one are hidden.
  // Step 0 is the start screen, which has the texts above the questions and the languages.
  const turn = (to) => {
    const sheet = document.querySelector(".sheet"), actions = sheet.querySelector("form > .actions");
    const { start, next, back, count } = actions.dataset, button = actions.querySelector("button");
    const quiet = Object.assign(document.createElement("button"), { type: "button", className: "button quiet", textContent: back });
    const place = document.createElement("p");
    step = to;
    sheet.dataset.step = step ? "question" : "start";
    for (const one of sheet.querySelectorAll(".intro, .languages")) one.hidden = step;
    for (const one of sheet.querySelectorAll(".summary")) one.hidden = one.id;
    questions.forEach((parts, index) => parts.forEach((one) => { one.hidden = index + 1 !== step; }));
    button.dataset.send ??= button.textContent;
    button.textContent = step === questions.length ? button.dataset.send : step ? next : start;
    quiet.onclick = () => turn(step - 1);
    place.textContent = (count ?? "").replace("{page}", step).replace("{pages}", questions.length);
    actions.replaceChildren(button, ...step ? [quiet, place] : []);
    scrollTo(0, 0);
    if (step) Object.assign(questions[step - 1].at(-1), { tabIndex: -1 }).focus();
    touch();
  };
  const walk = (sheet) => {
    const before = new Set(questions.flat().map(({ id }) => id)), found = [[]];
    const isIn = sheet.querySelector("form > .actions[data-start]");
    for (const one of isIn ? sheet.querySelectorAll(".section, [id^=q-]") : []) {
      found.at(-1).push(one);
      if (one.querySelector("input, select, textarea")) found.push([]); // headings and statements stand with what follows
    }
    questions = found.filter((parts) => parts.length);
    step = 0;
    if (!questions.length) return;
    const wrong = questions.findIndex((parts) => parts.some((one) => one.matches(".wrong")));
    const first = wrong < 0 ? questions.findIndex((parts) => parts.some(({ id }) => id && !before.has(id))) : wrong;
    turn(isStart ? 0 : Math.max(first, 0) + 1);
  };

  const put = (sheet) => {
    document.querySelector(".sheet").replaceWith(sheet);
    const start = sheet.querySelector("[name=start]");
    if (start) start.value += `.${crypto.getRandomValues(new Uint32Array(3)).join("")}`;
    isStart = start && !sheet.querySelector(".summary");
    isDirty = isDone = false;
    scrollTo(0, 0);
    (sheet.querySelector("[autofocus]") ?? document.body).focus();
    walk(sheet);
  };

  const read = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");
  const show = (page) => {
    const { dataset } = page.body, { lang, dir } = page.documentElement;
    for (const link of page.querySelectorAll("link[rel=stylesheet]")) {
      if (![...document.styleSheets].some((one) => one.href === link.href)) document.head.append(link.cloneNode());
    }
    put(page.querySelector(".sheet").cloneNode(true));
    Object.assign(document.documentElement, { lang, dir });
    document.title = page.title;
    for (const { src } of page.querySelectorAll("script[src]")) {
      if (src === own) continue;
      const script = Object.assign(document.createElement("script"), { src, onload: () => script.remove() });
      document.head.append(script);
    }
    if ("left" in dataset) leave();
    else if ("done" in dataset) thank();
    else if (document.querySelector(".sheet form")) touch();
    else after(CLOSED_MS / 1_000, fresh);
  };

  const thank = () => { isDone = true; after(thanks, fresh); };
  const leave = () => {
    rest();
    hasLeft = true;
    document.querySelector("p.leave").remove();
    navigator.serviceWorker?.getRegistration(path).then((worker) => worker?.unregister());
    self.caches?.delete(`kiosk:${path}`);
    if (document.fullscreenElement) document.exitFullscreen();
    const text = document.getElementById("waiting").content.textContent.replace("{count}", queue.length);
    if (queue.length) document.querySelector("main").append(Object.assign(document.createElement("p"), { textContent: text }));
  };

  // Without a connection the browser alone checks what is required, and the types that it knows.
  const isComplete = (part) => {
    for (const one of [part, ...part.querySelectorAll("*")].filter((each) => each.matches("[aria-required=true]"))) {
      for (const field of one.name ? [one] : one.querySelectorAll("[type=radio]")) field.required = true;
    }
    return [...part.querySelectorAll("input, select, textarea")].every((one) => one.reportValidity());
  };

  addEventListener("submit", async (event) => {
    const form = event.target, body = new URLSearchParams(new FormData(form)), { name, value } = event.submitter ?? {};
    event.preventDefault();
    if (isSending) return;
    if (value === "send" && step < questions.length) {
      if (!step || questions[step - 1].every(isComplete)) turn(step + 1);
      return;
    }
    if (name) body.set(name, value);
    isSending = true;
    try {
      show(await read(await send(form.getAttribute("action"), body)));
      flush();
    } catch {
      if (form.elements.page && (value === "send" || value === "next") && isComplete(form)) {
        wait(form, body, "deliver");
        const sheet = document.querySelector(".sheet").cloneNode();
        sheet.append(document.getElementById("thanks").content.cloneNode(true));
        put(sheet);
        thank();
      }
    }
    isSending = false;
  });

  addEventListener("click", async (event) => {
    const link = event.target.closest("a"), address = link?.getAttribute("href");
    if (!link || hasLeft || address.startsWith("#")) return;
    event.preventDefault();
    if (address === path) fresh();
    if (address !== `${path}/leave`) return;
    try { show(await read(await fetch(address))); } catch { /* the PIN is checked by the server */ }
  });

  for (const name of ["pointerdown", "keydown", "input", "wheel"]) addEventListener(name, touch, { passive: true });
  addEventListener("input", () => { isDirty = true; touch(); });
  addEventListener("pointerdown", () => {
    if (!hasLeft && !document.fullscreenElement) document.documentElement.requestFullscreen?.().catch(() => {});
  });
  addEventListener("online", flush);
  setInterval(() => queue.length && flush(), RETRY_MS);
  navigator.serviceWorker?.register(`${path}/worker`, { scope: path }).catch(() => { /* it goes on as long as it is open */ });
  show(first);
  flush();
})();
