#!/usr/bin/env bash
# email_reply_parser 0.5.12: a last line that begins with a hyphen and a letter counts as a signature and is hidden.
# So an item of a list, written as "-cups", is missing from the reply. With a space behind the hyphen it stays.
# Seen: 0.5.12
# Seen: without a space: ['Please send:']
# Seen: with a space: ['Please send:', '- cups']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install "email_reply_parser==0.5.12"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from email_reply_parser import EmailReplyParser


def lines(item):
    return [line for line in EmailReplyParser.parse_reply(f"Please send:\n\n{item}\n").splitlines() if line]


print(version("email_reply_parser"))
print("without a space:", lines("-cups"))
print("with a space:", lines("- cups"))
assert lines("-cups") == ["Please send:"]
assert lines("- cups") == ["Please send:", "- cups"]
PYTHON
