#!/usr/bin/env bash
# Canaille 0.3.6: an authorization request with max_age=0 is never answered.
# After the password it compares the time of the log-in with now by a strict sign, so that a log-in of some
# milliseconds ago is too old, and the password page comes back without end. OpenID Connect Core 1.0, section 3.1.2.1,
# has max_age=0 mean the same as prompt=login. An age of 30 seconds and prompt=login are answered.
# Seen: plain: led back after 1 password
# Seen: max_age=30: led back after 1 password
# Seen: prompt=login&max_age=30: led back after 1 password
# Seen: max_age=0: asked again after 5 passwords
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install "canaille[front,oidc]==0.3.6"
"$folder/venv/bin/python" - >"$folder/out" 2>"$folder/log" <<'PYTHON'
import datetime
import os

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from joserfc import jwk

KEY = jwk.generate_key("RSA", 2048)
KEY.ensure_kid()
NOW = datetime.datetime.now(datetime.timezone.utc)
BACK = "https://client.example/back"
app = create_app(config={
    "SECRET_KEY": "x" * 32, "SERVER_NAME": "canaille.test", "TESTING": True, "WTF_CSRF_ENABLED": False,
    "TRUSTED_HOSTS": ["canaille.test"],
    "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "ACL": {"DEFAULT": {"PERMISSIONS": ["use_oidc"]}}},
    "CANAILLE_OIDC": {"ACTIVE_JWKS": [KEY.as_dict(private=True)]},
})
with app.app_context():
    user = models.User(formatted_name="Ann", family_name="Ann", user_name="ann", emails=["ann@a.example"],
                       password="four words of hers")
    client = models.Client(client_id="us", client_secret="s", client_name="us", redirect_uris=[BACK], scope=["openid"],
                           grant_types=["authorization_code"], response_types=["code"], client_id_issued_at=NOW,
                           token_endpoint_auth_method="client_secret_basic")
    for one in (user, client):
        Backend.instance.save(one)
    Backend.instance.save(
        models.Consent(consent_id="c", subject=user, client=client, scope=["openid"], issue_date=NOW)
    )


def visit(more):
    """Follow redirects and fill in what a page asks for, until the client is reached."""
    http, form, passwords = app.test_client(), None, 0
    url = f"/oauth/authorize?response_type=code&client_id=us&redirect_uri={BACK}&scope=openid&nonce=n&state=s&{more}"
    while passwords < 6:
        answer = http.open(url, base_url="http://canaille.test", method="POST" if form else "GET", data=form)
        text, form = answer.get_data(as_text=True), None
        if "Location" in answer.headers:
            url = answer.headers["Location"]
            if url.startswith(BACK):
                return f"led back after {passwords} password"
        elif 'name="login"' in text:
            form = {"login": "ann"}
        elif 'name="password"' in text:
            form, passwords = {"password": "four words of hers"}, passwords + 1
        else:
            return f"status {answer.status_code}"
    return f"asked again after {passwords - 1} passwords"


for more in ("", "max_age=30", "prompt=login&max_age=30", "max_age=0"):
    print(f"{more or 'plain'}: {visit(more)}")
PYTHON
cat "$folder/out"
sed -n 's/^# Seen: //p' "$0" | diff - "$folder/out"
