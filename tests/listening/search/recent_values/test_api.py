"""The metadata that arrived lately: names, their values with counts, and whether somebody declared them."""

from tests.asking.questionnaires.conftest import api as api  # noqa: PLC0414  a fixture
from tests.asking.questionnaires.http import Api, definition, published

OF_ORDERS, OF_PEOPLE = "/q/metadata/seen/questionnaire", "/q/metadata/seen/responder"
QUESTION = {"question_id": "s" * 22, "type": "nps", "title": "Would you recommend us?"}


async def test_seen(api: Api) -> None:
    for path, needed in ((OF_ORDERS, "Questionnaire Value.Read"), (OF_PEOPLE, "Responder Value.Read")):
        for scope in ("Metadata.Read", needed):
            assert 403 == (await api.get(path, token=await api.token(scopes=[scope]))).status_code
    assert [] == (await api.get(OF_ORDERS)).json()
    questionnaire_id, _ = await published(api, definition(QUESTION))
    for number in range(25):
        metadata = {"branch": f"no. {number % 22:02}", "transaction_id": "t"}
        body = {"metadata": {"questionnaire": metadata, "responder": {"segment": "gold"}}}
        made = await api.post(f"/q/questionnaire/{questionnaire_id}/instance", body)
        assert 201 == made.status_code, made.text
    branch, transaction = (await api.get(OF_ORDERS)).json()
    assert ("branch", False, 25, 22) == tuple(branch[name] for name in ("name", "declared", "count", "values_count"))
    assert [("no. 00", 2), ("no. 01", 2), ("no. 02", 2), ("no. 03", 1)] == [
        (one["value"], one["count"]) for one in branch["values"][:4]
    ]
    assert 20 == len(branch["values"])
    assert transaction["declared"] is True
    segment = next(one for one in (await api.get(OF_PEOPLE)).json() if one["name"] == "segment")
    assert [{"value": "gold", "count": 25}] == segment["values"]
    tester = await api.token(test=True)
    assert [] == (await api.get(OF_ORDERS, token=tester)).json()
    assert 403 == (await api.get(OF_PEOPLE, token=tester)).status_code
    elsewhere = await api.token(application_ids=[await api.application()])
    assert [] == (await api.get(OF_ORDERS, token=elsewhere)).json()
    assert 403 == (await api.get(OF_PEOPLE, token=elsewhere)).status_code
