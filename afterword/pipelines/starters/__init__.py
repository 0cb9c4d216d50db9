"""Questionnaires of the library, each with a pipeline by e-mail that is ready to send."""
