"""The layout of pages: one field of the active look changes, the others stay as they came."""

from afterword import ids
from afterword.asking.questionnaires import visuals
from afterword.kit import db
from tests.asking.screens.test_builder import seen_of, text_of
from tests.asking.screens.test_settings import FORM, version_of
from tests.tenants.logins.conftest import Browser, Office


async def test_layout(office: Office, browser: Browser, path: str) -> None:
    key = {"organization_id": office.organization_id, "questionnaire_id": path.rsplit("/", 1)[1]}
    page = (await browser.get(f"{path}/settings")).text
    seen = seen_of(page)
    form = {**FORM, "layout": "by_group", "show_progress": "1", "seen": seen}
    assert 303 == (await browser.post(f"{path}/settings", data={**form, "version": version_of(page)})).status_code
    async with db.transaction(office.pool) as database:
        layers = await visuals.get_layers(database, **key)
        assert layers is not None
        assert layers.visual_id is None  # nothing differs
        await visuals.insert_visual(
            database,
            **key,
            visual_id=ids.ordered(database.clock.now()),
            title="Theirs",
            active=True,
            configuration={"widget": {"side": "left"}, "font": "mono"},
            now=database.clock.now(),
            by=None,
        )
    page = (await browser.get(f"{path}/settings")).text
    form = {**FORM, "layout": "by_question", "seen": seen, "version": version_of(page)}
    assert 422 == (await browser.post(f"{path}/settings", data={**form, "layout": "sideways"})).status_code
    assert 303 == (await browser.post(f"{path}/settings", data=form)).status_code
    async with db.transaction(office.pool) as database:
        layers = await visuals.get_layers(database, **key)
    assert layers is not None
    assert layers.visual == {
        "widget": {"side": "left"},
        "font": "mono",
        "layout": "by_question",
        "show_progress": False,
    }
    page = (await browser.get(f"{path}/settings")).text
    late = await browser.post(
        f"{path}/settings", data={**form, "layout": "one_page", "title": "Mine", "version": version_of(page)}
    )
    assert 412 == late.status_code
    assert 'value="Mine"' in late.text
    assert "Your delivery" in text_of(await browser.get(f"{path}/settings"))  # nothing of it is saved


async def test_layout_of_a_new_look(office: Office, browser: Browser, path: str) -> None:
    page = (await browser.get(f"{path}/settings")).text
    form = {**FORM, "layout": "by_question", "show_progress": "1", "seen": seen_of(page)}
    assert 303 == (await browser.post(f"{path}/settings", data={**form, "version": version_of(page)})).status_code
    async with db.transaction(office.pool) as database:
        layers = await visuals.get_layers(
            database, organization_id=office.organization_id, questionnaire_id=path.rsplit("/", 1)[1]
        )
    assert layers is not None
    assert {"layout": "by_question"} == layers.visual
