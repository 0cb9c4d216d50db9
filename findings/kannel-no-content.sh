#!/usr/bin/env bash
# Kannel 1.4.5 (Debian 12): a delivery report whose address answers 204 No Content is sent again as if it had failed.
# smsbox takes 200 and 202 alone for success, so each report of the address that answers 204 comes once more for each of
# http-request-retry. With 200 and an empty body each comes once. RFC 9110, section 15.3, has every 2xx mean success.
# Needs root, for a copy of this machine that is in memory, without a network; nothing of it stays.
# Seen: 200: 2 calls of 2 reports
# Seen: 204: 8 calls of 2 reports
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/packages/partial" "$folder/machine"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends --download-only -o "Dir::Cache::archives=$folder/packages" \
  install 'kannel=1.4.5-*' 'kannel-extras=1.4.5-*' >/dev/null
cat >"$folder/packages/kannel.conf" <<'CONFIGURATION'
group = core
admin-port = 13000
admin-password = x
smsbox-port = 13001
dlr-storage = internal

group = smsc
smsc = fake
smsc-id = f
port = 10000
host = 127.0.0.1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = 13013
http-request-retry = 3
http-queue-delay = 1

group = sendsms-user
username = u
password = p

group = sms-service
keyword = default
text = no
max-messages = 0
CONFIGURATION
cat >"$folder/packages/talk.py" <<'PYTHON'
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote
from urllib.request import urlopen

CALLS = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        code = int(self.path[1:4])
        CALLS.append((code, self.path.partition("status=")[2]))
        self.send_response(code)
        if code == 200:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def wait(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.1)


def ask(code):
    called = quote(f"http://127.0.0.1:9000/{code}?status=%d", safe="")
    query = f"username=u&password=p&from=1&to=2&text=hello&dlr-mask=31&dlr-url={called}"
    try:
        return urlopen(f"http://127.0.0.1:13013/cgi-bin/sendsms?{query}").status == 202
    except OSError:
        return False


threading.Thread(target=ThreadingHTTPServer(("127.0.0.1", 9000), Handler).serve_forever, daemon=True).start()
for words in (
    ["bearerbox", "/packages/kannel.conf"],
    ["/usr/lib/kannel/test/fakesmsc", "-H", "127.0.0.1", "-r", "10000", "-m", "1", "1 2 text hello"],
    ["smsbox", "/packages/kannel.conf"],
):
    subprocess.Popen(words, stdout=subprocess.DEVNULL)
    time.sleep(2)
for code in (200, 204):
    wait(lambda: ask(code))
wait(lambda: sum(code == 204 for code, _ in CALLS) >= 8)
time.sleep(3)
for code in (200, 204):
    mine = [status for each, status in CALLS if each == code]
    print(f"{code}: {len(mine)} calls of {len(set(mine))} reports")
PYTHON
unshare --mount --uts --net --ipc --pid --fork --kill-child bash -e -c '
  mount -t tmpfs tmpfs "$0/machine"
  cd "$0/machine"
  mkdir up work root
  mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/up,workdir=$PWD/work" root
  mount -t proc proc root/proc
  mount --rbind /dev root/dev
  for kept in /var/lib/dpkg /var/lib/apt; do
    mount -t tmpfs tmpfs "root$kept"
    cp -a "$kept/." "root$kept"
  done
  cp -r "$0/packages" root/packages
  hostname mail.shop.example
  ip link set lo up
  chroot root bash -e -c "
    printf \"#!/bin/sh\nexit 101\n\" >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    printf \"nameserver 127.0.0.1\n\" >/etc/resolv.conf
    apt-get -qq -y --no-install-recommends --no-download -o Dir::Cache::archives=/packages \
      install \"kannel=1.4.5-*\" \"kannel-extras=1.4.5-*\"
    PATH=$PATH:/usr/sbin python3 /packages/talk.py >/packages/out
  " >&2
  cat root/packages/out
' "$folder" >"$folder/out" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
cat "$folder/out"
diff <(sed -n 's/^# Seen: //p' "$0") "$folder/out"
