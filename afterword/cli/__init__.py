"""What the command line starts: the roots. They read the settings once and pass values on."""


class CommandError(Exception):
    """A command ends here; the sentence says why and what to do."""
