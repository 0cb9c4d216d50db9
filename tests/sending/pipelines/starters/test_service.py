"""Each questionnaire of the library: taken over once, with texts in its languages."""

import pytest

from afterword import errors
from afterword.kit import db
from afterword.sending.pipelines import starters
from tests.tenants.logins.conftest import Office
from tests.tenants.logins.conftest import office as office  # noqa: PLC0414  a fixture


async def test_unknown(office: Office) -> None:
    async with db.transaction(office.pool) as database:
        for name, application_id in (
            ("../setup", office.application_id),
            ("event", office.application_id),
            (starters.NAMES[0], "0" * 22),
        ):
            with pytest.raises(errors.NotFound):
                await starters.start(
                    database,
                    organization_id=office.organization_id,
                    application_id=application_id,
                    name=name,
                    now=database.clock.now(),
                )


async def test_each(office: Office) -> None:
    async with db.transaction(office.pool) as database:
        for name in starters.NAMES:
            made = [
                await starters.start(
                    database,
                    organization_id=office.organization_id,
                    application_id=office.application_id,
                    name=name,
                    now=database.clock.now(),
                )
                for _ in range(2)
            ]
            assert made[0] == made[1]
        texts = await database.fetch_value("select messages from pipeline order by created_time limit 1")
        assert {"el", "de", "ar"} <= set(texts)
