#!/usr/bin/env bash
# pyreadstat: value labels are not applied to output as dictionaries, and beside labels whole numbers get a decimal.
#
# pyreadstat 1.3.7 reads a .sav file into dictionaries (output_format="dict"), and puts labels in the place of values
# (apply_value_formats=True); both together raise TypeError "Unsupported dataframe type", in read_sav and by chunks.
# With output_format="polars" a value without a label stands as the float 2.0 beside the labels.
# Seen: dictionaries: TypeError
# Seen: data frame: ['Price', 2.0]
# So a program that wants labels and no data frame reads plain values, and looks the labels up in
# metadata.variable_value_labels, whose keys are floats.
set -euo pipefail
script=$(readlink -f "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'pyreadstat==1.3.7' 'polars==2.1.0' 2>/dev/null
"$folder/venv/bin/python" -W ignore - "$folder/answers.sav" > "$folder/out" <<'PYTHON'
import sys

import polars as pl
import pyreadstat

path = sys.argv[1]
frame = pl.DataFrame({"q1": [1.0, 2.0]})
pyreadstat.write_sav(frame, path, variable_value_labels={"q1": {1: "Price"}})

plain, about = pyreadstat.read_sav(path, output_format="dict")
assert {"q1": [1.0, 2.0]} == dict(plain), plain
assert {"q1": {1.0: "Price"}} == about.variable_value_labels, about.variable_value_labels
try:
    pyreadstat.read_sav(path, output_format="dict", apply_value_formats=True)
except TypeError as error:
    assert "Unsupported dataframe type" in str(error), error
else:
    raise SystemExit("dictionaries have labels now")
labelled, _ = pyreadstat.read_sav(path, output_format="polars", apply_value_formats=True)
assert ["Price", 2.0] == labelled["q1"].to_list(), labelled
print("dictionaries: TypeError")
print("data frame:", labelled["q1"].to_list())
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$script" | diff - "$folder/out"
