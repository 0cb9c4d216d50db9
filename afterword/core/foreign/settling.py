"""Makes what a reader gives pass the check of our files: what does not is taken out, and the report says so."""

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from afterword import ids
from afterword.core.foreign.parts import TITLE_SHOWN_CHARACTERS, Kind, Line, Read, split, unreadable
from afterword.core.questionnaires import definition, variables
from afterword.core.questionnaires.conditions import Node, leaves_of
from afterword.core.questionnaires.definition import GROUP_QUESTIONS_MAX, GROUPS_MAX, QUESTIONS_MAX
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.questionnaires.question_types import TITLE_CHARACTERS_MAX
from afterword.core.reading.documents import Members
from afterword.core.reading.findings import Finding, Findings, unescape
from afterword.core.text import placeholders
from afterword.errors import Sentence

ROUNDS_MAX: Final = 30  # each takes out what the one before has made wrong
EMPTY: Final = "The file has no question."
TOO_MANY: Final = "A questionnaire has at most {n} questions, so this one is left out."
NO_ANSWER: Final = "The condition asks for the answer to a text, which has none."
Document = MutableMapping[str, Any]


def settle(read: Read) -> None:
    """Change the document and its report. Raises Invalid for one without a question."""
    document = read.document
    document["groups"] = _in_groups(read, document.get("groups") or [])
    if not document["groups"]:
        raise unreadable(EMPTY)
    for _ in range(ROUNDS_MAX):
        found = _errors(document)
        if not found:
            return
        removed: list[tuple[list[Any], int]] = []
        for finding in found:
            _repair(read, finding, removed)
        for entries, place in sorted(removed, key=lambda one: -one[1]):
            del entries[place]
        document["groups"] = [group for group in document["groups"] if group.get("questions")]
    raise unreadable("This questionnaire cannot be made one of ours.")


def _in_groups(read: Read, groups: Sequence[Document]) -> list[Document]:
    """The groups within our limits: of a large one the rest begins another, of many the last ones are one."""
    found: list[Document] = []
    count = 0
    for group in groups:
        asked = group.get("questions") or []
        for question in asked[max(QUESTIONS_MAX - count, 0) :]:
            _say(read, "question", question, Sentence(TOO_MANY, n=QUESTIONS_MAX), is_out=True)
        asked = asked[: max(QUESTIONS_MAX - count, 0)]
        count += len(asked)
        for start in range(0, len(asked), GROUP_QUESTIONS_MAX):
            part = {**group, "questions": asked[start : start + GROUP_QUESTIONS_MAX]}
            found.append(part if not start else {**part, "key": f"{group['key']}_{start}"})
    while len(found) > GROUPS_MAX:
        smallest = min(
            range(1, len(found)), key=lambda at: len(found[at]["questions"]) + len(found[at - 1]["questions"])
        )
        found[smallest - 1]["questions"] += found.pop(smallest)["questions"]
    return found


def _errors(document: Document) -> list[Finding]:
    findings = Findings(strict=True)
    read = definition.read_members(
        Members(document, "", findings), give_id=lambda kind, key: ids.derived(f"{kind}:{key}"), declared=GLOBAL
    )
    variables.check(read, GLOBAL, findings)
    for path, condition in _conditions(read):
        asked = [read.question(leaf.subject.split(":")[1]) for leaf in leaves_of(condition)]
        if any(one is not None and not one.is_answered for one in asked):
            findings.error(path, "unknown_id", NO_ANSWER)
    return [one for one in findings.found if one.severity == "error"]


def _conditions(read: definition.Definition) -> Iterator[tuple[str, Node | None]]:
    for number, ending in enumerate(read.endings):
        yield f"/endings/{number}", ending.conditions
    for path, question in read.placed:
        yield f"{path}/show_if", question.show_if
        for number, jump in enumerate(question.jumps):
            yield f"{path}/jumps/{number}", jump.conditions


def _repair(read: Read, finding: Finding, removed: list[tuple[list[Any], int]]) -> None:
    parts = [unescape(part) for part in finding.path[1:].split("/")]
    sentence = Sentence.of(finding.message)
    groups = read.document["groups"]
    match parts:
        case ["groups", group, "questions", number, *rest]:
            question = groups[int(group)]["questions"][int(number)]
            if rest[:1] == ["jumps"] and rest[1:] and question.get("jumps"):
                _remove(removed, question["jumps"], int(rest[1]))
                _say(read, "condition", question, sentence, is_out=True)
            else:
                _repair_question(read, question, rest, sentence)
        case ["endings", number, *rest]:
            ending = read.document["endings"][int(number)]
            if _is_without_variables(ending, rest):
                _say(read, "text", ending, sentence)
            else:
                _remove(removed, read.document["endings"], int(number))
                _say(read, "ending", ending, sentence, is_out=True)
        case ["groups", group, *rest] if rest:
            _drop(read, groups[int(group)], rest, sentence)
        case _:
            _drop(read, read.document, parts, sentence)


def _repair_question(read: Read, question: Document, rest: Sequence[str], sentence: Sentence) -> None:
    if rest[:1] == ["show_if"]:
        if question.pop("show_if", None) is not None:
            _say(read, "condition", question, sentence, is_out=True)
    elif _is_without_variables(question, rest):
        _say(read, "text", question, sentence)
    elif rest[:1] == ["translations"] and rest[1:]:
        if question.get("translations", {}).pop(rest[1], None) is not None:
            _say(read, "question", question, sentence)
    else:
        _make_text(read, question, sentence)


def _remove(removed: list[tuple[list[Any], int]], entries: list[Any], place: int) -> None:
    if not any(known is entries and at == place for known, at in removed):
        removed.append((entries, place))


def _is_without_variables(thing: Document, path: Sequence[str]) -> bool:
    """Whether the text at this path had variables, which are words now."""
    *above, name = path or [""]
    for part in above:
        thing = thing.get(part) or {}
        if not isinstance(thing, dict):
            return False
    text = thing.get(name)
    if not isinstance(text, str) or "{{" not in text:
        return False
    thing[name] = placeholders.plain(text).replace("{{", "{ {")
    return True


def _drop(read: Read, thing: Document, path: Sequence[str], sentence: Sentence) -> None:
    """Take out the text at this path, or its variables alone."""
    if not _is_without_variables(thing, path):
        *above, name = path
        for part in above:
            thing = thing.get(part) or {}
        if not isinstance(thing, dict) or thing.pop(name, None) is None:
            raise unreadable(sentence)
    _say(read, "text", thing, sentence)


def _make_text(read: Read, question: Document, sentence: Sentence) -> None:
    if question.get("type") == "statement" and set(question) == {"key", "type", "title"}:
        return
    title = split(str(question.get("title") or ""), TITLE_CHARACTERS_MAX)[0] or "…"
    key = question["key"]
    question.clear()
    question.update(key=key, type="statement", title=title)
    _say(read, "question", question, sentence, is_out=True)


def _say(read: Read, kind: Kind, thing: Document, sentence: Sentence, *, is_out: bool = False) -> None:
    """Tell it in the line of the thing, or in one of its own."""
    key = str(thing.get("key") or "")
    for place, line in enumerate(read.lines):
        if key and line.kind == kind and line.key == key:
            said = (*line.sentences, *([] if sentence in line.sentences else [sentence]))
            outcome = "left_out" if is_out or line.outcome == "left_out" else "changed"
            read.lines[place] = replace(line, outcome=outcome, sentences=said, whole=False)
            return
    title = split(placeholders.plain(str(thing.get("title") or "")), TITLE_SHOWN_CHARACTERS)[0]
    read.lines.append(Line(kind, "left_out" if is_out else "changed", key, title, (sentence,), key, whole=False))
