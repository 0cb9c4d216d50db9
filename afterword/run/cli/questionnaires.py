"""`afterword questionnaire import`: check a file and publish it as a version, or make a draft of another system's."""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import cyclopts
from cyclopts import Parameter

from afterword import errors
from afterword.asking.questionnaires import imports, library, service as questionnaires
from afterword.asking.questionnaires.service import Imported
from afterword.core import foreign
from afterword.core.foreign import parts
from afterword.kit.db import Database
from afterword.run.cli.context import open_organization, read_text
from afterword.run.cli.organizations import OrganizationDomain
from afterword.tenants.organizations.applications import get_first_application_id

FILE_BYTES_MAX = 1_048_576

app = cyclopts.App(name="questionnaire")


class _Checked(Exception):
    """Undoes the transaction of a check."""


@app.command(name="import")
async def import_file(
    file: Path,
    /,
    *,
    organization: OrganizationDomain = None,
    application: str | None = None,
    check: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Check a questionnaire file and publish it as a version, or make a draft of a file of another system.

    Importing a file of ours again under the same name makes a new version when it says something new. A file of
    another system, such as LimeSurvey, makes a new questionnaire, whose draft you publish in the console; under a name
    that is taken it is refused.

    Args:
        file: A YAML file, or the name of one that comes with Afterword: after_delivery, relationship, support_case;
            or a file of another system.
        application: The id of the application that owns it; without, the organization's first.
        check: Name every fault, and store nothing.
    """
    if is_foreign(file):
        await _import_foreign(file, organization=organization, application=application, check=check)
    else:
        await _import_own(file, organization=organization, application=application, check=check)


async def _import_own(file: Path, *, organization: str | None, application: str | None, check: bool) -> None:
    text = read(file)
    if "display_name" not in text:
        known = f"its own YAML files (with a display_name), {foreign.known()}"
        raise errors.Invalid(f"Afterword cannot read {file.name}. It reads {known}.")
    imported: Imported | None = None
    public_url = ""
    with suppress(_Checked):
        async with open_organization(organization) as (context, database, owner):
            organization_id, public_url = owner.organization_id, context.site.public_url
            chosen = application or await _first_application(database, organization_id)
            imported = await questionnaires.import_file(
                database,
                organization_id=organization_id,
                application_id=chosen,
                text=text,
                slug=file.stem,
                now=database.clock.now(),
            )
            if check:
                raise _Checked
    assert imported is not None  # noqa: S101  else import_file has raised
    for warning in imported.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    if check:
        print(f"Nothing is wrong; it would be version {imported.version.number}.")
        return
    questionnaire_id = imported.questionnaire.questionnaire_id
    made = "Published" if imported.created else "Nothing new: already published"
    print(f"{made} as version {imported.version.number} of questionnaire {questionnaire_id}.")
    anybody = f"anybody, at {public_url}/p/{questionnaire_id}"
    print(f"Who may answer: {anybody if imported.questionnaire.public_link else 'people whom you ask'}.")


async def _first_application(db: Database, organization_id: str) -> str:
    found = await get_first_application_id(db, organization_id=organization_id)
    return errors.found(found, "The organization has no application yet.")


def is_foreign(file: Path) -> bool:
    """Whether another system made the file. Raises TooLarge, Invalid."""
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        content = opened.read(parts.BYTES_MAX + 1)
    return foreign.format_of(content) is not None


OUTCOMES: Final = {"taken": "taken", "changed": "taken differently", "left_out": "left out"}


async def _import_foreign(file: Path, *, organization: str | None, application: str | None, check: bool) -> None:
    brought = await asyncio.to_thread(lambda: imports.read(file.read_bytes(), name=file.stem))
    questionnaire_id = ""
    with suppress(_Checked):
        async with open_organization(organization) as (_, database, owner):
            questionnaire, _ = await imports.create(
                database,
                organization_id=owner.organization_id,
                application_id=application or await _first_application(database, owner.organization_id),
                file=brought,
                slug=file.stem,
                now=database.clock.now(),
            )
            if check:
                raise _Checked
            questionnaire_id = questionnaire.questionnaire_id
    for line in brought.lines:
        why = " ".join(line.sentences)
        print(f"{OUTCOMES[line.outcome]}: {line.kind} {line.place}{f': {why}' if why else ''}")
    found = brought.summary
    print(
        f"{found.whole_questions_count} of {found.questions_count} questions are whole, "
        f"{found.whole_conditions_count} of {found.conditions_count} conditions. "
        f"{found.left_out_count} other things are left out."
    )
    if check:
        print("Nothing is stored.")
    else:
        print(f"Made the draft of questionnaire {questionnaire_id}. Look at it in the console, and publish it there.")


def read(file: Path) -> str:
    """The text of the file, or of a questionnaire of the library by its name. Raises Invalid."""
    if not file.exists() and str(file) in library.NAMES:
        return library.text(str(file))
    return read_text(file, bytes_max=FILE_BYTES_MAX)
