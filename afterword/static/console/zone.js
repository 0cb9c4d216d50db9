// The time zone of the browser, in the set-up of an organization that has not chosen one.
(() => {
  "use strict";
  const select = document.getElementById("time_zone"), zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...select.options].some((option) => option.value === zone)) select.value = zone;
})();
