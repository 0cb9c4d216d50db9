"""The difference of two definitions, one entry for each change, with a sentence for people.

Keys of files are left out: they are no content. `SENTENCES` and `MEMBERS` are the texts; the console translates them.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from afterword.core.questionnaires import conditions, endings, question_types
from afterword.core.questionnaires.definition import GROUP_TEXTS, PAGES, Definition, Group, PageTexts, Texts
from afterword.core.questionnaires.endings import Ending, EndingTexts
from afterword.core.questionnaires.question_types import TYPES, Question, Translation

# `{title}` names the question or group, `{member}` is a text of MEMBERS, `{label}` that of a choice or row.
SENTENCES: Final[Mapping[str, str]] = {
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
MEMBERS: Final[Mapping[str, str]] = {
    **{name: member.meaning for name, member in question_types.MEMBERS.items() if member.meaning},
    "welcome": "the welcome", "thank_you": "the thanks", "closed": "the text when closed",
    "expired": "the text when too late", "conditions": "the condition",
    "text": "the text", "button_label": "the text of the button", "button_url": "the address of the button",
    "review_label": "the text of the review link", "review_url": "the address of the review link",
    "coupon_pool": "the coupon pool", "call_back": "the call-back form",
    "responses_max": "the greatest number of responses", "picture": "the picture",
}  # fmt: skip
QUESTION_TEXTS: Final = ("title", "description", "low_label", "high_label")
OF_ALL_TYPES: Final = ("display_name", "display_probability", "randomize", "scored")
OF_TYPES: Final = tuple(
    dict.fromkeys(name for one in TYPES.values() for name in one.fields if name not in {"choices", "rows"})
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
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
    texts: Mapping[str, str] = field(default_factory=dict[str, str])

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
    endings = [Difference(**one) for one in changes(earlier, later, _locales(earlier, later))]
    return [*_whole(earlier, later), *_groups(earlier, later), *_questions(earlier, later), *endings]


def _whole(earlier: Definition, later: Definition) -> Iterator[Difference]:
    if earlier.default_locale != later.default_locale:
        yield Difference(
            kind="default_locale_changed",
            path="/default_locale",
            before=earlier.default_locale,
            after=later.default_locale,
        )
    if earlier.anonymous != later.anonymous:
        yield Difference(kind="anonymity_added" if later.anonymous else "anonymity_removed", path="/anonymous")
    for locale in (each for each in later.locales if each not in earlier.locales):
        yield Difference(kind="locale_added", path="/locales", locale=locale)
    for locale in (each for each in earlier.locales if each not in later.locales):
        yield Difference(kind="locale_removed", path="/locales", locale=locale)
    for locale in _locales(earlier, later):
        yield from _texts(
            "questionnaire_text_changed",
            GROUP_TEXTS,
            earlier.texts(locale),
            later.texts(locale),
            locale=locale,
            path=f"/translations/{locale}",
        )
        yield from _texts(
            "page_changed",
            PAGES,
            earlier.pages.get(locale) or PageTexts(),
            later.pages.get(locale) or PageTexts(),
            locale=locale,
            path=f"/pages/{locale}",
        )


def _locales(earlier: Definition, later: Definition) -> list[str]:
    return list(dict.fromkeys([*earlier.locales, *later.locales, earlier.default_locale, later.default_locale]))


def _texts(
    kind: str,
    names: Sequence[str],
    before: object,
    after: object,
    *,
    locale: str,
    path: str,
    group_id: str | None = None,
    question_id: str | None = None,
    **texts: str,
) -> Iterator[Difference]:
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield Difference(
                kind=kind,
                path=f"{path}/{name}",
                group_id=group_id,
                question_id=question_id,
                locale=locale,
                member=name,
                before=old,
                after=new,
                texts=texts,
            )


def _groups(earlier: Definition, later: Definition) -> Iterator[Difference]:
    before = {group.group_id: group for group in earlier.groups}
    after = {group.group_id: group for group in later.groups}
    old_places = {group.group_id: place for place, group in enumerate(earlier.groups)}
    new_places = {group.group_id: place for place, group in enumerate(later.groups)}
    for group_id, group in before.items():
        if group_id not in after:
            yield _of_group("group_removed", earlier, group, path=f"/groups/{old_places[group_id]}")
    moved = _moved([each for each in before if each in after], [each for each in after if each in before])
    for group_id, group in after.items():
        path = f"/groups/{new_places[group_id]}"
        if group_id not in before:
            yield _of_group("group_added", later, group, path=path)
            continue
        if group_id in moved:
            places = old_places[group_id], new_places[group_id]
            yield _of_group("group_moved", later, group, path=path, values=places)
        yield from _group_changes(before[group_id], group, earlier, later, path)


def _group_changes(
    before: Group, after: Group, earlier: Definition, later: Definition, path: str
) -> Iterator[Difference]:
    title = group_title(after, later)
    for locale in _locales(earlier, later):
        yield from _texts(
            "group_text_changed",
            GROUP_TEXTS,
            _group_texts(before, earlier, locale),
            _group_texts(after, later, locale),
            locale=locale,
            path=_text_path(path, later, locale),
            group_id=after.group_id,
            title=title,
        )
    if before.enabled != after.enabled:
        yield _of_group("group_enabled" if after.enabled else "group_disabled", later, after, path=f"{path}/enabled")
    if before.display_name != after.display_name:
        values = before.display_name, after.display_name
        yield _of_group(
            "group_changed", later, after, path=f"{path}/display_name", member="display_name", values=values
        )


def group_title(group: Group, definition: Definition) -> str:
    return group.title or group.display_name or str(definition.groups.index(group) + 1)


def _group_texts(group: Group, definition: Definition, locale: str) -> Group | Texts:
    return group if locale == definition.default_locale else group.translations.get(locale) or Texts()


def _of_group(
    kind: str,
    definition: Definition,
    group: Group,
    *,
    path: str,
    member: str | None = None,
    values: tuple[object, object] = (None, None),
) -> Difference:
    return Difference(
        kind=kind,
        path=path,
        group_id=group.group_id,
        member=member,
        before=values[0],
        after=values[1],
        texts={"title": group_title(group, definition)},
    )


def _questions(earlier: Definition, later: Definition) -> Iterator[Difference]:
    before = {one.question_id: one for one in earlier.questions()}
    after = {one.question_id: one for one in later.questions()}
    old_paths, new_paths = _paths(earlier), _paths(later)
    for question_id, question in before.items():
        if question_id not in after:
            group_id = earlier.group_of(question_id).group_id
            yield _of("question_removed", question, old_paths[question_id], group_id=group_id)
    moved = _moved_questions(earlier, later)
    for question_id, question in after.items():
        path, group_id = new_paths[question_id], later.group_of(question_id).group_id
        if question_id not in before:
            yield _of("question_added", question, path, group_id=group_id)
            continue
        if question_id in moved:
            places = old_paths[question_id], path
            yield _of("question_moved", question, path, group_id=group_id, values=places)
        yield from _question_changes(before[question_id], question, earlier, later, path)


def _paths(definition: Definition) -> dict[str, str]:
    return {
        question.question_id: f"/groups/{place}/questions/{index}"
        for place, group in enumerate(definition.groups)
        for index, question in enumerate(group.questions)
    }


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
    before: Question, after: Question, earlier: Definition, later: Definition, path: str
) -> Iterator[Difference]:
    if before.type != after.type:
        yield _of("question_retyped", after, f"{path}/type", values=(before.type, after.type))
    for locale in _locales(earlier, later):
        yield from _texts(
            "question_text_changed",
            QUESTION_TEXTS,
            _question_texts(before, earlier, locale),
            _question_texts(after, later, locale),
            locale=locale,
            path=_text_path(path, later, locale),
            question_id=after.question_id,
            title=after.title,
        )
    if before.required != after.required:
        yield _of("question_required" if after.required else "question_optional", after, f"{path}/required")
    if before.enabled != after.enabled:
        yield _of("question_enabled" if after.enabled else "question_disabled", after, f"{path}/enabled")
    for name in OF_ALL_TYPES + (OF_TYPES if before.type == after.type else ()):
        values = _plain(getattr(before, name)), _plain(getattr(after, name))
        if values[0] != values[1]:
            yield _of("question_changed", after, f"{path}/{name}", member=name, values=values)
    locales = _locales(earlier, later)
    yield from _choices(before, after, locales, path)
    yield from _rows(before, after, locales, path)
    shown = conditions.document_of(before.show_if), conditions.document_of(after.show_if)
    if shown[0] != shown[1]:
        kind = "show_if_added" if shown[0] is None else "show_if_removed" if shown[1] is None else "show_if_changed"
        yield _of(kind, after, f"{path}/show_if", values=shown)
    jumps = _jumps(before), _jumps(after)
    if jumps[0] != jumps[1]:
        yield _of("jumps_changed", after, f"{path}/jumps", values=jumps)


def _choices(before: Question, after: Question, locales: Sequence[str], path: str) -> Iterator[Difference]:
    old, new = ({one.value: one.label for one in each.choices} for each in (before, after))
    yield from _parts("choice", after, old, new, f"{path}/choices")
    for place, choice in enumerate(after.choices):
        earlier = before.choice(choice.value)
        if earlier is None:
            continue
        for name in ("other", "exclusive", "points", "picture"):
            values = getattr(earlier, name), getattr(choice, name)
            if values[0] != values[1]:
                below = f"{path}/choices/{place}/{name}"
                yield _of("choice_changed", after, below, member=name, label=choice.label, values=values)
    both = {name: label for name, label in new.items() if name in old}
    for locale in locales:
        texts = [(each.translations.get(locale) or Translation()).choices for each in (before, after)]
        where = f"{path}/translations/{locale}/choices"
        yield from _translated("choice", after, both, texts, at=(locale, where))


def _rows(before: Question, after: Question, locales: Sequence[str], path: str) -> Iterator[Difference]:
    old, new = ({one.row_id: one.label for one in each.rows} for each in (before, after))
    yield from _parts("row", after, old, new, f"{path}/rows")
    both = {name: label for name, label in new.items() if name in old}
    for locale in locales:
        texts = [(each.translations.get(locale) or Translation()).rows for each in (before, after)]
        where = f"{path}/translations/{locale}/rows"
        yield from _translated("row", after, both, texts, at=(locale, where))


def _parts(
    kind: str, question: Question, old: Mapping[Any, str], new: Mapping[Any, str], path: str
) -> Iterator[Difference]:
    """The choices by their values, or the rows by their ids, each with its label."""
    for name in (each for each in old if each not in new):
        yield _of(f"{kind}_removed", question, path, values=(name, None), label=old[name])
    for place, (name, label) in enumerate(new.items()):
        if name not in old:
            yield _of(f"{kind}_added", question, f"{path}/{place}", values=(None, name), label=label)
        elif old[name] != label:
            yield _of(f"{kind}_renamed", question, f"{path}/{place}/label", values=(old[name], label))
    if [each for each in old if each in new] != [each for each in new if each in old]:
        yield _of(f"{kind}s_moved", question, path, values=([*old], [*new]))


def _translated(
    kind: str, question: Question, labels: Mapping[Any, str], texts: Sequence[Mapping[Any, str]], *, at: tuple[str, str]
) -> Iterator[Difference]:
    """`labels`: of the parts of both definitions. `texts`: the earlier and the later ones. `at`: locale and path."""
    (before, after), (locale, path) = texts, at
    for name, label in labels.items():
        values = before.get(name), after.get(name)
        if values[0] != values[1]:
            yield _of(f"{kind}_translated", question, f"{path}/{name}", locale=locale, label=label, values=values)


def _question_texts(question: Question, definition: Definition, locale: str) -> Question | Translation:
    return question if locale == definition.default_locale else question.translations.get(locale) or Translation()


def _text_path(path: str, definition: Definition, locale: str) -> str:
    return path if locale == definition.default_locale else f"{path}/translations/{locale}"


def _jumps(question: Question) -> list[object]:
    return [
        {"target_question_id": jump.target_question_id, "conditions": conditions.document_of(jump.conditions)}
        for jump in question.jumps
    ]


def _plain(value: object) -> object:
    return list[object](value) if isinstance(value, tuple) else value


def _of(
    kind: str,
    question: Question,
    path: str,
    *,
    group_id: str | None = None,
    locale: str | None = None,
    member: str | None = None,
    values: tuple[object, object] = (None, None),
    **texts: str,
) -> Difference:
    return Difference(
        kind=kind,
        path=path,
        group_id=group_id,
        question_id=question.question_id,
        locale=locale,
        member=member,
        before=values[0],
        after=values[1],
        texts={"title": question.title, **texts},
    )


SETTINGS: Final = ("conditions", *endings.ADDRESSES, *endings.OPTIONAL)


def changes(earlier: Definition, later: Definition, locales: Sequence[str]) -> Iterator[dict[str, Any]]:
    before = {one.ending_id: (place, one) for place, one in enumerate(earlier.endings)}
    after = {one.ending_id: (place, one) for place, one in enumerate(later.endings)}
    for ending_id, (place, ending) in before.items():
        if ending_id not in after:
            yield _change("ending_removed", ending, place)
    for ending_id, (place, ending) in after.items():
        if ending_id not in before:
            yield _change("ending_added", ending, place)
        else:
            old = before[ending_id][1]
            yield from _settings(old, ending, place)
            for locale in locales:
                yield from _ending_texts(_in(old, earlier, locale), ending, later, locale)
    if [each for each in before if each in after] != [each for each in after if each in before]:
        yield {"kind": "endings_moved", "path": "/endings", "before": [*before], "after": [*after]}


def _settings(before: Ending, after: Ending, place: int) -> Iterator[dict[str, Any]]:
    documents = endings.document_of(before), endings.document_of(after)
    for name in SETTINGS:
        values = documents[0].get(name), documents[1].get(name)
        if values[0] != values[1]:
            yield _change("ending_changed", after, place, f"/{name}", member=name, values=values)


def _ending_texts(
    before: Ending | EndingTexts, after: Ending, later: Definition, locale: str
) -> Iterator[dict[str, Any]]:
    below = "" if locale == later.default_locale else f"/translations/{locale}"
    place, new = later.endings.index(after), _in(after, later, locale)
    for name in endings.TEXTS:
        values = getattr(before, name), getattr(new, name)
        if values[0] != values[1]:
            at = f"{below}/{name}"
            yield _change("ending_text_changed", after, place, at, locale=locale, member=name, values=values)


def _in(ending: Ending, definition: Definition, locale: str) -> Ending | EndingTexts:
    return ending if locale == definition.default_locale else ending.translations.get(locale) or EndingTexts()


def _change(
    kind: str,
    ending: Ending,
    place: int,
    below: str = "",
    *,
    values: tuple[object, object] = (None, None),
    **more: object,
) -> dict[str, Any]:
    title = endings.name_of(ending) or str(place + 1)
    return {
        "kind": kind,
        "path": f"/endings/{place}{below}",
        "before": values[0],
        "after": values[1],
        "texts": {"title": title},
        **more,
    }
