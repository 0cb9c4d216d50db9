"""The text of an unexpected error for `result`, without addresses."""

from typing import Final

from afterword.core.messaging.addresses import mask

CAUSE_CHARACTERS_MAX: Final = 200


def cause_of(what: str, error: Exception, *addresses: str) -> str:
    """A short sentence: what failed, the kind of error and its own words, addresses masked."""
    words = mask(str(error), *addresses)[:CAUSE_CHARACTERS_MAX]
    return f"{what}: {type(error).__name__}: {words}" if words else f"{what}: {type(error).__name__}"
