"""Qualtrics: a survey as it exports it (QSF): the blocks of its questions, the flow through them, and their logic."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from afterword.core.foreign import parts
from afterword.core.foreign.objects import VALUES, Document, at, button, mapping, objects
from afterword.core.foreign.parts import Condition, Entry, Format, Keys, Read, all_of, any_of, locale_of, plain
from afterword.core.foreign.qualtrics_logic import Logic, UnknownError
from afterword.core.foreign.qualtrics_questions import NOTHING_LIKE, Question, parts_of, with_carried
from afterword.core.questionnaires.definition import QUESTIONS_MAX
from afterword.core.reading.documents import LOCALES_MAX
from afterword.errors import Sentence

NOT_ASKED: Final = "The survey does not ask these questions, so they are left out: {names}."
ASKS_NOTHING: Final = "It measures the visit and asks nothing. Afterword has nothing like {name}."
LANGUAGES: Final = "These languages are left out, because they are unknown or too many: {names}."
ALL_BLOCKS: Final = "Each person saw {n} of these {count} blocks in random order. Now everybody sees all in this order."
NO_TEXT: Final = "The file does not have the text of this ending. Write it here."
TEXTS_BYTES_MAX: Final = 600_000  # as a file it is half as large again
NAMES_SHOWN: Final = 20
_SILENT: Final = frozenset({"Timing", "Meta", "Captcha"})
_STOCK_TITLES: Final = ("Qualtrics Survey", "Online Survey Software")


def is_of(content: bytes) -> bool:
    return b'"SurveyElements"' in content and b'"SurveyEntry"' in content


def read(content: bytes) -> Read:
    document = parts.json_of(content)
    elements = objects(at(document, "SurveyElements"))
    if not any(one.get("Element") == "SQ" for one in elements):
        raise parts.unreadable("This survey of Qualtrics has no questions.")
    return _Survey(mapping(at(document, "SurveyEntry")), elements).taken()


class _Survey:
    """One survey while it is read. Questions of ours have what is known of their conditions until the end."""

    def __init__(self, entry: Mapping[str, object], elements: Sequence[Document]) -> None:
        def payloads(name: str) -> list[object]:
            return [one.get("Payload") for one in elements if one.get("Element") == name]

        self.entry = entry
        self.questions = {str(one.get("QuestionID")): one for one in objects(payloads("SQ"))}
        self.blocks = {str(one.get("ID")): one for payload in payloads("BL") for one in objects(payload)}
        self.flow, self.options = mapping([*payloads("FL"), {}][0]), mapping([*payloads("SO"), {}][0])
        self.made, self.logic = Read(), Logic()
        self.keys, self.group_keys, self.ending_keys = Keys(), Keys(), Keys()
        self.groups: list[Document] = []
        self.endings: list[Document] = []
        self.asked: list[Document] = []
        self.of: dict[str, list[Document]] = {}  # questions of ours, by the id of the survey's question
        self.block_of: dict[str, str] = {}
        self.over: list[Condition] = []  # the survey has ended where one of these holds

    def taken(self) -> Read:
        name, title = plain(self.entry.get("SurveyName")) or "Qualtrics", plain(self.options.get("SurveyTitle"))
        left = self._read_locales()
        locales = [*self.locales.values()]
        self.made.document = {"display_name": name[:200], "default_locale": locales[0], "locales": locales}
        if title and not title.startswith(_STOCK_TITLES):
            self.made.document["title"] = title[:200]
        blocks = [{"Type": "Block", "ID": name} for name, one in self.blocks.items() if one.get("Type") != "Trash"]
        if not self._walk(objects(self.flow.get("Flow")) or blocks, ()):
            self._end({"FlowID": "SO", "Options": self.options}, None)
        for question in self.asked:
            self._finish(question)
        left += self._drop_languages()
        if left:
            self._say("SurveyLanguage", LANGUAGES, names=_names(left))
        others = [str(one.get("DataExportTag")) for name, one in self.questions.items() if name not in self.of]
        if others:
            self._say("Trash", NOT_ASKED, names=_names(others))
        self.made.document |= {"groups": [one for one in self.groups if one["questions"]], "endings": self.endings}
        return self.made

    def _say(self, place: str, sentence: str, **values: int | str) -> None:
        self.made.leave_out("setting", place, "", Sentence(sentence, **values))

    def _read_locales(self) -> list[str]:
        """Our languages by those of the survey, the default one first; gives those that are left out."""
        default = str(self.entry.get("SurveyLanguage") or "EN")
        uses: dict[str, int] = {}
        for tag, texts in (one for each in self.questions.values() for one in mapping(each.get("Language")).items()):
            uses[tag] = uses.get(tag, 0) + bool(texts)
        self.locales = {default: locale_of(default) or "en"}
        left: list[str] = []
        for tag in sorted((tag for tag in uses if uses[tag]), key=lambda one: -uses[one]):
            locale = locale_of(tag)
            if locale is None or len(self.locales) == LOCALES_MAX:
                left.append(tag)
            elif locale not in self.locales.values():
                self.locales[tag] = locale
        return left

    def _drop_languages(self) -> list[str]:
        """Those that the fewest questions have are left out of a document that is too large with them."""
        locales, left = self.made.document["locales"], list[str]()
        while locales[1:] and len(msgspec.json.encode(self.asked[:QUESTIONS_MAX])) > TEXTS_BYTES_MAX:
            left.append(locales.pop())
            for question in self.asked:
                question.get("translations", {}).pop(left[-1], None)
        return left

    # The flow -------------------------------------------------------------------------------------------------------

    def _walk(self, steps: Sequence[Document], conditions: tuple[Condition, ...]) -> bool:
        """Take what the steps show under these conditions, and tell whether everybody is at the end behind them."""
        for step in steps:
            place, below = str(step.get("FlowID")), objects(step.get("Flow"))
            match str(step.get("Type")):
                case "Block" | "Standard" | "Default":
                    self._take_block(str(step.get("ID")), conditions)
                case "Branch":
                    logic = step.get("BranchLogic")
                    found = self._condition(logic, Entry("condition", place, _described(logic)))
                    self._walk(below, conditions if found is None else (*conditions, found))
                case "Root" | "Group":
                    if self._walk(below, conditions):
                        return True
                case "BlockRandomizer" | "Randomizer":
                    self._say(place, ALL_BLOCKS, n=step.get("SubSet") or len(below), count=len(below))
                    self._walk(below, conditions)
                case "EndSurvey":
                    self._end(step, all_of(conditions))
                    if not conditions:
                        return True
                case "EmbeddedData":
                    names = [str(one.get("Field")) for one in objects(step.get("EmbeddedData"))]
                    entry = Entry("setting", place)
                    entry.changed(Sentence(VALUES, names=_names(names)))
                    self.made.lines.append(entry.line)
                case name:
                    self._say(place, NOTHING_LIKE, name=name)
        return False

    def _take_block(self, block_id: str, conditions: tuple[Condition, ...]) -> None:
        block = self.blocks.get(block_id, {})
        for name in ("Looping", "RandomizeQuestions"):
            found = str(at(block, "Options", name) or "None")
            if found.lower() not in {"none", "false"}:
                self._say(block_id, NOTHING_LIKE, name=f"{name} {found}")
        branch = all_of([*conditions, *map(parts.negated, self.over)])
        self._begin_page(block)
        for element in objects(block.get("BlockElements")):
            question_id, skips = str(element.get("QuestionID")), objects(element.get("SkipLogic"))
            if element.get("Type") == "Page Break":
                self._begin_page(block)
            elif question_id in self.of:  # shown once more, under another condition
                for question in self.of[question_id]:
                    question["branches"].append(branch)
            elif question_id in self.questions:
                self.block_of[question_id] = block_id
                self._take_question(question_id, branch)
                if skips and self.of[question_id]:  # from the last one that not only some of its people see
                    last = min(reversed(self.of[question_id]), key=lambda one: len(one["own"]))
                    self._take_skips(last, question_id, skips)
                    self._begin_page(block)

    def _begin_page(self, block: Document) -> None:
        name = plain(block.get("Description"))[:200]
        group = {"key": self.group_keys.give(name, "page"), "questions": []}
        self.groups.append(group | ({"display_name": name} if name else {}))

    def _take_question(self, question_id: str, branch: Condition | None) -> None:
        payload, self.of[question_id] = self.questions[question_id], []
        if str(payload.get("QuestionType")) in _SILENT:
            self._say(question_id, ASKS_NOTHING, name=str(payload["QuestionType"]))
            return
        tag = str(payload.get("DataExportTag") or question_id)
        entry = Entry("question", question_id, title=plain(payload.get("QuestionText")) or tag)
        payload = with_carried({**payload, "DataExportTag": tag}, self.questions, entry)
        question = Question(payload, entry, self.locales, self.logic, self.keys)
        found = self.of[question_id] = parts_of(question)
        entry.key = found[0]["key"]
        self.made.lines.append(entry.line)
        own = [payload[name] for name in ("DisplayLogic", "InPageDisplayLogic") if payload.get(name)]
        shown = [self._condition(one, Entry("condition", question_id, entry.title, entry.key)) for one in own]
        for part in found:
            logic = part.pop("logic", None)
            row = [self._condition(logic, Entry("condition", question_id, tag, part["key"]))] if logic else []
            part["branches"] = [branch]
            part["own"] = [one for one in (*shown, *row, *part.pop("under", ())) if one is not None]
        for choice in objects(payload.get("Choices")) if payload.get("QuestionType") == "MC" else ():
            if choice.get("DisplayLogic"):
                line = Entry("condition", question_id, tag, entry.key)
                self._condition(choice["DisplayLogic"], line, is_possible=False)
        self.asked += found
        self.groups[-1]["questions"] += found
        self.logic.subjects |= question.subjects
        self.logic.asked.add(question_id)
        if not own and branch is None:
            self.logic.always.add(question_id)

    def _condition(self, logic: object, entry: Entry, *, is_possible: bool = True) -> Condition | None:
        """The condition, with a line about it. `is_possible`: whether what it is about can have one."""
        found: Condition | None = None
        try:
            found = self.logic.condition(logic)
            is_taken = is_possible or found is None
        except UnknownError:
            is_taken = False
        if not is_taken:
            entry.left_out(Sentence(parts.NO_CONDITION, text=_described(logic)[:300]))
        self.made.lines.append(entry.line)
        return found if is_possible else None

    # Skips and ends --------------------------------------------------------------------------------------------------

    def _take_skips(self, question: Document, question_id: str, skips: Sequence[Document]) -> None:
        for skip in skips:
            logic = {"0": {"0": {**skip, "LogicType": "Question", "Operator": skip.get("Condition")}}}
            entry = Entry("condition", question_id, question["title"], question["key"])
            condition = self._condition(logic, entry)
            if condition is not None:
                jump = {"target_question_id": str(skip.get("SkipToDestination")), "conditions": condition}
                question.setdefault("jumps", []).append(jump | {"block": self.block_of[question_id]})

    def _end(self, step: Document, condition: Condition | None) -> None:
        """People who meet the condition are at the end here, and see an ending of their own if it has one."""
        options, place = mapping(step.get("Options")), str(step.get("FlowID"))
        if condition is not None and self.asked:
            last = self.asked[-1]
            is_of_branch = last["branches"] == [condition]
            if last["own"] or (any(last["branches"]) and not is_of_branch):
                self.over.append(condition)
            else:
                jump = {"target_question_id": "ENDOFSURVEY", "conditions": None if is_of_branch else condition}
                last.setdefault("jumps", []).append(jump)
                self._begin_page({})
        entry = Entry("ending", place, title="EndSurvey")
        if options.get("SurveyTermination") == "Redirect":
            found = button(self.logic.address(str(options.get("EOSRedirectURL"))), "", entry, at_once=True)
            if found:
                entry.key = self.ending_keys.give(place, "ending")
                self.endings.append({"key": entry.key, **found} | ({"conditions": condition} if condition else {}))
        elif options.get("EOSMessage"):
            entry.lost(Sentence(NO_TEXT))
        if place != "SO" or entry.line.sentences:
            self.made.lines.append(entry.line)

    def _finish(self, question: Document) -> None:
        """Now that all questions are known: its condition, and where its jumps lead."""
        branches, own = question.pop("branches"), question.pop("own")
        under = None if None in branches else any_of(branches)
        found = all_of([*([] if under is None else [under]), *own])
        if found is not None:
            question["show_if"] = found  # the check takes out one that is too large
        later = self.asked[self.asked.index(question) + 1 :]
        for jump in question.get("jumps", ()):
            target, block = jump["target_question_id"], jump.pop("block", "")
            inside = [id(one) for name, each in self.of.items() if self.block_of[name] == block for one in each]
            beyond = next((one["key"] for one in later if id(one) not in inside), None)
            ends = {"ENDOFSURVEY": None, "ENDOFBLOCK": beyond}
            known = self.of.get(target) or [{"key": target}]  # the check takes out one that leads nowhere
            jump["target_question_id"] = ends.get(target, known[0]["key"])


def _described(logic: object) -> str:
    """The words in which the survey itself describes a condition."""
    below = mapping(logic)
    own = plain(below["Description"]) if isinstance(below.get("Description"), str) else ""
    return " ".join(filter(None, [own, *map(_described, below.values())]))


def _names(names: Sequence[str]) -> str:
    return ", ".join([*names[:NAMES_SHOWN], *(["…"] if names[NAMES_SHOWN:] else [])])


FORMAT: Final = Format("qualtrics", "Qualtrics", (".qsf",), is_of, read)
