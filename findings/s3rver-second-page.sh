#!/usr/bin/env bash
# s3rver 3.7.1 on Node 17 or newer: ListObjectsV2 with a second page answers 500 InternalError.
# A page has `max-keys` objects, 1,000 where nobody says it: a bucket with 1,001 objects cannot be listed any more.
# s3rver encrypts the continuation token with DES, which OpenSSL 3 has no longer among its default ciphers.
# Its own log says ERR_OSSL_EVP_UNSUPPORTED. The first version of the list (ListObjects) works.
# Seen: one page: 200, truncated false
# Seen: two pages: 500, InternalError
# Seen: two pages, first version: 200, truncated true
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --prefix "$folder" s3rver@3.7.1 >/dev/null 2>&1
mkdir "$folder/data"
cat >"$folder/run.js" <<'NODE'
const S3rver = require("s3rver");
const server = new S3rver({
  address: "127.0.0.1", port: 0, silent: true, directory: `${__dirname}/data`, configureBuckets: [{ name: "b" }],
});
const between = (text, name) => (text.match(new RegExp(`<${name}>(\\w+)<`)) || [])[1];
server.run().then(async ({ port }) => {
  const url = `http://127.0.0.1:${port}/b`;
  for (const name of ["one", "two"]) await fetch(`${url}/${name}`, { method: "PUT", body: "x" });
  for (const [title, query] of [
    ["one page", "list-type=2&max-keys=2"],
    ["two pages", "list-type=2&max-keys=1"],
    ["two pages, first version", "max-keys=1"],
  ]) {
    const answer = await fetch(`${url}?${query}`);
    const text = await answer.text();
    console.log(`${title}: ${answer.status}, ${between(text, "Code") || `truncated ${between(text, "IsTruncated")}`}`);
  }
  await server.close();
  process.exit();
});
NODE
(cd "$folder" && timeout 60 node run.js) >"$folder/out"
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
