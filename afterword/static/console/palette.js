// Ctrl+K, or the field Find, opens the palette: pages and actions that begin with the typed words, and a search over
// everything else. Without this file the field searches.
(() => {
  "use strict";
  const dialog = document.getElementById("palette"), list = dialog?.querySelector("ul"), field = dialog?.querySelector("input");
  if (!dialog) return;
  let asked = false;

  function load() {
    if (asked) return;
    asked = true;
    const request = new XMLHttpRequest();
    request.open("GET", dialog.dataset.pages);
    request.responseType = "document"; // as in swap.js
    request.onload = () => {
      const found = request.response?.getElementById("pages");
      if (found) { list.replaceChildren(...found.children); filter(); } else asked = false;
    };
    request.onerror = () => { asked = false; };
    request.send();
  }

  function filter() {
    const wanted = field.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    for (const row of list.children) {
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
  field.addEventListener("input", filter);
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
