// Ranking by buttons, beside the places to choose, which work alone: every press moves one entry, and says where to.
(() => {
  const ARROW = { up: "M5 12l7-7 7 7M12 5v14", down: "M5 12l7 7 7-7M12 19V5" };

  const arrow = (way) => {
    const namespace = "http://www.w3.org/2000/svg";
    const drawing = document.createElementNS(namespace, "svg");
    const path = document.createElementNS(namespace, "path");
    drawing.setAttribute("viewBox", "0 0 24 24");
    drawing.setAttribute("aria-hidden", "true");
    path.setAttribute("d", ARROW[way]);
    drawing.append(path);
    return drawing;
  };

  for (const list of document.querySelectorAll("[data-ranking]")) {
    const rows = [...list.children].map((element) => ({
      element, select: element.querySelector("select"), label: element.querySelector("label > span").textContent,
    }));
    const places = rows[0].select.options.length - 1;
    const status = document.createElement("p");
    status.className = "unseen";
    status.setAttribute("role", "status");
    list.after(status);

    const ranked = () => rows.filter((row) => row.select.value).sort((one, other) => one.select.value - other.select.value);

    // Gives the places 1, 2, 3 … to these rows in order; whoever falls out at the end has none.
    const place = (order) => {
      for (const row of rows) {
        const at = order.indexOf(row);
        row.select.value = at >= 0 && at < places ? String(at + 1) : "";
      }
      const best = order.slice(0, places);
      list.append(...[...best, ...rows.filter((row) => !best.includes(row))].map((row) => row.element));
      for (const row of rows) {
        const at = best.indexOf(row);
        row.up.setAttribute("aria-disabled", String(at === 0));
        row.down.setAttribute("aria-disabled", String(at < 0));
      }
    };

    const say = (row) => {
      const text = row.select.value ? list.dataset.said : list.dataset.none;
      status.textContent = text.replace("{choice}", row.label).replace("{place}", row.select.value);
    };

    const move = (row, way) => {
      const order = ranked();
      const at = order.indexOf(row);
      if (way === "up" && at < 0) order.splice(Math.min(order.length, places - 1), 0, row);
      else if (way === "up" && at > 0) order.splice(at - 1, 0, ...order.splice(at, 1));
      else if (way === "down" && at >= 0 && at < order.length - 1) order.splice(at + 1, 0, ...order.splice(at, 1));
      else if (way === "down" && at >= 0) order.splice(at, 1);
      place(order);
      say(row);
      row[way].focus();
    };

    const choose = (row) => {
      const order = ranked().filter((other) => other !== row);
      if (row.select.value) order.splice(row.select.value - 1, 0, row);
      place(order);
      say(row);
      row.select.focus();
    };

    for (const row of rows) {
      for (const way of ["up", "down"]) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "move";
        button.setAttribute("aria-label", list.dataset[way].replace("{choice}", row.label));
        button.append(arrow(way));
        button.addEventListener("click", () => move(row, way));
        row[way] = button;
        row.element.append(button);
      }
      row.select.addEventListener("change", () => choose(row));
    }
    // What was sent with one place given twice stays as it was typed: the page has said so.
    if (new Set(ranked().map((row) => row.select.value)).size === ranked().length) place(ranked());
  }
})();
