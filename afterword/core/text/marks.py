"""The mark of texts that a module declares, and a page or mail says in the language of its reader."""

Marked = str  # a test looks up in the catalogues whatever is declared as one, or given for a parameter that is one
