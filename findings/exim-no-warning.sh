#!/usr/bin/env bash
# Exim 4.96 (Debian 12): a mail with Auto-Submitted waits in the queue without a warning to its sender.
# The default of delay_warning_condition leaves out mails with "Auto-Submitted: auto-generated" or auto-replied, besides
# those of lists. RFC 3834, section 2, forbids automatic responses to such mails, but the warning is a delivery report
# with a null return path, as a bounce is; and the bounce of the same mail is sent. Who sends generated mail and waits
# for the warning hears nothing until the mail has failed for good.
# Needs root, for a copy of this machine that is in memory, without a network; nothing of it stays.
# Seen: plain: warned 1, bounced 0
# Seen: auto: warned 0, bounced 0
# Seen: gave up, plain: warned 1, bounced 1
# Seen: gave up, auto: warned 0, bounced 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/packages/partial" "$folder/machine"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends --download-only -o "Dir::Cache::archives=$folder/packages" \
  install 'exim4-daemon-light=4.96-*' >/dev/null
cat >"$folder/packages/exim4.conf" <<'CONFIGURATION'
primary_hostname = mail.shop.example
qualify_domain = shop.example
delay_warning = 1s:1d
begin routers
local:
  driver = accept
  domains = shop.example
  transport = box
later:
  driver = redirect
  allow_defer
  allow_fail
  data = ${if exists{/gone}{:fail: gone}{:defer: later}}
begin transports
box:
  driver = appendfile
  file = /var/mail/box
  user = mail
  group = mail
begin retry
* * F,1d,1s
CONFIGURATION
cat >"$folder/packages/talk.sh" <<'SCRIPT'
count() {
  for name in plain auto; do
    warned=$(awk -v RS='\nFrom ' -v name="$name" '/Subject: Warning: message/ && $0 ~ "Subject: " name' /var/mail/box |
      grep -c "^Subject: Warning" || true)
    bounced=$(awk -v RS='\nFrom ' -v name="$name" '/Subject: Mail delivery failed/ && $0 ~ "Subject: " name' /var/mail/box |
      grep -c "^Subject: Mail delivery failed" || true)
    echo "$1$name: warned $warned, bounced $bounced"
  done
}
touch /var/mail/box
chown mail:mail /var/mail/box
printf 'Subject: plain\n\nhello\n' | exim4 -odf -f root@shop.example ann@remote.example
printf 'Subject: auto\nAuto-Submitted: auto-generated\n\nhello\n' | exim4 -odf -f root@shop.example ann@remote.example
begun=$(date +%s)
until [ $(($(date +%s) - begun)) -ge 2 ]; do sleep 0.1; done # older than delay_warning
exim4 -qff
exim4 -qff
count ""
touch /gone
exim4 -qff
exim4 -qff
count "gave up, "
cat /var/log/exim4/mainlog >&2
SCRIPT
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
      install \"exim4-daemon-light=4.96-*\"
    cp /packages/exim4.conf /etc/exim4/exim4.conf
    exim4 -bP delay_warning_condition
    bash -e /packages/talk.sh >/packages/out
  " >&2
  cat root/packages/out
' "$folder" >"$folder/out" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
cat "$folder/out"
diff <(sed -n 's/^# Seen: //p' "$0") "$folder/out"
