// The preview beside the form of a question: words are changed where they stand. The editor around it says how they are
// written, since variables are filled in here, and takes each change.
(() => {
  "use strict";
  if (parent === self) return; // opened alone
  const titles = new Map(); // by question

  const tell = (question, words) => parent.postMessage({ question, words }, "*"); // its site alone may frame the page

  for (const label of document.querySelectorAll(".question > :is(legend, .legend, h2)")) {
    const title = document.createElement("span"), question = label.parentElement.id.slice(2);
    title.textContent = label.firstChild.textContent.trim();
    title.style.cursor = "text";
    label.firstChild.replaceWith(title);
    titles.set(question, title);
    title.addEventListener("click", (event) => {
      event.preventDefault(); // a label leads to its field
      if (!title.isContentEditable) tell(question);
    });
    title.addEventListener("input", () => tell(question, title.textContent.trim()));
    title.addEventListener("blur", () => { title.contentEditable = "false"; });
    title.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      title.blur();
    });
  }

  addEventListener("message", ({ data, source }) => {
    const title = source === parent && titles.get(data.question);
    if (!title) return;
    title.contentEditable = "plaintext-only";
    title.textContent = data.words;
    title.focus();
    getSelection().selectAllChildren(title);
    getSelection().collapseToEnd();
  });
  tell("");
})();
