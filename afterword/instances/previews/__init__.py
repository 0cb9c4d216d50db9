"""Answer pages without effect: of a questionnaire of the library, and of a draft."""
