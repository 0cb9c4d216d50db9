"""The changes of a pipeline in sentences: each clause that says something else, and texts that changed."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from afterword.pipelines.resources import sentences_of
from afterword.pipelines.store import Pipeline
from afterword.pipelines.versions.service import Version
from afterword.questionnaires.condition_rows import Subjects
from afterword.texts import Marked, Texts

MEMBERS: Final[Mapping[str, tuple[str, Marked]]] = {
    "description": ("name", "The description changed."),
    "locale": ("message", "The language of messages without one changed."),
    "priority": ("effort", "The priority changed."),
    "account_id": ("sender", "It sends through another account."),
}
# Members that no clause shows in full, by the clause that tells of a part of them.
TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "message": (
        "message_subject", "message_body", "message_button", "message_reason", "message_footer", "messages",
    ),
    "reminders": ("reminders",),
    "conditions": ("conditions",),
}  # fmt: skip
CHANGED: Final[Mapping[str, Marked]] = {
    "message": "The texts of its messages changed.",
    "reminders": "The reminders changed.",
    "conditions": "The conditions changed.",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A sentence and the one that it replaces; `before` is None where there was none to compare with."""

    part: str
    after: str
    before: str | None = None


def of(words: Texts, version: Version, *, time_zone: str, subjects: Subjects | None = None) -> list[Difference]:
    """The differences of a version; none of the first one, and of one that is too old."""
    if version.before is None or version.after is None:
        return []
    return between(
        words,
        version.before,
        version.after,
        changed=version.changed,
        unknown=version.unknown,
        time_zone=time_zone,
        subjects=subjects,
    )


def between(
    words: Texts,
    before: Pipeline,
    after: Pipeline,
    *,
    changed: AbstractSet[str],
    unknown: AbstractSet[str],
    time_zone: str,
    subjects: Subjects | None = None,
) -> list[Difference]:
    """The differences of two states in `changed` members; of `unknown` ones a value is lost."""
    found: list[Difference] = []
    if "title" in changed:
        found.append(
            Difference(
                "name",
                words("It is called “{title}”.", title=after.title),
                words("It is called “{title}”.", title=before.title),
            )
        )
    if "paused" in changed:
        found.append(
            Difference("state", words("It was switched off.") if after.paused else words("It was switched on."))
        )
    told = [
        {one.part: one.text for one in sentences_of(words, each, time_zone=time_zone, subjects=subjects)}
        for each in (before, after)
    ]
    for part in dict.fromkeys([*told[1], *told[0]]):
        old, new = (each.get(part, "") for each in told)
        members = TEXTS.get(part, ())
        if old != new and not unknown & set(members):
            found.append(Difference(part, new, old))
        elif set(members) & changed:
            found.append(Difference(part, words(CHANGED[part])))
    found += [Difference(part, words(text)) for name, (part, text) in MEMBERS.items() if name in changed]
    return found or [Difference("name", words("Another setting changed."))]
