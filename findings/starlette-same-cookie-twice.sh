#!/usr/bin/env bash
# Starlette 1.10.0: of two cookies of one name it keeps the last, that of the shorter path.
# A browser that has a cookie for the page and one for the whole site sends both, that of the longer path first
# (RFC 6265, section 5.4). Starlette, Django and Python's http.cookies give the one of the whole site. Werkzeug gives
# the first. So an older cookie for / hides the one that was set for the page.
# Seen: starlette 1.10.0: of-the-site
# Seen: django 5.2.8: of-the-site
# Seen: http.cookies: of-the-site
# Seen: werkzeug 3.1.3: of-the-page
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install starlette==1.10.0 django==5.2.8 werkzeug==3.1.3
"$folder/venv/bin/python" - >"$folder/out" 2>"$folder/log" <<'PYTHON'
from http.cookies import SimpleCookie
from importlib.metadata import version

from django.http.cookie import parse_cookie
from starlette.requests import Request
from werkzeug.wrappers import Request as WerkzeugRequest

SENT = "begun=of-the-page; begun=of-the-site"
read = {
    "starlette": Request({"type": "http", "headers": [(b"cookie", SENT.encode())]}).cookies["begun"],
    "django": parse_cookie(SENT)["begun"],
    "http.cookies": SimpleCookie(SENT)["begun"].value,
    "werkzeug": WerkzeugRequest({"HTTP_COOKIE": SENT}).cookies["begun"],
}
for name, value in read.items():
    print(f"{name if name == 'http.cookies' else f'{name} {version(name)}'}: {value}")
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
