"""The layout of a questionnaire's pages and their progress, in its active visual; other members stay as they were."""

from collections.abc import Mapping
from typing import Any, Final

from afterword import errors
from afterword.console.questionnaires import condition_form
from afterword.console.screens import Visit
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import Layout, Theme
from afterword.db import Database
from afterword.questionnaires.visuals import service
from afterword.questionnaires.visuals.store import Layers

LAYOUTS: Final[Mapping[Layout, str]] = {
    "by_group": "page by page, as in the outline",
    "by_question": "one question at a time",
    "one_page": "all on one page",
}
SCOPES: Final = frozenset({"Questionnaire Visual.Create", "Questionnaire Visual.Update"})


def may_change(visit: Visit) -> bool:
    return visit.caller.scopes >= SCOPES


def shown(visit: Visit, layers: Layers) -> dict[str, Any]:
    """The variables of the template: the choice, the tick, and a mark by which a change of somebody else is noticed."""
    theme, words = _theme_of(layers), visit.words
    return {
        "layout": theme.layout,
        "show_progress": theme.show_progress,
        "seen": _mark_of(layers),
        "layouts": [(name, words(text)) for name, text in LAYOUTS.items()],
    }


async def save(visit: Visit, db: Database, *, questionnaire_id: str) -> None:
    """Of the fields of the form those that differ; a form without them changes nothing. Raises Stale, Invalid."""
    form = visit.form
    if not form.all("layout") or not may_change(visit):
        return
    layers = await service.layers(db, caller=visit.caller, questionnaire_id=questionnaire_id)
    theme = _theme_of(layers)
    wanted: dict[str, object] = {"layout": form.text("layout"), "show_progress": form.text("show_progress") == "1"}
    changed = {name: value for name, value in wanted.items() if value != getattr(theme, name)}
    if not changed:
        return
    errors.check(visuals.read(changed)[1])  # a client may send what it likes, a form has choices
    condition_form.require_same(visit, _mark_of(layers))
    key: dict[str, Any] = {"caller": visit.caller, "questionnaire_id": questionnaire_id, "now": visit.now}
    if layers.visual_id is None:
        columns = {"title": visit.words("Layout"), "active": True, "configuration": changed}
        await service.create(db, **key, columns=columns)
    else:
        await service.change(
            db,
            **key,
            visual_id=layers.visual_id,
            columns={"configuration": {**(layers.visual or {}), **changed}},
            check_version=lambda _: None,  # compared by the mark of what the form shows
        )


def _theme_of(layers: Layers) -> Theme:
    return visuals.inherited(layers.organization, layers.application, layers.visual)


def _mark_of(layers: Layers) -> str:
    theme = _theme_of(layers)
    return condition_form.mark_of([theme.layout, theme.show_progress])
