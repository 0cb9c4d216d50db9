"""Scores written back: a response whose item came of an event becomes a note to that ticket or order, once.

A note waits among the mails to users, under the id of its response. Its words are read when it leaves, so nothing that
was erased meanwhile is told.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.sources import notes as rules
from afterword.core.sources.notes import NOTES, Note, Request
from afterword.core.wire.site import Site
from afterword.events.service import Event
from afterword.kit import db as databases, sealing
from afterword.kit.db import Database, Pool
from afterword.kit.db.columns import arrays
from afterword.kit.nouns import service as nouns
from afterword.kit.transport import http
from afterword.kit.transport.base import Outcome, Refused, Retry, Sent, Unknown
from afterword.sending.channels import calling
from afterword.sending.channels.calling import Terms
from afterword.sending.intake.sources import records
from afterword.sending.intake.sources.records import SOURCE, Source
from afterword.tenants import mails
from afterword.tenants.mails import CLAIM_OF_SOURCES

COMPLETED: Final = "questionnaire_instance.completed"  # told again where a response that was held back is accepted
WAITING_MAX: Final = 1_000  # of a source; with more it gets no new ones
GATHER_SECONDS: Final = 86_400.0  # that a note waits for its score
ATTEMPTS_COUNTED_MAX: Final = 4  # the wait for the next is an hour at most
FAILED_SHOWN: Final = 20
TERMS: Final = Terms(is_ours=False, may_repeat=True, seconds=10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMessage(mails.Claimed):
    """A note that is due, and where it goes. `mail_id`: of its response. `object_id`: none where that is gone."""

    source_id: str
    kind: str
    note_address: str | None
    note_user: str | None
    sealed_note_token: bytes | None = field(repr=False)
    note: dict[str, Any]


async def insert_notes(  # any tenant: a batch of events serves many organizations
    db: Database, *, read: Sequence[Event], now: datetime
) -> None:
    """Have a note written for each completed response that takes one: no test, none of an anonymous person."""
    completed = [(one.organization_id, one.subject_id) for one in read if one.type == COMPLETED]
    await db.execute(
        """insert into notice_mail (organization_id, mail_id, source_id, purpose, content, due_time, created_time)
           select i.organization_id, i.instance_id, s.source_id, 'note',
             jsonb_build_object('instance_id', i.instance_id), $3, $3
           from unnest($1::text[], $2::text[]) e (organization_id, instance_id)
             join questionnaire_instance i using (organization_id, instance_id)
             join source_item o on o.organization_id = i.organization_id and o.item_id = i.item_id
             join source s on s.organization_id = o.organization_id and s.source_id = o.source_id and s.note_active
           where i.completed_time is not null and i.deleted_time is null and i.anonymity is null and not i.test
             and not exists (select from demonstration d where d.organization_id = i.organization_id)
             and (select count(*) from notice_mail w where w.organization_id = s.organization_id
               and w.source_id = s.source_id and w.state = 'waiting') < $4
           order by i.organization_id, i.instance_id on conflict do nothing""",
        *arrays(completed, 2),
        *(now, WAITING_MAX),
    )


async def claim_calls(db: Database, *, now: datetime, limit: int) -> list[NoteMessage]:  # any tenant: workers serve all
    """Claim the first due note of each source. Those of lost workers are released."""
    await mails.reap_mails(db, now=now, limit=limit)
    return await db.records(NoteMessage).fetch(
        f"""{CLAIM_OF_SOURCES}
           select t.organization_id, t.mail_id, t.epoch, t.attempts, t.source_id, s.kind, s.note_address, s.note_user,
             s.sealed_note_token, (
               select jsonb_build_object('object_id', o.object_id, 'what', o.what, 'title', q.display_name,
                 'score', coalesce(r.score || ' / ' || r.score_max, ''), 'comment', coalesce(r.comment, ''),
                 'time', r.submitted_time)
               from response r
                 join questionnaire_instance i
                   on i.organization_id = r.organization_id and i.instance_id = r.instance_id
                 join source_item o on o.organization_id = i.organization_id and o.item_id = i.item_id
                 join questionnaire q
                   on q.organization_id = r.organization_id and q.questionnaire_id = r.questionnaire_id
               where r.organization_id = t.organization_id and r.instance_id = t.mail_id) as note
           from taken t join source s on s.organization_id = t.organization_id and s.source_id = t.source_id""",
        *(now, now + timedelta(seconds=mails.LEASE_SECONDS), limit, GATHER_SECONDS),
    )


async def compose(_db: Database, *, message: NoteMessage, **_: object) -> Note | None:
    """None where the response is gone, or its person."""
    return msgspec.convert(message.note, Note) if message.note else None


async def send(caller: http.Caller, message: NoteMessage, note: Note, *, site: Site) -> Outcome:
    """Write the note; where an attempt was made before, only if it is not there yet: its link is in no other."""
    kind, link = NOTES[message.kind], f"{site.public_url}/console/responses/{message.mail_id}"
    headers = await _log_in(caller, message, site)
    if not isinstance(headers, Mapping):
        return headers
    if message.attempts > 1 and kind.find is not None:
        found, body = await _call(caller, message, rules.request_of(kind.find, note, link), headers)
        if not isinstance(found, Sent) or message.mail_id.encode() in body:
            return found
    return (await _call(caller, message, rules.request_of(kind.write, note, link), headers))[0]


async def settle(db: Database, *, message: NoteMessage, **told: Any) -> None:
    """Record the outcome. A note waits until it is taken or refused, also while a failing source is switched off."""
    key = {"organization_id": message.organization_id, "owner_id": message.source_id}
    call = dataclasses.replace(message, attempts=min(message.attempts, ATTEMPTS_COUNTED_MAX))
    await mails.settle_call(db, "source", "note_", **key, call=call, **told)


async def try_notes(pool: Pool, *, caller: Caller, source_id: str, site: Site) -> Source:
    """Try the credentials, and note how it went. Raises NotFound, and Invalid without a token."""
    async with databases.connection(pool) as db:
        source, now = await nouns.get(SOURCE, db, caller=caller, key=source_id), db.clock.now()
    if source.sealed_note_token is None:
        raise errors.Invalid.at("/note_token", "required", "Enter a token first.")
    web = http.Caller(allowed=site.networks)
    try:
        outcome = await _log_in(web, source, site)
        if isinstance(outcome, Mapping):
            outcome, _ = await _call(web, source, NOTES[source.kind].check, outcome)
    finally:
        await web.close()
    key = {"organization_id": source.organization_id, "owner_id": source_id}
    async with databases.transaction(pool) as db:
        await mails.settle_call(db, "source", "note_", **key, outcome=outcome, now=now)
        return await nouns.get(SOURCE, db, caller=caller, key=source_id)


async def list_failed(db: Database, *, organization_id: str, source_id: str) -> list[tuple[str, str]]:
    """The responses of the last notes that were not written, each with the reason."""
    return await db.fetch_tuples(
        """select m.mail_id, m.error from notice_mail m
             join questionnaire_instance i on i.organization_id = m.organization_id and i.instance_id = m.mail_id
           where m.organization_id = $1 and m.source_id = $2 and m.state = 'failed' and i.deleted_time is null
           order by m.finished_time desc limit $3""",
        *(organization_id, source_id, FAILED_SHOWN),
    )


async def _log_in(
    caller: http.Caller, account: NoteMessage | Source, site: Site
) -> Mapping[str, str] | Retry | Unknown:
    """The headers with which calls are made, or why there are none."""
    kind, user = NOTES[account.kind], account.note_user or ""
    context = records.seal_context(account.organization_id, f"{account.source_id}:note")
    try:
        token = sealing.unseal(account.sealed_note_token or b"", secret=site.secret, context=context)
        if (asked := rules.grant_of(kind, user, token)) is not None:
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            granted, body = await _call(caller, account, asked, form)
            if not isinstance(granted, Sent | Refused):
                return granted
            user, token = "", msgspec.json.decode(body, type=dict[str, Any])["access_token"]
    except (sealing.Unreadable, msgspec.DecodeError, RecursionError, KeyError):
        return Retry("account", rules.SAYS[401])
    return {"Content-Type": "application/json", **rules.headers_of(account.kind, user, token)}


async def _call(
    caller: http.Caller, account: NoteMessage | Source, request: Request, headers: Mapping[str, str]
) -> tuple[Outcome, bytes]:
    """The outcome, and the body of the answer."""
    (method, path, content), kind, body = request, NOTES[account.kind], b""

    def judge(answer: http.Answer) -> Outcome:
        nonlocal body
        body, status = answer.body, kind.status_of(answer.status, answer.body)
        outcome = calling.outcome_of(replace(answer, status=status), TERMS)
        says = rules.SAYS.get(status) or rules.SAYS.get(status // 100)
        return outcome if isinstance(outcome, Sent) or says is None else replace(outcome, reason=says)

    url = f"{kind.address or account.note_address}{path}"
    terms = {"headers": headers, "content": content.encode(), "terms": TERMS, "judge": judge}
    return await calling.call(caller, method=method, url=url, **terms), body
