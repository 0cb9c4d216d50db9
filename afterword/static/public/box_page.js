// The page in a box: tells the website around it its height, its end, and the Escape key. The website speaks first, so
// that its origin is known and can be checked.
(() => {
  const { origins, done } = document.body.dataset;
  let origin;
  const tell = (kind, more) => origin && parent.postMessage({ afterword: kind, ...more }, origin);
  const size = () => tell("size", { height: Math.ceil(document.body.getBoundingClientRect().height) });

  addEventListener("message", (event) => {
    if (event.source !== parent || !origins.split(" ").includes(event.origin) || event.data?.afterword !== "hello") return;
    origin = event.origin;
    size();
    if (done !== undefined) tell("done");
  });
  new ResizeObserver(size).observe(document.body);
  addEventListener("keydown", (event) => event.key === "Escape" && tell("close"));

  const others = document.querySelector("details.others");
  if (others) addEventListener("change", () => { others.open = true; });
})();
