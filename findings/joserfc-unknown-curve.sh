#!/usr/bin/env bash
# joserfc 1.8.0: a key set with one EC or OKP key on an unknown curve is refused as a whole.
# RFC 7517, section 5: implementations should ignore keys whose values they do not support.
# A key with an unknown `kty` is ignored, but an unknown `crv` raises a bare KeyError, which is no JoseError.
# Seen: kty AKP: 1 key
# Seen: crv BP-256: KeyError 'BP-256', JoseError False
# Seen: crv X99: KeyError 'X99', JoseError False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install joserfc==1.8.0
"$folder/venv/bin/python" - >"$folder/out" <<'PYTHON'
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet

GOOD = ECKey.generate_key("P-256", auto_kid=True).as_dict(private=False)
OTHERS = (
    {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA", "kid": "other"},
    {"kty": "EC", "crv": "BP-256", "x": "AAAA", "y": "AAAA", "kid": "other"},
    {"kty": "OKP", "crv": "X99", "x": "AAAA", "kid": "other"},
)
for other in OTHERS:
    name = f"crv {other['crv']}" if "crv" in other else f"kty {other['kty']}"
    try:
        print(f"{name}: {len(KeySet.import_key_set({'keys': [GOOD, other]}).keys)} key")
    except Exception as error:
        print(f"{name}: {type(error).__name__} {error}, JoseError {isinstance(error, JoseError)}")
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
