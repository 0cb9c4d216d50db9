#!/usr/bin/env bash
# httpx2 2.16.2 (Python 3.11): its ASGI transport looks for the module sniffio anew at every request.
# Nothing that it needs brings that module any more, and Python does not remember that an import has failed: each request
# walks through all folders of sys.path, which in a test suite of many thousand requests is time that no test spends.
# A None in sys.modules ends the search: "import sniffio" then fails at once.
# Seen: sniffio installed: False
# Seen: 20 requests: 20 searches for sniffio
# Seen: with None in sys.modules, 20 requests: 0 searches for sniffio
set -euo pipefail
script=$(realpath "$0") folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check httpx2==2.16.2
cat >measure.py <<'SCRIPT'
import asyncio
import importlib.util
import sys

import httpx2

searches = []


class Finder:
    """Notes what is looked for, and finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        if name == "sniffio":
            searches.append(name)


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


async def searched():
    searches.clear()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://shop.example") as client:
        for _ in range(20):
            assert (await client.get("/")).text == "ok"
    return f"20 requests: {len(searches)} searches for sniffio"


print(f"sniffio installed: {importlib.util.find_spec('sniffio') is not None}")
sys.meta_path.insert(0, Finder())
print(asyncio.run(searched()))
sys.modules["sniffio"] = None
print(f"with None in sys.modules, {asyncio.run(searched())}")
SCRIPT
venv/bin/python measure.py | tee out
sed -n 's/^# Seen: //p' "$script" | diff - out
