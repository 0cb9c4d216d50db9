// Gives each cell of a wide table the name of its column, which phone.css shows.
for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
  const names = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  if (names.length < 3) continue;
  table.dataset.cards = "";
  for (const row of table.querySelectorAll("tbody tr"))
    [...row.cells].forEach((cell, place) => { if (names[place]) cell.dataset.column = names[place]; });
}
