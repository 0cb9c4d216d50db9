#!/usr/bin/env bash
# mjml-python 1.4.2: an unknown tag in the body of a mail goes into the HTML as it is, and nothing tells so.
# A typing error in "mj-button" leaves a mail whose button nobody can press. Mail programs show the bare words.
# The same error in the head raises, and so does a tag that is not closed.
# Seen: mj-button: an address to press True, MJML left in the HTML False
# Seen: mj-buton: an address to press False, MJML left in the HTML True
# Seen: mj-button, not closed: ValueError
# Seen: mj-titel in the head: ValueError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install mjml-python==1.4.2
"$folder/venv/bin/python" - >"$folder/out" <<'PYTHON'
from mjml import mjml2html

BODY = "<mjml><mj-body><mj-section><mj-column>{}</mj-column></mj-section></mj-body></mjml>"
for name, page in (
    ("mj-button", BODY.format('<mj-button href="https://a.example">Go</mj-button>')),
    ("mj-buton", BODY.format('<mj-buton href="https://a.example">Go</mj-buton>')),
    ("mj-button, not closed", BODY.format('<mj-button href="https://a.example">Go')),
    ("mj-titel in the head", "<mjml><mj-head><mj-titel>Go</mj-titel></mj-head><mj-body></mj-body></mjml>"),
):
    try:
        html = mjml2html(page)
        pressed = '<a href="https://a.example"' in html
        print(f"{name}: an address to press {pressed}, MJML left in the HTML {'<mj-' in html}")
    except ValueError as error:
        print(f"{name}: {type(error).__name__}")
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
