#!/usr/bin/env bash
# @hubspot/api-client 14.0.1: Signature.isValid skips its age limit of five minutes where the time is no number.
# The signature covers method, URL, body and time without a sign between them. So the last character of the body may
# become the first of the time: the signature still holds, and "now - NaN > 300000" is false. A request of last month
# passes so. Strict readers of JSON then miss the last bracket; others read on. Require digits alone in the header.
# Seen: now, as it was sent: true
# Seen: last month's, as it was sent: Timestamp is invalid, reject request
# Seen: last month's, one character moved: true
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" @hubspot/api-client@14.0.1 >/dev/null 2>&1
cat >"$folder/run.js" <<'NODE'
const { Signature } = require("@hubspot/api-client");
const BODY = '[{"eventId":1}]';
const call = (requestBody, timestamp) => ({ clientSecret: "secret", url: "https://a.example/in", requestBody, timestamp });

function look(title, sent, given) {
  const signature = Signature.getSignature("POST", "v3", sent);
  try {
    console.log(`${title}: ${Signature.isValid({ ...given, signature, method: "POST", signatureVersion: "v3" })}`);
  } catch (error) {
    console.log(`${title}: ${error.message}`);
  }
}

const now = call(BODY, String(Date.now()));
const old = call(BODY, String(Date.now() - 30 * 86_400_000));
look("now, as it was sent", now, now);
look("last month's, as it was sent", old, old);
look("last month's, one character moved", old, call(BODY.slice(0, -1), `]${old.timestamp}`));
NODE
node "$folder/run.js" | tee "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
