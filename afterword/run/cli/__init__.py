"""The commands: each reads the settings once and passes values on."""


class CommandError(Exception):
    """A command ends here; the sentence says why and what to do."""
