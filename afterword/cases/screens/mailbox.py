"""The mailbox of answers: its settings, its check, and how its reading goes."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.cases import mailboxes
from afterword.cases.mailboxes import MAILBOX, AlertMailbox
from afterword.console.inputs import document_of, filled, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.screens import Screens, Visit
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import Marked
from afterword.kit.ui.text import NOTHING
from afterword.kit.web import html

PATH: Final = "/console/settings/mailbox"
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

routes = Screens()


@routes.post(PATH, scope="Alert.Update", proof=True, again=(errors.Invalid, errors.Stale))
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
    return html.redirect(f"{PATH}?done=saved")


@routes.post(f"{PATH}/check", scope="Alert.Update", proof=True)
async def check_mailbox(visit: Visit) -> Response:
    await mailboxes.check(visit.pool, caller=visit.caller, site=visit.site)
    return html.redirect(f"{PATH}?done=checked")


@routes.get(PATH, scope="Alert.Update", proof=True)
async def _page(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    visit.caller.require_whole()
    mailbox = await visit.load(mailboxes.get, organization_id=visit.caller.organization_id)
    return visit.page(
        "mailbox.html",
        title=visit.words("Mailbox"),
        path=PATH,
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
