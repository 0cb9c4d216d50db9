#!/usr/bin/env bash
# flufl.bounce 6.0.0: a report of RFC 6533 (message/global-delivery-status) has no recipients for it.
# Postfix sends such a report for each mail that needs SMTPUTF8. The same fields as message/delivery-status are read.
# In message/delivery-status the address type utf-8 (RFC 6533, section 3) is ignored too.
# Seen: delivery-status, rfc822: [b'ann@example.org']
# Seen: delivery-status, utf-8: []
# Seen: global-delivery-status, rfc822: []
# Seen: global-delivery-status, utf-8: []
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install flufl.bounce==6.0.0
"$folder/venv/bin/python" - >"$folder/out" <<'PYTHON'
from email import message_from_string

from flufl.bounce import all_failures

REPORT = """From: MAILER-DAEMON@mx.example.org
To: shop@example.org
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type={report}; boundary=b

--b
Content-Type: text/plain

It could not be delivered.

--b
Content-Type: message/{report}

Reporting-MTA: dns; mx.example.org

Final-Recipient: {kind}; ann@example.org
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 User unknown

--b
Content-Type: message/rfc822

From: shop@example.org
To: ann@example.org
Subject: Hello

Hello
--b--
"""
for report in ("delivery-status", "global-delivery-status"):
    for kind in ("rfc822", "utf-8"):
        temporary, permanent = all_failures(message_from_string(REPORT.format(report=report, kind=kind)))
        print(f"{report}, {kind}: {sorted({*temporary, *permanent})}")
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
