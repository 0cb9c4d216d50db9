#!/usr/bin/env bash
# pandas 3.1.1: ISO 8601 times with two offsets in one column are refused by to_datetime.
# Local times of one zone have two offsets as soon as the column spans a change of clocks.
# read_csv(parse_dates=…) does not raise: the column silently stays text.
# utc=True reads both, and times in UTC are read without it.
# Seen: one offset: datetime64[us, UTC+03:00]
# Seen: two offsets: ValueError Mixed timezones detected
# Seen: two offsets, utc=True: datetime64[us, UTC]
# Seen: read_csv with parse_dates: str
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install pandas==3.1.1
"$folder/venv/bin/python" - >"$folder/out" <<'PYTHON'
import io
import warnings

import pandas as pd

SUMMER, WINTER = "2026-10-24T10:00:00+03:00", "2026-10-26T10:00:00+02:00"


def show(name, read):
    try:
        print(f"{name}: {read().dtype}")
    except ValueError as error:
        print(f"{name}: {type(error).__name__} {str(error).split('.')[0]}")


warnings.simplefilter("ignore")
show("one offset", lambda: pd.to_datetime(pd.Series([SUMMER, SUMMER])))
show("two offsets", lambda: pd.to_datetime(pd.Series([SUMMER, WINTER])))
show("two offsets, utc=True", lambda: pd.to_datetime(pd.Series([SUMMER, WINTER]), utc=True))
file = io.StringIO(f"time\n{SUMMER}\n{WINTER}\n")
show("read_csv with parse_dates", lambda: pd.read_csv(file, parse_dates=["time"])["time"])
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
