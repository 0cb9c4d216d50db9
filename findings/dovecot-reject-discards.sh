#!/usr/bin/env bash
# Dovecot Pigeonhole 2.3.19.1 (Debian 12): the Sieve action reject discards a mail with Auto-Submitted without a word.
# A person who refuses mail by reject expects that its sender learns it. So it is for other mail: the sender gets a
# notification. A mail with "Auto-Submitted: auto-generated" is neither kept nor answered, and the delivery succeeds.
# So the sender of generated mail never learns that the person refuses it; only the server's log says it.
# Needs root, for a copy of this machine that is in memory, without a network; nothing of it stays.
# Seen: plain: delivery 0, kept 0, answered 1
# Seen: auto: delivery 0, kept 0, answered 0
# Seen: log: Auto-submitted message discarded: no, thank you
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/packages/partial" "$folder/machine"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends --download-only -o "Dir::Cache::archives=$folder/packages" \
  install 'dovecot-core=1:2.3.19.1*' 'dovecot-sieve=1:2.3.19.1*' >/dev/null
cat >"$folder/packages/dovecot.conf" <<'CONFIGURATION'
postmaster_address = postmaster@shop.example
hostname = mail.shop.example
mail_location = maildir:/home/ann/Maildir
sendmail_path = /packages/sendmail
log_path = /packages/log
userdb {
  driver = passwd
}
protocol lda {
  mail_plugins = sieve
}
plugin {
  sieve = file:/home/ann/sieve;active=/home/ann/ann.sieve
}
CONFIGURATION
cat >"$folder/packages/sendmail" <<'SCRIPT'
#!/bin/sh
cat >/dev/null
echo "$@" >>/home/ann/answers
SCRIPT
chmod 755 "$folder/packages/sendmail"
cat >"$folder/packages/talk.sh" <<'SCRIPT'
useradd --create-home ann
printf 'require "reject";\nreject "no, thank you";\n' >/home/ann/ann.sieve
chown ann:ann /home/ann/ann.sieve
touch /packages/log
chmod 666 /packages/log
deliver() {
  rm -f /home/ann/answers
  status=0
  setpriv --reuid=ann --regid=ann --clear-groups env HOME=/home/ann USER=ann /usr/lib/dovecot/dovecot-lda \
    -c /packages/dovecot.conf -a ann@shop.example -f shop@remote.example || status=$?
  kept=$(find /home/ann/Maildir -path "*/new/*" 2>/dev/null | wc -l)
  answered=$( (cat /home/ann/answers 2>/dev/null || true) | wc -l)
  echo "$1: delivery $status, kept $kept, answered $answered"
}
HEAD='From: shop@remote.example\nTo: ann@shop.example\nMessage-ID: <%s@remote.example>\nSubject: hello\n'
printf "$HEAD\nhello\n" plain | deliver plain
printf "${HEAD}Auto-Submitted: auto-generated\n\nhello\n" auto | deliver auto
sed -n 's/.*\(Auto-submitted message discarded.*\)/log: \1/p' /packages/log
cat /packages/log >&2
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
      install \"dovecot-core=1:2.3.19.1*\" \"dovecot-sieve=1:2.3.19.1*\"
    bash -e /packages/talk.sh >/packages/out
  " >&2
  cat root/packages/out
' "$folder" >"$folder/out" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
cat "$folder/out"
diff <(sed -n 's/^# Seen: //p' "$0") "$folder/out"
