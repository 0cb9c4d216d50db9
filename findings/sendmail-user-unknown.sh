#!/usr/bin/env bash
# sendmail 8.17.1.9 (Debian 12): its report says "User unknown" and 5.1.1 where the remote server said only 550.
# RFC 5321, section 4.2.3, has 550 also for a command that is refused for reasons of policy, such as a blocked sender.
# sendmail makes an enhanced code of the three digits if the reply has none. The words of its report follow that code.
# RFC 3463, section 3.1, has 5.0.0 where no more than the class is known; sendmail uses it for 554 alone. The reply stands
# in Diagnostic-Code as it was. Who reads Status alone takes a good address for a dead one.
# Needs root, for a copy of this machine that is in memory, without a network; nothing of it stays.
# Seen: Status: 5.1.1 | Diagnostic-Code: SMTP; 550 your network is blocked here | User unknown
# Seen: Status: 5.1.6 | Diagnostic-Code: SMTP; 551 your network is blocked here | User unknown
# Seen: Status: 5.2.2 | Diagnostic-Code: SMTP; 552 your network is blocked here
# Seen: Status: 5.1.3 | Diagnostic-Code: SMTP; 553 your network is blocked here | User unknown
# Seen: Status: 5.0.0 | Diagnostic-Code: SMTP; 554 your network is blocked here
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/packages" "$folder/machine"
cd "$folder/packages"
apt-get -qq download 'sendmail-bin=8.17.1.9-2+deb12u2' 'sendmail-base=8.17.1.9-2+deb12u2' \
  'sendmail-cf=8.17.1.9-2+deb12u2' m4 liblockfile1 libwrap0 2>/dev/null
cd - >/dev/null
cat >"$folder/packages/mail.mc" <<'M4'
OSTYPE(`debian')
FEATURE(`nocanonify')
FEATURE(`accept_unresolvable_domains')
define(`confDOMAIN_NAME', `mail.shop.example')
define(`confSERVICE_SWITCH_FILE', `/etc/mail-switch')
define(`confHOST_STATUS_DIRECTORY')
define(`SMART_HOST', `relay:[127.0.0.1]')
define(`RELAY_MAILER_ARGS', `TCP $h 2525')
MAILER(`local')
MAILER(`smtp')
M4
cat >"$folder/packages/talk.py" <<'PYTHON'
import re
import socketserver
import subprocess
import threading

REPORTS = []
SEND = ["/usr/libexec/sendmail/sendmail", "-C", "/packages/mail.cf", "-odi", "-v", "-f", "ann@shop.example"]


class Relay(socketserver.StreamRequestHandler):
    """Refuses addresses that begin with a code, and takes reports."""

    def say(self, text):
        self.wfile.write(f"{text}\r\n".encode())

    def handle(self):
        self.say("220 relay.example ESMTP")
        while line := self.rfile.readline().decode().strip():
            code = re.search(r"^RCPT.*<(\d+)@", line, re.IGNORECASE)
            if line == "DATA":
                self.say("354 go on")
                lines = []
                while (more := self.rfile.readline().decode()) not in (".\r\n", ""):
                    lines.append(more.strip())
                REPORTS.append(lines)
            self.say(f"{code[1]} your network is blocked here" if code else "250 well")
            if line == "QUIT":
                break


server = socketserver.ThreadingTCPServer(("127.0.0.1", 2525), Relay)
threading.Thread(target=server.serve_forever, daemon=True).start()
for code in range(550, 555):
    subprocess.run([*SEND, f"{code}@remote.example"], input=b"Subject: hi\n\nhi\n", timeout=40, stdout=2)
for lines in REPORTS:
    found = [line for line in lines if line.startswith(("Status:", "Diagnostic-Code:"))]
    print(" | ".join(found + ["User unknown"] * any("User unknown" in line for line in lines)))
PYTHON
unshare --mount --uts --net --ipc --pid --fork --kill-child bash -e -c '
  mount -t tmpfs tmpfs "$0/machine"
  cd "$0/machine"
  mkdir up work root
  mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/up,workdir=$PWD/work" root
  mount -t proc proc root/proc
  mount --rbind /dev root/dev
  for package in "$0"/packages/*.deb; do dpkg -x "$package" root; done
  cp -r "$0/packages" root/packages
  hostname mail.shop.example
  ip link set lo up
  chroot root bash -e -c "
    ldconfig
    rm -f /etc/resolv.conf
    echo nameserver 127.0.0.1 >/etc/resolv.conf
    echo 127.0.0.1 mail.shop.example localhost >/etc/hosts
    echo hosts files >/etc/mail-switch
    groupadd -f smmsp
    mkdir -p /var/spool/mqueue /etc/mail
    touch /etc/mail/aliases
    m4 -D_CF_DIR_=/usr/share/sendmail/cf/ /usr/share/sendmail/cf/m4/cf.m4 /packages/mail.mc >/packages/mail.cf
    python3 /packages/talk.py >/packages/out
  " >&2
  cat root/packages/out
' "$folder" >"$folder/out" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
cat "$folder/out"
diff <(sed -n 's/^# Seen: //p' "$0") "$folder/out"
