// “Print or save as PDF”. Without this file the browser's own menu prints; the button is not shown without scripts.
addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});
