"""Anonymous questionnaires against somebody who reads the whole database and the log.

Twenty people answer, each with words that only the test knows to be theirs, so that every guess can be counted.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any, Final
from zoneinfo import ZoneInfo

import httpx2
import pytest

from afterword.asking.instances import anonymity
from afterword.asking.instances.anonymity import TOGETHER_MIN
from afterword.core.answers.values import field_name
from afterword.kit import db
from tests.asking.questionnaires.http import FORM, Api, definition, published
from tests.browser import markup

BATCHES: Final = 4
PEOPLE: Final = BATCHES * TOGETHER_MIN
RIGHT_MAX: Final = 17  # of 20 in four random orders of five: more are right twice in ten million times
COMMENT, SCORE, WHY = (f"{name:0<22}" for name in ("comment", "score", "why"))
LOW: Final = {"subject": f"question:{SCORE}", "operator": "less", "value": 5}


def document() -> dict[str, Any]:
    score = {"question_id": SCORE, "type": "nps", "title": "How likely?", "required": True}
    comment = {"question_id": COMMENT, "type": "text", "title": "Why?"}
    why = {"question_id": WHY, "type": "text", "title": "What went wrong?", "required": True, "show_if": LOW}
    ending = {"ending_id": "e" * 22, "conditions": LOW, "title": "We are sorry"}
    return definition(score, comment, anonymous=True, endings=[ending]) | {
        "groups": [{"questions": [score, why]}, {"questions": [comment]}]
    }


@dataclass
class Survey:
    """`people`: the instance of each person's invitation, in the order in which they answer."""

    api: Api
    questionnaire_id: str
    people: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def invite(self, number: int) -> dict[str, Any]:
        body = {
            "metadata": {"responder": {"email": f"person{number}@example.com"}},
            "reference_id": f"payroll-{number}",
        }
        made = await self.api.post(f"/q/questionnaire/{self.questionnaire_id}/instance", body)
        assert 201 == made.status_code, made.text
        self.people.append(made.json())
        return made.json()

    async def open(self, person: Mapping[str, Any], query: str = "") -> httpx2.Response:
        return await self.api.client.get(f"/a/{person['instance_id']}{query}")

    async def send(self, page: httpx2.Response, **given: str) -> httpx2.Response:
        form = markup.read(page.text)
        answers = {
            field_name({"score": SCORE, "comment": COMMENT, "why": WHY}[name]): text for name, text in given.items()
        }
        return await self.api.client.post(
            form.data["action"], data={**form.fields, **answers, "go": "send"}, headers=FORM
        )

    async def answer(self, count: int) -> None:
        for _ in range(count):
            number = len(self.people)
            sent = await self.send(await self.open(await self.invite(number)), score="9", comment=words(number))
            assert (200, True) == (sent.status_code, "Thank you" in sent.text), sent.text


@pytest.fixture
async def survey(api: Api) -> Survey:
    questionnaire_id, _ = await published(api, document())
    return Survey(api, questionnaire_id)


def words(number: int) -> str:
    return f"the words of person{number:04}"


@dataclass(frozen=True)
class Row:
    """A row as a reader of a dump and of the pages has it."""

    table: str
    transaction: int
    place: tuple[int, ...]
    columns: Mapping[str, Any]
    text: str


async def dump(pool: db.Pool) -> list[Row]:
    found: list[Row] = []
    async with db.connection(pool) as database:
        tables = await database.fetch(
            "select c.relname from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace"
        )
        for table in [row["relname"] for row in tables]:
            rows = await database.fetch(
                f"select t.xmin::text::bigint as x, t.ctid::text as at, to_jsonb(t) as row from {table} t"  # pyrefly: ignore[bad-argument-type]
            )
            for row in rows:
                place = tuple(int(part) for part in row["at"].strip("()").split(","))
                found.append(Row(table, row["x"], place, row["row"], json.dumps(row["row"], ensure_ascii=False)))
    return found


@dataclass
class Attack:
    """`right`: of the guesses by each order, how many name the person whose words they are."""

    survey: Survey
    rows: Sequence[Row]

    @property
    def responses(self) -> dict[str, int]:
        """The true person of each response."""
        return {
            row.columns["instance_id"]: int(str(row.columns["value"])[-4:])
            for row in self.rows
            if row.table == "answer" and row.columns["question_id"] == COMMENT
        }

    def named(self) -> Iterator[str]:
        """Rows that have something of an invitation beside something of a response."""
        ours = [[one["instance_id"], one["responder_id"]] for one in self.survey.people]
        theirs = [(key, self._of(key)) for key in self.responses]
        for row in self.rows:
            invited = any(text in row.text for one in ours for text in one)
            answered = any(text in row.text for _, texts in theirs for text in texts) or "words of person" in row.text
            if (invited or "payroll-" in row.text or "person" in row.text.replace("words of person", "")) and answered:
                yield f"{row.table}: {row.text}"

    def right(self) -> dict[str, int]:
        """By the order of each column within a batch, against the order in which invitations were used."""
        used = {
            row.columns["instance_id"]: row.transaction for row in self.rows if row.table == "questionnaire_instance"
        }
        order = sorted(range(PEOPLE), key=lambda number: used[self.survey.people[number]["instance_id"]])
        guesses: dict[str, int] = {}
        for name, keys in self._keys().items():
            by_order = sorted(self.responses, key=lambda one: (used[one], keys[one]))
            for direction, batch in (("up", 1), ("down", -1)):
                turned = [
                    one
                    for start in range(0, PEOPLE, TOGETHER_MIN)
                    for one in by_order[start : start + TOGETHER_MIN][::batch]
                ]
                guesses[f"{name} {direction}"] = sum(
                    self.responses[one] == person for one, person in zip(turned, order, strict=True)
                )
        return guesses

    def _keys(self) -> dict[str, dict[str, Any]]:
        """Values of rows about one response, where each response has another: by table and column."""
        found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for response in self.responses:
            texts = self._of(response)
            for row in self.rows:
                if any(text in row.text for text in texts):
                    kind = f"{row.table} {row.columns.get('type', '')} {row.columns.get('question_id', '')}"
                    found[f"{kind} place"][response] = (row.transaction, *row.place)
                    for name, value in row.columns.items():
                        if value is not None and name not in {"value", "data"}:
                            found[f"{kind} {name}"][response] = json.dumps(value).rjust(40)
        return {name: keys for name, keys in found.items() if len(keys) == PEOPLE and len(set(keys.values())) == PEOPLE}

    def _of(self, response: str) -> list[str]:
        [row] = [
            row for row in self.rows
            if row.table == "questionnaire_instance" and row.columns["instance_id"] == response
        ]  # fmt: skip
        return [response, row.columns["responder_id"]]


async def test_whole_database(survey: Survey, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    await survey.answer(PEOPLE)
    await survey.answer(2)
    attack = Attack(survey, await dump(survey.api.pool))
    assert set(range(PEOPLE)) == set(attack.responses.values())
    assert [] == list(attack.named())
    right = attack.right()
    assert 10 < len(right), right
    assert {} == {name: count for name, count in right.items() if count > RIGHT_MAX}

    text = "".join(row.text for row in attack.rows)
    waiting = [words(PEOPLE), words(PEOPLE + 1)]
    for one in waiting:
        assert (False, False) == (one in text, one.encode().hex() in text)
    assert not [one for one in (*attack.responses, "words of") if one in caplog.text]

    stored = [row.columns for row in attack.rows if row.table == "questionnaire_instance"]
    invitations = [one for one in stored if one["anonymity"] == "invitation"]
    used = {"viewed_time", "submitted_time", "completed_time", "channel_id", "quota_ids", "flags", "judgement"}
    assert {(True, 2)} == {(one["finalized"], one["version"]) for one in invitations}
    assert all(one["updated_time"] == one["created_time"] for one in invitations)
    assert {None} == {one[name] for one in invitations for name in used}
    responses = [one for one in stored if one["anonymity"] == "response"]
    [zone] = {
        row.columns["time_zone"] for row in attack.rows if row.table == "organization" and row.columns["time_zone"]
    }
    times = {
        one[name] for one in responses for name in ("created_time", "updated_time", "viewed_time", "completed_time")
    }
    local = {datetime.fromisoformat(one).astimezone(ZoneInfo(zone)).time() for one in times}
    assert (1, {time(0)}) == (len(times), local)
    assert {None} == {one[name] for one in responses for name in ("item_id", "pipeline_id", "reference_id", "link_id")}
    assert {"{}"} == {json.dumps(one["metadata"]) for one in responses}


@pytest.mark.parametrize("plant", ["order", "row"])
async def test_planted_link(survey: Survey, monkeypatch: pytest.MonkeyPatch, plant: str) -> None:
    """The attacks find a link that is there: the proof above can fail."""
    match plant:
        case "order":
            monkeypatch.setattr(anonymity, "_in_random_order", lambda waiting: waiting)
        case _:
            update = anonymity.update_to_used

            async def noted(database: db.Database, **key: str) -> None:
                await update(database, **key)
                await database.execute(
                    """update questionnaire_instance set metadata = '{"seen": "the words of person"}'
                       where organization_id = $1 and instance_id = $2""",
                    *key.values(),
                )

            monkeypatch.setattr(anonymity, "update_to_used", noted)
    await survey.answer(PEOPLE)
    attack = Attack(survey, await dump(survey.api.pool))
    if plant == "row":
        assert list(attack.named())
    else:
        assert PEOPLE == max(attack.right().values())


async def test_waiting_answers_of_another_secret(survey: Survey) -> None:
    """They are not overwritten, and the person, who has not used the invitation, may try again."""
    await survey.answer(1)
    pool = "update anonymous_pool set sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20))"
    async with db.transaction(survey.api.pool) as database:
        await database.execute(pool)
    person = await survey.invite(1)
    page = await survey.open(person)
    assert 503 == (await survey.send(page, score="9")).status_code
    async with db.transaction(survey.api.pool) as database:
        await database.execute(pool)
    assert 200 == (await survey.send(page, score="9")).status_code
