#!/usr/bin/env bash
# OmegaT 3.6.0.10+dfsg-3 (Debian 12): the XLIFF 1.2 filter offers only units that have a filled target.
# OmegaT offers the target, not the source.
# A unit without a target, or with an empty one, is missing in the editor and in the memory: nobody can translate it.
# A unit that is translated is offered with its translation as the source text.
# XLIFF 1.2 makes the target optional; the text to translate is the source. It needs a Java runtime.
# Seen: offered: Copied source
# Seen: offered: Etoimo
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances omegat |
    grep '^lib.*-java$' | sort -u)
# shellcheck disable=SC2086  one word for each library
apt-get download -qq omegat=3.6.0.10+dfsg-3 $libraries 2>apt.log || { cat apt.log >&2; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
mkdir -p home project/{source,target,omegat,tm,glossary,dictionary}
cat >project/omegat.project <<'XML'
<omegat><project version="1.0"><source_dir>__DEFAULT__</source_dir><target_dir>__DEFAULT__</target_dir>
<tm_dir>__DEFAULT__</tm_dir><glossary_dir>__DEFAULT__</glossary_dir><glossary_file>__DEFAULT__</glossary_file>
<dictionary_dir>__DEFAULT__</dictionary_dir><source_lang>EN</source_lang><target_lang>EL</target_lang>
<sentence_seg>false</sentence_seg><support_default_translations>true</support_default_translations>
<remove_tags>false</remove_tags></project></omegat>
XML
cat >project/source/a.xlf <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" datatype="plaintext" source-language="en" target-language="el"><body>
<trans-unit id="1"><source>No target</source></trans-unit>
<trans-unit id="2"><source>Empty target</source><target state="needs-translation"></target></trans-unit>
<trans-unit id="3"><source>Copied source</source><target state="needs-translation">Copied source</target></trans-unit>
<trans-unit id="4"><source>Ready</source><target state="translated">Etoimo</target></trans-unit>
</body></file></xliff>
XML
jars=$(find root/usr/share -name '*.jar' | tr '\n' ':')
java -Djava.awt.headless=true -Duser.home="$folder/home" -cp "$jars" org.omegat.Main "$folder/project" \
    --mode=console-createpseudotranslatetmx --pseudotranslatetmx="$folder/all.tmx" --pseudotranslatetype=equal >omegat.log 2>&1
grep -A1 '<tuv lang="EN">' all.tmx | sed -n 's|.*<seg>\(.*\)</seg>.*|offered: \1|p' | tee out
sed -n 's/^# Seen: //p' "$self" | diff - out
