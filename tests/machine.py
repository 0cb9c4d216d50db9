"""Limits in seconds that hold on any machine: stretched by how slow this one is at this moment.

A limit of time is set on one machine and judged on another, beside other processes. So a piece of work of known size is
timed where a limit would be broken, and the limit grows with it.
"""

import json
import time
from typing import Final

REFERENCE_SECONDS: Final = 0.004  # what `_work` takes on the machine on which the limits were set
LOOKS: Final = 25  # so many that other processes have their turn in between, and show
_TEXT: Final = json.dumps([{"name": f"n{n}", "values": [n, n + 0.5, None, True, "x" * 20]} for n in range(1_000)])


def slowness() -> float:
    """This machine's slowness, as a multiple of that machine's: 1 at least."""
    return max(1.0, _work() / REFERENCE_SECONDS)


def is_over(seconds: float, *, limit: float) -> bool:
    """Whether `seconds` (of CPU or of waiting) are more than `limit` means on this machine."""
    return seconds > limit and seconds > limit * max(slowness() for _ in range(LOOKS))


def _work() -> float:
    before = time.perf_counter()
    json.loads(json.dumps(json.loads(_TEXT)))
    sum(number * number for number in range(20_000))
    return time.perf_counter() - before
