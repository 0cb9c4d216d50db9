"""Taking a person out of the tables of all slices: a handful of steps, each some rows at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.asking.instances import service as instances, store as instances_store
from afterword.asking.questionnaires import metadata
from afterword.cases import messages
from afterword.cases.alert_instances import service as alert_instances
from afterword.core.organizations.access import installation
from afterword.events.service import data_of
from afterword.kit.db import Database
from afterword.kit.db.columns import suffixed
from afterword.listening.reports.daily_counts.service import impersonal
from afterword.privacy.subjects import Person, ScanResult
from afterword.sending.queue.records import TEXT_COLUMNS, TEXTS

# Answers `a` that are texts or hold some; those without a file that is kept for another time.
WORDS: Final[LiteralString] = """(jsonb_typeof(a.value) = 'string'
  or jsonb_path_exists(a.value, '$.* ? (@.type() == "string")'))"""
NO_FILE: Final[LiteralString] = """(jsonb_typeof(a.value) = 'string' or not exists (select from response_file f
  where f.organization_id = $1 and f.instance_id = a.instance_id and f.question_id = a.question_id))"""
_TEXTS_REMOVED: Final = suffixed(TEXT_COLUMNS, "= null")


def _blanked(blanks: LiteralString) -> LiteralString:
    """The event `e` with these members in the place of its own."""
    return f"""item = null, instance = null, responder = null, data = {data_of("e")} || (
             select coalesce(jsonb_object_agg(b.key, b.value), '{{}}') from jsonb_each({blanks}::jsonb) b
             where {data_of("e")} ? b.key)"""


# Scans of tables that have no index by person: the resource that each changes, the id of a row, the next rows, and what
# becomes of those that name the person. Of organization $1 and erasure $2: texts $3 and words $7 of the person, and $4
# in the place of members of events.
_SCANS: Final[Mapping[str, tuple[str, LiteralString, LiteralString, LiteralString]]] = {
    "events": (  # those that name an address: of suppressions that were lifted, of items long gone
        "Event",
        "event_id",
        """select event_id, lower(data ->> 'identifier') as identifier, lower(coalesce(
             data ->> 'responder_channel_identifier', (item).responder_channel_identifier)) as recipient
           from event where organization_id = $1""",
        f"""update event e set {_blanked("$4")}
           from passed p
           where e.organization_id = $1 and e.event_id = p.event_id
             and (p.identifier = any($3::text[]) or p.recipient = any($3))""",
    ),
    "messages": (
        "Outbox Message",
        "message_id",
        "select message_id, item_id, lower(recipient) as recipient from outbox_message where organization_id = $1",
        """delete from outbox_message m using passed p
           where m.organization_id = $1 and m.message_id = p.message_id and (p.recipient = any($3::text[])
             or exists (select from erasure_subject e where e.organization_id = $1 and e.erasure_id = $2
                          and e.kind = 'item' and e.subject_id = p.item_id))""",
    ),
    "trials": (  # those that went to the person, or whose values name an address
        "Test Send",
        "trial_id",
        """select trial_id, lower(recipient) as recipient, lower(metadata::text) as said from trial
           where organization_id = $1""",
        """delete from trial t using passed p
           where t.organization_id = $1 and t.trial_id = p.trial_id and (p.recipient = any($3::text[])
             or exists (select from unnest($7::text[]) word where position(word in p.said) > 0))""",
    ),
    "source events": (  # those that name an address, or led to the person's items
        "Source Event",
        "source_event_id",
        """select source_event_id, source_id, object_id, decisions, lower(person ->> 'email') as email,
             lower(person ->> 'phone') as phone, lower(facts::text) as said
           from source_event where organization_id = $1""",
        """delete from source_event s using passed p
           where s.organization_id = $1 and s.source_event_id = p.source_event_id and (p.email = any($3::text[])
             or p.phone = any($3) or exists (select from unnest($7::text[]) word where position(word in p.said) > 0)
             or exists (select from jsonb_array_elements(p.decisions) d
               join erasure_subject e on e.subject_id = d ->> 'item_id'
               where e.organization_id = $1 and e.erasure_id = $2 and e.kind = 'item')
             or exists (select from source_event o
               where o.organization_id = $1 and o.object_id = p.object_id and o.object_id <> ''
                 and o.source_id = p.source_id and lower(o.person ->> 'email') = any($3)))""",
    ),
    "import rows": (  # those that became, or met, the person's items; a row that failed says so
        "Import Row",
        "import_id",
        "select import_id from queue_import where organization_id = $1",
        """update queue_import_row r
           set external_reference = null, problem = r.problem - 'kinds' || '{"detail": "Erased.", "errors": []}'
           from passed p
           where r.organization_id = $1 and r.import_id = p.import_id and r.item_id in (
             select subject_id from erasure_subject
             where organization_id = $1 and erasure_id = $2 and kind = 'item')""",
    ),
}


def _scan(name: str) -> LiteralString:
    _, id_, passed, change = _SCANS[name]
    return f"""with passed as materialized (
        {passed} and {id_} > $5 and num_nulls($2::text, $3::text[], $4::jsonb, $7::text[]) >= 0
        order by {id_} limit $6),
      changed as ({change} returning 1)
      select (select count(*) from changed) as found, (select count(*) from passed) as passed,
        (select max({id_}) from passed) as last"""


# Statements that remove or empty rows of organization $1 by the ids or address keys $2.
REMOVALS: Final[Mapping[str, LiteralString]] = {
    # The words of providers, and their names of the messages: later reports find nobody.
    "attempts": """update attempt set reply = null, provider_reference = null
        where organization_id = $1 and item_id = any($2) and (reply is not null or provider_reference is not null)""",
    "reports": "update delivery_report set said = '' where organization_id = $1 and item_id = any($2) and said <> ''",
    "references": "delete from provider_reference where organization_id = $1 and item_id = any($2)",
    "things": "delete from source_item where organization_id = $1 and item_id = any($2)",
    "reported": """update event set data = jsonb_set(data, '{report,text}', '""')
        where organization_id = $1 and subject_id = any($2) and data #>> '{report,text}' is not null""",
    # The answers of receivers of webhooks to events of these subjects: some repeat the request.
    "deliveries": """update delivery d set response_excerpt = null, error = null, version = d.version + 1
        from event e
        where e.organization_id = $1 and e.subject_id = any($2) and d.organization_id = $1
          and d.event_id = e.event_id and (d.response_excerpt is not null or d.error is not null)""",
    "answers": "delete from answer where organization_id = $1 and instance_id = any($2)",
    "openings": "delete from link_opening where organization_id = $1 and instance_id = any($2)",
    "tags": "delete from instance_tag where organization_id = $1 and instance_id = any($2)",
    "instances": "delete from questionnaire_instance where organization_id = $1 and instance_id = any($2)",
    # Unsubscribe links lead nowhere any more.
    "addresses": "delete from responder_address where organization_id = $1 and responder_id = any($2)",
    "contacts": """with mails as (
          delete from notice_mail where organization_id = $1 and address_key = any($2::bytea[]))
        delete from contact where organization_id = $1 and address_key = any($2::bytea[])""",
    # The key by which they go on to work stays; it reads as the identifier now.
    "suppressions": """update suppression
        set identifier = encode(address_key, 'hex'), note = null, version = version + 1
        where organization_id = $1 and address_key = any($2::bytea[])
          and (identifier <> encode(address_key, 'hex') or note is not null)""",
}


def _removal(name: str) -> LiteralString:
    return REMOVALS[name]


async def remove(db: Database, name: str, organization_id: str, keys: Sequence[str] | Sequence[bytes]) -> int:
    return await db.execute(_removal(name), organization_id, keys)


async def _update_kept_answers(
    db: Database, *, organization_id: str, erasure_id: str, person: Person, after: str
) -> ScanResult:
    """Empty the next answers under idempotency keys that name the person; the keys stay, nothing is done twice.

    The answer that told of this erasure is not one of them. Every word is looked for in every byte, so it is bytes that
    bound a turn; a longer answer has a turn of its own.
    """
    row = await db.fetch_one(
        """with word as materialized (
             select convert_to(text, 'UTF8') as word from (
               select unnest($4::text[]) as text union select $3
               union select subject_id from erasure_subject where organization_id = $1 and erasure_id = $2) w),
           passed as materialized (
             select key, body from (
               select key, body, row_number() over keys as place, sum(octet_length(body)) over keys as size from (
                 select key, body from idempotency_key where organization_id = $1 and key > $5
                 order by key limit $6) k
               window keys as (order by key rows unbounded preceding)) sized
             where place = 1 or coalesce(size, 0) <= $7),
           emptied as (
             update idempotency_key k set body = '{}'::bytea from passed p
             where k.organization_id = $1 and k.key = p.key
               and exists (select from word where position(word.word in p.body) > 0)
               and position(convert_to($2, 'UTF8') in p.body) = 0
             returning k.key)
           select (select count(*) from emptied) as found, (select max(key) from passed) as last""",
        organization_id,
        erasure_id,
        person.responder_id,
        [*person.words, *(text for text in person.written if text.lower() in person.words)],
        *(after, SCAN_KEYS_MAX, SCAN_KEYS_BYTES_MAX),
    )
    return row["found"], row["last"]


async def _delete_import_rests(db: Database, *, organization_id: str) -> int:
    """Remove what was left of files whose import has ended: nobody can tell whose rows these are."""
    return await db.execute(
        """delete from queue_import_piece where (organization_id, import_id, number) in (
             select p.organization_id, p.import_id, p.number from queue_import_piece p
               join queue_import i on i.organization_id = p.organization_id and i.import_id = p.import_id
             where p.organization_id = $1 and i.finished_time is not null limit $2)""",
        *(organization_id, PIECES_MAX),
    )


async def _update_lists(db: Database, *, organization_id: str) -> int:
    """Remove the files of lists and imports, compressed as they are: nobody can tell whose rows these are."""
    return await db.fetch_value(
        """with gone as (
             delete from response_upload_piece where (organization_id, response_import_id, number) in (
               select organization_id, response_import_id, number from response_upload_piece
               where organization_id = $1 limit $2)
             returning 1),
           forgotten as (
             update response_upload set unknown = '{}', choices = '{}'
             where organization_id = $1 and (unknown <> '{}' or choices <> '{}')),
           emptied as (
             update queue_list set content = null where (organization_id, list_id) in (
               select organization_id, list_id from queue_list
               where organization_id = $1 and content is not null limit $2)
             returning 1)
           select greatest((select count(*) from gone), (select count(*) from emptied))""",
        *(organization_id, PIECES_MAX),
    )


async def _update_exports(db: Database, *, organization_id: str, erasure_id: str) -> int:
    """End the files of the person's questionnaires, and begin again those that are being written."""
    return await db.execute(
        """update export e
           set state = case e.state when 'done' then 'expired' when 'running' then 'queued' else e.state end,
             expires_time = case e.state when 'done' then now() else e.expires_time end,
             owner = null, lease_until = null, attempts = 0, pieces = 0, scan_time = null, scan_id = null,
             row_count = case e.state when 'done' then e.row_count end,
             bytes = case e.state when 'done' then e.bytes end, version = e.version + 1
           where e.organization_id = $1 and (e.pieces > 0 or e.state = 'running') and e.questionnaire_id in (
             select i.questionnaire_id from erasure_subject s
               join questionnaire_instance i
                 on i.organization_id = s.organization_id and i.instance_id = s.subject_id
             where s.organization_id = $1 and s.erasure_id = $2 and s.kind = 'instance')""",
        *(organization_id, erasure_id),
    )


async def _delete_export_pieces(db: Database, *, organization_id: str) -> int:
    """Remove pieces that belong to no file any more, at most PIECES_MAX."""
    return await db.execute(
        """delete from export_piece where (organization_id, export_id, number) in (
             select p.organization_id, p.export_id, p.number from export e
               cross join lateral (
                 select organization_id, export_id, number from export_piece
                 where organization_id = e.organization_id and export_id = e.export_id and number >= e.pieces
                 limit $2) p
             where e.organization_id = $1 limit $2)""",
        *(organization_id, PIECES_MAX),
    )


async def _update_items(
    db: Database, *, organization_id: str, item_ids: Sequence[str], salt: bytes, is_change: bool
) -> int:
    """Leave of ended items what happened and when; in place of the address its hash under a key that is thrown away.

    `is_change`: the rows count as changed now; else they are removed as soon as before.
    """
    return await db.execute(
        f"""update queue_item
           set responder_channel_identifier = 'erased:' || encode(sha256($3::bytea || address_key), 'hex'),
             address_key = sha256($3::bytea || address_key), {_TEXTS_REMOVED}, metadata = '{{}}', result = null,
             trace = null, external_reference = null, anonymized_time = now(), version = version + 1,
             updated_time = case when $4 then greatest(updated_time, now()) else updated_time end
           where organization_id = $1 and item_id = any($2) and status > 3 and anonymized_time is null""",
        *(organization_id, item_ids, salt, is_change),
    )


async def _update_events(
    db: Database, *, organization_id: str, subject_ids: Sequence[str], blanks: Mapping[str, Any]
) -> int:
    """Put `blanks` in the place of these members of the data of all events of these subjects."""
    return await db.execute(
        f"""update event e set {_blanked("$3")}
           where e.organization_id = $1 and e.subject_id = any($2)""",
        *(organization_id, subject_ids, blanks),
    )


async def _list_questionnaires_of(
    db: Database, *, organization_id: str, instance_ids: Sequence[str]
) -> dict[str, list[str]]:
    return await db.fetch_pairs(
        """select questionnaire_id, array_agg(instance_id) as instance_ids from questionnaire_instance
           where organization_id = $1 and instance_id = any($2) group by questionnaire_id""",
        *(organization_id, instance_ids),
    )


async def delete_texts(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], has_files: bool = True
) -> int:
    """Answers that are texts or hold some, and words beside a choice.

    `has_files`: answers that are files as well, which else may be kept for another time.
    """
    return await db.execute(
        f"""with gone as (
             delete from answer a where organization_id = $1 and instance_id = any($2) and {WORDS}
               and ($3 or {NO_FILE})
             returning 1),
           shortened as (
             update answer a set other_text = null where organization_id = $1 and instance_id = any($2)
               and other_text is not null and not {WORDS}
             returning 1)
           select from gone union all select from shortened""",
        *(organization_id, instance_ids, has_files),
    )


async def _update_instances(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], kept_names: Sequence[str]
) -> int:
    """Leave of instances when they were sent and answered, and the values of `kept_names`.

    Their links end: the short one at once, the other as well, or when it is 24 hours old: validity is counted in days.
    """
    return await db.execute(
        """update questionnaire_instance i
           set metadata = (select coalesce(jsonb_object_agg(m.key, m.value), '{}') from jsonb_each(i.metadata) m
                           where m.key = any($3::text[])),
             metadata_times = (select coalesce(jsonb_object_agg(m.key, m.value), '{}')
                               from jsonb_each(i.metadata_times) m where m.key = any($3)),
             reference_id = null, external_id = null,
             short_code = substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
             editable = false, valid_days = least(case i.valid_days when 0 then 3650 else i.valid_days end,
               greatest(1, floor(extract(epoch from now() - coalesce(i.sent_time, i.created_time)) / 86400))::integer),
             version = i.version + 1, updated_time = greatest(i.updated_time, now())
           where i.organization_id = $1 and i.instance_id = any($2)""",
        *(organization_id, instance_ids, kept_names),
    )


async def _update_responder(db: Database, *, organization_id: str, responder_id: str) -> int | None:
    """Leave of the responder an id; its new version, None where there is none."""
    return await db.fetch_value(
        """update responder
           set locale = null, time_zone = null, metadata = '{}', metadata_times = '{}',
             anonymized_time = coalesce(anonymized_time, now()), version = version + 1,
             updated_time = greatest(updated_time, now())
           where organization_id = $1 and responder_id = $2 returning version""",
        *(organization_id, responder_id),
    )


# Imports have 200,000 rows.
SCAN_MAX: Final = {"events": 5_000, "messages": 2_000, "trials": 2_000, "source events": 2_000, "import rows": 3}
SCAN_KEYS_MAX: Final = 500
SCAN_KEYS_BYTES_MAX: Final = 1_000_000  # of their answers
PIECES_MAX: Final = 50  # of files, up to a megabyte each
ERASED: Final = "erased"

ITEM_BLANKS: Final[Mapping[str, Any]] = {
    "responder_channel_identifier": ERASED, **dict.fromkeys(TEXTS), "result": None, "external_reference": None,
    "trace": None, "metadata": {},
}  # fmt: skip
INSTANCE_BLANKS: Final[Mapping[str, Any]] = {
    "answers": [], "metadata": {"questionnaire": {}, "responder": {}}, "reference_id": None, "short_code": "",
}  # fmt: skip
TAG_BLANKS: Final[Mapping[str, Any]] = {"tag": ERASED}
RESPONDER_BLANKS: Final[Mapping[str, Any]] = {"locale": None, "time_zone": None, "metadata": {}}
SUPPRESSION_BLANKS: Final[Mapping[str, Any]] = {"identifier": ERASED, "note": None}
ADDRESS_BLANKS: Final[Mapping[str, Any]] = {**ITEM_BLANKS, **SUPPRESSION_BLANKS}


async def scan(
    db: Database, name: str, *, organization_id: str, erasure_id: str, person: Person, after: str
) -> tuple[str, ScanResult]:
    """One turn of a scan behind a row, with the resource that it changes.

    Scans recognise the person by the addresses, so they come before those go.
    """
    of_person: dict[str, Any] = {"organization_id": organization_id, "erasure_id": erasure_id, "person": person}
    if name == "kept answers":
        return "Kept Answer", await _update_kept_answers(db, **of_person, after=after)
    if name == "import rests":  # what is removed is not met again
        count = await _delete_import_rests(db, organization_id=organization_id)
        count = max(count, await _update_lists(db, organization_id=organization_id))
        return "Import", (count, "more" if count == PIECES_MAX else None)
    row = await db.fetch_one(
        _scan(name),
        *(organization_id, erasure_id, person.texts, ADDRESS_BLANKS, after, SCAN_MAX[name], person.words),
    )
    return _SCANS[name][0], (row["found"], row["last"] if row["passed"] == SCAN_MAX[name] else None)


async def blank_items(
    db: Database, *, organization_id: str, item_ids: Sequence[str], salt: bytes, is_change: bool = True
) -> Counter[str]:
    """Leave of ended items, their attempts and events what happened and when.

    `is_change`: it is new to clients who ask for what changed; else it is as old as before.

    The rows come first: whoever is writing an event of one with the address is waited for, whoever comes next reads
    what is left.
    """
    key: dict[str, Any] = {"organization_id": organization_id, "item_ids": item_ids}
    counts = Counter[str]()
    counts["Queue Item"] += await _update_items(db, **key, salt=salt, is_change=is_change)
    counts["Attempt"] += await remove(db, "attempts", organization_id, item_ids)
    counts["Delivery Report"] += await remove(db, "reports", organization_id, item_ids)
    counts["Provider Reference"] += await remove(db, "references", organization_id, item_ids)
    await remove(db, "things", organization_id, item_ids)
    await remove(db, "reported", organization_id, item_ids)
    return counts + await blank_events(db, organization_id=organization_id, subject_ids=item_ids, blanks=ITEM_BLANKS)


async def blank_instances(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], is_whole: bool, now: datetime
) -> Counter[str]:
    """Leave of instances the scores and when they were given, or, if `is_whole`, nothing that counts anywhere.

    The rows come before the answers: whoever is saving some at this moment is waited for.
    """
    key: dict[str, Any] = {"organization_id": organization_id, "instance_ids": instance_ids}
    counts, owner = Counter[str](), installation(organization_id)
    if is_whole:
        for instance_id in instance_ids:  # out of everything, as by DELETE, so that counts and alerts hear of it
            found = await instances_store.get_instance(db, **owner.sight, instance_id=instance_id)
            if found is not None:
                await instances.take_out(db, caller=owner, instance=found, now=now)
    counts["Questionnaire Instance"] += await blank_values(db, **key, is_whole=is_whole)
    await remove(db, "openings", organization_id, instance_ids)
    if is_whole:
        counts["Answer"] += await remove(db, "answers", organization_id, instance_ids)
        counts["Tag"] += await remove(db, "tags", organization_id, instance_ids)
    else:
        counts["Answer"] += await delete_texts(db, **key)
    blanks = {**INSTANCE_BLANKS, **(TAG_BLANKS if is_whole else {})}
    return counts + await blank_events(db, organization_id=organization_id, subject_ids=instance_ids, blanks=blanks)


async def blank_values(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], is_whole: bool = False
) -> int:
    """Leave of the metadata of instances what says nothing of a person, or nothing, and end their links."""
    count = 0
    grouped = await _list_questionnaires_of(db, organization_id=organization_id, instance_ids=instance_ids)
    for questionnaire_id, members in grouped.items():
        declared = await metadata.declared_of(db, organization_id=organization_id, questionnaire_id=questionnaire_id)
        count += await _update_instances(
            db,
            organization_id=organization_id,
            instance_ids=members,
            kept_names=() if is_whole else impersonal(declared),
        )
    return count


async def blank_events(
    db: Database, *, organization_id: str, subject_ids: Sequence[str], blanks: Mapping[str, Any]
) -> Counter[str]:
    """Take the person out of what the log tells of these, and out of what receivers answered to it."""
    key: dict[str, Any] = {"organization_id": organization_id, "subject_ids": subject_ids}
    return Counter(
        {
            "Event": await _update_events(db, **key, blanks=blanks),
            "Delivery": await remove(db, "deliveries", organization_id, subject_ids),
        }
    )


async def end_exports(db: Database, *, organization_id: str, erasure_id: str, is_begun: bool) -> tuple[int, bool]:
    """End files that the person may stand in; how many, and whether all their pieces are gone.

    What is written once it `is_begun` is written without the person, so it is not begun again.
    """
    ended = 0 if is_begun else await _update_exports(db, organization_id=organization_id, erasure_id=erasure_id)
    pieces = await _delete_export_pieces(db, organization_id=organization_id)
    return ended, pieces < PIECES_MAX


async def blank_person(db: Database, *, organization_id: str, person: Person) -> tuple[Counter[str], int | None]:
    """Leave of the person an id, and of suppressions the key they work by; also the responder's new version."""
    responder_id = person.responder_id
    counts = await blank_events(
        db, organization_id=organization_id, subject_ids=[responder_id], blanks=RESPONDER_BLANKS
    )
    await alert_instances.erase_answers(db, responses=(), responders=[(organization_id, responder_id)])
    await messages.delete_messages_of(db, responders=[(organization_id, responder_id)])
    counts["Contact"] += await remove(db, "contacts", organization_id, person.keys)
    counts["Suppression"] += await remove(db, "suppressions", organization_id, person.keys)
    counts["Address"] += await remove(db, "addresses", organization_id, [responder_id])
    version = await _update_responder(db, organization_id=organization_id, responder_id=responder_id)
    counts["Responder"] += version is not None
    return counts, version
