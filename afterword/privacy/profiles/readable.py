"""A copy of all that is held on a person as a page to read, made of the same resources as the JSON document."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final, cast

TITLES: Final[Mapping[str, str]] = {
    "responder": "The person", "values": "Values", "queue_items": "Messages",
    "instances": "Questionnaires that were sent or begun", "responses": "Answers", "tags": "Tags",
    "alert_instances": "Cases", "alert_comments": "Comments on cases", "alert_messages": "Mails of cases",
    "suppressions": "Addresses that are not written to",
}  # fmt: skip
HEAD: Final = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width">\n<title>All that is held on a person</title>\n'
    "<style>body{font:16px/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}dl{display:grid;"
    "grid-template-columns:minmax(8rem,1fr) 3fr;gap:.2rem 1rem;border-top:1px solid;padding-top:.5rem}"
    "dd{margin:0;overflow-wrap:anywhere}dl dl{border:0;padding:0;margin:0}</style>\n"
    "<h1>All that is held on a person</h1>\n"
)
NOTHING: Final = "<p>Nothing.</p>\n"


def title(name: str) -> str:
    return f"<h2>{escape(TITLES[name])}</h2>\n"


def part(resource: Mapping[str, Any]) -> str:
    """A resource, as JSON has it, by its members; those without a value are left out."""
    rows = [
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{_value(value)}</dd>\n"
        for name, value in resource.items()
        if value not in (None, "", [], {})
    ]
    return f"<dl>\n{''.join(rows)}</dl>\n"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return part(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return "<br>".join(_value(each) for each in cast("Sequence[object]", value))
    return escape(str(value))
