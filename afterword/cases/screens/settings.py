"""Settings of cases: business hours, causes and remedies to choose from, saved texts."""

from datetime import time
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.cases.settings import SETTINGS, VARIABLES
from afterword.console.inputs import KEPT, placed, read_as, same_version
from afterword.console.screens import Database, Form, Screens, Visit
from afterword.core.questionnaires import editing
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.ui.text import WEEKDAYS
from afterword.kit.web import html

PATH: Final = "/console/settings/cases"

routes = Screens()


@routes.post(PATH, scope="Alert.Update", again=(errors.Invalid,))
async def save_settings(visit: Visit, db: Database) -> Response:
    expect = same_version(visit, KEPT)
    changes = read_as(structs.update_of(SETTINGS), _document(visit.form), visit).named()
    key = visit.caller.organization_id
    await nouns.update(SETTINGS, db, key=key, changes=changes, expect=expect, **visit.acting)
    return html.redirect(f"{PATH}?done=saved")


def _document(form: Form) -> dict[str, Any]:
    """The form as the API has it. Saved texts without title and text are left out."""
    texts = zip(form.all("text_title"), form.all("text_body"), strict=False)
    return {
        **{name: form.text(name) or None for name in ("start_time", "end_time", "recovery_questionnaire_id")},
        **{name: editing.lines_of(form.text(name)) for name in ("causes", "remedies")},
        "weekdays": form.all("weekday"),
        "closed_on_holidays": form.text("closed_on_holidays") == "true",
        "saved_texts": [
            {"title": title.strip(), "body": body.strip()} for title, body in texts if title.strip() or body.strip()
        ],
    }


@routes.get(PATH, scope="Alert.Update")
async def _page(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    settings = await nouns.get(SETTINGS, db, caller=visit.caller, key=visit.caller.organization_id)
    questionnaires = await access.offered(db, visit.caller.part, also=[settings.recovery_questionnaire_id or ""])
    form = visit.form
    typed = bool(form.values)
    texts = [(one["title"], one["body"]) for one in settings.saved_texts]
    if typed:
        texts = list(zip(form.all("text_title"), form.all("text_body"), strict=False))
    chosen = form.all("weekday") if typed else [str(day) for day in settings.weekdays]
    return visit.page(
        "case_settings.html",
        title=visit.words("Cases"),
        weekdays=[(number, visit.words(name), str(number) in chosen) for number, name in WEEKDAYS.items()],
        start_time=form.text("start_time") if typed else _clock(settings.start_time),
        end_time=form.text("end_time") if typed else _clock(settings.end_time),
        closed_on_holidays=form.text("closed_on_holidays") == "true" if typed else settings.closed_on_holidays,
        causes=form.text("causes") if typed else "\n".join(settings.causes),
        remedies=form.text("remedies") if typed else "\n".join(settings.remedies),
        questionnaires=[
            ("", visit.words("The one of the case")),
            *((one.questionnaire_id, one.display_name) for one in questionnaires),
        ],
        recovery=form.text("recovery_questionnaire_id") if typed else settings.recovery_questionnaire_id or "",
        texts=[*((title, body) for title, body in texts if title or body), ("", "")],
        variables=[f"{{{{ {name} }}}}" for name in VARIABLES],
        version=form.text("version") if typed else settings.version,
        refusal=placed(refusal) if refusal else None,
    )


def _clock(clock: time | None) -> str:
    return f"{clock:%H:%M}" if clock else ""
