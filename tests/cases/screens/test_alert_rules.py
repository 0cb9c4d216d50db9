"""Alert rules in the console: made from rows, tried before they are saved, kept as typed, nobody overwrites another."""

import re

import httpx2
import pytest

from afterword import errors
from afterword.asking.questionnaires.condition_rows import Subject
from afterword.cases.screens.alert_rules import (
    assignment_errors,
    assignment_of,
    assignment_sentence,
    placed,
    stored_assignment,
    typed_assignment,
    typed_draft,
)
from afterword.console.screens import Form
from afterword.kit import texts
from afterword.listening.responses import rows
from tests.cases.conftest import Desk
from tests.cases.previews.test_service import follow
from tests.contract.alerting import read_all

PATH = "/console/settings/alerts"
FORM = {"title": "Angry", "severity": "high", "active": "1", "due_hours": "8", "escalation_hours": "5",
        "escalation_severity": "critical", "trigger": "completed", "status_id": "1", "group": "all"}  # fmt: skip


def seen(page: str) -> str:
    match = re.search(r'name="seen" value="([^"]*)"', page)
    assert match is not None
    return match[1]


async def test_new(office: Desk, owner: httpx2.AsyncClient) -> None:
    page = (await owner.get(f"{PATH}/new")).text
    assert f'value="question:{office.score_id}"' in page
    form = {**FORM, "application_id": office.house.application_id, "seen": "", "subject-0": "",
            "subject-1": f"question:{office.score_id}", "operator-1": "less_equal", "value-1": "low"}  # fmt: skip
    wrong = await owner.post(f"{PATH}/new", data=form)
    assert 422 == wrong.status_code
    assert 'href="#value-0"' in wrong.text
    assert 'value="low"' in wrong.text
    for changes in ({"document": "{"}, {"document": '{"all": 1}'}, {"application_id": "0" * 22}):
        assert 422 == (await owner.post(f"{PATH}/new", data={**form, "value-1": "2", **changes})).status_code
    tried = await owner.post(f"{PATH}/new", data={**form, "value-1": "2", "then": "preview"})
    assert "There is no response yet to try it on." in tried.text
    made = await owner.post(f"{PATH}/new", data={**form, "value-1": "2"})
    assert 303 == made.status_code
    path = made.headers["location"].split("?")[0]
    rule = await office.api.get(f"/alert/{path.rsplit('/', 1)[1]}")
    assert {"all": [office.low()]} == rule["conditions"]
    page = (await owner.get(path)).text
    assert 'value="2"' in page
    nested = {"document": '{"not": {"subject": "tag:vip", "operator": "is_empty"}}'}
    saved = await owner.post(path, data={**form, "seen": seen(page), **nested})
    assert 303 == saved.status_code
    assert "tag:vip" in (await owner.get(path)).text
    assert 303 == (await owner.post(f"{path}/removal")).status_code
    assert 404 == (await owner.get(path)).status_code


async def test_change(office: Desk, owner: httpx2.AsyncClient) -> None:
    rule = (await office.api.get("/alert"))["results"][0]
    path = f"{PATH}/{rule['alert_id']}"
    await office.execute("update alert_instance set created_time = now() - interval '6 hours'")
    listed = (await owner.get(PATH)).text
    assert "Unhappy &lt;b&gt;" in listed
    assert " is 1 to 2 (dissatisfied) · Normal severity" in listed
    assert "2 open cases stay" in (await owner.get(f"{path}/removal")).text
    form = {**FORM, "seen": seen((await owner.get(path)).text)}
    for changes in ({"escalation_hours": "721"}, {"due_hours": "x"}, {"severity": "worst"}, {"title": ""}):
        wrong = await owner.post(path, data={**form, "title": "Angry and kept", **changes})
        assert 422 == wrong.status_code, changes
        assert "title" in changes or "Angry and kept" in wrong.text
    tried = await owner.post(path, data={**form, "then": "check"})
    assert "It touches 2 open cases now." in tried.text
    assert 'value="5"' in tried.text
    daily = await owner.post(path, data={**form, "trigger": "schedule", "then": "preview", "value-0": "80",
                                          "subject-0": "metric:response", "operator-0": "less"})  # fmt: skip
    assert "there is no response to try it on" in daily.text
    assert (await office.api.get(f"/alert/{rule['alert_id']}"))["escalation_hours"] is None
    await office.respond(1)  # a case that opens is no change of the rule
    await office.raise_all()
    await read_all(office.pool, rows.READER, follow)
    ben = (await office.person("carl")).user_id
    tried = await owner.post(path, data={**form, "candidate_ids": ben, "then": "preview"})
    assert re.search(r"Opened now, .*would go to: carl@\S+ \d", tried.text)
    assert 303 == (await owner.post(path, data=form)).status_code
    late = await owner.post(path, data={**form, "title": "Other"})
    assert 412 == late.status_code
    assert "<dt>Title</dt><dd>Angry</dd>" in late.text
    assert 'value="Other"' in late.text
    assert 303 == (await owner.post(path, data={**form, "title": "Other", "seen": seen(late.text)})).status_code
    assert "escalated after 5 hours" in (await owner.get(PATH)).text
    shown = await office.api.get(f"/alert/{rule['alert_id']}")
    assert ("Other", "high", 8, 5, "critical") == tuple(
        shown[name] for name in ("title", "severity", "due_hours", "escalation_hours", "escalation_severity")
    )


async def test_more_questionnaires_than_are_listed(
    office: Desk, owner: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule keeps one behind the end of the list; without it, it would be about all of them."""
    for name in ("Second", "Third"):
        document = {"display_name": name, "owner_application_id": office.house.application_id}
        await office.api.ok("POST", "/q/questionnaire", document)
    rule = (await office.api.get("/alert"))["results"][0]
    path = f"{PATH}/{rule['alert_id']}"
    oldest = office.house.questionnaire_id
    await office.api.ok("PATCH", f"/alert/{rule['alert_id']}", {"questionnaire_ids": [oldest]})
    monkeypatch.setattr("afterword.kit.ui.lists.OFFERED_MAX", 2)
    page = (await owner.get(path)).text
    ticked = re.findall(r'name="questionnaire_ids" value="([^"]+)" checked', page)
    form = {**FORM, "seen": seen(page), "questionnaire_ids": ticked}
    assert 303 == (await owner.post(path, data=form)).status_code
    assert [oldest] == (await office.api.get(f"/alert/{rule['alert_id']}"))["questionnaire_ids"]


ROWS = {"subject-0": [""], "subject-4": ["question:q"], "value-4": ["6"]}
NESTED = {
    f"{name}-{index}": [value]
    for index, place in ((3, "1"), (4, "1"), (6, "2"))
    for name, value in (("subject", "question:q"), ("value", "6"), ("place", place))
}


@pytest.mark.parametrize(
    ("form", "pointer", "place"),
    [
        (ROWS, "/conditions/all/0/value", "/value-0"),
        (ROWS, "/conditions/any/1/subject", "/subject-1"),
        (ROWS, "/conditions", "/value-0"),
        (NESTED, "/conditions/all/0/any/1/operator", "/operator-1"),
        (NESTED, "/conditions/all/1/any/0/value", "/value-2"),
        ({**ROWS, "document": ["{}"]}, "/conditions/all/0/value", "/document"),
        (ROWS, "/subscriber_user_ids/3", "/subscriber_user_ids"),
        (ROWS, "/title", "/title"),
    ],
)
def test_placed(form: dict[str, list[str]], pointer: str, place: str) -> None:
    draft = typed_draft(Form(form))
    assert {"question:q"} == {row.subject for row in draft.condition.rows if row.subject}
    found = placed(errors.Invalid.at(pointer, "required", "Wrong."), draft)
    assert [place] == [one.pointer for one in found.errors]


WAY = "question:way"
SUBJECTS = {WAY: Subject(WAY, "Way", "integer", "Answers", {1: "Shop", 2: "Web"})}
OWNERS = {"field": [WAY], "of-0": ["Shop"], "user-0": ["ann"], "of-3": ["shop"], "user-3": ["ben"], "of-5": ["9"],
        "user-5": ["ann"], "candidate_ids": ["eva", "eva"]}  # fmt: skip
DOCUMENT = {
    "subject": WAY,
    "choices": [{"value": "1", "user_ids": ["ann", "ben"]}, {"value": "9", "user_ids": ["ann"]}],
    "user_ids": ["eva"],
}


def test_rows() -> None:
    assert DOCUMENT == assignment_of(typed_assignment(Form(OWNERS)), SUBJECTS)
    shown = stored_assignment(DOCUMENT, SUBJECTS)
    assert [("Shop", "ann"), ("Shop", "ben"), ("9", "ann"), ("", ""), ("", "")] == list(shown.shown_pairs)
    assert DOCUMENT == assignment_of(shown, SUBJECTS)
    assert "Shop: Ann, Shop: ben, 9: Ann, eva" == assignment_sentence(DOCUMENT, SUBJECTS, {"ann": "Ann"})


def test_empty_and_half() -> None:
    words = texts.texts("console", "en")
    assert assignment_of(typed_assignment(Form({})), SUBJECTS) is None
    assert "" == assignment_sentence(None, SUBJECTS, {})
    half = typed_assignment(Form({"of-7": ["Shop"], "user-9": ["ann"]}))
    assert ["/user-0", "/of-1"] == [one.pointer for one in assignment_errors(words, half)]


async def test_the_ready_alert_of_a_questionnaire(office: Desk, owner: httpx2.AsyncClient) -> None:
    """One click on the questionnaire; not for others, nor where a rule about its answers is on."""
    path, questionnaire = f"{PATH}/unhappy", office.house.questionnaire_id
    offered = "Notify me of unhappy customers"
    assert offered not in (await owner.get(f"/console/questionnaires/{questionnaire}")).text
    await office.execute("update alert set active = false")
    assert offered in (await owner.get(f"/console/questionnaires/{questionnaire}")).text
    for wrong in ({}, {"questionnaire": "0" * 22}):
        assert 404 == (await owner.post(path, data=wrong)).status_code, wrong
    made = await owner.post(path, data={"questionnaire": questionnaire})
    page = await owner.get(made.headers["location"])
    assert 'value="Unhappy customer"' in page.text
    assert offered not in (await owner.get(f"/console/questionnaires/{questionnaire}")).text
    assert PATH == (await owner.post(path, data={"questionnaire": questionnaire})).headers["location"]
