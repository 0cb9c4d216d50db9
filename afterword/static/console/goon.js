// A page that was led back to goes on by itself; without this file the button does.
document.querySelector("form[data-goon]").requestSubmit();
