"""A connection whose statements are spans, where telemetry is on. Statements are literals, and values stay out."""

from typing import Any, Final

from afterword import telemetry

STATEMENTS: Final = frozenset({"execute", "fetch", "fetchrow", "fetchval"})


def traced(raw: Any) -> Any:
    """The driver's connection, or what stands in front of it."""
    collecting = telemetry.current()
    return raw if collecting is None else _Traced(raw, collecting)


class _Traced:
    __slots__ = ("_collecting", "_raw")

    def __init__(self, raw: Any, collecting: telemetry.Telemetry) -> None:
        self._raw = raw
        self._collecting = collecting

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._raw, name)
        if name not in STATEMENTS:
            return method

        async def run(query: str, *values: object, **options: Any) -> Any:
            with self._collecting.statement(query):
                return await method(query, *values, **options)

        return run
