"""Compiles the invitation mail: once per pipeline version, questionnaire version, language and first question.

The result is a list of finished pieces with variables between them; filling it for a person is one join. Texts of
authors are escaped here, values of persons when they are filled in, and neither passes through MJML.
"""

import html
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from minijinja import Environment

from afterword.core.questionnaires.question_types import TYPES, YES_NO, Question
from afterword.core.questionnaires.questions import localized
from afterword.core.questionnaires.visuals import DEFAULT, STACKS, Picture, Theme, colors_of, read_address
from afterword.core.text import locales, placeholders
from afterword.core.text.placeholders import Piece, Template, Variable
from afterword.kit.texts import ISOLATE_END, ISOLATE_FIRST, Texts, texts
from afterword.kit.transport import mime

TEMPLATE_FOLDER = Path(__file__).parents[2] / "templates" / "email"
LOGO_WIDTH_MAX: Final = 240
LOGO_HEIGHT_MAX: Final = 56
RADIUS: Final = 10
SANS: Final = "-apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif"
SERIF: Final = "Georgia, Iowan Old Style, Palatino, Times New Roman, serif"
CHOICES_MAX = 10  # in a mail; a question with more is answered on its page
STARS_MAX = 6  # keys of more have no room for the sign

LINK: Final = Variable("link")
UNSUBSCRIBE_LINK: Final = Variable("unsubscribe_link")
ORGANIZATION: Final = Variable("organization")
POSTAL_ADDRESS: Final = Variable("postal_address")  # not for authors: it has a fixed place

# Keys of a scale by their number: width and gap in pixels. On 288 px (a phone of 320) they make one row or two, on
# 536 px one; wider screens widen the short scales (style.css). Borders included, no key is under 44 px.
_SIZES: Final[Mapping[int, tuple[int, int]]] = {
    3: (88, 6), 4: (64, 6), 5: (50, 5), 6: (42, 4), 7: (64, 6), 8: (58, 6), 9: (48, 5), 10: (44, 6), 11: (42, 4),
}  # fmt: skip
_NUMBERED_FROM = 7
_DARK_WHEN: Final = {None: "(prefers-color-scheme: dark)", "dark": "all", "light": "not all"}
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")

Pieces = tuple[Piece, ...]


class Authored(NamedTuple):
    """The texts of a message as they are stored; None: our own words. An SMS has a body alone."""

    subject: str | None = None
    body: str | None = None
    button: str | None = None
    reason: str | None = None
    footer: str | None = None


class Key(msgspec.Struct, frozen=True):
    value: int
    text: str
    label: str


class Invitation(msgspec.Struct, frozen=True):
    subject: Template
    text: Template
    html: Pieces
    variables: frozenset[Variable]  # those of `html`
    names: frozenset[str]  # of all variables, wherever they stand
    quoted: tuple[bytes | Variable, ...] = ()  # `html` as quoted-printable; none if base64 is shorter

    def fill_html(self, values: Mapping[str, str]) -> tuple[str, bytes]:
        """The page for one person, and as quoted-printable. Values are escaped here, for texts and attributes alike."""
        escaped = {variable: escape(placeholders.value_of(variable, values)) for variable in self.variables}
        html = "".join([piece if isinstance(piece, str) else escaped[piece] for piece in self.html])
        quoted = {variable: mime.quoted_piece(text) for variable, text in escaped.items()} if self.quoted else {}
        encoded = b"".join([piece if isinstance(piece, bytes) else quoted[piece] for piece in self.quoted])
        return html, encoded.removesuffix(mime.SOFT_BREAK)


class _Parts(msgspec.Struct, frozen=True):
    """Contents of a mail before rendering. `after` follows the question."""

    before: Sequence[Pieces]
    after: Sequence[Pieces]
    question: Question | None
    keys: Sequence[Key]
    reason: Pieces
    unsubscribe: str
    footer: Sequence[Pieces]
    button: Pieces
    with_address: bool
    style: Mapping[str, Any]  # of the templates


def compile_invitation(
    authored: Authored,
    *,
    question: Question | None,
    minutes: int,
    locale: str,
    with_address: bool,
    theme: Theme = DEFAULT,
    public_url: str = "",
) -> Invitation:
    """Compile the authored texts around the first question, in one language.

    `question` is None where nothing can be answered from a mail. A paragraph of the body that is only `{{ link }}` is
    the place of the question; without one it follows the body. `public_url`: of the logo's address.
    """
    words = texts("mail", locale)
    duration = words.plural("{n} minute", "{n} minutes", minutes)
    opening = words("{organization} would like to know how it went for you. It takes about {minutes}.")
    title = words("{organization} would like your opinion ({minutes})")
    paragraphs = (
        _paragraphs(authored.body) if authored.body else [_sentence(words, opening.replace("{minutes}", duration))]
    )
    before, after = _around_link(paragraphs)
    shown = localized(question, locale) if question is not None else None
    parts = _Parts(
        before=before,
        after=after,
        question=shown,
        keys=_keys(shown, locale) if shown is not None else [],
        reason=placeholders.parse(authored.reason).parts
        if authored.reason
        else _sentence(words, words("You got this mail because you have been in touch with {organization} recently.")),
        unsubscribe=words("Unsubscribe"),
        footer=_paragraphs(authored.footer or ""),
        button=placeholders.parse(authored.button or words("Open the questionnaire")).parts,
        with_address=with_address,
        style=style_of(theme, public_url),
    )
    pieces = _html(parts, locale)
    line = (
        placeholders.parse(authored.subject)
        if authored.subject
        else Template(_sentence(words, title.replace("{minutes}", duration)))
    )
    plain = _text(parts)
    variables = frozenset(piece for piece in pieces if isinstance(piece, Variable))
    is_base64 = mime.is_shorter_as_base64("".join(piece for piece in pieces if isinstance(piece, str)))
    quoted = [piece if isinstance(piece, Variable) else mime.quoted_piece(piece) for piece in pieces]
    return Invitation(
        subject=line,
        text=plain,
        html=pieces,
        variables=variables,
        names=line.names | plain.names | {variable.name for variable in variables},
        quoted=() if is_base64 else tuple(quoted),
    )


def escape(text: str) -> str:
    """Text for HTML, inside an element or a quoted attribute; line ends show as such."""
    return html.escape(text).replace("\n", "<br>")


def _paragraphs(body: str) -> list[Pieces]:
    found: list[list[Piece]] = [[]]
    for piece in placeholders.parse("\n".join(body.strip().splitlines())).parts:
        if isinstance(piece, Variable):
            found[-1].append(piece)
            continue
        first, *others = _BLANK_LINE.split(piece)
        found[-1].append(first)
        found.extend([other] for other in others)
    return [tuple(piece for piece in paragraph if piece) for paragraph in found if any(paragraph)]


def _around_link(paragraphs: Sequence[Pieces]) -> tuple[Sequence[Pieces], Sequence[Pieces]]:
    for place, paragraph in enumerate(paragraphs):
        said = [piece for piece in paragraph if isinstance(piece, Variable) or piece.strip()]
        if said == [LINK]:
            return paragraphs[:place], paragraphs[place + 1 :]
    return paragraphs, ()


def _sentence(words: Texts, text: str) -> Pieces:
    """One of our own sentences with its `{organization}`, isolated where the sentence runs from right to left."""
    first, *others = text.split("{organization}")
    pieces: list[Piece] = [first]
    for other in others:
        if words.direction == "rtl":
            pieces += [ISOLATE_FIRST, ORGANIZATION, ISOLATE_END, other]
        else:
            pieces += [ORGANIZATION, other]
    return tuple(piece for piece in pieces if piece)


def _text(parts: _Parts) -> Template:
    blocks: list[Pieces] = [*parts.before]
    if parts.question is not None:
        blocks.append(placeholders.parse(parts.question.title).parts)
    blocks += [(LINK,), *parts.after, ("-- ",), parts.reason, (f"{parts.unsubscribe}: ", UNSUBSCRIBE_LINK)]
    blocks += parts.footer
    if parts.with_address:
        blocks.append((ORGANIZATION, "\n", POSTAL_ADDRESS))
    pieces: list[Piece] = []
    for block in blocks:
        pieces += [*block, "\n\n" if block != ("-- ",) else "\n"]
    return Template(tuple(pieces))


def _html(parts: _Parts, locale: str) -> Pieces:
    contents: dict[str, Iterable[Piece]] = {
        "title": (ORGANIZATION,),
        "preview": _escaped(_preview(parts)),
        "brand": _brand(parts),
        "before": _paragraphs_html(parts.before, parts),
        "question": _question(parts, locale),
        "after": _paragraphs_html(parts.after, parts),
        "link": _link(parts),
        "foot": _foot(parts),
        "style": (_environment().render_template("style.css", **parts.style),),
    }
    direction, start = locales.direction(locale), _sides(locale)[0]
    # The marks are random, so that no text can name one.
    nonce = f"slot{secrets.token_hex(8)}"
    marks = {name: f"{nonce}{name}end" for name in contents}
    page = _environment().render_template(
        "invitation.mjml",
        locale=locale,
        direction=direction,
        start=start,
        after=bool(parts.after),
        slots=marks,
        **parts.style,
    )
    from mjml import mjml2html  # noqa: PLC0415  start-up time counts

    # MJML's own defaults for the two know one direction only.
    skeleton = mjml2html(page, fonts={})
    skeleton = skeleton.replace("direction:ltr", f"direction:{direction}").replace(
        "text-align:left", f"text-align:{start}"
    )
    return _spliced(skeleton, {marks[name]: pieces for name, pieces in contents.items()})


def _preview(parts: _Parts) -> Pieces:
    """The question; without one the first paragraph, which may be a greeting alone."""
    if parts.question is not None:
        return placeholders.parse(parts.question.title).parts
    return parts.before[0] if parts.before else parts.reason


def _spliced(text: str, contents: Mapping[str, Iterable[Piece]]) -> Pieces:
    """The text with each mark replaced by its pieces, and neighbouring texts joined."""
    pieces: list[Piece] = []
    for part in re.split(f"({'|'.join(map(re.escape, contents))})", text):
        pieces += contents.get(part, (part,))
    joined: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


def _escaped(pieces: Iterable[Piece]) -> Pieces:
    return tuple(piece if isinstance(piece, Variable) else escape(piece) for piece in pieces)


def _paragraphs_html(paragraphs: Iterable[Pieces], parts: _Parts) -> Pieces:
    pieces: list[Piece] = []
    for paragraph in paragraphs:
        pieces += ['<p style="margin:0 0 16px">', *_with_links(paragraph, parts), "</p>"]
    return tuple(pieces)


def _with_links(paragraph: Pieces, parts: _Parts) -> Pieces:
    pieces: list[Piece] = []
    for piece in paragraph:
        pieces += _anchor(piece, (piece,), parts) if piece in {LINK, UNSUBSCRIBE_LINK} else _escaped((piece,))
    return tuple(pieces)


def _anchor(target: Piece, shown: Iterable[Piece], parts: _Parts) -> Pieces:
    """A link. Addresses read from left to right in every language."""
    color = parts.style["light"]["accent"]
    opening = ('<a class="link" href="', target, f'" style="color:{color};word-break:break-word"><span dir="ltr">')
    return (*opening, *shown, "</span></a>")


def _link(parts: _Parts) -> Pieces:
    """A button for those who see no keys; without keys the question has one."""
    if not parts.keys:
        return ()
    color = parts.style["light"]["accent"]
    style = f"display:inline-block;padding:0 20px;border:1px solid {color};border-radius:{RADIUS}px;color:{color}"
    style += ";font-size:16px;line-height:46px;font-weight:600;text-decoration:none"
    return ('<a class="link" href="', LINK, f'" style="{style}">', *_escaped(parts.button), "</a>")


def _foot(parts: _Parts) -> Pieces:
    pieces: list[Piece] = [*_escaped(parts.reason), ' <a class="link" href="', UNSUBSCRIBE_LINK]
    pieces += [f'" style="color:{parts.style["light"]["accent"]}">', escape(parts.unsubscribe), "</a>"]
    for paragraph in parts.footer:
        pieces += ['<div style="padding-top:16px">', *_with_links(paragraph, parts), "</div>"]
    if parts.with_address:
        # An address has a direction of its own.
        pieces += ['<div dir="auto" style="padding-top:16px">', ORGANIZATION, "<br>", POSTAL_ADDRESS, "</div>"]
    return tuple(pieces)


def _question(parts: _Parts, locale: str) -> Pieces:
    """The first question as keys, or a button where none can be answered from a mail."""
    start, end = _sides(locale)
    question, keys = parts.question, parts.keys
    mark, button, *marks = (f"{name}{secrets.token_hex(8)}end" for name in ("link", "button", "title", "help"))
    kind = "scale" if question is not None and question.shape == "scale" else "choices"
    width, gap = _SIZES.get(len(keys), (0, 0))
    low, high = _ends(question, locale) if question is not None and kind == "scale" else ("", "")
    if len(keys) >= _NUMBERED_FROM:  # two rows on a phone: the labels of the ends need their values
        low, high = (f"{key.value} \u2013 {end}" if end else "" for key, end in ((keys[0], low), (keys[-1], high)))
    page = _environment().render_template(
        "question.html",
        kind=kind if keys else "button",
        title=marks[0] if question is not None else "",
        help=marks[1] if question is not None and question.description else None,
        question_id=question.question_id if question is not None else "",
        keys=[{"value": key.value, "text": key.text, "label": key.label} for key in keys],
        low=low,
        high=high,
        width=width,
        gap=gap,
        size=26 if question is not None and TYPES[question.type].faces else 18,
        narrow=len(keys) * (width + 2 + gap) - gap,
        button=button,
        link=mark,
        start=start,
        end=end,
        **parts.style,
    )
    texts = (question.title, question.description or "") if question is not None else ("", "")
    filled = {one: _escaped(placeholders.parse(text).parts) for one, text in zip(marks, texts, strict=True)}
    return _spliced(page, {mark: (LINK,), button: _escaped(parts.button), **filled})


def _keys(question: Question, locale: str) -> list[Key]:
    """The answers that a mail can offer; none where it takes a page."""
    if faces := TYPES[question.type].faces:
        named = zip(question.scale, faces[len(question.scale)], strict=True)
        return [Key(value, face, texts("pages", locale)(name)) for value, (face, name) in named]
    if question.shape == "scale" and len(question.scale) in _SIZES:
        low, high = _ends(question, locale)
        ends = {question.scale[0]: low, question.scale[-1]: high}
        sign = "\u202f★" if question.style == "stars" and len(question.scale) <= STARS_MAX else ""
        return [
            Key(value, f"{value}{sign}", f"{value}, {ends[value]}" if ends.get(value) else str(value))
            for value in question.scale
        ]
    if question.shape == "yes_no":
        words = texts("pages", locale)
        return [Key(value, words(text), words(text)) for value, text in YES_NO.items()]
    # A shuffled list has another order for each person, and this page is compiled for all.
    if question.shape == "choice" and len(question.choices) <= CHOICES_MAX and not question.randomize:
        return [Key(choice.value, choice.label, choice.label) for choice in question.choices]
    return []


def _ends(question: Question, locale: str) -> tuple[str, str]:
    words = texts("pages", locale)
    low, high = TYPES[question.type].ends
    return question.low_label or words(low), question.high_label or words(high)


def _sides(locale: str) -> tuple[str, str]:
    """Start and end of a line; mail programs support no logical properties."""
    return ("left", "right") if locales.direction(locale) == "ltr" else ("right", "left")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    names = ("invitation.mjml", "question.html", "style.css")
    environment = Environment(templates={name: (TEMPLATE_FOLDER / name).read_text(encoding="utf-8") for name in names})
    environment.auto_escape_callback = lambda _name: "html"
    environment.undefined_behavior = "strict"
    return environment


def _brand(parts: _Parts) -> Pieces:
    """The logo, or the name; the name is also what is shown while pictures are off."""
    logo: Picture | None = parts.style["logo"]
    if logo is None:
        return (ORGANIZATION,)
    width, height = parts.style["logo_size"]
    address = escape(f"{parts.style['public_url']}{logo.address}")
    opening = f'<img src="{address}" width="{width}" height="{height}" alt="'
    return (opening, ORGANIZATION, '" style="display:block;border:0;max-width:100%">')


def style_of(theme: Theme, public_url: str) -> dict[str, Any]:
    """Colours, fonts and the logo, as the templates take them. A logo that is no picture of ours is left out."""
    light, dark = (
        {name.replace("-", "_"): color for name, color in colors_of(theme, scheme).items()}
        for scheme in ("light", "dark")
    )
    own, logo = theme.font not in {"system", "serif"}, read_address(theme.logo or "")
    return {
        "dark_when": _DARK_WHEN[theme.scheme],
        "light": light,
        "dark": dark,
        "sans": SANS if theme.font == "system" else STACKS[theme.font],
        "serif": STACKS[theme.font] if own else SERIF,
        "radius": RADIUS if theme.corner_radius is None else theme.corner_radius,
        "logo": logo,
        "logo_size": _size_of(logo) if logo else None,
        "public_url": public_url,
    }


def _size_of(logo: Picture) -> tuple[int, int]:
    scale = min(1, LOGO_WIDTH_MAX / logo.width, LOGO_HEIGHT_MAX / logo.height)
    return max(1, round(logo.width * scale)), max(1, round(logo.height * scale))
