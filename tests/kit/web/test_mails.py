"""The page of a mail in a frame: its own styles are allowed by their hashes, nothing else is."""

import base64
import hashlib

from afterword.core.wire.site import PublicPages
from afterword.kit.web.mails import mail_page


def test_only_its_own_styles() -> None:
    page = mail_page(
        '<style>\r\np { color: red }</style><p style="margin: 0">Hello<script>alert(1)</script></p>',
        pages=PublicPages("https://ask.shop.example"),
    )
    policy = page.headers["content-security-policy"]
    for style in ("\np { color: red }", "margin: 0"):
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("sandbox allow-popups")
    assert "script" not in policy
    assert "default-src 'none'" in policy
    assert "\r" not in bytes(page.body).decode()
