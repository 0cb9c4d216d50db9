// A search field above each long list that opens, which works without it.
(() => {
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
})();
