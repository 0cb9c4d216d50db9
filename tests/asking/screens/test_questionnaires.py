"""The list of questionnaires and the page of one."""

import re

from tests.asking.screens.test_builder import LIST, added, begun, saved, text_of
from tests.asking.screens.test_publication import revision_of
from tests.tenants.logins.conftest import Office, browser_of, log_in


async def test_list(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        assert "No questionnaire yet." in (await client.get(LIST)).text
    async with begun(office) as (client, path):
        listed = text_of(await client.get(LIST))
        assert "After delivery" in listed
        assert "changed today" in listed
        assert "not yet" in listed
        question = await added(client, path, "text")
        assert "1 thing before you can publish" in text_of(await client.get(path))
        await saved(client, question, type="text", title="How was it?")
        assert "before you can publish" not in text_of(await client.get(path))
        assert "Who gets it" not in text_of(await client.get(path))
        await client.post(f"{path}/publish", data={"revision": revision_of((await client.get(f"{path}/publish")).text)})
        published = await client.get(path)
        assert "Nobody yet." in text_of(published)
        new = re.findall(r'href="([^"]*pipelines/new[^"]*)"', text_of(published))[0]
        made = await client.post(
            new.partition("?")[0],
            data={"questionnaire_id": path.rpartition("/")[2], "channel_id": "1", "title": "By mail",
                  "message_subject": "How was it?", "message_body": "Well?"},
        )  # fmt: skip
        assert made.headers["location"].partition("?")[0] in text_of(await client.get(path))
        assert 303 == (await client.post(f"{path}/archive")).status_code
        assert "After delivery" not in (await client.get(LIST)).text
        assert "After delivery" in (await client.get(f"{LIST}?show=archived")).text
        assert "Archived: nothing is sent" in (await client.get(path)).text
