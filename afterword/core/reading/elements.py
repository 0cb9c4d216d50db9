"""Reads XML by expat, event by event. A document type is refused, and with it every entity that it could declare."""

from collections.abc import Mapping
from typing import Final, Protocol
from xml.parsers import expat

from afterword.errors import Invalid

DEPTH_MAX: Final = 32


class Handler(Protocol):
    """Takes the events of a document; what `start` and `end` raise ends the reading."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def data(self, text: str) -> None: ...


def parse(text: str, handler: Handler, *, message: str) -> None:
    """Give the events of a text to the handler. Raises Invalid, with `message` for what is not a whole XML document."""
    depth = 0

    def refuse(*_: object) -> None:
        raise Invalid.at("", "invalid_format", "A document type is not possible here.")

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEPTH_MAX:
            raise Invalid.at("", "invalid_format", f"The file is nested more than {DEPTH_MAX} deep.")
        handler.start(name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(name)

    parser = expat.ParserCreate("utf-8")  # whatever the file says of its encoding
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.data
    parser.buffer_text = True
    try:
        parser.Parse(text.encode(), True)
    except (expat.ExpatError, ValueError) as error:
        raise Invalid.at("", "invalid_format", message) from error
