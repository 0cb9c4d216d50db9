"""The demonstration: what it posts in place of a browser, and what it says in the end."""

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.run.cli import CommandError, demo
from afterword.run.cli.demo import Form, Seeded, ended, seed
from afterword.sending.providers import service
from afterword.sending.queue import restores
from afterword.sending.screens import pipelines
from afterword.sending.screens.queue_items import SENDING
from afterword.tenants.organizations.tokens import access
from tests.conftest import SITE, House
from tests.run.cli.shell import Operator, opened_by


class TestForm:
    """The form that the demonstration posts in place of a browser."""

    def test_page_without_form(self) -> None:
        assert Form.of("<p>Thank you</p>") is None

    def test_best_of_a_scale_and_first_choice(self) -> None:
        form = Form.of(
            '<form action="/a/x"><input type=hidden name=page value=1><input type=radio name=q value=1>'
            "<input type=radio name=q value=5><input type=checkbox name=c value=a><input type=checkbox name=c value=b>"
            "<textarea name=t></textarea><button name=go value=back></button><button name=go value=next></button>"
        )
        assert form is not None
        assert "/a/x" == form.action
        filled = form.filled()
        assert (["1"], ["5"], ["a"], "next") == (filled["page"], filled["q"], filled["c"], filled["go"])


@pytest.mark.parametrize(
    ("url", "place"), [(None, "/srv/afterword: "), ("postgresql://ann:hunter2@host/x", "of AFTERWORD_DATABASE_URL: ")]
)
def test_a_demonstration_that_ends_names_the_place_of_its_data(url: str | None, place: str) -> None:
    sentence = ended(Settings(database_url=url, data_dir=Path("/srv/afterword")))
    assert f"The data stays in {'' if url is None else 'the database '}{place}" in sentence


Pause = Callable[[db.Pool, httpx2.AsyncClient, House], Awaitable[object]]


async def _switch_off(_: db.Pool, client: httpx2.AsyncClient, house: House) -> None:
    path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}"
    answer = await client.patch(path, json={"paused": True}, headers=house.headers)
    assert 200 == answer.status_code, answer.text


async def _pause_accounts(pool: db.Pool, _: httpx2.AsyncClient, house: House) -> None:
    async with db.transaction(pool) as database:
        assert await service.pause_all(database, caller=house.caller, reason="Stocktaking")


async def _pause_everything(pool: db.Pool, _: httpx2.AsyncClient, __: House) -> None:
    async with db.transaction(pool) as database:
        await restores.update_to_paused(database, reason="Restored")


@pytest.mark.parametrize(
    ("pause", "cause", "act"),
    [
        (_switch_off, "the pipeline is paused", pipelines.ONE),
        (_pause_accounts, "Stocktaking", SENDING),
        (_pause_everything, "until the operator has looked", "afterword doctor --confirm-sending"),
    ],
)
async def test_paused_sending_ends_nothing(
    pool: db.Pool,
    house: House,
    client: httpx2.AsyncClient,
    capsys: pytest.CaptureFixture[str],
    pause: Pause,
    cause: str,
    act: str,
) -> None:
    await pause(pool, client, house)
    places = {name: getattr(house, name) for name in (
        "token", "organization_id", "application_id", "questionnaire_id", "pipeline_id",
    )}  # fmt: skip
    seeded = Seeded(base_url=SITE.base_url, organization_domain=house.domain, **places)
    await demo._Journey(seeded, SITE, client, began=time.perf_counter()).make(to_the_end=False)
    waits, remedy = capsys.readouterr().out.splitlines()[-2:]
    assert "sending is paused" in waits
    assert cause in waits
    assert remedy.endswith(act.format(**places))


class TestOnDatabase:
    """A database that others use: the demonstration would capture their mails and change their schema."""

    @pytest.mark.parametrize("words", [("--on-database",), ("--on-database", "--no-once")])
    def test_without_once(self, operator: Operator, words: tuple[str, ...]) -> None:
        assert "goes with --once" in operator.refused("demo", *words)

    def test_somebody_uses_it(self, operator: Operator) -> None:
        operator.found()
        assert "is in use" in operator.refused("demo", "--once", "--on-database")

    async def test_unused(self, empty_database_url: str) -> None:
        assert None is await demo._require_unused(empty_database_url)

    async def test_again(self, pool: db.Pool, database_url: str) -> None:
        await seed(pool, SITE, domain=demo.DOMAIN_ONCE)
        await demo._require_unused(database_url)
        await seed(pool, SITE)
        with pytest.raises(CommandError, match="is in use"):
            await demo._require_unused(database_url)


class TestSeed:
    def test_prints_what_the_first_request_needs(self, operator: Operator) -> None:
        assert set(Seeded.__dataclass_fields__) == set(json.loads(operator.done("seed", "--json")))
        lines = dict(line.split("=", 1) for line in operator.done("seed").splitlines())
        assert "http://localhost:8080/v3.2" == lines["BASE_URL"]
        assert access.is_token(lines["TOKEN"])

    async def test_the_token_has_every_scope(self, pool: db.Pool) -> None:
        seeded = await seed(pool, SITE)
        assert await opened_by(pool, seeded.token) == SCOPES

    async def test_again_makes_a_token_and_nothing_else(self, pool: db.Pool) -> None:
        first, second = await seed(pool, SITE), await seed(pool, SITE)
        assert first.token != second.token
        differing = {name for name, value in asdict(first).items() if asdict(second)[name] != value}
        assert {"token"} == differing
