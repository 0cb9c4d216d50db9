#!/usr/bin/env bash
# python-calamine 0.9.1: an ODS file with line breaks between the cells of a row is refused as a whole.
# Gnumeric 1.12.55 writes such files: its XML is indented. In OpenDocument the white space between cells means nothing,
# as a row holds elements alone and no text. odfpy 1.4.1 reads both files.
# Seen: in one line: calamine [['name', 'city'], ['Ann', 'Athens']], odfpy ['name', 'city', 'Ann', 'Athens']
# Seen: indented: calamine CalamineError Expecting 'table-cell', odfpy ['name', 'city', 'Ann', 'Athens']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install python-calamine==0.9.1 odfpy==1.4.1 2>/dev/null
"$folder/venv/bin/python" - "$folder/rows.ods" >"$folder/out" <<'PYTHON'
import sys
import zipfile

from odf import opendocument, table
from python_calamine import CalamineError, CalamineWorkbook

NAME = "urn:oasis:names:tc:opendocument:xmlns:"
ROWS = (("name", "city"), ("Ann", "Athens"))
TYPE = "application/vnd.oasis.opendocument.spreadsheet"
MANIFEST = (
    f'<m:manifest xmlns:m="{NAME}manifest:1.0" m:version="1.2"><m:file-entry m:full-path="/" m:media-type="{TYPE}"/>'
    '<m:file-entry m:full-path="content.xml" m:media-type="text/xml"/></m:manifest>'
)


def write(path, between):
    rows = between.join(
        "<table:table-row>"
        + "".join(
            f'{between}<table:table-cell office:value-type="string"><text:p>{word}</text:p></table:table-cell>'
            for word in row
        )
        + f"{between}</table:table-row>"
        for row in ROWS
    )
    content = (
        f'<office:document-content xmlns:office="{NAME}office:1.0" xmlns:table="{NAME}table:1.0" '
        f'xmlns:text="{NAME}text:1.0" office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="Rows">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as file:
        for name, text in (("mimetype", TYPE), ("content.xml", content), ("META-INF/manifest.xml", MANIFEST)):
            file.writestr(name, text)


for title, between in (("in one line", ""), ("indented", "\n  ")):
    write(sys.argv[1], between)
    try:
        read = CalamineWorkbook.from_path(sys.argv[1]).get_sheet_by_index(0).to_python()
    except CalamineError as error:
        read = f"{type(error).__name__} {str(error).partition(',')[0]}"
    cells = opendocument.load(sys.argv[1]).spreadsheet.getElementsByType(table.TableCell)
    print(f"{title}: calamine {read}, odfpy {[str(cell) for cell in cells]}")
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
