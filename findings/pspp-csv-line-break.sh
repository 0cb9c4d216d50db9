#!/usr/bin/env bash
# PSPP 1.6.2 (Debian 12): a quoted CSV cell with a line break tears its row in two.
# RFC 4180, section 2, rule 6: fields with line breaks are enclosed in double quotes.
# GET DATA /TYPE=TXT ends the case at the line break, with a warning, and reads the rest as a case of its own.
# Seen: warning: Quoted string extends beyond end of line.
# Seen: cases of a file with two rows: 3
set -euo pipefail
script=$(readlink -f "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/packages" "$folder/unpacked"
cd "$folder/packages"
libraries="libblkid1 libbrotli1 libbsd0 libcairo2 libdatrie1 libexpat1 libffi8 libfontconfig1 libfreetype6 libfribidi0
  libglib2.0-0 libgraphite2-3 libgsl27 libgslcblas0 libharfbuzz0b libicu72 liblzma5 libmd0 libmount1 libpango-1.0-0
  libpangocairo-1.0-0 libpangoft2-1.0-0 libpcre2-8-0 libpixman-1-0 libpng16-16 libreadline8 libselinux1 libthai0
  libtinfo6 libx11-6 libxau6 libxcb-render0 libxcb-shm0 libxcb1 libxdmcp6 libxext6 libxml2 libxrender1 zlib1g"
# shellcheck disable=SC2086  one word a package
apt-get -qq download pspp=1.6.2-2 $libraries 2>/dev/null
for package in *.deb; do dpkg -x "$package" "$folder/unpacked"; done
printf 'id,words\r\n1,"first line\nsecond line"\r\n2,plain\r\n' >"$folder/rows.csv"
cat >"$folder/read.sps" <<SYNTAX
GET DATA /TYPE=TXT /FILE='$folder/rows.csv' /FIRSTCASE=2 /DELIMITERS=',' /QUALIFIER='"'
  /VARIABLES=id A20 words A40.
COMPUTE one = 1.
AGGREGATE OUTFILE=* /BREAK=one /cases = N.
FORMATS cases (F3.0).
LIST VARIABLES=cases.
SYNTAX
libraries=$(find "$folder/unpacked" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
LD_LIBRARY_PATH=$libraries "$folder/unpacked/usr/bin/pspp" -O format=csv "$folder/read.sps" >"$folder/all" 2>&1 || true
{
  grep -om1 'warning: Quoted string extends beyond end of line.' "$folder/all"
  echo "cases of a file with two rows: $(tail -n1 "$folder/all")"
} >"$folder/out"
cat "$folder/out"
sed -n 's/^# Seen: //p' "$script" | diff - "$folder/out"
