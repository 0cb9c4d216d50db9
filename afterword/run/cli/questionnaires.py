"""`afterword questionnaire import`: check a file and publish it as a version."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from afterword import errors
from afterword.asking.questionnaires import service as questionnaires
from afterword.asking.questionnaires.library import service as library
from afterword.asking.questionnaires.service import Imported
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
    """Check a questionnaire file and publish it as a version.

    Importing it again under the same name makes a new version when it says something new.

    Args:
        file: A YAML file, or the name of one that comes with Afterword: after_delivery, relationship, support_case.
        application: The id of the application that owns it; without, the organization's first.
        check: Name every fault, and store nothing.
    """
    text = read(file)
    imported: Imported | None = None
    public_url = ""
    with suppress(_Checked):
        async with open_organization(organization) as (context, database, owner):
            organization_id, public_url = owner.organization_id, context.site.public_url
            chosen = application or await get_first_application_id(database, organization_id=organization_id)
            if chosen is None:
                raise errors.NotFound("The organization has no application yet.")
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


def read(file: Path) -> str:
    """The text of the file, or of a questionnaire of the library by its name. Raises Invalid."""
    if not file.exists() and str(file) in library.NAMES:
        return library.text(str(file))
    return read_text(file, bytes_max=FILE_BYTES_MAX)
