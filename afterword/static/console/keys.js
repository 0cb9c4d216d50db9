// Keys: "/" searches, "g" and a letter goes to a section, "j" and "k" move in a list, "?" lists them. The page loads this
// file unless its reader has switched single keys off.
(() => {
  "use strict";
  let waits = false;

  function move(step) {
    const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent);
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
    const link = next.matches("a") ? next : next.querySelector("a[href]");
    if (link) { link.focus(); next.scrollIntoView({ block: "nearest" }); }
  }

  addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target.isContentEditable) return;
    if (target.matches("input, textarea, select") || document.querySelector("dialog[open]")) return;
    if (waits) {
      waits = false;
      const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    switch (event.key) {
      case "g": waits = true; setTimeout(() => { waits = false; }, 1500); break;
      case "j": move(1); break;
      case "k": move(-1); break;
      case "?": document.getElementById("keys").showModal(); break;
      case "/": {
        const search = document.querySelector("main input[type=search]") || document.getElementById("find");
        if (search) { event.preventDefault(); search.focus(); search.select(); }
        break;
      }
      default:
    }
  });
})();
