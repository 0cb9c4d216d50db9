"""The number of responses that a condition of the editor matches; none before its questions are published."""

from afterword import db
from afterword.core.answers.forms import field_name
from afterword.responses.rows import service as rows
from tests.alerts.previews.test_service import follow
from tests.console.questionnaires.test_builder import added, begun, saved, text_of
from tests.console.questionnaires.test_publication import revision_of
from tests.contract.alerting import read_all
from tests.instances.test_pages import send
from tests.logins.conftest import Office

ISOLATES = dict.fromkeys((0x2068, 0x2069))


async def test_matching(office: Office) -> None:
    async with begun(office) as (client, path):
        branch = await added(client, path, "single_choice")
        await saved(client, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere")
        branch_id = branch.rsplit("/", 1)[1]
        form = {"seen": "", "target": "", "group": "all", "subject-0": f"question:{branch_id}"}
        form |= {"operator-0": "equal", "value-0": "Elsewhere"}
        assert 303 == (await client.post(f"{branch}/jump/new", data=form)).status_code
        jump = f"{branch}/jump/0"
        assert f'href="{jump}?count=1#matching"' in text_of(await client.get(jump))
        unpublished = "It asks for what is not published yet, so it cannot be counted."
        assert unpublished in text_of(await client.get(f"{jump}?count=1"))
        revision = revision_of((await client.get(f"{path}/publish")).text)
        assert 303 == (await client.post(f"{path}/publish", data={"revision": revision})).status_code
        questionnaire_id = path.rsplit("/", 1)[1]
        async with db.transaction(office.pool) as database:
            await database.execute(
                "update questionnaire set public_link = true where questionnaire_id = $1", questionnaire_id
            )
        for value in ("1", "2", "2"):
            page = await client.get(f"/p/{questionnaire_id}")
            assert 303 == (await send(client, page, go="send", **{field_name(branch_id): value}))[0]
        await read_all(office.pool, rows.READER, follow)
        counted = text_of(await client.get(f"{jump}?count=1"))
        assert "Of the last 3 responses, 2 match." in counted.translate(ISOLATES)
