"""The invitations behind a figure, for figures of sending and for rows that the list of responses cannot show."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.response_list import BETWEEN_CHARACTERS_MAX, CONDITION_CHARACTERS_MAX, RESPONSES
from afterword.console.screens import Screens, Visit
from afterword.core.figures import periods
from afterword.core.figures.queries import ReportQuery
from afterword.core.figures.reports import QUESTIONNAIRES_MAX, Basis
from afterword.core.figures.rows import LINK, Selection
from afterword.core.questionnaires import conditions
from afterword.core.wire.times import datetime_of
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui import lists
from afterword.kit.ui.lists import Column, Listing, address, one_of, parameter, read_key
from afterword.kit.ui.text import address_text
from afterword.listening.reports import invitations
from afterword.listening.reports.invitations import Filter, Invitation
from afterword.sending.screens.queue_items import CHANNELS, SENDING

INVITATIONS: Final = "/console/invitations"
ROWS: Final = 50
STAGES: Final[Mapping[str, Marked]] = {
    "created": "Created", "sent": "Sent", "delivered": "Delivered", "bounced": "Bounced", "viewed": "Opened",
    "started": "Answered", "submitted": "With an answer", "answered": "Half-answered", "completed": "Completed",
}  # fmt: skip
COLUMNS: Final = ("Address", "Stage", "When", "Sent")
BASES: Final[Mapping[str, Basis]] = {"submitted": "submitted", "completed": "completed"}
RESPONSE_CHANNELS: Final = frozenset({None, LINK, 1, 2, 3})  # that the list of responses can be filtered by
Link = Callable[[Selection, Sequence[str]], str]

routes = Screens()


@dataclass(frozen=True)
class InvitationFilter(lists.Filter):
    """As in `Selection`; questionnaires and stages are joined by commas."""

    path = INVITATIONS

    questionnaires: str = parameter(CONDITION_CHARACTERS_MAX)
    between: str = parameter(BETWEEN_CHARACTERS_MAX)
    basis: Basis = one_of(BASES)  # noqa: RUF009
    stage: str = parameter(CONDITION_CHARACTERS_MAX)
    channel: str = one_of(map(str, (LINK, *CHANNELS)))
    pipeline: str = parameter()
    version: str = parameter()
    locale: str = parameter()
    condition: str = parameter(CONDITION_CHARACTERS_MAX)
    after: str = parameter(60)

    @property
    def stages(self) -> list[str]:
        return [each for each in self.stage.split(",") if each in STAGES]

    @property
    def report_query(self) -> ReportQuery:
        """Raises Invalid when it is no condition."""
        first, last = periods.read_text(self.between) or (None, None)
        return ReportQuery(
            questionnaire_ids=tuple(dict.fromkeys(each for each in self.questionnaires.split(",") if each)),
            filter=conditions.read_parameter(self.condition or None),
            from_time=first,
            to_time=last,
            date_basis=self.basis or "sent",
        )

    @property
    def filter(self) -> Filter:
        return Filter(
            stages=self.stages,
            channel_id=int(self.channel) if self.channel else None,
            pipeline_id=self.pipeline or None,
            version_id=self.version or None,
            locale=self.locale or None,
        )


def link_of(selection: Selection, stages: Sequence[str] = ()) -> str:
    """The address of exactly the invitations of a selection that reached these stages."""
    return InvitationFilter(
        questionnaires=",".join(selection.questionnaire_ids),
        between=periods.text_of(selection.from_time, selection.to_time),
        basis=selection.date_basis,
        stage=",".join(stages),
        channel="" if selection.channel_id is None else str(selection.channel_id),
        pipeline=selection.pipeline_id or "",
        version=selection.version_id or "",
        locale=selection.locale or "",
        condition=json.dumps(selection.condition) if selection.condition else "",
    ).url()


def links(questionnaire_ids: Collection[str]) -> Link:
    """The address of what a figure counts; `questionnaire_ids`: all that the reader reaches.

    It is the list of responses where that can show exactly these, else the list of invitations.
    """

    def link(selection: Selection, stages: Sequence[str] = ()) -> str:
        ids = selection.questionnaire_ids
        if (
            stages
            or selection.date_basis != "submitted"
            or selection.pipeline_id
            or selection.version_id
            or selection.locale
            or selection.channel_id not in RESPONSE_CHANNELS
            or not (len(ids) == 1 or set(ids) >= set(questionnaire_ids))
        ):
            return link_of(selection, stages)
        return address(
            RESPONSES,
            {
                "questionnaire": ids[0] if len(ids) == 1 else "",
                "channel": selection.channel_id,
                "tab": selection.only,
                "band": selection.band,
                "word": selection.word,
                "condition": json.dumps(selection.condition) if selection.condition else "",
                "between": periods.text_of(selection.from_time, selection.to_time),
            },
        )

    return link


@routes.get(INVITATIONS, scope="Questionnaire Instance.Read", for_limited="part")
async def list_invitations(visit: Visit) -> Response:
    words, chosen = visit.words, InvitationFilter.read(visit.query)
    if not 0 < len(chosen.report_query.questionnaire_ids) <= QUESTIONNAIRES_MAX:
        raise errors.NotFound("There is no such questionnaire.")
    async with visit.read() as db:
        found = await invitations.find(
            db, caller=visit.caller, query=chosen.report_query, chosen=chosen.filter, now=visit.now
        )
        count = await invitations.count_invitations(db, found)
        rows = await invitations.list_invitations(db, found, after=read_key(chosen.after), limit=ROWS)
    period, most = found.asked.period, invitations.COUNT_MAX
    listing = Listing(
        rows=[_row(visit, one) for one in rows.items],
        columns=[Column(text=words(text)) for text in COLUMNS],
        filters=[(text, chosen.url(**{name: ""})) for name, text in _filters(words, chosen)],
        note=words("{first} to {last}", first=visit.moment(period.from_time), last=visit.moment(period.to_time)),
        empty=words("Nothing here yet."),
        found=words.count(min(count, most), is_capped=count > most),
        **chosen.pages(rows.next_key),
    )
    return visit.page("invitations.html", title=words("Invitations"), list=listing, stages=STAGES)


def _filters(words: Texts, chosen: InvitationFilter) -> list[tuple[str, str]]:
    channel = CHANNELS.get(int(chosen.channel), "Link") if chosen.channel else ""
    found = (
        ("stage", " · ".join(words(STAGES[each]) for each in chosen.stages)),
        ("channel", words(channel) if channel else ""),
        ("pipeline", words("One pipeline")),
        ("version", words("One version")),
        ("locale", chosen.locale),
        ("condition", words("One condition")),
    )
    return [(name, text) for name, text in found if getattr(chosen, name) and text]


def _row(visit: Visit, one: Invitation) -> dict[str, Any]:
    """The values of a row; it leads to the response, else to its message."""
    reached = (
        ("completed", one.completed_time),
        ("started", one.submitted_time),
        ("viewed", one.viewed_time),
        ("bounced", one.bounced_time),
        ("delivered", one.delivered_time),
        ("sent", one.sent_time),
        ("created", one.created_time),
    )
    stage, time = next((name, time) for name, time in reached if time is not None)
    url = ""
    if one.submitted_time is not None:
        url = f"{RESPONSES}/{one.instance_id}"
    elif one.responder_channel_identifier and visit.may_open(SENDING):
        url = f"{SENDING}/{one.item_id}"
    recipient = address_text(visit.words, one.responder_channel_identifier or "")
    return {"url": url, "stage": stage, "time": datetime_of(time), "at": one.at, "recipient": recipient}
