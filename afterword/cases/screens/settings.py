"""Settings of cases: business hours, causes and remedies to choose from, saved texts."""

from datetime import time
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import api as questionnaires_api
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases import settings as cases_settings
from afterword.console.inputs import KEPT, same_version
from afterword.console.screens import Screens, Visit
from afterword.core.wire.lists import Page
from afterword.kit.ui.text import WEEKDAYS
from afterword.kit.web import fields, html

PATH: Final = "/console/settings/cases"
TITLE_CHARACTERS_MAX: Final = 100
BODY_CHARACTERS_MAX: Final = 5_000
QUESTIONNAIRES_MAX: Final = 200
QUESTIONNAIRES: Final = fields.listing_of(questionnaires_api.Questionnaire)

routes = Screens()


@routes.post(PATH, scope="Alert.Update")
async def save_settings(visit: Visit) -> Response:
    expect = same_version(visit, KEPT)
    try:
        async with visit.write() as db:
            await cases_settings.update(db, caller=visit.caller, changes=_typed(visit), now=visit.now, expect=expect)
    except errors.Invalid as invalid:
        return await _page(visit, invalid)
    return html.redirect(f"{PATH}?done=saved")


def _typed(visit: Visit) -> dict[str, Any]:
    """The form as the settings have it. Raises Invalid."""
    form, wrong = visit.form, list[errors.FieldError]()
    clocks: dict[str, time | None] = {}
    for name in ("start_time", "end_time"):
        try:
            clocks[name] = time.fromisoformat(form.text(name)) if form.text(name) else None
        except ValueError:
            wrong.append(errors.FieldError("invalid_format", "A time such as 09:30 is expected.", pointer=f"/{name}"))
    days = [number for number in WEEKDAYS if str(number) in form.all("weekday")]
    if not days:
        wrong.append(errors.FieldError("required", "Choose at least one day.", pointer="/weekdays"))
    titles, bodies = form.all("text_title"), form.all("text_body")
    pairs = [(title.strip(), body.strip()) for title, body in zip(titles, bodies, strict=False)]
    if any(bool(title) != bool(body) for title, body in pairs):
        wrong.append(errors.FieldError("required", "A saved text has a title and a text.", pointer="/saved_texts"))
    if len(pairs) > cases_settings.TEXTS_MAX + 1:
        wrong.append(
            errors.FieldError(
                "too_many", errors.Sentence("At most {n} texts.", n=cases_settings.TEXTS_MAX), pointer="/saved_texts"
            )
        )
    errors.check(wrong)
    return {
        **clocks,
        "weekdays": days,
        "closed_on_holidays": form.text("closed_on_holidays") == "true",
        "recovery_questionnaire_id": form.text("recovery_questionnaire_id") or None,
        "causes": _lines(form.text("causes")),
        "remedies": _lines(form.text("remedies")),
        "saved_texts": [
            {"title": title[:TITLE_CHARACTERS_MAX], "body": body[:BODY_CHARACTERS_MAX]}
            for title, body in pairs
            if title
        ],
    }


def _lines(text: str) -> list[str]:
    """One choice a line; more than the limit are left out."""
    lines = (line.strip()[:TITLE_CHARACTERS_MAX] for line in text.split("\n"))
    return list(dict.fromkeys(filter(None, lines)))[: cases_settings.TEXTS_MAX]


@routes.get(PATH, scope="Alert.Update")
async def _page(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    async with visit.read() as db:
        settings = await cases_settings.get_settings(db, organization_id=visit.caller.organization_id)
        questionnaires = await questionnaires_store.list_questionnaires(
            db, **visit.caller.part, page=Page.first(QUESTIONNAIRES, limit=QUESTIONNAIRES_MAX)
        )
    form = visit.form
    typed = bool(form.values)
    texts = [(one["title"], one["body"]) for one in settings.saved_texts]
    if typed:
        texts = list(zip(form.all("text_title"), form.all("text_body"), strict=False))
    chosen = form.all("weekday") if typed else [str(day) for day in settings.weekdays]
    return visit.page(
        "case_settings.html",
        title=visit.words("Cases"),
        status=refusal.status if refusal else 200,
        weekdays=[(number, visit.words(name), str(number) in chosen) for number, name in WEEKDAYS.items()],
        start_time=form.text("start_time") if typed else _clock(settings.start_time),
        end_time=form.text("end_time") if typed else _clock(settings.end_time),
        closed_on_holidays=form.text("closed_on_holidays") == "true" if typed else settings.closed_on_holidays,
        causes=form.text("causes") if typed else "\n".join(settings.causes),
        remedies=form.text("remedies") if typed else "\n".join(settings.remedies),
        questionnaires=[
            ("", visit.words("The one of the case")),
            *((one.questionnaire_id, one.display_name) for one in questionnaires.items),
        ],
        recovery=form.text("recovery_questionnaire_id") if typed else settings.recovery_questionnaire_id or "",
        texts=[*((title, body) for title, body in texts if title or body), ("", "")],
        variables=[f"{{{name}}}" for name in cases_settings.VARIABLES],
        version=form.text("version") if typed else settings.version,
        refusal=refusal,
    )


def _clock(clock: time | None) -> str:
    return f"{clock:%H:%M}" if clock else ""
