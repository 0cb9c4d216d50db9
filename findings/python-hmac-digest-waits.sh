#!/usr/bin/env bash
# CPython 3.11.2 (Debian 12): hmac.digest lets another thread run at every call, however short the text is.
# Its work takes some microseconds. Beside a thread that computes, a call gives up the interpreter's lock and mostly gets
# it back after a switch interval (5 ms): a thousand hashes of addresses take seconds, and no profile shows work there.
# hashlib keeps the lock below 2,048 bytes, and so does an HMAC object that is copied from one that has the key.
# Seen: hmac.digest beside a busy thread: over 50 times as long as alone
# Seen: a copied HMAC beside a busy thread: less than 10 times as long as alone
set -euo pipefail
script=$(realpath "$0") folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in python3.11-minimal libpython3.11-minimal libpython3.11-stdlib; do
  apt-get -qq download "$package=3.11.2*" >/dev/null 2>&1
done
for package in ./*.deb; do
  dpkg -x "$package" machine
done
cat >measure.py <<'SCRIPT'
import hashlib
import hmac
import threading
import time

KEY, TEXT = b"k" * 32, b"ann@shop.example"
begun = hmac.new(KEY, digestmod=hashlib.sha256)


def copied():
    one = begun.copy()
    one.update(TEXT)
    one.digest()


CALLS = {
    "hmac.digest": lambda: hmac.digest(KEY, TEXT, hashlib.sha256),
    "a copied HMAC": copied,
}


def seconds(call):
    """The mean of a call, of many in a row."""
    begin = time.perf_counter()
    for _ in range(3000):
        call()
    return (time.perf_counter() - begin) / 3000


alone = {name: seconds(call) for name, call in CALLS.items()}
is_over = False


def compute():
    number = 0
    while not is_over:
        number += 1


thread = threading.Thread(target=compute)
thread.start()
beside = {}
for name, call in CALLS.items():
    beside[name] = seconds(call)
is_over = True
thread.join()
for name in CALLS:
    times = beside[name] / alone[name]
    said = "over 50 times" if times > 50 else "less than 10 times" if times < 10 else f"{times:.0f} times"
    print(f"{name} beside a busy thread: {said} as long as alone")
SCRIPT
PYTHONHOME="$folder/machine/usr" "$folder/machine/usr/bin/python3.11" --version
PYTHONHOME="$folder/machine/usr" "$folder/machine/usr/bin/python3.11" measure.py | tee out
sed -n 's/^# Seen: //p' "$script" | diff - out
