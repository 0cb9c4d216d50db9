"""Alert rules: the list, the form with a try on the newest responses before saving, and the removal."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, condition_rows
from afterword.asking.questionnaires.condition_rows import Subjects, sentence_of, with_named
from afterword.cases import assignments, chats, escalation, previews, rules
from afterword.cases.rules import ALERT, Alert
from afterword.cases.screens.figures import SEVERITIES, with_load
from afterword.cases.statuses import STATUS, title_of
from afterword.console import conditions
from afterword.console.conditions import Values, json_of, with_seen
from afterword.console.inputs import read_as, require_same, theirs_of
from afterword.console.removals import removal
from afterword.console.response_list import CONDITION_CHARACTERS_MAX, PERIODS, ResponseFilter
from afterword.console.screens import Form, Marked, Screens, Visit
from afterword.core.messaging import alerts as core_alerts
from afterword.core.organizations.access import Part
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import Texts
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.ui.text import NOTHING
from afterword.kit.web import html
from afterword.tenants.screens import members as settings

ROWS_MAX: Final = 100
BLANK_ROWS: Final = 2
FAMILIES: Final = ("question:", "questionnaire_metadata:", "responder_metadata:")


class AssignmentDraft(msgspec.Struct, frozen=True):
    """`pairs`: of value and user; `candidate_ids`: users for all other cases."""

    field: str
    pairs: Sequence[tuple[str, str]]
    candidate_ids: Sequence[str]

    @property
    def shown_pairs(self) -> Sequence[tuple[str, str]]:
        filled = [pair for pair in self.pairs if any(pair)]
        return [*filled, *[("", "")] * min(BLANK_ROWS, ROWS_MAX - len(filled))]

    @property
    def is_empty(self) -> bool:
        return not (self.field or self.candidate_ids or any(map(any, self.pairs)))


def stored_assignment(assignment: Mapping[str, Any] | None, subjects: Subjects) -> AssignmentDraft:
    if assignment is None:
        return AssignmentDraft("", (), ())
    subject = subjects.get(assignment["subject"])
    pairs = [
        (condition_rows.choice_text(choice["value"], subject), user_id)
        for choice in assignment["choices"]
        for user_id in choice["user_ids"]
    ]
    return AssignmentDraft(assignment["subject"] or "", pairs, assignment["user_ids"])


def typed_assignment(form: Form) -> AssignmentDraft:
    pairs = [(form.text(f"of-{index}"), form.text(f"user-{index}")) for index in range(ROWS_MAX)]
    return AssignmentDraft(form.text("field"), pairs, form.ids("candidate_ids"))


def assignment_errors(words: Texts, draft: AssignmentDraft) -> list[FieldError]:
    """The rows with a value alone, or a person alone."""
    return [
        FieldError("required", words("Give a value and a person."), pointer=f"/{'user' if value else 'of'}-{index}")
        for index, (value, user_id) in enumerate(draft.shown_pairs)
        if bool(value) != bool(user_id)
    ]


def assignment_of(draft: AssignmentDraft, subjects: Subjects) -> dict[str, Any] | None:
    """The assignment of the rows: several users beside one value share its cases."""
    if draft.is_empty:
        return None
    choices: dict[str, list[str]] = {}
    for text, user_id in draft.pairs:
        if text and user_id:
            choices.setdefault(condition_rows.choice_of(text, subjects.get(draft.field)), []).append(user_id)
    return {
        "subject": draft.field or None,
        "choices": [{"value": value, "user_ids": list(dict.fromkeys(users))} for value, users in choices.items()],
        "user_ids": list(dict.fromkeys(draft.candidate_ids)),
    }


def assignment_sentence(assignment: Mapping[str, Any] | None, subjects: Subjects, names: Mapping[str, str]) -> str:
    """The assignment in words; `names`: of users by their ids."""
    draft = stored_assignment(assignment, subjects)
    pairs = [f"{value}: {names.get(user_id, user_id)}" for value, user_id in draft.pairs]
    return ", ".join([*pairs, *(names.get(user_id, user_id) for user_id in draft.candidate_ids)])


TRIGGERS: Final[Mapping[str, Marked]] = {
    "completed": "when a response is completed",
    "submitted": "at the first answer, and when it is completed",
    "schedule": "once a day, on the figures",
    "call_back": "when a customer asks for a call",
}
LABELS: Final[Mapping[str, Marked]] = {
    "title": "Title", "description": "Description", "questionnaire_ids": "Questionnaires", "trigger": "Checked",
    "conditions": "Conditions", "severity": "Severity", "status_id": "Status", "assigned_user_id": "Case owner",
    "due_hours": "Due in business hours", "fold_hours": "Hours in which a repeat is added to the open case",
    "subscriber_user_ids": "Who is notified", "chat_ids": "Chats that get a card",
    "active": "The alert is on", "assignment": "Owner by a field",
    "escalation_hours": "After business hours", "escalation_severity": "Raise the severity to",
    "escalation_user_id": "New owner",
}  # fmt: skip
LISTS: Final = ("questionnaire_ids", "subscriber_user_ids", "chat_ids")
TEXTS: Final = tuple(name for name in LABELS if name not in {*LISTS, "conditions", "assignment"})
NEW: Final[Mapping[str, Any]] = {"trigger": "completed", "severity": "normal", "status_id": 1, "active": True}
Options = Sequence[tuple[str, str]]


class Draft(msgspec.Struct, frozen=True):
    texts: Mapping[str, str]
    questionnaire_ids: Sequence[str]
    subscriber_user_ids: Sequence[str]
    chat_ids: Sequence[str]
    condition: Values
    assignment: AssignmentDraft


class Choices(msgspec.Struct, frozen=True):
    """The options of the form, as pairs of value and text."""

    questionnaires: Options
    users: Options
    loaded: Options
    statuses: Options
    chats: Options
    subjects: Subjects

    @property
    def fields(self) -> Options:
        """The subjects that an owner can be chosen by."""
        return [(key, one.text) for key, one in self.subjects.items() if key.startswith(FAMILIES)]


async def choices_of(
    visit: Visit, db: Database, application_id: str, draft: Draft | None, rule: Alert | None
) -> Choices:
    """The choices for a rule of this application; questions are those of its questionnaires (none: of all)."""
    organization_id = visit.caller.organization_id
    chosen = draft.questionnaire_ids if draft else rule.questionnaire_ids if rule else ()
    part = Part(organization_id=organization_id, application_ids=[application_id])
    questionnaires = await access.offered(db, part, also=chosen)
    users = await assignments.list_assignees(db, **visit.caller.part, application_id=application_id)
    named = [(each.user_id, each.display_name or each.email, each.open_cases) for each in users.items]
    statuses = await nouns.every(STATUS, db, organization_id=organization_id, application_ids=[application_id])
    asked = [each for each in questionnaires if not chosen or each.questionnaire_id in chosen]
    subjects = await conditions.subjects_of(visit, db, asked, application_ids=[application_id])
    subjects = await with_seen(visit, db, with_named(subjects, rule.conditions if rule else None))
    return Choices(
        questionnaires=[(each.questionnaire_id, each.display_name) for each in questionnaires],
        users=[(user_id, name) for user_id, name, _ in named],
        loaded=[(user_id, with_load(visit.words, name, count)) for user_id, name, count in named],
        statuses=[(str(each.status_id), title_of(visit.words, each.status_id, each.title)) for each in statuses],
        chats=await chats.list_titles(db, organization_id=organization_id),
        subjects=subjects,
    )


async def subjects_of(visit: Visit, db: Database, rules: Sequence[Alert]) -> Subjects:
    """The subjects of the applications of these rules, as far as words for conditions need them."""
    owners = sorted({one.application_id for one in rules})
    return await conditions.subjects_of(visit, db, application_ids=owners) if owners else {}


def stored_draft(rule: Alert | None, subjects: Subjects) -> Draft:
    values = {name: getattr(rule, name) if rule else NEW.get(name) for name in LABELS}
    return Draft(
        texts={name: _text(values[name]) for name in TEXTS},
        **{name: values[name] or () for name in LISTS},
        condition=conditions.stored(values["conditions"], subjects),
        assignment=stored_assignment(values["assignment"], subjects),
    )


def typed_draft(form: Form) -> Draft:
    return Draft(
        texts={name: form.text(name) for name in TEXTS},
        **{name: form.ids(name) for name in LISTS},
        condition=conditions.typed(form),
        assignment=typed_assignment(form),
    )


def columns_of(visit: Visit, draft: Draft, subjects: Subjects) -> dict[str, Any]:
    """The rule of the form, without its application. Raises Invalid."""
    words, texts = visit.words, draft.texts
    wrong = assignment_errors(words, draft.assignment)
    condition = None
    try:
        condition = conditions.condition_of(visit, draft.condition, subjects)
    except errors.Invalid as invalid:
        wrong += invalid.errors
    document = {
        **{name: texts[name] or None for name in TEXTS},
        "title": texts["title"],
        "fold_hours": texts["fold_hours"] or 0,
        "active": texts["active"] == "1",
        **{name: list(getattr(draft, name)) for name in LISTS},
        "conditions": condition,
        "assignment": assignment_of(draft.assignment, subjects),
    }
    try:
        request = read_as(structs.update_of(ALERT), document, visit)
    except errors.Invalid as invalid:
        errors.check([*wrong, *invalid.errors])
        raise
    errors.check(wrong)
    return structs.written(ALERT, request.named())


def placed(refusal: errors.Refusal, draft: Draft) -> errors.Refusal:

    def place(pointer: str) -> str:
        head, *parts = pointer.removeprefix("/").split("/")
        if head in LISTS:
            return f"/{head}"
        if head == "assignment":
            return "/candidate_ids" if parts[:1] == ["user_ids"] else "/field"
        return conditions.place_of(pointer, draft.condition)

    wrong = [replace(one, pointer=place(one.pointer or "")) for one in refusal.errors]
    return errors.Invalid(refusal.detail, errors=wrong)


def differences(visit: Visit, rule: Alert, columns: Mapping[str, Any], choices: Choices) -> list[tuple[str, str]]:
    """The name and the stored value of each field that the form has otherwise."""
    words = visit.words
    named = {
        **{name: dict(choices.users) for name in ("assigned_user_id", "escalation_user_id", "subscriber_user_ids")},
        "questionnaire_ids": dict(choices.questionnaires),
        "chat_ids": dict(choices.chats),
        "status_id": dict(choices.statuses),
        **{
            name: {key: words(text) for key, text in SEVERITIES.items()} for name in ("severity", "escalation_severity")
        },
        "trigger": {key: words(text) for key, text in TRIGGERS.items()},
        "active": {"1": words("yes"), "": words("no")},
    }

    def shown_as(name: str, stored: Any) -> str:
        if name == "conditions":
            return condition_rows.sentence_of(words, stored, choices.subjects)
        if name == "assignment":
            return assignment_sentence(stored, choices.subjects, dict(choices.users))
        each = stored if isinstance(stored, list) else [stored]
        return ", ".join(named.get(name, {}).get(_text(one), _text(one)) for one in each)

    stored = {name: getattr(rule, name) for name in LABELS if name in columns}
    return theirs_of(words, LABELS, stored, columns, shown_as)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else ""
    return "" if value is None else str(value)


PATH: Final = "/console/settings/alerts"
NEW_PATH: Final = f"{PATH}/new"
UNHAPPY_PATH: Final = f"{PATH}/unhappy"
UNHAPPY_TITLE: Final[Marked] = "Unhappy customer"
RULE: Final = f"{PATH}/{{alert_id}}"
HOURS_MAX: Final = 720
ALERTS: Final = structs.listing_of(ALERT)

routes = Screens()


@routes.get(PATH, scope="Alert.Update")
async def list_rules(visit: Visit, db: Database) -> Response:
    words = visit.words
    found = await nouns.rows(ALERT, db, **visit.caller.part, page=page_of(ALERTS, visit.query))
    subjects = await subjects_of(visit, db, found.items)
    may_add = "Alert.Create" in visit.caller.scopes
    return visit.page(
        "alert_rules.html",
        title=words("Alerts"),
        new_url=NEW_PATH if may_add else "",
        rules=Listing(
            rows=[
                {
                    "url": f"{PATH}/{one.alert_id}",
                    "title": one.title,
                    "active": one.active,
                    "open": words.plural("{n} open case", "{n} open cases", one.open_count),
                    "more": _sentence(visit, one, subjects),
                }
                for one in found.items
            ],
            empty=words("No alert yet. An alert opens a case when a response meets its conditions."),
            empty_link=(words("New alert"), NEW_PATH) if may_add else None,
            **page_links(found, visit.query, PATH),
        ),
    )


@routes.get(NEW_PATH, scope="Alert.Create")
async def new_rule_page(visit: Visit) -> Response:
    visit.caller.require("Alert.Update")
    return await _show(visit, rule=None)


@routes.post(NEW_PATH, scope="Alert.Create")
async def make_rule(visit: Visit) -> Response:
    visit.caller.require("Alert.Update")
    return await _answer(visit, rule=None)


@routes.post(UNHAPPY_PATH, scope="Alert.Create")
async def make_unhappy_rule(visit: Visit, db: Database) -> Response:
    """The ready alert of a questionnaire, which the form names."""
    visit.caller.require("Alert.Update")
    questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=visit.form.text("questionnaire"))
    made = await rules.for_unhappy(db, **visit.acting, questionnaire=questionnaire, title=visit.words(UNHAPPY_TITLE))
    return html.redirect(PATH if made is None else f"{PATH}/{made.alert_id}?done=saved")


@routes.get(RULE, scope="Alert.Update")
async def rule_page(visit: Visit) -> Response:
    return await _show(visit, rule=await visit.row(ALERT))


@routes.post(RULE, scope="Alert.Update")
async def save_rule(visit: Visit) -> Response:
    return await _answer(visit, rule=await visit.row(ALERT))


removal(
    routes,
    f"{RULE}/removal",
    scope="Alert.Delete",
    title="Remove the alert “{title}”?",
    sentences=lambda visit, rule: [
        visit.words("It opens no more cases. This cannot be undone."),
        visit.words.plural("Its {n} open case stays.", "Its {n} open cases stay.", rule.open_count),
    ],
    button="Remove the alert",
    get=lambda visit: visit.row(ALERT),
    remove=lambda visit, db: nouns.delete(ALERT, db, key=visit.id("alert_id"), **visit.acting),
    to=PATH,
)


async def _answer(visit: Visit, *, rule: Alert | None) -> Response:
    """Save the form, or only try it: on the newest responses, or its escalation on the open cases."""
    form, draft = visit.form, typed_draft(visit.form)
    application_id = rule.application_id if rule else form.text("application_id")
    tried, touched = None, None
    try:
        async with visit.read() as db:
            choices = await choices_of(visit, db, application_id, draft, rule)
            columns: dict[str, Any] = columns_of(visit, draft, choices.subjects) | {"application_id": application_id}
            if form.text("then") == "preview":
                tried = await _tried(visit, db, columns, choices)
            elif form.text("then") == "check" and rule:
                hours = columns["escalation_hours"] or HOURS_MAX
                touched = await escalation.count_touched(
                    db, caller=visit.caller, alert_id=rule.alert_id, hours=hours, now=visit.now
                )
        if tried or touched is not None:
            return await _show(visit, rule=rule, draft=draft, tried=tried, touched=touched)
        return await _save(visit, rule=rule, columns=columns)
    except errors.Invalid as invalid:
        return await _show(visit, rule=rule, draft=draft, refusal=placed(invalid, draft))
    except errors.Stale as stale:
        return await _show(visit, rule=await visit.row(ALERT), draft=draft, refusal=stale)


async def _save(visit: Visit, *, rule: Alert | None, columns: dict[str, Any]) -> Response:
    async with visit.write() as db:
        if rule is None:
            made = await nouns.create(ALERT, db, columns=columns, **visit.acting)
            return html.redirect(f"{PATH}/{made.record.alert_id}?done=saved")
        # Not by its version, which each case that opens or closes raises.
        stored = await nouns.get(ALERT, db, caller=visit.caller, key=rule.alert_id, is_locked=True)
        require_same(visit, stored.updated_time.isoformat(), "seen")
        del columns["application_id"]
        await nouns.update(ALERT, db, key=rule.alert_id, changes=columns, **visit.acting)
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
    ids, condition = columns["questionnaire_ids"], json_of(columns["conditions"])
    if (
        len(ids) > 1
        or len(condition) > CONDITION_CHARACTERS_MAX
        or "Questionnaire Instance.Read" not in visit.caller.scopes
    ):
        return ""
    return ResponseFilter(
        application_id=columns["application_id"],
        questionnaire_id="".join(ids),
        period=str(PERIODS[-1]),
        condition=condition,
    ).url()


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
        choices = await choices_of(visit, db, application_id, draft, rule)
    shown = draft or stored_draft(rule, choices.subjects)
    theirs: list[tuple[str, str]] = []
    if rule and draft and is_stale:
        columns = columns_of(visit, draft, choices.subjects)
        theirs = differences(visit, rule, columns, choices)
    severities = [(name, words(text)) for name, text in SEVERITIES.items()]
    seen = visit.form.text("seen") if draft and not is_stale else rule.updated_time.isoformat() if rule else ""
    return visit.page(
        "alert_rule.html",
        title=rule.title if rule else words("New alert"),
        rule_id=rule.alert_id if rule else "",
        path=f"{PATH}/{rule.alert_id}" if rule else NEW_PATH,
        value=shown.texts,
        draft=shown,
        choices=choices,
        applications=[(one.application_id, one.display_name) for one in applications],
        application_id=application_id,
        seen=seen,
        theirs=theirs,
        triggers=[(name, words(text)) for name, text in TRIGGERS.items()],
        condition_rows=conditions.values_of(words, shown.condition, choices.subjects),
        severities=severities,
        raised=[("", words("stays as it is")), *severities],
        owners=[("", words("no owner")), *choices.loaded],
        bosses=[("", words("stays as it is")), *choices.users],
        removal_url=f"{PATH}/{rule.alert_id}/removal" if rule and "Alert.Delete" in visit.caller.scopes else "",
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
