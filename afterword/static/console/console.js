// Links and forms below data-swap="region" replace that region alone where they stay on this page; a link to another page
// that has the region says data-swap itself. A filter acts as soon as something is chosen. Without this file they load the
// whole page, and filters have a button.
(() => {
  "use strict";
  let running = null;

  const regionOf = (element) => document.getElementById(element.closest("[data-swap]")?.dataset.swap ?? "main");

  // A response that is shown is read from then on: its page says so by a form, as a GET changes nothing.
  function read() {
    const form = document.querySelector("form[data-read]"), row = document.querySelector("[data-open]");
    if (!form) return;
    fetch(form.action, { method: "POST", body: new URLSearchParams(), redirect: "manual", keepalive: true }).then(() => {
      form.remove();
      if (row) row.classList.remove("unread");
    }, () => {});
  }

  function load(url, options, region, push) {
    if (running) running.abort();
    const request = running = new XMLHttpRequest();
    request.open(options.method, url);
    request.responseType = "document"; // parsed without running scripts, and no sink of Trusted Types
    if (options.body) request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    region.setAttribute("aria-busy", "true");
    request.onload = () => {
      const page = request.response;
      const fresh = page && page.getElementById(region.id);
      if (!fresh) { location.assign(request.responseURL || url); return; }
      const focused = document.activeElement, id = region.contains(focused) && focused.id;
      region.replaceWith(fresh);
      read();
      document.title = page.title;
      const status = document.querySelector("[role=status]"), said = page.querySelector("[role=status]");
      if (status && said) { status.textContent = said.textContent; status.hidden = said.hidden; }
      const again = id && document.getElementById(id);
      if (again) again.focus(); else if (options.focus) { fresh.tabIndex = -1; fresh.focus({ preventScroll: true }); }
      if (push) history.pushState({ swap: region.id }, "", request.responseURL || url);
    };
    request.onerror = () => location.assign(url);
    request.send(options.body || null);
  }

  addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || !link.closest("[data-swap]") || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
    // A page without the region would be asked for twice: other pages are swapped in by links that say so themselves.
    if (link.pathname !== location.pathname && !link.dataset.swap) return;
    const region = regionOf(link);
    if (!region) return;
    event.preventDefault();
    load(link.href, { method: "GET", focus: true }, region, true);
  });

  addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.closest("[data-swap], .search") || form.method !== "get") return;
    // A filter without a region replaces all of its own page, unless forms there hold what somebody types.
    const isWhole = new URL(form.action).pathname !== location.pathname || document.querySelector("[data-save], [data-warn]");
    if (!form.closest("[data-swap]") && isWhole) return;
    const region = regionOf(form);
    if (!region) return;
    event.preventDefault();
    const query = new URLSearchParams([...new FormData(form, event.submitter)].filter(([, value]) => value));
    load(`${form.action.split("?")[0]}?${query}`, { method: "GET" }, region, true);
  });

  addEventListener("change", ({ target }) => {
    const form = target.form;
    if (!form?.matches("form.search[method=get]") || target.type === "search") return;
    const empty = [...form.querySelectorAll(".dates input")].find((input) => !input.value);
    if (!empty || form.elements.period.value !== "dates") form.requestSubmit();
    else if (target.name === "period") empty.focus();
  });

  addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.done;
  });

  read();
  addEventListener("popstate", () => location.reload());
})();

// Ctrl+K, or the field Find, opens the palette: pages and actions that begin with the typed words, and what a search over
// everything else finds once the typing rests. Without this file the field searches.
(() => {
  "use strict";
  const dialog = document.getElementById("palette"), list = dialog?.querySelector("ul"), field = dialog?.querySelector("input");
  if (!dialog) return;
  const FOUND_MAX = 8, REST_MILLISECONDS = 500, CHARACTERS_MIN = 3;
  let asked = false, resting = 0, searching = null;

  function search() {
    clearTimeout(resting);
    searching?.abort();
    for (const row of list.querySelectorAll("[data-hit]")) row.remove();
    const text = field.value.trim();
    if (text.length < CHARACTERS_MIN) return;
    resting = setTimeout(() => {
      const request = searching = new XMLHttpRequest();
      request.open("GET", `${field.form.action}?q=${encodeURIComponent(text)}`);
      request.responseType = "document"; // as above
      request.onload = () => {
        const found = [...request.response?.querySelectorAll("#found [data-hit]") ?? []].slice(0, FOUND_MAX);
        for (const row of found) {
          const link = row.querySelector("a"), about = document.createElement("span");
          about.className = "help";
          about.textContent = row.dataset.hit;
          link.append(" ", about);
          row.replaceChildren(link);
        }
        list.append(...found);
      };
      request.send();
    }, REST_MILLISECONDS);
  }

  function load() {
    if (asked) return;
    asked = true;
    const request = new XMLHttpRequest();
    request.open("GET", dialog.dataset.pages);
    request.responseType = "document"; // as above
    request.onload = () => {
      const found = request.response?.getElementById("pages");
      if (found) { list.replaceChildren(...found.children); filter(); } else asked = false;
    };
    request.onerror = () => { asked = false; };
    request.send();
  }

  function filter() {
    const wanted = field.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    for (const row of list.querySelectorAll("[data-words]")) {
      const words = row.dataset.words.split(" ");
      row.hidden = !wanted.every((text) => words.some((word) => word.startsWith(text)));
    }
  }

  const links = () => [...list.querySelectorAll("li:not([hidden]) a")];

  function open(text) {
    if (dialog.open) return;
    load();
    field.value = text;
    filter();
    dialog.showModal();
    field.focus();
  }

  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); open(""); }
  });
  document.getElementById("find")?.addEventListener("click", () => open(""));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  field.addEventListener("input", () => { filter(); search(); });
  field.form.addEventListener("submit", (event) => {
    const first = field.value.trim() && links()[0];
    if (first && event.submitter?.name !== "all") { event.preventDefault(); first.click(); }
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [field, ...links()];
    all[Math.min(Math.max(all.indexOf(document.activeElement) + step, 0), all.length - 1)].focus();
  });
})();
