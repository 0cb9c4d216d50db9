"""Endings: the page after completion, by condition. The first that holds is shown, else the text `thank_you`.

An ending with `responses_max` is a quota: people whose answers match see it once that many responses are complete.
One with `coupon_pool` shows a code of that pool, and is passed over where there is none. One with `call_back` has a
form by which people ask to be called.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Node, Scope
from afterword.core.reading.documents import Members, given, read_by_locale
from afterword.core.text import placeholders

ENDINGS_MAX = 50
QUOTA_RESPONSES_MAX = 100_000
TITLE_CHARACTERS_MAX = 200
TEXT_CHARACTERS_MAX = 5000
LABEL_CHARACTERS_MAX = 100
ADDRESS_CHARACTERS_MAX = 2000
EXCERPT_CHARACTERS: Final = 60
TEXTS: Final = ("title", "text", "button_label", "review_label")
ADDRESSES: Final = ("button_url", "review_url")
OPTIONAL: Final = ("responses_max", "coupon_pool", "call_back")  # written only where they have a value
# No user name, no variable in the host: the host is the one that the author reads.
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_ADDRESS: Final = re.compile(r"https://[^\s/?#@:\"'<>\\{}]+(?::\d{1,5})?(?:[/?#][^\s\"'<>\\]*)?\Z")


class EndingTexts(msgspec.Struct, frozen=True):
    """An ending's texts in one more language; a text that is None is that of the default locale."""

    title: str | None = None
    text: str | None = None
    button_label: str | None = None
    review_label: str | None = None


class Ending(EndingTexts, frozen=True, kw_only=True):
    """One page after completion. Texts and addresses may have variables."""

    ending_id: str
    key: str | None = None
    conditions: Node | None = None
    button_url: str | None = None
    review_url: str | None = None
    responses_max: int | None = None
    coupon_pool: str | None = None
    call_back: bool | None = None  # True, or None
    translations: Mapping[str, EndingTexts] = msgspec.field(default_factory=dict[str, EndingTexts])


def chosen(
    endings: Sequence[Ending], facts: conditions.Facts, *, pools: Collection[str] | None = None
) -> Ending | None:
    """The first ending whose condition holds. `pools`: the keys of those that gave the response a code; None: all."""
    found = holding(endings, facts)
    return next((one for one in found if pools is None or one.coupon_pool in {None, *pools}), None)


def holding(endings: Sequence[Ending], facts: conditions.Facts) -> Iterator[Ending]:
    return (one for one in endings if one.responses_max is None and conditions.matches(one.conditions, facts))


def quotas(endings: Sequence[Ending], facts: conditions.Facts) -> list[Ending]:
    return [one for one in endings if one.responses_max is not None and conditions.matches(one.conditions, facts)]


def localized(ending: Ending, locale: str) -> Ending:
    texts = ending.translations.get(locale) or EndingTexts()
    return replace(ending, **{name: getattr(texts, name) or getattr(ending, name) for name in TEXTS}, translations={})


def name_of(ending: Ending) -> str:
    """Its title, else the beginning of its text; empty without both."""
    text = ending.title or ending.text or ""
    return text if len(text) <= EXCERPT_CHARACTERS else f"{text[:EXCERPT_CHARACTERS].rstrip()}…"


def document_of(ending: Ending) -> dict[str, object]:
    return {
        **given(ending, ("ending_id", "key")),
        "conditions": conditions.document_of(ending.conditions),
        **{name: getattr(ending, name) for name in (*TEXTS, *ADDRESSES)},
        **given(ending, OPTIONAL),
        "translations": {locale: given(texts, TEXTS) for locale, texts in ending.translations.items()},
    }


def read(members: Members, *, ending_id: str, key: str | None, locales: Sequence[str], scope: Scope) -> Ending:
    ending = Ending(
        ending_id=ending_id,
        key=key,
        conditions=conditions.read(members.take("conditions"), members.pointer("conditions"), members.findings, scope),
        **_read_texts(members),
        button_url=_read_address(members, "button_url"),
        review_url=_read_address(members, "review_url"),
        responses_max=members.optional_integer("responses_max", 1, QUOTA_RESPONSES_MAX),
        coupon_pool=_read_pool(members),
        call_back=members.boolean("call_back", default=False) or None,
        translations=read_by_locale(members, "translations", locales, lambda below: EndingTexts(**_read_texts(below))),
    )
    if ending.button_url and not ending.button_label:
        members.error("button_label", "required", "A button needs a text.")
    if ending.button_label and not ending.button_url:
        members.error("button_url", "required", "A button needs an address.")
    if ending.responses_max is not None and ending.conditions is None:
        members.error("conditions", "required", "A quota needs a condition.")
    if ending.responses_max is not None and ending.coupon_pool is not None:
        members.error("coupon_pool", "exclusive", "A quota gives no coupon.")
    if ending.responses_max is not None and ending.call_back:
        members.error("call_back", "exclusive", "A quota offers no call.")
    members.finish()
    return ending


def _read_texts(members: Members) -> dict[str, str | None]:
    return {
        "title": members.text("title", 0, TITLE_CHARACTERS_MAX) or None,
        "text": members.text("text", 0, TEXT_CHARACTERS_MAX) or None,
        "button_label": members.text("button_label", 0, LABEL_CHARACTERS_MAX) or None,
        "review_label": members.text("review_label", 0, LABEL_CHARACTERS_MAX) or None,
    }


def _read_pool(members: Members) -> str | None:
    key = members.raw_text("coupon_pool") or None
    if key is not None and not _KEY.match(key):
        members.error("coupon_pool", "invalid_format", "The key of a coupon pool is expected, such as thanks_10.")
    return key


def _read_address(members: Members, name: str) -> str | None:
    """An address may have variables behind the name of its site; `variables.check` looks at their names."""
    text = members.text(name, 0, ADDRESS_CHARACTERS_MAX) or None
    if text is None:
        return None
    parts = placeholders.parse(text, lambda _: True).parts
    bare = "".join([one if isinstance(one, str) else "x" for one in parts])
    first = parts[0] if isinstance(parts[0], str) else ""
    has_host = len(parts) == 1 or any(sign in first.removeprefix("https://") for sign in "/?#")
    if not _ADDRESS.match(bare) or not has_host:
        members.error(
            name, "invalid_format", "An address that begins with https:// and the name of a site is expected."
        )
    return text
