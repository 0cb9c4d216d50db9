"""The declaration of a tool, and how one is run: its arguments read, a change confirmed, its result marked."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from afterword.extras.assistants import untrusted
from afterword.extras.assistants.client import Answer, Api, Refused
from afterword.extras.assistants.confirmations import CODE_CHARACTERS_MAX, Confirmations

TOOL_SECONDS_MAX: Final = 60
RESULT_CHARACTERS_MAX: Final = 100_000
PAGE_MAX: Final = 50
PAGE_DEFAULT: Final = 20
CONFIRMATION: Final = "confirmation"

Id = Annotated[str, Meta(pattern=r"^[0-9A-Za-z]{22}$", description="An id of 22 letters and digits.")]
Moment = Annotated[str, Meta(min_length=10, max_length=64, description="ISO 8601, as in 2027-01-15T10:30:00+02:00.")]
Limit = Annotated[int, Meta(ge=1, le=PAGE_MAX, description="At most so many entries.")]
Cursor = Annotated[str, Meta(max_length=500, description="`next_cursor` of the page before.")]


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Arguments of a tool, by name."""


class Page(Arguments):
    limit: Limit = PAGE_DEFAULT
    cursor: Cursor | None = None


Read = Callable[[Api, Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Change:
    """A writing tool. `preview` says what would happen and changes nothing; `act` does it once."""

    preview: Callable[[Api, Any], Awaitable[Answer]]
    act: Callable[[Api, Any, "Go"], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Go:
    """Leave to change something: `key` for a POST, `version` for a PATCH or PUT."""

    key: str
    version: str | None


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Read | Change
    scopes: tuple[str, ...]
    """All that it needs; the API checks them."""
    own: Collection[str] | None = untrusted.OWN
    """Members whose texts are not customers'; None: all of it is the organization's own."""

    @property
    def writes(self) -> bool:
        return isinstance(self.run, Change)

    @property
    def full_description(self) -> str:
        parts = [self.description]
        if self.writes:
            parts.append(
                "Without `confirmation` this is a dry run: nothing changes, and the result has a `confirmation`. Show "
                "the person the result; with their consent call again with the same arguments and that code."
            )
        parts.append(f"Needs {' and '.join(self.scopes)}.{'' if self.own is None else f' {untrusted.NOTICE}'}")
        return "\n\n".join(parts)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, an object at its root."""
        _, components = msgspec.json.schema_components([self.arguments], ref_template="#/$defs/{name}")
        schema: dict[str, Any] = dict(components.pop(self.arguments.__name__))
        schema.pop("title", None)
        schema.pop("description", None)
        if self.writes:
            code = {"type": "string", "maxLength": CODE_CHARACTERS_MAX, "description": "The code of the dry run."}
            schema["properties"] = {**schema["properties"], CONFIRMATION: code}
        if components:
            schema["$defs"] = components
        return schema


@dataclass(frozen=True, slots=True)
class Runner:
    tools: Mapping[str, Tool]
    confirmations: Confirmations

    async def run(self, name: str, given: Mapping[str, Any], *, api: Api, caller: str) -> dict[str, Any]:
        """The result of a tool. Raises Refused. `caller` tells callers apart; it is kept nowhere."""
        tool = self.tools.get(name)
        if tool is None:
            raise Refused("There is no tool of this name.")
        try:
            async with asyncio.timeout(TOOL_SECONDS_MAX):
                result = await self._run(tool, given, api, caller)
        except TimeoutError:
            raise Refused(f"The tool did not end within {TOOL_SECONDS_MAX} seconds.") from None
        if len(msgspec.json.encode(result)) > RESULT_CHARACTERS_MAX:
            raise Refused("The result is too large. Ask for fewer entries with `limit`, or for a smaller part.")
        return result

    async def _run(self, tool: Tool, given: Mapping[str, Any], api: Api, caller: str) -> dict[str, Any]:
        members = dict(given)
        code = members.pop(CONFIRMATION, None) if tool.writes else None
        arguments = _read(tool.arguments, members)
        if not isinstance(tool.run, Change):
            return _result(await tool.run(api, arguments), tool)
        sealed = {"caller": caller, "tool": tool.name, "arguments": arguments}
        if code is None:
            seen = await tool.run.preview(api, arguments)
            confirmation = self.confirmations.issue(**sealed, version=seen.version)
            return {**_result(seen.document, tool), "dry_run": True, CONFIRMATION: confirmation}
        if not isinstance(code, str) or len(code) > CODE_CHARACTERS_MAX:
            raise Refused(f"{CONFIRMATION}: a text of at most {CODE_CHARACTERS_MAX} characters is expected.")
        confirmed = self.confirmations.check(code, **sealed)
        done = await tool.run.act(api, arguments, Go(confirmed.key, confirmed.version or None))
        return {**_result(done, tool), "dry_run": False}


def _read(arguments: type[Arguments], members: Mapping[str, Any]) -> Arguments:
    try:
        return msgspec.convert(members, arguments, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(f"The arguments are wrong: {str(error).replace('$.', '')}.") from None


def _result(document: Any, tool: Tool) -> dict[str, Any]:
    marked = document if tool.own is None else untrusted.mark(document, own=tool.own)
    notice = {"notice": untrusted.NOTICE} if untrusted.has_marks(marked) else {}
    return {**notice, "result": marked}
