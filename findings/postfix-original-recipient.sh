#!/usr/bin/env bash
# Postfix 3.7.11 (Debian 12): a report has Original-Recipient though nobody asked for it, and a stranger gets 454.
# RFC 3464, section 2.3.1, has the field only where the sender gave an original recipient (ORCPT of RFC 3461). Postfix
# also writes the address as it was before an alias. A reader who takes the field for the address that the sender gave
# suppresses the whole alias when one of its members is gone.
# A client that may not relay gets 454, which is temporary: the default is defer_unauth_destination. So a sender tries for
# days before anybody learns that its relay does not know it.
# Needs root, for a copy of this machine that is in memory, without a network; nothing of it stays.
# Seen: stranger: 454 4.7.1 <ann@remote.example>: Relay access denied
# Seen: without ORCPT: Final-Recipient: rfc822; gone@shop.example
# Seen: without ORCPT: Original-Recipient: rfc822;team@shop.example
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/packages/partial" "$folder/machine"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends --download-only -o "Dir::Cache::archives=$folder/packages" \
  install 'postfix=3.7.11-*' >/dev/null
cat >"$folder/packages/talk.py" <<'PYTHON'
import smtplib
import time
from pathlib import Path

with smtplib.SMTP("127.0.0.1", 25, timeout=20) as smtp:
    smtp.ehlo("client.example")
    smtp.mail("root@shop.example")
    code, text = smtp.rcpt("ann@remote.example")
    print("stranger:", code, text.decode())
    smtp.rset()
    smtp.sendmail("root@shop.example", ["team@shop.example"], "Subject: hello\r\n\r\nhello\r\n")
box = Path("/var/mail/root")
for _ in range(200):
    if box.exists() and "Final-Recipient" in box.read_text():
        break
    time.sleep(0.1)
for line in box.read_text().splitlines():
    if line.startswith(("Original-Recipient", "Final-Recipient")):
        print("without ORCPT:", line)
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
      install \"postfix=3.7.11-*\"
    printf \"team: gone\n\" >/etc/aliases
    newaliases
    postconf -e mydestination=shop.example local_recipient_maps= mynetworks=192.0.2.1 inet_interfaces=loopback-only \
      myorigin=shop.example
    postfix start
    python3 /packages/talk.py >/packages/out
  " >&2
  cat root/packages/out
' "$folder" >"$folder/out" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
cat "$folder/out"
diff <(sed -n 's/^# Seen: //p' "$0") "$folder/out"
