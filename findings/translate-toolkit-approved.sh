#!/usr/bin/env bash
# translate-toolkit 3.20.4: an XLIFF 1.2 target with state="translated" is fuzzy unless its unit says approved="yes".
# The state alone does not count as done; even state="final" or "signed-off" does not. No `approved` is read as "no".
# Seen: translated, no approved: fuzzy True
# Seen: translated, approved yes: fuzzy False
# Seen: final, no approved: fuzzy True
# Seen: signed-off, no approved: fuzzy True
# Seen: no state, no approved: fuzzy True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install translate-toolkit==3.20.4
"$folder/venv/bin/python" - >"$folder/out" <<'PYTHON'
from translate.storage import xliff

FILE = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" datatype="plaintext" '
    'source-language="en" target-language="el"><body><trans-unit id="1"{unit}><source>Yes</source>'
    "<target{target}>Nai</target></trans-unit></body></file></xliff>"
)
for state, approved in (("translated", ""), ("translated", "yes"), ("final", ""), ("signed-off", ""), ("", "")):
    unit = f' approved="{approved}"' if approved else ""
    target = f' state="{state}"' if state else ""
    found = xliff.xlifffile.parsestring(FILE.format(unit=unit, target=target).encode()).units[0]
    print(f"{state or 'no state'}, {'approved ' + approved if approved else 'no approved'}: fuzzy {found.isfuzzy()}")
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
