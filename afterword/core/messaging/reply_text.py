"""A person's own words in an answer by mail, without what their mail program quoted."""

import re
from html import unescape
from typing import Final

_QUOTE_BEGINS: Final = re.compile(
    r"^(?:>|-{2,} ?Original|_{10,}$"
    r"|(?:On|Am|Le|El|Στις|في) .{5,200}(?:wrote|schrieb|écrit|escribió|έγραψε|كتب).{0,40}:$)",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS: Final = re.compile(r"<(?:style|script)\b.*?</(?:style|script)>|<[^>]{0,2000}>", re.IGNORECASE | re.DOTALL)


def own_words(words: str) -> str:
    quote = _QUOTE_BEGINS.search(words)
    return (words[: quote.start()] if quote else words).strip() or words.strip()


def text_of_html(source: str) -> str:
    return unescape(_TAGS.sub("", source))
