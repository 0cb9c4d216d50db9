"""Words of comments as a report: refused where they cannot be counted or read, else those of `GET /q/response/word`."""

from typing import Any

from tests.listening.reports.conftest import House
from tests.listening.responses.comments.test_service import told as told  # noqa: PLC0414  a fixture

STORE = "questionnaire_metadata:store_id"


async def test_run(told: House) -> None:
    async def run(status: int, scopes: set[str] | None = None, **changes: Any) -> Any:
        spec = {"questionnaire_ids": [told.questionnaire_id], "template_id": "comments", "metadata": STORE, **changes}
        token = await told.token_for(scopes=scopes) if scopes else told.token
        response = await told.send("POST", "/report/run", {"spec": spec}, Authorization=f"Bearer {token}")
        assert status == response.status_code, response.text
        return response.json()

    refused: dict[str, dict[str, Any]] = {
        "filter": {"filter": {"subject": STORE, "operator": "equal", "value": "north"}},
        "compare": {"compare": "rest"},
        "date_basis": {"date_basis": "sent"},
        "metadata": {"metadata": "responder_metadata:name"},
    }
    for pointer, changes in refused.items():
        assert [f"/spec/{pointer}"] == [one["pointer"] for one in (await run(422, None, **changes))["errors"]]
    await run(422, {"Report.Read"}, metadata=None)
    await run(422, {"Report.Read", "Questionnaire Instance.Read"})

    for group in (None, STORE, "band", "channel"):
        found = await run(200, metadata=group)
        counted = (await told.get("/q/response/word", **({"group_by": group} if group else {}))).json()
        assert counted["n"] == found["total"][0]["value"]
        rows = [(row["key"], row["figures"][0]["value"], row["selection"]) for row in found["rows"]]
        assert rows
        if group is None:
            assert [(one["word"], one["n"]) for one in counted["words"]] == [(key["word"], n) for key, n, _ in rows]
        else:
            groups = {one["value"]: one["n"] for one in counted["groups"] if one["value"] is not None}
            shown = {str(key[group]): n for key, n, _ in rows if key["word"] is None and key[group] is not None}
            assert groups == shown
        for _, n, selection in rows:
            body = {name: selection[name] for name in ("only", "band", "word", "channel_id", "condition")}
            listed = await told.send("POST", "/q/response/search", {**body, "limit": 100})
            assert n == len(listed.json()["results"]), selection
