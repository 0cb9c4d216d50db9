"""Sending accounts: the list, one account with its health, its pause and test message, and its removal."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.removals import removal
from afterword.console.screens import Database, Marked, Screens, Visit
from afterword.core.messaging.domain_records import SENTENCES, Finding
from afterword.kit import db as databases
from afterword.kit.transport.base import EMAIL, SMS, WEBHOOK
from afterword.kit.ui.lists import Column, Listing
from afterword.kit.web import html
from afterword.sending.channels.accounts import CALLED_BACK
from afterword.sending.intake import test_messages
from afterword.sending.providers import domains, health, service as providers
from afterword.sending.providers.health import ReportedShare
from afterword.sending.providers.service import Account
from afterword.sending.receipts import inbound
from afterword.sending.receipts.inbound import ADAPTERS as FORMS, Endpoint
from afterword.sending.screens.queue_items import CHANNELS

PROVIDERS: Final = "/console/settings/providers"
PROVIDER: Final = f"{PROVIDERS}/{{account_id}}"
# Text by kind; all but the last are added here.
KINDS: Final[dict[str, Marked]] = {
    "smtp": "Mail server (SMTP)", "sms_twilio": "SMS by Twilio", "sms_http": "SMS by another gateway",
    "smpp": "SMS by SMPP", "webhook": "Webhook with your own secrets", "default": "The installation's own account",
}  # fmt: skip
# Settings that are shown, with their labels in the form.
SETTINGS: Final[dict[str, Marked]] = {
    "host": "Server", "port": "Port", "security": "Encryption", "username": "User name", "account_sid": "Account SID",
    "sender": "Sender", "system_id": "System ID",
}  # fmt: skip
STATES: Final[dict[str, Marked]] = {
    "active": "sends", "kept": "keeps messages in the outbox", "paused": "paused", "resting": "resting after failures",
    "failing": "last message failed",
}  # fmt: skip
ADDRESSES: Final[dict[int, Marked]] = {
    EMAIL: "E-mail address",
    SMS: "Phone number, with + and country code",
    WEBHOOK: "Web address of the receiver",
}
ADAPTERS: Final[dict[str, Marked]] = {
    "standard": "our own form, signed",
    "sns": "Amazon SES by SNS",
    "provider": "as this provider sends it",
}
OUTCOMES: Final[dict[str, Marked]] = {
    "accepted": "The provider accepted it.", "refused": "It was refused.", "retry": "It was not sent.",
    "throttled": "The provider asks to send slower.", "unknown": "It is not known whether it was sent.",
}  # fmt: skip

routes = Screens()


@routes.get(PROVIDERS, scope="Provider.Read")
async def providers_page(visit: Visit, db: Database) -> Response:
    words = visit.words
    found = await providers.own_accounts(db, caller=visit.caller)
    heads = (words("Account"), words("Channel"), words("State"), words("Pipelines"))
    return visit.page(
        "providers.html",
        title=words("Sending accounts"),
        kinds=KINDS,
        channels=CHANNELS,
        states=STATES,
        list=Listing(
            rows=[(account, _state(visit, account)) for account in found],
            columns=[Column(text=text) for text in heads],
            empty=words("No account yet. Add your mail server, or a provider of SMS."),
            empty_link=visit.link("New account", f"{PROVIDERS}/new"),
        ),
    )


def reason_of(visit: Visit) -> str:
    """Why somebody pauses, as it was typed. Raises Invalid."""
    reason = visit.form.text("reason")
    if not 0 < len(reason) <= health.REASON_CHARACTERS_MAX:
        raise errors.Invalid.at("/reason", "required", visit.words("Give a reason, in up to 500 characters."))
    return reason


@routes.post(f"{PROVIDER}/pause", scope="Provider.Update", again=(errors.Invalid,))
async def pause_provider(visit: Visit) -> Response:
    account = await visit.change(providers.pause, caller=visit.caller, **visit.ids, reason=reason_of(visit))
    return html.redirect(f"{url_of(account)}?done=account_paused")


@routes.post(f"{PROVIDER}/resume", scope="Provider.Update")
async def resume_provider(visit: Visit) -> Response:
    account_id = visit.id("account_id")
    await visit.change(providers.resume, caller=visit.caller, account_id=account_id)
    return html.redirect(f"{PROVIDERS}/{account_id}?done=account_resumed")


@routes.get(f"{PROVIDER}/default", scope="Provider.Update")
async def confirm_default(visit: Visit) -> Response:
    words, account = visit.words, await visit.find(providers.get)
    every = await visit.load(providers.own_accounts, caller=visit.caller)
    moved = sum(one.pipelines for one in every if one.channel_id == account.channel_id) - account.pipelines
    return visit.confirm(
        title=words("Send everything through “{name}”?", name=name_of(visit, account)),
        sentences=[
            words.plural("{n} pipeline moves to it at once.", "{n} pipelines move to it at once.", moved),
            words("New pipelines of this channel use it too. Messages being sent right now still use the old account."),
        ],
        button=words("Send everything through it"),
        is_harmless=True,
    )


@routes.post(f"{PROVIDER}/default", scope="Provider.Update")
async def make_default(visit: Visit) -> Response:
    account = await visit.change(
        providers.update, caller=visit.caller, **visit.ids, changes={"is_default": True}, site=visit.site
    )
    return html.redirect(f"{url_of(account)}?done=saved")


@routes.post(
    f"{PROVIDER}/test", scope="Provider.Update", again=(errors.Invalid, errors.TooMany, errors.Unavailable), at=PROVIDER
)
async def send_test(visit: Visit) -> Response:
    _, result = await test_messages.send(
        visit.pool,
        test_messages.ask_through_account,
        **visit.ids,
        recipient=visit.form.text("responder_channel_identifier"),
        **visit.acting,
    )
    outcome = visit.words(OUTCOMES[result.outcome or "unknown"])
    return await _page(visit, sent={"text": outcome, "reply": result.reply, "is_taken": result.outcome == "accepted"})


@routes.get(f"{PROVIDER}/removal", scope="Provider.Delete", proof=True)
async def confirm_removal(visit: Visit) -> Response:
    words, account = visit.words, await own_account_of(visit)
    if account.pipelines:
        async with visit.read() as db:
            found = await providers.list_pipelines(
                db, organization_id=account.organization_id, account_id=account.account_id, limit=100
            )
        return visit.page(
            "provider_in_use.html",
            title=words("“{name}” is in use", name=name_of(visit, account)),
            back=(name_of(visit, account), url_of(account)),
            pipelines=found,
            count=account.pipelines,
        )
    return visit.confirm(
        title=words("Remove “{name}”?", name=name_of(visit, account)),
        sentences=[
            words("No pipeline sends through it. Its login is deleted, and its addresses for reports close."),
            words("This cannot be undone."),
        ],
        button=words("Remove the account"),
    )


@routes.post(f"{PROVIDER}/removal", scope="Provider.Delete", proof=True)
async def remove_provider(visit: Visit) -> Response:
    await visit.change(providers.delete, caller=visit.caller, **visit.ids)
    return html.redirect(f"{PROVIDERS}?done=removed")


async def own_account_of(visit: Visit) -> Account:
    """Raises Forbidden for an account that the operator keeps."""
    account = await visit.find(providers.get)
    if not account.is_own:
        raise errors.Forbidden(visit.words("The administrator of this installation manages this account."))
    return account


def name_of(visit: Visit, account: Account) -> str:
    return account.title or visit.words(KINDS[account.kind])


def url_of(account: Account) -> str:
    return f"{PROVIDERS}/{account.account_id}"


@routes.get(PROVIDER, scope="Provider.Read")
async def _page(visit: Visit, *, refusal: errors.Refusal | None = None, sent: dict[str, Any] | None = None) -> Response:
    words, account = visit.words, await visit.find(providers.get)
    async with visit.read() as db:
        found = await health.health_of(db, account=(account.organization_id, account.account_id), now=visit.now)
        endpoints = await inbound.list_endpoints(db, organization_id=account.organization_id)
    settings, _ = providers.visible_settings(account, site=visit.site)
    own_address = visit.session.email if account.channel_id == EMAIL else ""
    return visit.page(
        "provider.html",
        title=name_of(visit, account),
        refusal=refusal,
        sent=sent,
        account=account,
        url=url_of(account),
        kinds=KINDS,
        channels=CHANNELS,
        state=_state(visit, account),
        settings=[(words(SETTINGS[name]), str(value)) for name, value in settings.items() if name in SETTINGS],
        speed=_speed(visit, account),
        shares=[
            (words("Bounced"), _share(visit, found.bounces), found.bounces.is_high),
            (words("Complaints"), _share(visit, found.complaints), found.complaints.is_high),
        ],
        health=found.figures,
        address=visit.form.text("responder_channel_identifier") or own_address,
        address_label=words(ADDRESSES.get(account.channel_id, "Address")),
        endpoints=[one for one in endpoints if one.account_id == account.account_id],
        inbound_url=visit.site.inbound_url,
        adapters=ADAPTERS,
        is_held=account.paused_time is not None and account.is_paused_by_operator,
    )


@routes.get(f"{PROVIDER}/pause", scope="Provider.Update")
async def _pause_form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    account = await visit.find(providers.get)
    return visit.page(
        "provider_pause.html",
        title=visit.words("Pause “{name}”?", name=name_of(visit, account)),
        refusal=refusal,
        back=(name_of(visit, account), url_of(account)),
        action=f"{url_of(account)}/pause",
        pipelines=account.pipelines,
    )


def _state(visit: Visit, account: Account) -> str:
    """Its name in STATES."""
    if account.state != "active":
        return account.state
    is_kept = providers.keeps_messages(visit.site, channel_id=account.channel_id, kind=account.kind)
    return "failing" if account.failures else "kept" if is_kept else "active"


def _share(visit: Visit, share: ReportedShare) -> str:
    """The count, the share with its interval, and the share at which providers refuse mail."""
    words = visit.words
    if share.share is None or share.low is None or share.high is None:
        return words("no message yet")
    percent = [words.number(round(100 * each, 2)) for each in (share.share, share.low, share.high, share.share_max)]
    return words(
        "{count} ({share} %, between {low} % and {high} %); up to {most} % are usual",
        count=words.count(share.count), share=percent[0], low=percent[1], high=percent[2], most=percent[3],
    )  # fmt: skip


def _speed(visit: Visit, account: Account) -> str:
    words = visit.words
    if account.rate is None:
        return words.plural("{n} message at once", "{n} messages at once", account.slots_max)
    now, most = (words.number(round(rate, 2)) for rate in (account.rate, account.rate_ceiling or account.rate))
    return words("{now} per second now, at most {most}", now=now, most=most)


RECORDS: Final = {"spf": "SPF", "dkim": "DKIM", "dmarc": "DMARC"}
FINDINGS: Final[dict[str, Marked]] = {
    "good": "in order", "weak": "could be better", "wrong": "wrong", "missing": "missing", "unknown": "not known",
}  # fmt: skip


@routes.get(f"{PROVIDER}/dns", scope="Provider.Read")
async def dns_page(visit: Visit) -> Response:
    """Check the domains; no connection of ours is held while name servers are asked."""
    words, selector = visit.words, visit.query.get("selector", "").strip()
    account, refusal, checks = await visit.find(providers.get), None, dict[str, list[Finding]]()
    try:
        checks = await domains.check(
            databases.on_demand(visit.pool),
            caller=visit.caller,
            account_id=account.account_id,
            selector=selector or None,
            site=visit.site,
        )
    except errors.Invalid as invalid:
        refusal = invalid
    return visit.page(
        "provider_dns.html",
        title=words("DNS of your sender domains"),
        refusal=refusal,
        back=(name_of(visit, account), url_of(account)),
        path=f"{url_of(account)}/dns",
        selector=selector,
        checks=checks,
        records=RECORDS,
        states=FINDINGS,
        sentences={code: text for code, (_, text) in SENTENCES.items()},
    )


@routes.post(f"{PROVIDER}/inbound", scope="Inbound.Create", proof=True, again=(errors.Invalid, errors.Conflict))
async def open_address(visit: Visit) -> Response:
    """Show its key, this once."""
    account, form = await visit.find(providers.get), visit.form
    chosen = next((name for name in FORMS if name == form.text("adapter")), FORMS[0])
    is_pinned = chosen == "sns"
    endpoint, key = await visit.change(
        inbound.create,
        account_id=account.account_id,
        adapter=chosen,
        topic=form.text("topic") if is_pinned else None,
        certificate=form.text("certificate") if is_pinned else None,
        **visit.acting,
    )
    response = visit.page(
        "provider_address_made.html",
        title=visit.words("The address is open"),
        url=visit.site.inbound_url(endpoint.inbound_id),
        key=key,
        back=url_of(account),
    )
    response.headers["Cache-Control"] = "no-store"
    return response


async def _endpoint(visit: Visit) -> Endpoint:
    async with visit.read() as db:
        await providers.get(db, caller=visit.caller, account_id=visit.id("account_id"))
        return await inbound.get(db, caller=visit.caller, inbound_id=visit.id("inbound_id"))


removal(
    routes,
    f"{PROVIDER}/inbound/{{inbound_id}}/closing",
    scope="Inbound.Delete",
    title="Close this address?",
    sentences=lambda visit, endpoint: [
        visit.site.inbound_url(endpoint.inbound_id),
        visit.words("Reports to it find nothing from then on, so bounces and complaints are no longer noticed."),
    ],
    button="Close the address",
    get=_endpoint,
    remove=lambda visit, db: inbound.delete(db, caller=visit.caller, inbound_id=visit.id("inbound_id")),
    to=PROVIDER,
    back=PROVIDER,
)


@routes.get(f"{PROVIDER}/inbound", scope="Inbound.Create", proof=True)
async def _form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, account = visit.words, await visit.find(providers.get)
    possible = {"standard": True, "sns": account.channel_id == EMAIL, "provider": account.kind in CALLED_BACK}
    return visit.page(
        "provider_address.html",
        title=words("Open an address for reports"),
        refusal=refusal,
        back=(name_of(visit, account), url_of(account)),
        action=f"{url_of(account)}/inbound",
        adapters=[(name, words(text)) for name, text in ADAPTERS.items() if possible[name]],
        has_topics=possible["sns"],
    )
