"""Qualtrics: a survey as it exports it (QSF): its languages, the blocks of its questions, and the flow through them."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from afterword.core.foreign import parts
from afterword.core.foreign.drafting import NAMES_CHARACTERS_MAX, Draft, Item, at, items, mapping, members
from afterword.core.foreign.parts import Condition, Read, all_of, any_of, locale_of, plain
from afterword.core.foreign.qualtrics_logic import Logic
from afterword.core.foreign.qualtrics_questions import take
from afterword.core.questionnaires.question_types import DISPLAY_NAME_CHARACTERS_MAX
from afterword.core.reading.documents import LOCALES_MAX

NOT_ASKED: Final = "The survey does not ask these questions, so they are left out: {names}."
LANGUAGES: Final = "These languages are left out, because they are unknown or too many: {names}."
ALL_BLOCKS: Final = "Each person saw {n} of these {count} blocks in random order. Now everybody sees all in this order."
TRANSLATIONS_BYTES_MAX: Final = 600_000  # as a file they are half as large again
_SILENT: Final = frozenset({"Timing", "Meta", "Captcha"})
_STOCK_TITLES: Final = ("Qualtrics Survey", "Online Survey Software")


def _survey_of(document: object) -> Item:
    survey = members(document)
    are_there = any(one.get("Element") == "SQ" for one in _objects(survey.get("SurveyElements")))
    return survey if are_there and "SurveyEntry" in survey else {}


def _objects(value: object) -> list[Item]:
    """The objects in a list, or in a map in its order."""
    return items([*mapping(value).values()])


class _Survey:
    def __init__(self, survey: Item) -> None:
        def payloads(name: str) -> list[Any]:
            return [one.get("Payload") for one in _objects(survey["SurveyElements"]) if one.get("Element") == name]

        self.entry = mapping(survey["SurveyEntry"])
        self.questions = {str(one.get("QuestionID")): one for one in _objects(payloads("SQ"))}
        self.blocks = {str(one.get("ID")): one for payload in payloads("BL") for one in _objects(payload)}
        self.flow, self.options = mapping([*payloads("FL"), {}][0]), mapping([*payloads("SO"), {}][0])
        self.left: list[str] = []  # languages
        self.logic = Logic(Draft(self._languages()))
        self.draft = self.logic.draft
        self.made: dict[str, list[Item]] = {}  # questions of ours, by the id of the survey's question
        self.own: dict[str, list[Condition]] = {}  # conditions that they have wherever their block is shown
        self.jumps: list[tuple[Item, str | int, Condition | None]] = []  # to an id, or to the place of a question
        self.endings: list[Item] = []
        self.over: list[Condition] = []  # the survey has ended where one of these holds

    def read(self) -> Read:
        blocks = [{"Type": "Block", "ID": name} for name, one in self.blocks.items() if one.get("Type") != "Trash"]
        if not self._walk(_objects(self.flow.get("Flow")) or blocks, ()):
            self._end({"FlowID": "SO", "Options": self.options}, None)
        for item, target, condition in self.jumps:
            leads = {"target_question_id": self._target(target), "conditions": condition}
            item.setdefault("jumps", []).append(leads)
        others = [str(one.get("DataExportTag")) for name, one in self.questions.items() if name not in self.made]
        for place, sentence, names in (("SurveyLanguage", LANGUAGES, self.left), ("Trash", NOT_ASKED, others)):
            if names:
                self._say(place, sentence, names=parts.split(", ".join(names), NAMES_CHARACTERS_MAX)[0])
        name, title = plain(self.entry.get("SurveyName")) or "Qualtrics", plain(self.options.get("SurveyTitle"))
        title = "" if title.startswith(_STOCK_TITLES) else title
        most = DISPLAY_NAME_CHARACTERS_MAX
        return self.draft.finish(display_name=name[:most], title=title[:most], endings=self.endings)

    def _say(self, place: str, sentence: str, **values: int | str) -> None:
        self.draft.read.leave_out("setting", place, "", sentence, **values)

    def _languages(self) -> dict[str, str]:
        """Our languages by those of the survey: the default one first, and then those that have most texts."""
        default, sizes = str(self.entry.get("SurveyLanguage") or "EN"), Counter[str]()
        for tag, texts in (one for each in self.questions.values() for one in mapping(each.get("Language")).items()):
            sizes[tag] += len(msgspec.json.encode(texts)) if texts else 0
        found, size = {default: locale_of(default) or "en"}, 0
        for tag, own in (one for one in sizes.most_common() if one[1]):
            locale, size = locale_of(tag), size + own
            if locale is None or len(found) == LOCALES_MAX or size > TRANSLATIONS_BYTES_MAX:
                self.left.append(tag)
            elif locale not in found.values():
                found[tag] = locale
        return found

    def _walk(self, steps: Sequence[Item], conditions: tuple[Condition, ...]) -> bool:
        """Takes what the steps show under these conditions, and tells whether everybody is at the end behind them."""
        for step in steps:
            place, below = str(step.get("FlowID")), _objects(step.get("Flow"))
            match str(step.get("Type")):
                case "Block" | "Standard" | "Default":
                    self._block(str(step.get("ID")), all_of([*conditions, *map(parts.negated, self.over)]))
                case "Branch":
                    found = self.logic.read(step.get("BranchLogic"), place)
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
                    self.draft.send(place, [str(one.get("Field")) for one in _objects(step.get("EmbeddedData"))])
                case name:
                    self.draft.leave_out("setting", place, "", name)
        return False

    def _block(self, block_id: str, branch: Condition | None) -> None:
        block, first = self.blocks.get(block_id, {}), len(self.jumps)
        for name in ("Looping", "RandomizeQuestions"):
            found = str(at(block, "Options", name) or "None")
            if found.lower() not in {"none", "false"}:
                self.draft.leave_out("setting", block_id, "", f"{name} {found}")
        self._page(block)
        for element in _objects(block.get("BlockElements")):
            question_id, skips = str(element.get("QuestionID")), _objects(element.get("SkipLogic"))
            if element.get("Type") == "Page Break":
                self._page(block)
            elif question_id in self.made:
                self._show_again(question_id, branch)
            elif question_id in self.questions:
                self.made[question_id] = self._question(question_id, branch)
                if skips and self.made[question_id]:
                    self._skips(question_id, skips)
                    self._page(block)
        behind = len(self.draft.questions)
        self.jumps[first:] = [(item, behind if to == "ENDOFBLOCK" else to, one) for item, to, one in self.jumps[first:]]

    def _page(self, block: Item) -> None:
        name = plain(block.get("Description"))[:DISPLAY_NAME_CHARACTERS_MAX]
        self.draft.group(name or "page").update({"display_name": name} if name else {})

    def _question(self, question_id: str, branch: Condition | None) -> list[Item]:
        payload = self.questions[question_id]
        if str(payload.get("QuestionType")) in _SILENT:
            self.draft.leave_out("setting", question_id, "", str(payload["QuestionType"]))
            return []
        made = take(payload, self.logic)
        key = made[0]["key"]
        own = [payload[name] for name in ("DisplayLogic", "InPageDisplayLogic") if payload.get(name)]
        found = [self.logic.read(logic, question_id, key) for logic in own]
        for choice in _objects(payload.get("Choices")) if payload.get("QuestionType") == "MC" else ():
            if choice.get("DisplayLogic"):
                self.logic.read(choice["DisplayLogic"], question_id, key, is_possible=False)
        for item in made:
            self.own[item["key"]] = [one for one in (*found, item.pop("show_if", None)) if one is not None]
            if (condition := all_of(filter(None, [branch, *self.own[item["key"]]]))) is not None:
                item["show_if"] = condition  # the check takes out one that is too large
        if not own and branch is None:
            self.logic.always.add(question_id)
        return made

    def _show_again(self, question_id: str, branch: Condition | None) -> None:
        for item in self.made[question_id]:
            before, here = item.pop("show_if", None), all_of(filter(None, [branch, *self.own[item["key"]]]))
            if before is not None and here is not None:
                item["show_if"] = any_of([before, here])

    def _skips(self, question_id: str, skips: Sequence[Item]) -> None:
        """Jumps from the last of its questions that not only some of its people see."""
        last = min(reversed(self.made[question_id]), key=lambda one: len(self.own[one["key"]]))
        for skip in skips:
            logic = {"0": {"0": {**skip, "LogicType": "Question", "Operator": skip.get("Condition")}}}
            condition = self.logic.read(logic, question_id, last["key"])
            if condition is not None:
                self.jumps.append((last, str(skip.get("SkipToDestination")), condition))

    def _target(self, target: str | int) -> str | None:
        """The key of the question that a jump leads to; the check takes out one that leads nowhere."""
        if isinstance(target, int):
            return next((one["key"] for one in self.draft.questions[target:]), None)
        return None if target == "ENDOFSURVEY" else next((one["key"] for one in self.made.get(target, ())), target)

    def _end(self, step: Item, condition: Condition | None) -> None:
        """People who meet the condition are at the end here, and see an ending of their own if it has one."""
        options, place = mapping(step.get("Options")), str(step.get("FlowID"))
        if condition is not None and self.draft.questions:
            last = self.draft.questions[-1]
            shown = last.get("show_if")
            if shown is None or shown == condition:
                self.jumps.append((last, "ENDOFSURVEY", condition if shown is None else None))
                self._page({})
            else:
                self.over.append(condition)
        one = self.draft.begin("ending", place, "EndSurvey")
        if options.get("SurveyTermination") == "Redirect":
            one.put_button(self.logic.address(str(options.get("EOSRedirectURL"))), at_once=True)
        elif options.get("EOSMessage"):
            one.entry.lost("The file does not have the text of this ending. Write it here.")
        if one.item:
            one.item |= {"key": one.entry.key, **({"conditions": condition} if condition else {})}
            self.endings.append(one.item)
        else:
            one.entry.key = ""
        if place != "SO" or one.entry.line.sentences:
            one.end()


FORMAT: Final = parts.of_json(
    "qualtrics", "Qualtrics", _survey_of, lambda survey: _Survey(survey).read(), ending=".qsf"
)
