// A slider above each number field that asks for one; both have the same value. It is empty until somebody moves it.
(() => {
  for (const box of document.querySelectorAll("[data-slider]")) {
    const field = box.querySelector("input"), slider = document.createElement("input");
    slider.type = "range";
    slider.min = box.dataset.least;
    slider.max = box.dataset.most;
    slider.step = box.dataset.step;
    slider.setAttribute("aria-label", box.dataset.label);

    const read = () => {
      const value = Number(field.value.replace(",", "."));
      const isThere = field.value.trim() !== "" && Number.isFinite(value);
      box.classList.toggle("empty", !isThere);
      if (isThere) slider.value = String(value);
      slider.ariaValueText = isThere ? field.value : "–"; // where it stands is no answer yet
    };

    const write = () => {
      field.value = slider.value.replace(".", box.dataset.point); // as people write it in the language of the page
      box.classList.remove("empty");
      slider.ariaValueText = field.value;
    };

    slider.addEventListener("input", write);
    slider.addEventListener("click", write); // where it stands already
    field.addEventListener("input", read);
    read();
    box.prepend(slider);
  }
})();
