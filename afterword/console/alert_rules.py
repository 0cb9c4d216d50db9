"""Alert rules: the list, and the form of what happens with the cases that a rule opens."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.alerts.escalation import service as escalation
from afterword.alerts.resources import Alert
from afterword.alerts.rules import service, store
from afterword.console.case_rows import name_of
from afterword.console.lists import Listing, address, behind, key_of
from afterword.console.screens import Screens, Visit
from afterword.console.story import SEVERITIES
from afterword.core.wire.lists import Page
from afterword.organizations.users import api as users_api
from afterword.organizations.users import store as users_store
from afterword.web import fields, html

PATH: Final = "/console/settings/alerts"
RULE: Final = f"{PATH}/{{alert_id}}"
ROWS: Final = 50
USERS_MAX: Final = 200
HOURS_MAX: Final = 720
TITLE_CHARACTERS_MAX: Final = 200
ALERTS: Final = fields.listing_of(Alert)
USERS: Final = fields.listing_of(users_api.User)
NUMBERS: Final = ("due_hours", "escalation_hours")

routes = Screens()


@routes.get(PATH, scope="Alert.Update")
async def list_rules(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await store.list_alerts(
            db,
            organization_id=visit.caller.organization_id,
            application_ids=visit.caller.application_ids,
            page=behind(Page.first(ALERTS, limit=ROWS), visit.query.get("after", "")),
        )
    last = found.items[-1] if found.has_more else None
    return visit.page(
        "alert_rules.html",
        title=words("Alerts"),
        rules=Listing(
            rows=[
                {
                    "url": f"{PATH}/{one.alert_id}",
                    "title": one.title,
                    "state": "" if one.active else words("off"),
                    "open": words.plural("{n} open case", "{n} open cases", one.open_count),
                    "more": _sentence(visit, one),
                }
                for one in found.items
            ],
            empty=words("No alert yet. Alerts are made over the API so far."),
            next_url=address(PATH, after=key_of(last.created_time, last.alert_id)) if last else "",
            first_url=PATH if "after" in visit.query else "",
        ),
    )


@routes.get(RULE, scope="Alert.Update")
async def rule_page(visit: Visit) -> Response:
    return await _page(visit)


@routes.post(RULE, scope="Alert.Update")
async def save_rule(visit: Visit) -> Response:
    """Save the form, or only say how many open cases its escalation touches."""
    form = visit.form

    def expect(version: int) -> None:
        if str(version) != form.text("version"):
            raise errors.Stale("Somebody changed this in the meantime. Open it again: nothing of yours was stored.")

    try:
        changes = _typed(visit)
        if form.text("then") == "check":
            return await _page(visit, tried=changes["escalation_hours"])
        async with visit.write() as db:
            await service.update(
                db, caller=visit.caller, alert_id=visit.id("alert_id"), changes=changes, now=visit.now, expect=expect
            )
    except errors.Invalid as invalid:
        return await _page(visit, refusal=invalid)
    return html.redirect(f"{PATH}/{visit.id('alert_id')}?done=saved")


def _typed(visit: Visit) -> dict[str, Any]:
    """The form as the rule has it. Raises Invalid."""
    form, words, wrong = visit.form, visit.words, list[errors.FieldError]()
    title = form.text("title")
    if not 0 < len(title) <= TITLE_CHARACTERS_MAX:
        wrong.append(
            errors.FieldError("out_of_range", words("Write a title of up to 200 characters."), pointer="/title")
        )
    hours: dict[str, int | None] = {}
    for name in NUMBERS:
        text = form.text(name)
        hours[name] = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(HOURS_MAX)) else None
        if text and not 1 <= (hours[name] or 0) <= HOURS_MAX:
            wrong.append(errors.FieldError("out_of_range", words("1 to 720 hours."), pointer=f"/{name}"))
    severities = {name: form.text(name) for name in ("severity", "escalation_severity")}
    wrong += [
        errors.FieldError("unknown_value", words("Choose one of these."), pointer=f"/{name}")
        for name, value in severities.items()
        if value not in SEVERITIES and (value or name == "severity")
    ]
    errors.check(wrong)
    return {
        **hours,
        "title": title,
        "active": form.text("active") == "1",
        "severity": severities["severity"],
        "escalation_severity": severities["escalation_severity"] or None,
        "assigned_user_id": form.text("assigned_user_id") or None,
        "escalation_user_id": form.text("escalation_user_id") or None,
    }


async def _page(visit: Visit, *, refusal: errors.Refusal | None = None, tried: int | None = None) -> Response:
    words, form, touched = visit.words, visit.form, None
    async with visit.read() as db:
        rule = await service.get(db, caller=visit.caller, alert_id=visit.id("alert_id"))
        users = await users_store.list_users(
            db, organization_id=rule.organization_id, page=Page.first(USERS, limit=USERS_MAX)
        )
        if tried is not None:
            touched = await escalation.touched(
                db, caller=visit.caller, alert_id=rule.alert_id, hours=tried, now=visit.now
            )
    names = ("title", "severity", "assigned_user_id", "escalation_severity", "escalation_user_id", *NUMBERS)
    stored = {name: "" if (value := getattr(rule, name)) is None else str(value) for name in names}
    people = [(one.user_id, name_of(one)) for one in users.items if one.active]
    severities = [(name, words(text)) for name, text in SEVERITIES.items()]
    return visit.page(
        "alert_rule.html",
        title=rule.title,
        status=refusal.status if refusal else 200,
        path=f"{PATH}/{rule.alert_id}",
        value={name: form.text(name) for name in names} if form.values else stored,
        is_active=form.text("active") == "1" if form.values else rule.active,
        version=form.text("version") or rule.version,
        severities=severities,
        raised=[("", words("stays as it is")), *severities],
        owners=[("", words("no owner")), *people],
        bosses=[("", words("stays as it is")), *people],
        touched=None
        if touched is None
        else words.plural("It touches {n} open case now.", "It touches {n} open cases now.", touched),
        refusal=refusal,
    )


def _sentence(visit: Visit, rule: store.Alert) -> str:
    words = visit.words
    found = [words(SEVERITIES[rule.severity])]
    if rule.due_hours:
        found.append(words.plural("due in {n} business hour", "due in {n} business hours", rule.due_hours))
    if rule.escalation_hours:
        found.append(words.plural("escalated after {n} hour", "escalated after {n} hours", rule.escalation_hours))
    return " · ".join(found)
