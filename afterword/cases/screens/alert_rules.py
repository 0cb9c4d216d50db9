"""Alert rules: the list, the form with a try on the newest responses before saving, and the removal."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires.condition_rows import COMPARISONS, Subjects, sentence_of, with_named
from afterword.cases import escalation, previews, rules
from afterword.cases.rules import ALERT, Alert
from afterword.cases.screens import alert_rule_form
from afterword.cases.screens.alert_rule_form import Choices, Draft
from afterword.cases.screens.timeline import SEVERITIES
from afterword.console import conditions
from afterword.console.inputs import require_same
from afterword.console.removals import removal
from afterword.console.response_list import CONDITION_CHARACTERS_MAX, PERIODS, ResponseFilter
from afterword.console.screens import Screens, Visit
from afterword.core.messaging import alerts as core_alerts
from afterword.kit.db import Database
from afterword.kit.nouns import service, structs
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.ui.text import NOTHING
from afterword.kit.web import html
from afterword.tenants.screens import members as settings

PATH: Final = "/console/settings/alerts"
NEW: Final = f"{PATH}/new"
RULE: Final = f"{PATH}/{{alert_id}}"
HOURS_MAX: Final = 720
ALERTS: Final = structs.listing_of(ALERT)

routes = Screens()


@routes.get(PATH, scope="Alert.Update")
async def list_rules(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await service.rows(ALERT, db, **visit.caller.part, page=page_of(ALERTS, visit.query))
        subjects = await alert_rule_form.subjects_of(visit, db, found.items)
    may_add = "Alert.Create" in visit.caller.scopes
    return visit.page(
        "alert_rules.html",
        title=words("Alerts"),
        new_url=NEW if may_add else "",
        rules=Listing(
            rows=[
                {
                    "url": f"{PATH}/{one.alert_id}",
                    "title": one.title,
                    "state": "" if one.active else words("off"),
                    "open": words.plural("{n} open case", "{n} open cases", one.open_count),
                    "more": _sentence(visit, one, subjects),
                }
                for one in found.items
            ],
            empty=words("No alert yet. An alert opens a case when a response meets its conditions."),
            empty_link=(words("New alert"), NEW) if may_add else None,
            **page_links(found, visit.query, PATH),
        ),
    )


@routes.get(NEW, scope="Alert.Create")
async def new_rule_page(visit: Visit) -> Response:
    visit.caller.require("Alert.Update")
    return await _show(visit, rule=None)


@routes.post(NEW, scope="Alert.Create")
async def make_rule(visit: Visit) -> Response:
    visit.caller.require("Alert.Update")
    return await _answer(visit, rule=None)


@routes.get(RULE, scope="Alert.Update")
async def rule_page(visit: Visit) -> Response:
    return await _show(visit, rule=await _rule(visit))


@routes.post(RULE, scope="Alert.Update")
async def save_rule(visit: Visit) -> Response:
    return await _answer(visit, rule=await _rule(visit))


async def _rule(visit: Visit) -> Alert:
    async with visit.read() as db:
        return await service.get(ALERT, db, caller=visit.caller, key=visit.id("alert_id"))


removal(
    routes,
    f"{RULE}/removal",
    scope="Alert.Delete",
    title="Remove the alert “{title}”?",
    sentences=lambda visit, rule: [
        visit.words("It opens no more cases. It cannot be brought back."),
        visit.words.plural("Its {n} open case stays.", "Its {n} open cases stay.", rule.open_count),
    ],
    button="Remove the alert",
    get=_rule,
    remove=lambda visit, db: service.delete(
        ALERT, db, caller=visit.caller, key=visit.id("alert_id"), site=visit.site, now=visit.now
    ),
    to=PATH,
)


async def _answer(visit: Visit, *, rule: Alert | None) -> Response:
    """Save the form, or only try it: on the newest responses, or its escalation on the open cases."""
    form, draft = visit.form, alert_rule_form.typed_draft(visit.form)
    application_id = rule.application_id if rule else form.text("application_id")
    tried, touched = None, None
    try:
        async with visit.read() as db:
            choices = await _choices(visit, db, application_id, draft, rule)
            columns: dict[str, Any] = {
                **alert_rule_form.columns_of(visit, draft, choices.subjects),
                "application_id": application_id,
            }
            if form.text("then") == "preview":
                tried = await _tried(visit, db, columns, choices)
            elif form.text("then") == "check" and rule:
                hours = columns["escalation_hours"] or HOURS_MAX
                touched = await escalation.touched(
                    db, caller=visit.caller, alert_id=rule.alert_id, hours=hours, now=visit.now
                )
        if tried or touched is not None:
            return await _show(visit, rule=rule, draft=draft, tried=tried, touched=touched)
        return await _save(visit, rule=rule, columns=columns)
    except errors.Invalid as invalid:
        return await _show(visit, rule=rule, draft=draft, refusal=alert_rule_form.placed(invalid, draft))
    except errors.Stale as stale:
        return await _show(visit, rule=await _rule(visit), draft=draft, refusal=stale)


async def _save(visit: Visit, *, rule: Alert | None, columns: dict[str, Any]) -> Response:
    async with visit.write() as db:
        if rule is None:
            made = await service.create(ALERT, db, caller=visit.caller, columns=columns, site=visit.site, now=visit.now)
            return html.redirect(f"{PATH}/{made.record.alert_id}?done=saved")
        # Not by its version, which each case that opens or closes raises.
        stored = await service.get(ALERT, db, caller=visit.caller, key=rule.alert_id, is_locked=True)
        require_same(visit, stored.updated_time.isoformat(), "seen")
        del columns["application_id"]
        await service.update(
            ALERT, db, caller=visit.caller, key=rule.alert_id, changes=columns, site=visit.site, now=visit.now
        )
    return html.redirect(f"{PATH}/{rule.alert_id}?done=saved")


async def _tried(visit: Visit, db: Database, columns: dict[str, Any], choices: Choices) -> dict[str, str]:
    """The sentences on the newest responses, and the address of those that match where a list shows them."""
    words, said = visit.words, {"since": "", "owners": "", "url": ""}
    visit.caller.require("Alert.Create")
    if columns["trigger"] == "schedule":
        await rules.check(db, caller=visit.caller, columns=columns)
        return said | {"text": words("A daily alert looks at figures: there is no response to try it on.")}
    if columns["trigger"] == core_alerts.CALL_BACK:
        await rules.check(db, caller=visit.caller, columns=columns)
        return said | {"text": words("Only customers who ask for a call open cases here.")}
    found = await previews.preview(db, caller=visit.caller, columns=columns)
    if found.from_time is None:
        return said | {"text": words("There is no response yet to try it on.")}
    text = words.plural(
        "{matched} of the last {n} response would have matched.",
        "{matched} of the last {n} responses would have matched.",
        found.responses,
    ).replace("{matched}", words.count(found.matched))
    day = words.date(found.from_time, time_zone=visit.zone)
    since = words("The oldest of them came on {day}.", day=day)
    return {"text": text, "since": since, "owners": _owners(visit, found, choices), "url": _found(visit, columns)}


def _owners(visit: Visit, found: previews.Preview, choices: Choices) -> str:
    """The sentence on who would own the newest of the cases; empty where no field or load chooses."""
    names = {None: visit.words("no owner"), **dict(choices.users)}
    parts = [f"{names.get(one.user_id, NOTHING)} {visit.words.count(one.cases)}" for one in found.owners]
    if not parts:
        return ""
    return visit.words.plural(
        "Opened now, {n} case would go to: {owners}.",
        "Opened now, the newest {n} cases would go to: {owners}.",
        sum(one.cases for one in found.owners),
    ).replace("{owners}", ", ".join(parts))


def _found(visit: Visit, columns: dict[str, Any]) -> str:
    ids, condition = columns["questionnaire_ids"], alert_rule_form.json_of(columns["conditions"])
    if (
        len(ids) > 1
        or len(condition) > CONDITION_CHARACTERS_MAX
        or "Questionnaire Instance.Read" not in visit.caller.scopes
    ):
        return ""
    return ResponseFilter(
        application_id=columns["application_id"], questionnaire_id="".join(ids), days=PERIODS[-1], condition=condition
    ).url()


async def _choices(visit: Visit, db: Database, application_id: str, draft: Draft | None, rule: Alert | None) -> Choices:
    chosen = draft.questionnaire_ids if draft else rule.questionnaire_ids if rule else ()
    return await alert_rule_form.choices_of(
        visit, db, application_id=application_id, questionnaire_ids=chosen, condition=rule.conditions if rule else None
    )


async def _show(
    visit: Visit,
    *,
    rule: Alert | None,
    draft: Draft | None = None,
    refusal: errors.Refusal | None = None,
    tried: dict[str, str] | None = None,
    touched: int | None = None,
) -> Response:
    words, is_stale = visit.words, isinstance(refusal, errors.Stale)
    async with visit.read() as db:
        applications = [] if rule else await settings.applications_of(visit, db)
        known = [one.application_id for one in applications]
        given = visit.form.text("application_id") or visit.query.get("application", "")
        application_id = rule.application_id if rule else given if given in known else known[0] if known else ""
        choices = await _choices(visit, db, application_id, draft, rule)
    shown = draft or alert_rule_form.stored_draft(rule, choices.subjects)
    theirs: list[tuple[str, str]] = []
    if rule and draft and is_stale:
        columns = alert_rule_form.columns_of(visit, draft, choices.subjects)
        theirs = alert_rule_form.differences(visit, rule, columns, choices)
    severities = [(name, words(text)) for name, text in SEVERITIES.items()]
    seen = visit.form.text("seen") if draft and not is_stale else rule.updated_time.isoformat() if rule else ""
    return visit.page(
        "alert_rule.html",
        title=rule.title if rule else words("New alert"),
        status=refusal.status if refusal else 200,
        rule_id=rule.alert_id if rule else "",
        path=f"{PATH}/{rule.alert_id}" if rule else NEW,
        value=shown.texts,
        draft=shown,
        choices=choices,
        applications=[(one.application_id, one.display_name) for one in applications],
        application_id=application_id,
        seen=seen,
        theirs=theirs,
        triggers=[(name, words(text)) for name, text in alert_rule_form.TRIGGERS.items()],
        groups=[(name, words(text)) for name, text in conditions.GROUPS.items()],
        comparisons=[(name, words(text)) for name, text in COMPARISONS.items()],
        severities=severities,
        raised=[("", words("stays as it is")), *severities],
        owners=[("", words("no owner")), *choices.loaded],
        bosses=[("", words("stays as it is")), *choices.users],
        removal_url=f"{PATH}/{rule.alert_id}/removal" if rule and "Alert.Delete" in visit.caller.scopes else "",
        may_try="Alert.Create" in visit.caller.scopes,
        tried=tried,
        touched=None
        if touched is None
        else words.plural("It touches {n} open case now.", "It touches {n} open cases now.", touched),
        refusal=refusal,
    )


def _sentence(visit: Visit, rule: Alert, subjects: Subjects) -> str:
    """The responses that it matches, and the case that it opens."""
    words = visit.words
    known = with_named(subjects, rule.conditions)
    found = [sentence_of(words, rule.conditions, known), words(SEVERITIES[rule.severity])]
    if rule.due_hours:
        found.append(words.plural("due in {n} business hour", "due in {n} business hours", rule.due_hours))
    if rule.escalation_hours:
        found.append(words.plural("escalated after {n} hour", "escalated after {n} hours", rule.escalation_hours))
    return " · ".join(found)
