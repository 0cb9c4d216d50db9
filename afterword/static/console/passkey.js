// Passkeys: the button of such a form asks the browser for a credential and sends it. Without this file, or in a browser
// without passkeys, the sentence beside the form stays.
(() => {
  "use strict";
  const known = window.PublicKeyCredential;
  if (!known || !known.parseCreationOptionsFromJSON) return;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const isNew = form.dataset.passkey === "create", wrong = form.querySelector("[role=alert]");
    form.hidden = false;
    form.nextElementSibling.hidden = true;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      wrong.hidden = true;
      const options = JSON.parse(form.dataset.options);
      try {
        const found = isNew
          ? await navigator.credentials.create({ publicKey: known.parseCreationOptionsFromJSON(options) })
          : await navigator.credentials.get({ publicKey: known.parseRequestOptionsFromJSON(options) });
        form.elements.credential.value = JSON.stringify(found.toJSON());
        form.submit(); // no event: it is sent
      } catch {
        wrong.hidden = false; // closed, timed out, or none is there: the browser has said which
      }
    });
  }
})();
