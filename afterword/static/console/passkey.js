// Passkeys: the button of such a form asks the browser for a credential and sends it; a form with `data-offered` also lets
// the browser offer passkeys in the field of the address. Without this file, or in a browser without passkeys, the
// sentence beside the form stays.
(() => {
  "use strict";
  const known = window.PublicKeyCredential;
  if (!known || !known.parseCreationOptionsFromJSON) return;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const isNew = form.dataset.passkey === "create", wrong = form.querySelector("[role=alert]");
    form.hidden = false;
    form.nextElementSibling.hidden = true;
    const options = JSON.parse(form.dataset.options), offer = new AbortController();
    const send = (found) => {
      form.elements.credential.value = JSON.stringify(found.toJSON());
      form.submit(); // no event: it is sent
    };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      wrong.hidden = true;
      offer.abort(); // a browser asks for one at a time
      try {
        send(isNew
          ? await navigator.credentials.create({ publicKey: known.parseCreationOptionsFromJSON(options) })
          : await navigator.credentials.get({ publicKey: known.parseRequestOptionsFromJSON(options) }));
      } catch {
        wrong.hidden = false; // closed, timed out, or none is there: the browser has said which
      }
    });
    if ("offered" in form.dataset && known.isConditionalMediationAvailable) {
      known.isConditionalMediationAvailable().then((is) => is && !offer.signal.aborted && navigator.credentials.get({
        publicKey: known.parseRequestOptionsFromJSON(options), mediation: "conditional", signal: offer.signal,
      }).then(send)).catch(() => {}); // not taken: the fields and the button stay
    }
  }
})();
