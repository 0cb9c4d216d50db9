#!/usr/bin/env bash
# Gnumeric 1.12.55 (Debian 12): its plain CSV export writes every date as YYYY/MM/DD, with the time behind it in quotes.
# The dates came in as ISO 8601 has them. RFC 3339 and ISO 8601 know no slashes, so strict readers refuse the way back.
# Seen: When,Email
# Seen: "2026/12/05 15:04:00",maria@post.example
# Seen: 2026/12/14,layla@post.example
set -euo pipefail
script=$(readlink -f "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/packages" "$folder/unpacked"
cd "$folder/packages"
missing=$(apt-get install -s --no-install-recommends gnumeric=1.12.55-1 2>/dev/null | awk '/^Inst/ {print $2}')
# shellcheck disable=SC2086  one word a package
apt-get -qq download gnumeric=1.12.55-1 libgoffice-0.10-10 libgsf-1-114 $missing 2>/dev/null
for package in *.deb; do dpkg -x "$package" "$folder/unpacked"; done
printf 'When,Email\n2026-12-05 15:04:00,maria@post.example\n2026-12-14,layla@post.example\n' >"$folder/in.csv"
libraries=$(find "$folder/unpacked" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
HOME=$folder LD_LIBRARY_PATH=$libraries "$folder/unpacked/usr/bin/ssconvert" "$folder/in.csv" "$folder/out.csv" 2>/dev/null
cat "$folder/out.csv"
sed -n 's/^# Seen: //p' "$script" | diff - "$folder/out.csv"
