// Shows a questionnaire in a box on a website:
//   <script async src="https://…/static/public/box.js" data-link="https://…/l/KEY"></script>
// or box.js?link=KEY; with data-locale, data-metadata="order=7", or window.afterword = {link, locale, metadata}.
// One entry in localStorage.
(() => {
  const own = document.currentScript, given = window.afterword ?? {}, page = document.documentElement;
  const data = own?.dataset ?? {}, to = data.link ?? given.link ?? (own && new URL(own.src).searchParams.get("link"));
  if (!to) return console.warn("Afterword needs box.js?link=KEY or data-link.");
  const link = new URL(to, own && new URL("/l/", own.src)), key = "afterword:" + link.pathname;
  const locale = data.locale ?? given.locale, query = new URLSearchParams(data.metadata ?? given.metadata);
  const language = [locale ? "locale" : "lang", locale || page.lang];
  query.append(...language);

  let memory = {}, settings, host, dialog, stop = [];
  try { memory = JSON.parse(localStorage[key]); } catch { /* none yet, or refused */ }
  const remember = (more) => {
    Object.assign(memory, more);
    try { localStorage[key] = JSON.stringify(memory); } catch { /* then not */ }
  };

  const style = `
:host { all: initial; color-scheme: light dark }
dialog, .bar { position: fixed; inset: auto 1rem 1rem auto; z-index: 2147483647; margin: 0; padding: 0; border: 0;
  border-radius: 10px; font: 16px/1.5 system-ui; color: CanvasText; background: Canvas; box-shadow: 0 4px 40px #0006 }
dialog { width: min(26rem, 100vw - 2rem); overflow: hidden }
:dir(rtl) { inset: auto auto 1rem 1rem }
dialog.center { inset: 0; margin: auto; width: min(40rem, 100vw - 2rem); height: fit-content }
::backdrop { background: #0007 }
.close { position: absolute; inset-block-start: 0; inset-inline-end: 0; width: 44px; height: 44px; border: 0;
  background: none; color: #fff; mix-blend-mode: difference; font: 24px system-ui }
.bar { padding: 12px 20px; font-weight: 600 }
iframe { display: block; width: 100%; height: 12rem; max-height: calc(100vh - 2rem); border: 0 }
:focus-visible { outline: 3px solid; outline-offset: -3px }
@media (prefers-reduced-motion: no-preference) { dialog, .bar { animation: a .15s } @keyframes a { from { opacity: 0 } } }`;

  const make = (name, more) => Object.assign(document.createElement(name), more);
  const put = (element) => {
    host?.remove();
    host = make("div");
    const root = host.attachShadow({ mode: "open" }), sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    root.append(Object.assign(element, { lang: settings.language, dir: settings.direction }));
    document.body.append(host);
    stop.forEach((each) => each());
    remember({ shown: Date.now() });
  };
  const close = () => dialog?.close();

  // A box that opened by itself in the corner leaves the focus where it is.
  const open = (isAsked) => {
    if (dialog) return;
    const { title, position } = settings, before = document.activeElement;
    const frame = make("iframe", { title, src: `${link}/box?${query}` });
    dialog = make("dialog", { className: position, ariaLabel: title });
    dialog.append(make("button", { className: "close", textContent: "×", ariaLabel: settings.close, onclick: close }), frame);
    const hear = ({ origin, source, data }) => {
      if (origin !== link.origin || source !== frame.contentWindow) return;
      if (data.afterword === "size") frame.style.height = data.height + "px";
      if (data.afterword === "done") remember({ answered: 1 });
      if (data.afterword === "close") close();
    };
    addEventListener("message", hear);
    frame.onload = () => frame.contentWindow.postMessage({ afterword: "hello" }, link.origin);
    dialog.onkeydown = (event) => event.key === "Escape" && close();
    dialog.onclose = () => {
      const hadFocus = document.activeElement === host;
      removeEventListener("message", hear);
      host.remove();
      host = dialog = null;
      if (hadFocus || isAsked) before.focus();
    };
    put(dialog);
    if (position === "center") dialog.showModal();
    else if (isAsked) dialog.show();
    else dialog.open = true;
  };

  const offer = () => {
    const here = location.pathname + location.search, { addresses, collapsed, title } = settings;
    if (host || (addresses[0] && !addresses.some((pattern) => RegExp(
      `^${pattern.replace(/[.*+?^${}()|[\]\\]/g, (sign) => (sign === "*" ? ".*" : "\\" + sign))}$`,
    ).test(here)))) return;
    if (!collapsed || innerWidth < 768) open();
    else put(make("button", { className: "bar", textContent: title, ariaHasPopup: "dialog", onclick: () => open(true) }));
  };

  const on = (target, name, act) => {
    target.addEventListener(name, act);
    stop.push(() => target.removeEventListener(name, act));
  };

  const start = (found) => {
    settings = found;
    const { click_selector: selector, delay_seconds: delay, scroll_percent: percent } = found;
    window.afterword = { ...given, open: () => open(true), close };
    if (found.once && memory.answered) return;
    if (selector) {
      document.addEventListener("click", (event) => {
        if (!event.target.closest(selector)) return;
        event.preventDefault();
        open(true);
      });
    }
    memory.draw ?? remember({ draw: Math.random() * 100 });
    if (memory.draw >= found.share_percent || Date.now() - memory.shown < found.again_days * 864e5) return;
    if (delay !== null) {
      const timer = setTimeout(offer, delay * 1000);
      stop.push(() => clearTimeout(timer));
    }
    if (percent) on(window, "scroll", () => (scrollY + innerHeight) / page.scrollHeight * 100 >= percent && offer());
    if (found.on_exit) on(document, "mouseout", (event) => !event.relatedTarget && event.clientY <= 0 && offer());
  };

  fetch(`${link}/box/settings?${language.join("=")}`, { credentials: "omit" })
    .then((answer) => answer.ok && answer.json()).then((found) => found && start(found), () => {});
})();
