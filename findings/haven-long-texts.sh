#!/usr/bin/env bash
# haven 2.5.1 for R (Debian 12) loses long texts of files that pyreadstat 1.3.7 wrote, without a warning.
# Stata: where a column has a text of more than 2,045 bytes (strL), every text of the column is read as empty.
# pyreadstat writes release 119 by default, in which this happens. haven reads the same column of release 118 whole.
# SPSS: a text of 32,760 bytes loses its last byte; one of 32,500 bytes is whole.
# pandas reads the Stata files whole, and pyreadstat the SPSS files.
# Seen: dta 118 in pandas: 5000 5
# Seen: dta 118 in haven: 5000 5
# Seen: dta 119 in pandas: 5000 5
# Seen: dta 119 in haven: 0 0
# Seen: sav in pyreadstat: 32500 32760
# Seen: sav in haven: 32500 32759
set -euo pipefail
script=$(readlink -f "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install pyreadstat==1.3.7 pandas==3.1.1 2>/dev/null
mkdir "$folder/packages" "$folder/unpacked"
cd "$folder/packages"
libraries="libblas3 libbz2-1.0 libgomp1 libgfortran5 libicu72 liblapack3 liblzma5 libpcre2-8-0 libquadmath0 libreadline8
  libtinfo6 libtirpc3 zlib1g"
r="r-base-core r-cran-bit r-cran-bit64 r-cran-cli r-cran-clipr r-cran-cpp11 r-cran-crayon r-cran-ellipsis r-cran-fansi
  r-cran-forcats r-cran-glue r-cran-hms r-cran-lifecycle r-cran-magrittr r-cran-pillar r-cran-pkgconfig r-cran-prettyunits
  r-cran-progress r-cran-r6 r-cran-rcpp r-cran-readr r-cran-rlang r-cran-tibble r-cran-tidyselect r-cran-tzdb r-cran-utf8
  r-cran-vctrs r-cran-vroom r-cran-withr"
# shellcheck disable=SC2086  one word a package
apt-get -qq download r-cran-haven=2.5.1-1 $r $libraries 2>/dev/null
for package in *.deb; do dpkg -x "$package" "$folder/unpacked"; done
cd "$folder"
"$folder/venv/bin/python" - >"$folder/python" <<'PYTHON'
import pandas as pd
import pyreadstat

texts = pd.DataFrame({"words": ["x" * 5_000, "short"]})
for release, version in ((118, 14), (119, 15)):
    pyreadstat.write_dta(texts, f"{release}.dta", version=version)
    print(f"dta {release} in pandas:", *map(len, pd.read_stata(f"{release}.dta")["words"]))
found = []
for length in (32_500, 32_760):  # a file each, as the longest text of a file decides
    pyreadstat.write_sav(pd.DataFrame({"words": ["x" * length]}), f"{length}.sav")
    found.append(len(pyreadstat.read_sav(f"{length}.sav")[0]["words"][0]))
print("sav in pyreadstat:", *found)
PYTHON
cat >read.R <<'R'
library(haven)
show <- function(name, words) cat(paste0(name, " in haven: ", paste(nchar(words, "bytes"), collapse = " ")), sep = "\n")
show("dta 118", read_dta("118.dta")$words)
show("dta 119", read_dta("119.dta")$words)
show("sav", c(read_sav("32500.sav")$words, read_sav("32760.sav")$words))
R
libraries=$(find "$folder/unpacked" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
R_HOME="$folder/unpacked/usr/lib/R" R_LIBS="$folder/unpacked/usr/lib/R/site-library" LD_LIBRARY_PATH=$libraries \
  "$folder/unpacked/usr/lib/R/bin/exec/R" --no-echo --no-save --vanilla -f read.R >"$folder/r"
paste -d'\n' "$folder/python" "$folder/r" >"$folder/out"
cat "$folder/out"
sed -n 's/^# Seen: //p' "$script" | diff - "$folder/out"
