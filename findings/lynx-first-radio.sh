#!/usr/bin/env bash
# Lynx 2.9.0dev.12 (Debian 12): where the page checks no radio button, it checks the first of the group.
# A person who skips the question sends the first answer, and the server cannot tell.
# HTML of today has all of them unchecked ("radio button group" of the living standard). Only HTML 2.0 (RFC 1866,
# section 8.1.2.4) had programs check the first. A group that the page checks is left as it is.
# Seen: none checked: (*) 1 ( ) 2
# Seen: second checked: ( ) 1 (*) 2
# Seen: sent where none was checked: score=1&name=
set -euo pipefail
script=$(readlink -f "$0")
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
mkdir "$folder/packages" "$folder/unpacked"
cd "$folder/packages"
apt-get -qq download lynx=2.9.0dev.12-1 lynx-common=2.9.0dev.12-1 libbsd0 libbz2-1.0 libffi8 libgmp10 libgnutls30 \
  libhogweed6 libidn2-0 libmd0 libncursesw6 libnettle8 libp11-kit0 libtasn1-6 libtinfo6 libunistring2 zlib1g 2>/dev/null
for package in *.deb; do dpkg -x "$package" "$folder/unpacked"; done
cd "$folder"
cat >server.py <<'PYTHON'
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

PAGE = (
    b"<form action=/sent><input type=radio name=score value=1>1<input type=radio name=score value=2>2"
    b"<br><input name=name><input type=submit value=Send></form>"
)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)
        if self.path != "/":
            Path("sent").write_text(self.path.partition("?")[2])

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
with open("port", "w") as file:
    print(server.server_port, file=file)
server.serve_forever()
PYTHON
python3 server.py &
server=$!
until [ -s port ]; do sleep 0.1; done
libraries=$(find "$folder/unpacked" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cp unpacked/etc/lynx/lynx.cfg lynx.cfg
sed -i '/^INCLUDE/d' lynx.cfg
run() {
  env -i HOME="$folder" TERM=vt100 LANG=C LYNX_LSS="$folder/unpacked/etc/lynx/lynx.lss" LD_LIBRARY_PATH="$libraries" \
    timeout 30 "$folder/unpacked/usr/bin/lynx" -cfg="$folder/lynx.cfg" "$@"
}
show() {
  printf '<form><input type=radio name=a>1<input type=radio name=a %s>2</form>' "$2" >page.html
  echo "$1: $(run -dump page.html | tr -s ' ' | sed 's/^ //;/^$/d')"
}
# Three times down leads from the first button to "Send".
printf 'key %s\n' "Down Arrow" "Down Arrow" "Down Arrow" ^J Q y >keys
run -cmd_script="$folder/keys" "http://127.0.0.1:$(cat port)/" >/dev/null 2>&1 </dev/null || true
{
  show "none checked" ""
  show "second checked" checked
  echo "sent where none was checked: $(cat sent)"
} >out
cat out
sed -n 's/^# Seen: //p' "$script" | diff - out
