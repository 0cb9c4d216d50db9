"""Importing: refusals leave nothing behind, ids outlive every edit; and the cache of versions in a process."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from afterword import errors, ids
from afterword.asking.questionnaires import library, service, store
from afterword.asking.questionnaires.service import Imported, InvalidFile
from afterword.kit import db
from afterword.tenants.organizations import service as accounts
from tests.conftest import House
from tests.event_log import list_events

FILE = """\
display_name: Small
title: Small talk
default_locale: en
locales: [en, el]
groups:
  - key: only
    questions:
      - {key: score, type: nps, title: How likely?}
      - {key: why, type: text, title: Why?, translations: {el: {title: Γιατί;}}}
"""


class Shop:
    """An organization with an application, and its imports."""

    def __init__(self, pool: db.Pool, organization_id: str, application_id: str) -> None:
        self.pool, self.organization_id, self.application_id = pool, organization_id, application_id

    async def put(self, text: str = FILE, slug: str = "small", **other: Any) -> Imported:
        async with db.transaction(self.pool) as database:
            values: dict[str, Any] = {
                "organization_id": self.organization_id,
                "application_id": self.application_id,
                "text": text,
                "slug": slug,
                "now": database.clock.now(),
            }
            return await service.import_file(database, **values | other)

    async def get(self, version_id: str) -> store.Version:
        async with db.connection(self.pool) as database:
            return await store.get_version(database, organization_id=self.organization_id, version_id=version_id)

    async def count(self) -> tuple[int, int]:
        async with db.connection(self.pool) as database:
            questionnaires: int = await database.fetch_value("select count(*) from questionnaire")
            versions: int = await database.fetch_value("select count(*) from questionnaire_version")
        return questionnaires, versions

    async def events(self) -> list[str]:
        async with db.connection(self.pool) as database:
            return [one.type for one in await list_events(database, organization_id=self.organization_id)]


@pytest.fixture
async def shop(pool: db.Pool) -> Shop:
    return await open_shop(pool, "demo")


async def open_shop(pool: db.Pool, domain: str) -> Shop:
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await accounts.create_organization(database, domain=domain, display_name=domain, now=now)
        application = await accounts.create_application(
            database, organization_id=organization.organization_id, display_name="Shop", now=now
        )
    return Shop(pool, organization.organization_id, application.application_id)


def ids_of(imported: Imported) -> dict[str | None, str]:
    return {question.key: question.question_id for question in imported.version.definition.questions()}


class TestRefused:
    async def test_invalid_file(self, shop: Shop) -> None:
        with pytest.raises(InvalidFile):
            await shop.put(FILE.replace("nps", "stars"))
        assert (0, 0) == await shop.count()
        assert [] == await shop.events()

    async def test_application_of_another_organization(self, pool: db.Pool, shop: Shop) -> None:
        neighbour = await open_shop(pool, "neighbour")
        with pytest.raises(errors.NotFound):
            await shop.put(application_id=neighbour.application_id)
        assert (0, 0) == await shop.count()

    @pytest.mark.parametrize(("slug", "code"), [("", "too_short"), ("x" * 101, "too_long")])
    async def test_slug(self, shop: Shop, slug: str, code: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await shop.put(slug=slug)
        assert [(code, "slug")] == [(error.code, error.parameter) for error in refused.value.errors]

    async def test_another_default_locale(self, shop: Shop) -> None:
        await shop.put()
        with pytest.raises(InvalidFile) as refusal:
            await shop.put(FILE.replace("default_locale: en", "default_locale: el").replace("{el: {", "{en: {"))
        assert [(3, "read_only")] == [(one.line, one.code) for one in refusal.value.problems]
        assert (1, 1) == await shop.count()


class TestImport:
    async def test_first(self, shop: Shop) -> None:
        imported = await shop.put()
        assert imported.created
        assert 1 == imported.version.number
        assert imported.version.checksum.startswith("sha256:")
        assert imported.version.version_id == imported.questionnaire.published_version_id
        assert ("Small", "Small talk", 30, True) == (
            imported.questionnaire.display_name,
            imported.questionnaire.title,
            imported.questionnaire.valid_days,
            imported.questionnaire.active,
        )
        assert ["en", "el"] == imported.questionnaire.locales
        assert all(ids.is_id(question_id) for question_id in ids_of(imported).values())
        assert ["/groups/0/questions/0/translations/el/title"] == [one.pointer for one in imported.warnings]
        assert ["questionnaire.created", "questionnaire.published"] == await shop.events()

    async def test_the_same_again(self, shop: Shop) -> None:
        first = await shop.put()
        again = await shop.put("# a comment\n" + FILE.replace("[en, el]", "\n  - en\n  - el"))
        assert not again.created
        assert (first.version.version_id, first.questionnaire) == (again.version.version_id, again.questionnaire)
        assert (1, 1) == await shop.count()
        assert 2 == len(await shop.events())

    async def test_only_settings(self, shop: Shop) -> None:
        first = await shop.put()
        again = await shop.put(FILE + "valid_days: 7\n")
        assert not again.created
        assert 7 == again.questionnaire.valid_days
        assert first.questionnaire.version + 1 == again.questionnaire.version
        assert "questionnaire.updated" == (await shop.events())[-1]

    async def test_new_texts_keep_the_ids(self, shop: Shop) -> None:
        first = await shop.put()
        again = await shop.put(FILE.replace("How likely?", "How probable?"))
        assert again.created
        assert 2 == again.version.number
        assert ids_of(first) == ids_of(again)
        assert first.version.definition.groups[0].group_id == again.version.definition.groups[0].group_id
        assert "questionnaire.published" == (await shop.events())[-1]
        old = await shop.get(first.version.version_id)
        assert "How likely?" == old.definition.questions()[0].title

    async def test_a_question_that_comes_back_has_its_id_again(self, shop: Shop) -> None:
        first = await shop.put()
        without = "\n".join(line for line in FILE.split("\n") if "key: why" not in line)
        assert {"score"} == ids_of(await shop.put(without)).keys()
        assert ids_of(first) == ids_of(await shop.put())

    async def test_a_given_id_outlives_its_line(self, shop: Shop) -> None:
        chosen = "A" * 22
        first = await shop.put(FILE.replace("key: score,", f"key: score, question_id: {chosen},"))
        assert chosen == ids_of(first)["score"]
        again = await shop.put(FILE.replace("How likely?", "How probable?"))
        assert chosen == ids_of(again)["score"]

    async def test_moved_to_another_group(self, shop: Shop) -> None:
        first = await shop.put()
        moved = FILE.replace("      - {key: why", "  - key: second\n    questions:\n      - {key: why")
        assert ids_of(first) == ids_of(await shop.put(moved))

    async def test_what_somebody_closed_stays_closed(self, shop: Shop) -> None:
        await shop.put()
        async with db.transaction(shop.pool) as database:
            await database.execute("update questionnaire set active = false")
        assert not (await shop.put(FILE.replace("Why?", "Why so?"))).questionnaire.active

    async def test_slugs_and_applications_are_apart(self, shop: Shop) -> None:
        one, other = await shop.put(), await shop.put(slug="other")
        assert one.questionnaire.questionnaire_id != other.questionnaire.questionnaire_id
        assert not set(ids_of(one).values()) & set(ids_of(other).values())

    async def test_an_actor_is_remembered(self, pool: db.Pool, house: House) -> None:
        shop, by = Shop(pool, house.organization_id, house.application_id), house.token_id
        imported = await shop.put(actor=house.caller)
        assert by == imported.questionnaire.created_by == imported.version.published_by
        again = await shop.put(FILE + "valid_days: 7\n", actor=replace(house.caller, user_id="U" * 22))
        assert (by, "U" * 22) == (again.questionnaire.created_by, again.questionnaire.updated_by)

    async def test_at_the_same_moment(self, shop: Shop) -> None:
        await shop.put()
        texts = [FILE.replace("Why?", f"Why {n}?") for n in range(3)]
        imported = await asyncio.gather(*(shop.put(text) for text in texts))
        assert [2, 3, 4] == sorted(one.version.number for one in imported)

    async def test_first_time_at_the_same_moment(self, shop: Shop) -> None:
        results = await asyncio.gather(*(shop.put() for _ in range(3)), return_exceptions=True)
        assert any(isinstance(one, Imported) for one in results)
        assert all(isinstance(one, Imported | errors.Conflict) for one in results)
        assert (1, 1) == await shop.count()

    async def test_the_library(self, shop: Shop) -> None:
        for name in library.NAMES:
            imported = await shop.put(library.text(name), slug=name)
            assert () == imported.warnings
            assert imported.version.definition == (await shop.get(imported.version.version_id)).definition, name


class TestStore:
    async def test_another_organization_finds_nothing(self, pool: db.Pool, shop: Shop) -> None:
        imported = await shop.put()
        neighbour = await open_shop(pool, "neighbour")
        await shop.get(imported.version.version_id)
        with pytest.raises(errors.NotFound):  # known to the process, but not to them
            await neighbour.get(imported.version.version_id)
        async with db.connection(pool) as database:
            with pytest.raises(errors.NotFound):
                await store.get_questionnaire(
                    database,
                    organization_id=neighbour.organization_id,
                    questionnaire_id=imported.questionnaire.questionnaire_id,
                )


class TestVersionsKept:
    @pytest.fixture(autouse=True)
    def nothing_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "_versions", type(store._versions)())

    async def publish(self, shop: Shop, count: int) -> list[str]:
        files = [FILE.replace("How likely", f"How likely {number}") for number in range(count)]
        return [(await shop.put(file)).version.version_id for file in files]

    async def test_count(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        first, second, third = await self.publish(shop, 3)
        store._versions.clear()
        monkeypatch.setattr(store, "VERSIONS_KEPT_MAX", 2)
        for version_id in (first, second, first, third):
            assert version_id == (await shop.get(version_id)).version_id
        assert [first, third] == [version_id for _, version_id in store._versions]
        assert await shop.get(third) is await shop.get(third)

    async def test_size(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        first, second = await self.publish(shop, 2)
        store._versions.clear()
        monkeypatch.setattr(store, "VERSIONS_KEPT_BYTES_MAX", 1_500)  # one of these and a half
        for version_id in (first, second, first):
            assert version_id == (await shop.get(version_id)).version_id
        assert [first] == [version_id for _, version_id in store._versions]
