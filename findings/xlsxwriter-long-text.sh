#!/usr/bin/env bash
# XlsxWriter 3.2.9: write_string() cuts a text after 32,767 characters, and only its result, -2, tells so.
# There is no exception and no warning. write_rich_string() warns of the same limit, and leaves the cell out.
# Seen: write_string of 32767 characters: 0, warnings 0
# Seen: write_string of 40000 characters: -2, warnings 0
# Seen: write of 40000 characters: -2, warnings 0
# Seen: write_rich_string of 40000 characters: -2, warnings 1
# Seen: characters in the file: [32767, 32767, 32767]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install XlsxWriter==3.2.9
"$folder/venv/bin/python" - "$folder/long.xlsx" >"$folder/out" <<'PYTHON'
import re
import sys
import warnings
import zipfile

import xlsxwriter

book = xlsxwriter.Workbook(sys.argv[1])
sheet, bold = book.add_worksheet(), book.add_format({"bold": True})
calls = (
    ("write_string of 32767 characters", sheet.write_string, ["a" * 32_767]),
    ("write_string of 40000 characters", sheet.write_string, ["b" * 40_000]),
    ("write of 40000 characters", sheet.write, ["c" * 40_000]),
    ("write_rich_string of 40000 characters", sheet.write_rich_string, ["d" * 20_000, bold, "d" * 20_000]),
)
for row, (name, call, texts) in enumerate(calls):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(f"{name}: {call(row, 0, *texts)}, warnings {len(caught)}")
book.close()
with zipfile.ZipFile(sys.argv[1]) as file:
    texts = re.findall(r"<t>(.*?)</t>", file.read("xl/sharedStrings.xml").decode())
print("characters in the file:", [len(text) for text in texts])
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
