"""Structured logs: one line an event, our own and the libraries', without secrets or addresses."""

import logging
import re
import sys
import time
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

MASK = "[hidden]"
VALUE_CHARACTERS_MAX = 4_000
HEAD_CHARACTERS = 500
GAP = " … "
WARNING_SECONDS = 60.0

_SECRETS = re.compile(
    r"afw_[0-9A-Za-z_]{8,}"  # tokens
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # user and password of an address
    r"|[^\s@<>\"'(),:;]{1,64}@[^\s@<>\"'(),:;]{1,255}"  # e-mail addresses
    r"|\+\d[\d ()./-]{6,20}\d"  # phone numbers
    r"|(?<=/[asu]/)[0-9A-Za-z]{12,22}"  # what opens a page without a login
    r"|whsec_[0-9A-Za-z+/=]{8,}"
    r"|(?<=DETAIL: {2})[\s\S]*?(?=\n\n|\nHINT: |\Z)"  # the row that the database refused, with all its values
)
_SECRET_NAMES = re.compile(r"(?i)password|secret|token$|authorization|esat_auth|cookie")


def set_up(*, level: str, as_json: bool, stream: TextIO | None = None) -> None:
    """Send everything, that of libraries too, through one chain of processors to `stream` (standard error)."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.format_exc_info,
        redact,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for chatty in ("uvicorn.access", "httpx2", "httpcore2"):
        logging.getLogger(chatty).setLevel("WARNING")
    logging.getLogger("mcp").setLevel("ERROR")  # its warnings repeat what callers sent
    for own in ("uvicorn", "uvicorn.error"):
        logging.getLogger(own).handlers.clear()
        logging.getLogger(own).propagate = True
    logging.getLogger("uvicorn.error").filters[:] = [_SeldomWarnings()]


class _SeldomWarnings(logging.Filter):
    """Lets the same warning through once in `WARNING_SECONDS`: strangers cause them as often as they like."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        now = time.monotonic()
        if now - self._last.get(record.msg, -WARNING_SECONDS) < WARNING_SECONDS:
            return False
        self._last[record.msg] = now
        return True


def redact(_logger: object, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Hide secrets and addresses in every value, and every value whose name says that it is one."""
    for name, value in event.items():
        if name.startswith("_"):
            continue
        if _SECRET_NAMES.search(name):
            event[name] = MASK
        elif isinstance(value, str):
            event[name] = hide(value)
        elif not isinstance(value, (int, float, bool, type(None))):
            event[name] = hide(str(value))
    return event


def hide(text: str) -> str:
    """`text` without secrets and addresses, its middle left out beyond a length that no log line needs to exceed."""
    hidden = _SECRETS.sub(MASK, text)
    if len(hidden) <= VALUE_CHARACTERS_MAX:
        return hidden
    end = VALUE_CHARACTERS_MAX - HEAD_CHARACTERS - len(GAP)  # a traceback says at its end what happened
    return f"{hidden[:HEAD_CHARACTERS]}{GAP}{hidden[-end:]}"
