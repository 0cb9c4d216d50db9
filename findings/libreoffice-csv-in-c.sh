#!/usr/bin/env bash
# LibreOffice 7.4.7 (Debian 12): the CSV export without a screen writes "?" for Greek letters, without a warning.
# So it is in the locales C and C.UTF-8, which servers and containers have. The status is 0, and the spreadsheet that it
# reads holds the letters. The export takes the character set from the locale, and C.UTF-8 does not count as UTF-8.
# The filter option 76 asks for UTF-8 and writes them.
# Needs root, for a copy of this machine that is in memory, without a network; nothing of it stays.
# Seen: in the spreadsheet: Μαρία
# Seen: C: status 0, ?????,Athens
# Seen: C.UTF-8: status 0, ?????,Athens
# Seen: C, option 76: status 0, Μαρία,Athens
# Seen: lines that warn of it: 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/packages/partial" "$folder/machine"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends --download-only -o "Dir::Cache::archives=$folder/packages" \
  install 'libreoffice-calc=4:7.4.7-*' >/dev/null
cat >"$folder/packages/convert.sh" <<'SCRIPT'
mkdir /rows
cd /rows
export HOME=/rows
printf 'Μαρία,Athens\n' >in.csv
soffice --headless --convert-to ods:calc8 --infilter=CSV:44,34,76 in.csv >&2
echo "in the spreadsheet: $(python3 -c 'import zipfile; print(zipfile.ZipFile("in.ods").read("content.xml").decode())' |
  grep -o 'Μαρία')"
show() {
  status=0
  LC_ALL=$2 soffice --headless --convert-to "csv$3" --outdir out in.ods >>log 2>&1 || status=$?
  echo "$1: status $status, $(cat out/in.csv)"
  rm out/in.csv
}
show C C ""
show C.UTF-8 C.UTF-8 ""
show "C, option 76" C ":Text - txt - csv (StarCalc):44,34,76"
echo "lines that warn of it: $(grep -v -e javaldx -e '^convert ' -e '^Overwriting' log | wc -l)"
cat log >&2
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
  chroot root bash -e -c "
    printf \"#!/bin/sh\nexit 101\n\" >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    apt-get -qq -y --no-install-recommends --no-download -o Dir::Cache::archives=/packages \
      install \"libreoffice-calc=4:7.4.7-*\"
    bash -e /packages/convert.sh >/packages/out
  " >&2
  cat root/packages/out
' "$folder" >"$folder/out" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
cat "$folder/out"
diff <(sed -n 's/^# Seen: //p' "$0") "$folder/out"
