"""Files of questionnaires for other systems, over HTTP."""

import json
from xml.etree import ElementTree as ET

import pytest

from tests.asking.questionnaires.http import Api, definition, made
from tests.conftest import House

NPS = {"question_id": "q" * 22, "type": "nps", "title": "Would you recommend us?", "required": True}
CSAT = {"question_id": "r" * 22, "type": "csat", "title": "Satisfied?"}


@pytest.fixture
async def path(api: Api) -> str:
    path = f"/q/questionnaire/{await made(api, title='Your visit')}"
    saved = await api.put(f"{path}/draft", definition(NPS, CSAT))
    assert 200 == saved.status_code, saved.text
    return f"{path}/file"


async def test_refused(api: Api, path: str, neighbour: House) -> None:
    for address in (f"{path}?format=limesurvey", f"{path}/report"):
        assert 404 == (await api.get(address, token=neighbour.token)).status_code
        assert 403 == (await api.get(address, token=await api.token(scopes={"Tag.Read"}))).status_code
    assert 422 == (await api.get(f"{path}?format=qualtrics")).status_code
    assert 422 == (await api.get(f"{path}/report?format=afterword")).status_code


async def test_files(api: Api, path: str) -> None:
    ours = await api.get(path)
    assert ("application/yaml; charset=utf-8", True) == (ours.headers["content-type"], "Your visit" in ours.text)
    surveyjs = await api.get(f"{path}?format=surveyjs")
    assert "attachment" in surveyjs.headers["content-disposition"]
    assert ".json" in surveyjs.headers["content-disposition"]
    survey = json.loads(surveyjs.content)
    assert ("Your visit", ["rating", "rating"]) == (
        survey["title"],
        [one["type"] for one in survey["pages"][0]["elements"]],
    )
    limesurvey = await api.get(f"{path}?format=limesurvey")
    assert "application/xml; charset=utf-8" == limesurvey.headers["content-type"]
    document = ET.fromstring(limesurvey.content)  # noqa: S314  our own
    assert ["L", "5"] == [row.findtext("type") for row in document.findall("questions/rows/row")]


async def test_report(api: Api, path: str) -> None:
    report = (await api.get(f"{path}/report?format=surveyjs")).json()
    assert "SurveyJS" == report["format"]
    assert [("question", "Satisfied?")] == [(one["kind"], one["title"]) for one in report["lines"]]
    assert ["SurveyJS has no question of this kind, so it became a choice of the same numbers."] == report["lines"][0][
        "sentences"
    ]
    assert "LimeSurvey" == (await api.get(f"{path}/report")).json()["format"]
