// Tells that somebody opened the review link of the last page, which works without.
(() => {
  for (const link of document.querySelectorAll("a[data-told]")) {
    const tell = (event) => event.isTrusted && event.button < 2 && 
      navigator.sendBeacon(link.dataset.told, new URLSearchParams({ token: link.dataset.token }));
    link.addEventListener("click", tell);
    link.addEventListener("auxclick", tell);
  }
})();
