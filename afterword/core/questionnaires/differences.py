"""The difference of two definitions, one entry for each change, with a sentence for people.

Keys of files are left out: they are no content. `SENTENCES` and `MEMBERS` are the texts; the console translates them.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from afterword.core.questionnaires import conditions, endings, question_types, questions
from afterword.core.questionnaires.definition import GROUP_TEXTS, PAGES, Definition, Group, PageTexts, Texts
from afterword.core.questionnaires.endings import EndingTexts
from afterword.core.questionnaires.question_types import TYPES, Question, Translation
from afterword.core.text.locales import Marked

# `{title}` names the question or group, `{member}` is a text of MEMBERS, `{label}` that of a choice or row.
SENTENCES: Final[Mapping[str, Marked]] = {
    "default_locale_changed": "The default language is {after} in place of {before}.",
    "locale_added": "The language {locale} is new.", "locale_removed": "The language {locale} is gone.",
    "page_changed": "Around the questions, {member} changed ({locale}).",
    "questionnaire_text_changed": "Of the questionnaire, {member} changed ({locale}).",
    "anonymity_added": "New invitations are anonymous: no answer can be traced to a person.",
    "anonymity_removed": "New invitations are no longer anonymous.", "group_added": "The page “{title}” is new.",
    "group_removed": "The page “{title}” is gone.", "group_moved": "The page “{title}” has another place.",
    "group_text_changed": "Of the page “{title}”, {member} changed ({locale}).",
    "group_changed": "Of the page “{title}”, {member} changed.",
    "group_enabled": "The page “{title}” is shown again.", "group_disabled": "The page “{title}” is no longer shown.",
    "question_added": "The question “{title}” is new.", "question_removed": "The question “{title}” is gone.",
    "question_moved": "The question “{title}” has another place.",
    "question_retyped": "The question “{title}” has another type: {after} in place of {before}.",
    "question_text_changed": "Of the question “{title}”, {member} changed ({locale}).",
    "question_changed": "Of the question “{title}”, {member} changed.",
    "question_required": "The question “{title}” must be answered.",
    "question_optional": "The question “{title}” may be left unanswered.",
    "question_enabled": "The question “{title}” is asked again.",
    "question_disabled": "The question “{title}” is no longer asked.",
    "show_if_added": "The question “{title}” is asked only under a condition.",
    "show_if_removed": "The question “{title}” is asked without a condition.",
    "show_if_changed": "The question “{title}” is asked under another condition.",
    "jumps_changed": "The question “{title}” leads elsewhere.",
    "choice_added": "“{title}” has the new choice “{label}”.",
    "choice_removed": "“{title}” has the choice “{label}” no more.",
    "choice_renamed": "A choice of “{title}” is called “{after}” in place of “{before}”.",
    "choice_translated": "Of “{title}”, the choice “{label}” has another text ({locale}).",
    "choice_changed": "Of “{title}”, {member} of the choice “{label}” changed.",
    "choices_moved": "The choices of “{title}” have another order.",
    "row_added": "“{title}” has the new row “{label}”.", "row_removed": "“{title}” has the row “{label}” no more.",
    "row_renamed": "A row of “{title}” is called “{after}” in place of “{before}”.",
    "row_translated": "Of “{title}”, the row “{label}” has another text ({locale}).",
    "rows_moved": "The rows of “{title}” have another order.", "ending_added": "The ending “{title}” is new.",
    "ending_removed": "The ending “{title}” is gone.",
    "ending_text_changed": "Of the ending “{title}”, {member} changed ({locale}).",
    "ending_changed": "Of the ending “{title}”, {member} changed.",
    "endings_moved": "The endings have another order.",
}  # fmt: skip
MEMBERS: Final[Mapping[str, Marked]] = {
    **{name: member.meaning for name, member in question_types.MEMBERS.items() if member.meaning},
    "welcome": "the text before the questions", "thank_you": "the text after the last answer",
    "closed": "the text when it is closed", "expired": "the text when the link has expired",
    "conditions": "the condition", "text": "the text", "button_label": "the text of the button",
    "button_url": "the address of the button", "review_label": "the text of the review link",
    "review_url": "the address of the review link", "coupon_pool": "the coupon pool", "call_back": "the call-back form",
    "responses_max": "the maximum number of responses", "picture": "the picture",
}  # fmt: skip
OF_ALL_TYPES: Final = ("display_name", "display_probability", "randomize", "scored")
OF_TYPES: Final = tuple(
    dict.fromkeys(name for one in TYPES.values() for name in one.fields if name not in {"choices", "rows"})
)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One change. `path`: a JSON pointer into the later definition; of what is gone, into the earlier one.

    `member`: the name of the changed text or setting. `texts`: the names in its sentence.
    """

    kind: str
    path: str
    group_id: str | None = None
    question_id: str | None = None
    locale: str | None = None
    member: str | None = None
    before: object = None
    after: object = None
    texts: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def arguments(self) -> dict[str, str]:
        """The values of the blanks in its sentence; `member` is a key of MEMBERS."""
        values = {"locale": self.locale, "member": self.member, "before": self.before, "after": self.after}
        return {name: str(value) for name, value in values.items() if value is not None} | dict(self.texts)

    @property
    def sentence(self) -> str:
        named = {"member": MEMBERS[self.member]} if self.member else {}
        return SENTENCES[self.kind].format_map(self.arguments | named)


def differences(earlier: Definition, later: Definition) -> list[Difference]:
    """Every change from `earlier` to `later`: languages and page texts, groups, questions, then endings."""
    locales = list(dict.fromkeys([*earlier.locales, *later.locales, earlier.default_locale, later.default_locale]))
    parts = (_whole, _groups, _questions, _endings)
    return [one for part in parts for one in part(earlier, later, locales)]


Make = Callable[..., Difference]  # of kind and path, with the ids and the title of its group, question or ending


def _make(
    kind: str,
    path: str,
    *,
    title: str | None = None,
    label: str | None = None,
    values: tuple[object, object] = (None, None),
    **more: Any,
) -> Difference:
    texts = {name: text for name, text in (("title", title), ("label", label)) if text is not None}
    return Difference(kind=kind, path=path, before=values[0], after=values[1], texts=texts, **more)


def _changed(make: Make, kind: str, path: str, before: object, after: object, **more: Any) -> Iterator[Difference]:
    if before != after:
        yield make(kind, path, values=(before, after), **more)


def _whole(earlier: Definition, later: Definition, locales: Sequence[str]) -> Iterator[Difference]:
    old, new = earlier.default_locale, later.default_locale
    yield from _changed(_make, "default_locale_changed", "/default_locale", old, new)
    if earlier.anonymous != later.anonymous:
        yield _make("anonymity_added" if later.anonymous else "anonymity_removed", "/anonymous")
    for locale in (each for each in later.locales if each not in earlier.locales):
        yield _make("locale_added", "/locales", locale=locale)
    for locale in (each for each in earlier.locales if each not in later.locales):
        yield _make("locale_removed", "/locales", locale=locale)
    for locale in locales:
        texts, path = (earlier.texts(locale), later.texts(locale)), f"/translations/{locale}"
        yield from _texts(_make, "questionnaire_text_changed", GROUP_TEXTS, *texts, locale=locale, path=path)
        before, after = (each.pages.get(locale) or PageTexts() for each in (earlier, later))
        yield from _texts(_make, "page_changed", PAGES, before, after, locale=locale, path=f"/pages/{locale}")


def _texts(
    make: Make, kind: str, names: Sequence[str], before: object, after: object, *, locale: str, path: str
) -> Iterator[Difference]:
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        yield from _changed(make, kind, f"{path}/{name}", old, new, locale=locale, member=name)


def _translated_texts(
    make: Make,
    kind: str,
    names: Sequence[str],
    owners: tuple[tuple[Any, Definition], tuple[Any, Definition]],
    none: object,
    *,
    locales: Sequence[str],
    path: str,
) -> Iterator[Difference]:
    """`owners`: the earlier and the later group, question or ending, each with its definition."""
    for locale in locales:
        before, after = (
            owner if locale == whole.default_locale else owner.translations.get(locale) or none
            for owner, whole in owners
        )
        below = path if locale == owners[1][1].default_locale else f"{path}/translations/{locale}"
        yield from _texts(make, kind, names, before, after, locale=locale, path=below)


def _groups(earlier: Definition, later: Definition, locales: Sequence[str]) -> Iterator[Difference]:
    before = {group.group_id: (place, group) for place, group in enumerate(earlier.groups)}
    after = {group.group_id: (place, group) for place, group in enumerate(later.groups)}
    for group_id, (place, group) in before.items():
        if group_id not in after:
            yield _of_group(group, earlier)("group_removed", f"/groups/{place}")
    moved = _moved([each for each in before if each in after], [each for each in after if each in before])
    for group_id, (place, group) in after.items():
        path, make = f"/groups/{place}", _of_group(group, later)
        if group_id not in before:
            yield make("group_added", path)
            continue
        old_place, old = before[group_id]
        if group_id in moved:
            yield make("group_moved", path, values=(old_place, place))
        owners = (old, earlier), (group, later)
        yield from _translated_texts(
            make, "group_text_changed", GROUP_TEXTS, owners, Texts(), locales=locales, path=path
        )
        if old.enabled != group.enabled:
            yield make("group_enabled" if group.enabled else "group_disabled", f"{path}/enabled")
        names = old.display_name, group.display_name
        yield from _changed(make, "group_changed", f"{path}/display_name", *names, member="display_name")


def _of_group(group: Group, definition: Definition) -> Make:
    title = group.title or group.display_name or str(definition.groups.index(group) + 1)
    return partial(_make, title=title, group_id=group.group_id)


def _questions(earlier: Definition, later: Definition, locales: Sequence[str]) -> Iterator[Difference]:
    before = {one.question_id: one for one in earlier.questions()}
    after = {one.question_id: one for one in later.questions()}
    old_paths, new_paths = ({one.question_id: path for path, one in each.placed} for each in (earlier, later))
    for question_id, question in before.items():
        if question_id not in after:
            group_id = earlier.group_of(question_id).group_id
            yield _of_question(question)("question_removed", old_paths[question_id], group_id=group_id)
    moved = _moved_questions(earlier, later)
    for question_id, question in after.items():
        path, group_id = new_paths[question_id], later.group_of(question_id).group_id
        make = _of_question(question)
        if question_id not in before:
            yield make("question_added", path, group_id=group_id)
            continue
        if question_id in moved:
            yield make("question_moved", path, group_id=group_id, values=(old_paths[question_id], path))
        old = before[question_id]
        yield from _changed(make, "question_retyped", f"{path}/type", old.type, question.type)
        owners = (old, earlier), (question, later)
        yield from _translated_texts(
            make, "question_text_changed", questions.TEXTS, owners, Translation(), locales=locales, path=path
        )
        yield from _question_changes(make, old, question, locales, path)


def _of_question(question: Question) -> Make:
    return partial(_make, title=question.title, question_id=question.question_id)


def _moved_questions(earlier: Definition, later: Definition) -> set[str]:
    """Those in another group, and those of a group that do not keep the order of the others."""
    moved: set[str] = set()
    for group in later.groups:
        old = earlier.group(group.group_id)
        ids = [one.question_id for one in group.questions if earlier.question(one.question_id) is not None]
        old_ids = [one.question_id for one in old.questions] if old else []
        moved |= set(ids) - set(old_ids)
        moved |= _moved([each for each in old_ids if each in ids], [each for each in ids if each in old_ids])
    return moved


def _moved(before: Sequence[str], after: Sequence[str]) -> set[str]:
    """Of two orders of the same names, those that left the order of the others."""
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return set(after).difference(*(after[block.b : block.b + block.size] for block in blocks))


def _question_changes(
    make: Make, before: Question, after: Question, locales: Sequence[str], path: str
) -> Iterator[Difference]:
    if before.required != after.required:
        yield make("question_required" if after.required else "question_optional", f"{path}/required")
    if before.enabled != after.enabled:
        yield make("question_enabled" if after.enabled else "question_disabled", f"{path}/enabled")
    for name in OF_ALL_TYPES + (OF_TYPES if before.type == after.type else ()):
        values = _plain(getattr(before, name)), _plain(getattr(after, name))
        yield from _changed(make, "question_changed", f"{path}/{name}", *values, member=name)
    old, new = ({one.value: one.label for one in each.choices} for each in (before, after))
    yield from _parts(make, "choice", old, new, f"{path}/choices")
    for place, choice in enumerate(after.choices):
        earlier = before.choice(choice.value)
        for name in ("other", "exclusive", "points", "picture") if earlier else ():
            values, below = (getattr(earlier, name), getattr(choice, name)), f"{path}/choices/{place}/{name}"
            yield from _changed(make, "choice_changed", below, *values, member=name, label=choice.label)
    yield from _translated(make, "choice", old, new, (before, after), locales=locales, path=path)
    old_rows, new_rows = ({one.row_id: one.label for one in each.rows} for each in (before, after))
    yield from _parts(make, "row", old_rows, new_rows, f"{path}/rows")
    yield from _translated(make, "row", old_rows, new_rows, (before, after), locales=locales, path=path)
    shown = conditions.document_of(before.show_if), conditions.document_of(after.show_if)
    if shown[0] != shown[1]:
        kind = "show_if_added" if shown[0] is None else "show_if_removed" if shown[1] is None else "show_if_changed"
        yield make(kind, f"{path}/show_if", values=shown)
    jumps = questions.jumps_document(before), questions.jumps_document(after)
    yield from _changed(make, "jumps_changed", f"{path}/jumps", *jumps)


def _parts(make: Make, kind: str, old: Mapping[Any, str], new: Mapping[Any, str], path: str) -> Iterator[Difference]:
    """The choices by their values, or the rows by their ids, each with its label."""
    for name in (each for each in old if each not in new):
        yield make(f"{kind}_removed", path, values=(name, None), label=old[name])
    for place, (name, label) in enumerate(new.items()):
        if name not in old:
            yield make(f"{kind}_added", f"{path}/{place}", values=(None, name), label=label)
        elif old[name] != label:
            yield make(f"{kind}_renamed", f"{path}/{place}/label", values=(old[name], label))
    if [each for each in old if each in new] != [each for each in new if each in old]:
        yield make(f"{kind}s_moved", path, values=([*old], [*new]))


def _translated(
    make: Make,
    kind: str,
    old: Mapping[Any, str],
    new: Mapping[Any, str],
    questions: tuple[Question, Question],
    *,
    locales: Sequence[str],
    path: str,
) -> Iterator[Difference]:
    """The translations of choices or rows that both questions have."""
    for locale in locales:
        before, after = (getattr(each.translations.get(locale) or Translation(), f"{kind}s") for each in questions)
        for name in (each for each in new if each in old):
            values, below = (before.get(name), after.get(name)), f"{path}/translations/{locale}/{kind}s/{name}"
            yield from _changed(make, f"{kind}_translated", below, *values, locale=locale, label=new[name])


def _plain(value: object) -> object:
    return list[object](value) if isinstance(value, tuple) else value


def _endings(earlier: Definition, later: Definition, locales: Sequence[str]) -> Iterator[Difference]:
    before = {one.ending_id: one for one in earlier.endings}
    after = {one.ending_id: one for one in later.endings}
    for place, ending in enumerate(earlier.endings):
        if ending.ending_id not in after:
            yield _make("ending_removed", f"/endings/{place}", title=endings.name_of(ending) or str(place + 1))
    for place, ending in enumerate(later.endings):
        path, make = f"/endings/{place}", partial(_make, title=endings.name_of(ending) or str(place + 1))
        old = before.get(ending.ending_id)
        if old is None:
            yield make("ending_added", path)
            continue
        documents = endings.document_of(old), endings.document_of(ending)
        for name in ("conditions", *endings.ADDRESSES, *endings.OPTIONAL):
            values = documents[0].get(name), documents[1].get(name)
            yield from _changed(make, "ending_changed", f"{path}/{name}", *values, member=name)
        owners = (old, earlier), (ending, later)
        yield from _translated_texts(
            make, "ending_text_changed", endings.TEXTS, owners, EndingTexts(), locales=locales, path=path
        )
    if [each for each in before if each in after] != [each for each in after if each in before]:
        yield _make("endings_moved", "/endings", values=([*before], [*after]))
