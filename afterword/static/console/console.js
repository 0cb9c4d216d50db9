// Links and forms below data-swap="region" replace that region alone where they stay on this page; a link to another page
// that has the region says data-swap itself. A filter acts as soon as something is chosen. Without this file they load the
// whole page, and filters have a button. A panel (class "panel") is a region too, and so are the forms in it that change something.
(() => {
  "use strict";
  let running = null, posting = null, opener = "", top = 0;

  // A panel that stands alone on its page is a page as others.
  function regionOf(element) {
    const region = document.getElementById(element.closest("[data-swap]")?.dataset.swap ?? "main");
    return region?.matches(".desk > .panel") ? null : region;
  }

  // A response that is shown is read from then on: its page says so by a form, as a GET changes nothing.
  function read() {
    const form = document.querySelector("form[data-read]"), row = document.querySelector("[data-open]");
    if (!form) return;
    fetch(form.action, { method: "POST", body: new URLSearchParams(), redirect: "manual", keepalive: true }).then(() => {
      form.remove();
      if (row) row.classList.remove("unread");
    }, () => {});
  }

  const valueOf = (control) => control.type === "checkbox" || control.type === "radio" ? control.checked : control.value;
  const controlsOf = (region) => [...region.querySelectorAll("input[id]:not([type=hidden]), textarea[id], select[id]")];
  const typedIn = (region) => new Map(controlsOf(region).map((one) => [one.id, valueOf(one)]));

  // What somebody typed while the answer was on its way stays, and is saved as what is typed later.
  function carry(before, region, fresh) {
    const late = controlsOf(region).filter((one) => before.has(one.id) && before.get(one.id) !== valueOf(one));
    for (const old of late) {
      const control = fresh.querySelector(`#${CSS.escape(old.id)}`);
      if (!control || control.type !== old.type) continue;
      if (old.type === "checkbox" || old.type === "radio") control.checked = old.checked; else control.value = old.value;
      control.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  function say(page) {
    const status = document.querySelector("[role=status]"), said = page.querySelector("[role=status]");
    if (!status || !said) return;
    status.textContent = said.textContent;
    status.hidden = said.hidden;
    if (!status.parentElement.matches("main > div")) return;
    status.parentElement.className = said.parentElement.className;
    status.parentElement.replaceChildren(status, ...[...said.parentElement.children].slice(1));
  }

  // The link that leads to what was open, after the page was drawn anew.
  function back(path) {
    const links = [...document.querySelectorAll("main a[href]")].filter((one) => one.offsetParent);
    return links.find((one) => one.href === opener) ?? links.find((one) => one.pathname === path);
  }

  function show(page, fresh, region, { focus, hash, before, path }, address) {
    const focused = document.activeElement, isInside = region.contains(focused), id = isInside && focused.id;
    const range = id && [focused.selectionStart, focused.selectionEnd], isSame = new URL(address).pathname === path;
    const isPanel = region.matches(".panel"), opens = isPanel && region.hidden && !fresh.hidden, closes = isPanel && fresh.hidden;
    const place = region.scrollTop;
    if (opens) top = scrollY;
    dispatchEvent(new CustomEvent("swap", { detail: isSame }));
    region.replaceWith(fresh);
    say(page);
    document.title = page.title;
    dispatchEvent(new CustomEvent("fresh", { detail: page }));
    if (isSame && before) { carry(before, region, fresh); fresh.scrollTop = place; }
    read();
    if ((opens || closes) && matchMedia("(max-width: 62.49rem)").matches) scrollTo({ top: opens ? 0 : top, behavior: "instant" });
    if (closes) { back(path)?.focus({ preventScroll: true }); return; }
    const again = isSame && id && document.getElementById(id), at = hash ? fresh.querySelector(`#${CSS.escape(hash)}`) : null;
    const alert = fresh.querySelector("[autofocus]");
    if (again && !alert) {
      again.focus({ preventScroll: true });
      if (range[0] != null && again.setSelectionRange) again.setSelectionRange(...range);
    } else if (at?.matches("input, textarea, select")) {
      at.focus();
      at.select?.();
    } else if (alert) alert.focus();
    else if (focus || isInside) {
      fresh.tabIndex = -1;
      fresh.focus({ preventScroll: true });
      at?.scrollIntoView({ block: "nearest" });
    }
  }

  function asOthers(form, button) {
    form.dataset.whole = "";
    form.requestSubmit(button);
  }

  function load(url, options, region, push) {
    if (running) running.abort();
    const request = new XMLHttpRequest(), { form } = options;
    const before = typedIn(region), path = location.pathname;
    if (!form) running = request;
    request.open(form ? "POST" : "GET", url);
    request.responseType = "document"; // parsed without running scripts, and no sink of Trusted Types
    if (form) request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    region.setAttribute("aria-busy", "true");
    const settle = (isTaken) => { if (form) { posting = null; options.done(isTaken); } };
    const lost = () => {
      settle(false);
      region.removeAttribute("aria-busy");
      const saved = document.getElementById("saved"), text = form?.dataset.lost;
      if (!form) location.assign(url); else if (saved && text) saved.textContent = text; else asOthers(form, options.button);
    };
    request.onload = () => {
      const page = request.response, fresh = page && page.getElementById(region.id), address = request.responseURL || url;
      settle(Boolean(fresh) && request.status < 400);
      // The page of a refusal is that of the form, and is asked for again by the browser.
      if (!fresh) { if (form && request.status >= 400) asOthers(form, options.button); else location.assign(address); return; }
      show(page, fresh, region, { ...options, before, path }, new URL(address, location.href).href);
      const isMoved = push || new URL(address, location.href).pathname !== path, at = options.hash ? `#${options.hash}` : "";
      history[isMoved ? "pushState" : "replaceState"]({ swap: region.id }, "", `${address}${at}`);
    };
    request.onerror = lost;
    request.send(form ? options.body() : null);
  }

  // What a form has not saved yet is saved first, or its page is left as any other, where the browser asks.
  async function leave(go, assign, form) {
    const detail = { form, waits: [] };
    const isFree = dispatchEvent(new CustomEvent("leave", { cancelable: true, detail }));
    if ((await Promise.all([isFree, ...detail.waits])).includes(false)) assign(); else go();
  }

  addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || !link.closest("[data-swap]") || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
    // A page without the region would be asked for twice: other pages are swapped in by links that say so themselves.
    if (link.pathname !== location.pathname && !link.dataset.swap) return;
    const region = regionOf(link);
    const [page] = link.href.split("#");
    if (!region || (link.hash && page === location.href.split("#")[0])) return;
    event.preventDefault();
    if (region.matches(".panel") && !region.contains(link)) opener = link.href;
    const { href, hash } = link, options = { focus: true, hash: hash.slice(1) };
    const go = () => load(href, options, document.getElementById(region.id), true);
    Promise.resolve(posting ?? true).then((isTaken) => { if (isTaken) leave(go, () => location.assign(href)); });
  });

  addEventListener("submit", (event) => {
    const form = event.target, button = event.submitter, isPost = form.method === "post";
    if (isPost) {
      if ("whole" in form.dataset) return;
      const region = form.closest(".toast") ? document.querySelector(".panes > .panel") : form.closest("[data-swap]") && regionOf(form);
      if (!region?.matches(".panel")) return;
      event.preventDefault();
      if (posting) return;
      const body = () => new URLSearchParams([...new FormData(form, button)]).toString();
      const url = button?.hasAttribute("formaction") ? button.formAction : form.action, hash = form.dataset.at;
      posting = new Promise((done) => leave(
        () => load(url, { form, button, body, hash, done }, document.getElementById("open")),
        () => { posting = null; done(false); asOthers(form, button); }, form));
      return;
    }
    if (!form.closest("[data-swap], .search")) return;
    // A filter without a region replaces all of its own page, unless forms there hold what somebody types.
    const isWhole = new URL(form.action).pathname !== location.pathname || document.querySelector("[data-save], [data-warn]");
    if (!form.closest("[data-swap]") && isWhole) return;
    const region = regionOf(form);
    if (!region) return;
    event.preventDefault();
    const query = new URLSearchParams([...new FormData(form, button)].filter(([, value]) => value));
    load(`${form.action.split(/[?#]/)[0]}?${query}`, {}, region, true);
  });

  // Escape closes a panel by its own link; in a list of choices it closes that.
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.target.matches(".subject") || document.querySelector("dialog[open]")) return;
    document.querySelector(".panes > .panel .shut")?.click();
  });

  addEventListener("change", ({ target }) => {
    const form = target.form;
    if (!form?.matches("form.search[method=get]") || target.type === "search") return;
    const empty = [...form.querySelectorAll(".dates input")].find((input) => !input.value);
    if (!empty || form.elements.period.value !== "dates") form.requestSubmit();
    else if (target.name === "period") empty.focus();
  });

  addEventListener("change", ({ target }) => {
    const frame = target.dataset.shown && document.getElementById(target.form?.dataset.frame);
    if (!frame) return;
    const url = new URL(frame.src);
    for (const one of target.form.querySelectorAll("[data-shown]")) if (one.type !== "radio" || one.checked) url.searchParams.set(one.dataset.shown, one.value);
    frame.contentWindow.location.replace(url);
    frame.closest("figure").hidden = !url.searchParams.get("name");
  });

  addEventListener("click", ({ target }) => target.closest("[data-close]")?.parentElement.remove());

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
  dialog.addEventListener("keydown", (event) => {
    const first = event.key === "Enter" && event.target === field && field.value.trim() && links()[0];
    if (first) { event.preventDefault(); first.click(); }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [field, ...links()];
    all[Math.min(Math.max(all.indexOf(document.activeElement) + step, 0), all.length - 1)].focus();
  });
})();

// A condition reads as a sentence: comparisons and values follow the chosen field, and the browser checks what is typed. Without
// this file each row is two lists and a text, with one more row to fill.
(() => {
  "use strict";
  const ROWS_MAX = 20, GROUPS_MAX = 4, ONE = ["equal", "not_equal", "contains", "not_contains"], WITHOUT = ["is_empty", "is_not_empty"];
  const TYPES = { integer: "number", integers: "number", number: "number", metric: "number", date: "date", time: "time", date_time: "datetime-local" };
  const LIST = "\\s*-?\\d+([.,]\\d+)?(\\s*,\\s*-?\\d+([.,]\\d+)?)*\\s*";
  const templates = new WeakMap(); // of a row and of a group, by their condition

  const control = (row, name) => row.querySelector(`[name^="${name}-"]`);
  const rowsOf = (place) => [...place.querySelectorAll(":scope > .condition")];

  function create(tag, values) {
    return Object.assign(document.createElement(tag), values);
  }

  function valueControl(old, list, operator, isStored) {
    const kind = list?.dataset.kind, values = list ? [...list.options] : [], isRanged = operator === "equal";
    const shared = { name: old.name, id: old.id, className: "text value" };
    let fresh = null;
    if (list && "closed" in list.dataset && ONE.includes(operator)) {
      fresh = create("select", shared);
      fresh.append(new Option("…", ""), ...values.filter((one) => isRanged || !("range" in one.dataset)).map((one) => new Option(one.value, one.value)));
    } else {
      const isTyped = operator !== "in" && operator !== "begins_with" && !(operator.includes("contains") && kind === "text");
      fresh = create("input", { ...shared, type: (isTyped && TYPES[kind]) || "text", maxLength: 500, autocomplete: "off" });
      if (fresh.type === "number") {
        fresh.step = kind === "integer" ? "1" : "any";
        [fresh.min, fresh.max] = [list.dataset.low, list.dataset.high];
      } else if (fresh.type === "date") [fresh.min, fresh.max] = [list.dataset.low, list.dataset.high];
      else if (fresh.type === "text" && list) fresh.setAttribute("list", list.id);
      if (operator === "in" && TYPES[kind] === "number" && !values.some((one) => !/^\d/.test(one.value))) fresh.pattern = LIST;
    }
    for (const name of ["aria-label", "aria-invalid", "aria-describedby"]) if (old.hasAttribute(name)) fresh.setAttribute(name, old.getAttribute(name));
    fresh.value = old.value;
    if (fresh.value === old.value) return fresh;
    // A stored value that the control cannot show stays a text, and the server says what is wrong with it.
    if (fresh.localName === "select") fresh.selectedIndex = 0; else if (isStored) Object.assign(fresh, { type: "text", value: old.value });
    return fresh;
  }

  function fit(row, isStored = false) {
    const [subject, operator, value] = ["subject", "operator", "value"].map((name) => control(row, name));
    const list = [...row.closest(".conditions").querySelectorAll("[data-of]")].find((one) => one.dataset.of === subject.value);
    for (const one of operator.options) one.hidden = one.disabled = Boolean(list) && !one.dataset.kinds.split(" ").includes(list.dataset.kind);
    if (operator.selectedOptions[0]?.disabled ?? true) operator.value = [...operator.options].find((one) => !one.disabled).value;
    const fresh = valueControl(value, list, operator.value, isStored), isNeeded = Boolean(subject.value) && !WITHOUT.includes(operator.value);
    fresh.required = isNeeded;
    fresh.hidden = fresh.disabled = !isNeeded;
    operator.hidden = !subject.value;
    value.replaceWith(fresh);
  }

  function number(row, n, place) {
    for (const one of row.querySelectorAll("[name]")) {
      one.name = one.name.replace(/\d+$/, n);
      if (one.id) one.id = one.name;
      if (one.hasAttribute("aria-label")) one.setAttribute("aria-label", one.getAttribute("aria-label").replace(/\d+$/, n + 1));
    }
    control(row, "place").value = place;
  }

  const groupsOf = (all) => [...all.querySelectorAll(":scope > .inner")];

  // The words between the rows, and the buttons that fit: alternatives of several rows each are added as groups.
  function say(all) {
    const kind = all.querySelector("[name=group]").value, inner = kind === "all" ? "any" : "all";
    const groups = groupsOf(all), rows = [...all.querySelectorAll(".condition")], outer = rowsOf(all.querySelector(".outer"));
    rows.forEach((row, n) => {
      const isInside = row.closest(".inner") && row.previousElementSibling?.matches(".condition");
      row.querySelector(".joint").textContent = n === 0 ? all.dataset.lead : all.dataset[isInside ? inner : kind];
      row.querySelector("[data-remove]").hidden = rows.length === 1 && !control(row, "subject").value;
    });
    const { row, group } = templates.get(all), isFull = !row || rows.length >= ROWS_MAX;
    for (const button of all.querySelectorAll("[data-add]")) {
      const wanted = button.dataset.add;
      if (!wanted) { button.hidden = isFull; button.textContent = `+ ${all.dataset[inner]}`; continue; }
      const isSame = wanted === kind || (!groups.length && outer.length < 2);
      const isGroup = wanted === "any" && kind === "any" && groups.length && !outer.length;
      const count = isSame ? groups.length + 1 : wanted === "any" ? 2 : outer.length;
      button.hidden = isFull || (isSame ? isGroup && (count > GROUPS_MAX || !group) : groups.length > 0 || count > GROUPS_MAX || !group);
    }
  }

  function fresh(all, box, place) {
    const row = templates.get(all).row.cloneNode(true), taken = new Set([...all.querySelectorAll("[name^=subject-]")].map((one) => one.name));
    let n = 0;
    while (taken.has(`subject-${n}`)) n += 1;
    number(row, n, place);
    const last = rowsOf(box).at(-1);
    if (last) last.after(row); else box.prepend(row);
    fit(row);
    return row;
  }

  function group(all, rows) {
    const box = templates.get(all).group.cloneNode(true), places = groupsOf(all).map((one) => Number(control(one, "place").value));
    const place = Math.max(0, ...places) + 1;
    (groupsOf(all).at(-1) ?? all.querySelector(".outer")).after(box);
    box.prepend(...rows);
    for (const row of rows) control(row, "place").value = place;
    return [box, place];
  }

  function add(all, button) {
    const kind = all.querySelector("[name=group]"), wanted = button.dataset.add, outer = all.querySelector(".outer"), rows = rowsOf(outer);
    let row = null;
    if (!wanted) {
      const box = button.closest(".inner");
      row = fresh(all, box, control(box, "place").value);
    } else if (!groupsOf(all).length && (rows.length < 2 || kind.value === wanted)) {
      kind.value = wanted;
      row = fresh(all, outer, 0);
    } else if (kind.value === wanted && (rows.length || wanted === "all")) row = fresh(all, outer, 0);
    else if (wanted === "any") { // after this and that: the alternative to both
      if (kind.value === "all") { kind.value = "any"; group(all, rows); }
      row = fresh(all, ...group(all, []));
    } else { // after this or that: more of the last alternative
      kind.value = "any";
      const boxes = rows.map((one) => group(all, [one]));
      row = fresh(all, ...boxes.at(-1));
    }
    say(all);
    control(row, "subject").focus();
  }

  function remove(all, row) {
    const box = row.closest(".inner");
    if (all.querySelectorAll(".condition").length === 1) { control(row, "subject").value = ""; fit(row); } else row.remove();
    if (box && !rowsOf(box).length) box.remove();
    if (!all.querySelector(".condition")) fresh(all, all.querySelector(".outer"), 0);
    say(all);
    control(all.querySelector(".condition"), "subject").focus();
    all.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function begin() {
    for (const all of document.querySelectorAll(".conditions[data-lead]")) {
      if (templates.has(all)) continue;
      const row = all.querySelector(".condition.spare")?.cloneNode(true), box = all.querySelector(".inner.spare");
      const empty = box?.cloneNode(true);
      for (const one of empty?.querySelectorAll(".condition") ?? []) one.remove();
      for (const one of [row, empty]) one?.classList.remove("spare");
      for (const one of all.querySelectorAll(".spare")) one.remove();
      templates.set(all, { row, group: empty });
      for (const one of all.querySelectorAll(".condition")) fit(one, true);
      say(all);
    }
  }

  addEventListener("change", ({ target }) => {
    const row = target.closest(".condition"), all = row?.closest(".conditions[data-lead]");
    if (!all || target.matches(".value")) return;
    if (target.matches(".subject")) {
      control(row, "value").value = "";
      control(row, "operator").value = all.querySelector(`[data-of="${CSS.escape(target.value)}"]`)?.dataset.kind === "integers" ? "contains" : "equal";
      for (const one of row.querySelectorAll(".error")) one.remove();
      for (const one of row.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
    }
    fit(row);
    say(all);
  });
  addEventListener("click", ({ target }) => {
    const button = target.closest("[data-add], [data-remove]"), all = button?.closest(".conditions[data-lead]");
    if (!all) return;
    if ("add" in button.dataset) add(all, button); else remove(all, button.closest(".condition"));
  });
  addEventListener("fresh", begin);
  begin();
})();
