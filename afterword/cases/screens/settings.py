"""Settings of cases: business hours, causes and remedies, saved texts; the mailbox of answers and how it is read."""

from collections.abc import Mapping
from datetime import time
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.cases import mailboxes
from afterword.cases.mailboxes import MAILBOX, AlertMailbox
from afterword.cases.settings import SETTINGS, VARIABLES
from afterword.console.inputs import KEPT, document_of, filled, placed, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.screens import Database, Form, Screens, Visit
from afterword.core.questionnaires import editing
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import Marked
from afterword.kit.ui.text import NOTHING, WEEKDAYS
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


MAILBOX_PATH: Final = "/console/settings/mailbox"
INPUTS: Final = inputs_of(MAILBOX, later=True, names=("address", "host", "security", "port", "username", "folder"))
PROBLEMS: Final[Mapping[str, Marked]] = {
    "blocked": "This server is in a network that may not be called. Ask whoever runs this installation.",
    "not_reached": "Nothing answers at this server and port. Check both for typing errors.",
    "not_trusted": "The certificate of the server cannot be trusted. Check the name of the server.",
    "no_tls": "The server offers no STARTTLS. Choose TLS, usually with port 993.",
    "login_refused": "The server refused the user name or the password. Gmail and others need an app password.",
    "no_folder": "There is no folder of this name. Check its spelling, or use INBOX.",
    "too_large": "The server sent far more than was asked for. Use a folder with fewer mails.",
    "no_answer": "The server did not answer as expected. Check the port and the encryption, or try again later.",
    "password_lost": "The stored password cannot be opened any more. Enter it again.",
}


@routes.post(MAILBOX_PATH, scope="Alert.Update", proof=True, again=(errors.Invalid, errors.Stale))
async def save_mailbox(visit: Visit) -> Response:
    """An empty password keeps the one that is stored."""
    document = document_of(visit.form, INPUTS)
    if password := visit.form.secret("password"):
        document["password"] = password
    changes = read_as(structs.update_of(MAILBOX), document, visit).named()
    async with visit.write() as db:
        key = visit.caller.organization_id
        saved = await nouns.update(MAILBOX, db, key=key, changes=changes, expect=same_version(visit), **visit.acting)
    if saved.host is not None:
        await mailboxes.check(visit.pool, caller=visit.caller, site=visit.site)
    return html.redirect(f"{MAILBOX_PATH}?done=saved")


@routes.post(f"{MAILBOX_PATH}/check", scope="Alert.Update", proof=True)
async def check_mailbox(visit: Visit) -> Response:
    await mailboxes.check(visit.pool, caller=visit.caller, site=visit.site)
    return html.redirect(f"{MAILBOX_PATH}?done=checked")


@routes.get(MAILBOX_PATH, scope="Alert.Update", proof=True)
async def _mailbox(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    visit.caller.require_whole()
    mailbox = await visit.load(mailboxes.get, organization_id=visit.caller.organization_id)
    return visit.page(
        "mailbox.html",
        title=visit.words("Mailbox"),
        path=MAILBOX_PATH,
        mailbox=mailbox,
        has_password=mailbox.sealed_password is not None,
        problem=visit.words(PROBLEMS[mailbox.problem]) if mailbox.problem else "",
        state=_state(mailbox),
        facts=_facts(visit, mailbox),
        organization_id=visit.caller.organization_id,
        **filled(visit, INPUTS, mailbox, version=mailbox.version, refusal=refusal),
    )


def _state(mailbox: AlertMailbox) -> str:
    if mailbox.address is None:
        return "off"
    if mailbox.host is None:
        return "pipe"
    return "wrong" if mailbox.problem else "on" if mailbox.mail_count is not None else "new"


def _facts(visit: Visit, mailbox: AlertMailbox) -> list[tuple[str, str]]:
    words, zone = visit.words, visit.zone
    times = (mailbox.read_time, mailbox.problem_time, mailbox.answer_time)
    read, wrong, answered = (words.moment(one, time_zone=zone) if one else "" for one in times)
    answers = words.count(mailbox.answer_count)
    found = [(words("Answers taken"), f"{answers} ({answered})" if answered else answers)]
    if mailbox.host is None:
        return found
    mails = NOTHING if mailbox.mail_count is None else words.count(mailbox.mail_count)
    found = [(words("Last read"), read or NOTHING), (words("Mails in the folder"), mails), *found]
    if wrong:
        found.insert(0, (words("Cannot be read since"), wrong))
    if mailbox.skipped_count:
        found.append((words("Mails that could not be read"), words.count(mailbox.skipped_count)))
    return found
