"""The HTTP route of the words of comments."""

from dataclasses import asdict
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.responses.api import ResponseQuery, check_filter, filter_of
from afterword.listening.responses.comments import service

GROUP_CHARACTERS_MAX: Final = 300
routes = Routes(tag="Responses")


class WordQuery(ResponseQuery):
    """The comments whose words are counted."""

    group_by: Annotated[
        Annotated[str, Meta(min_length=1, max_length=GROUP_CHARACTERS_MAX)] | None,
        Meta(
            description="band, channel, questionnaire or questionnaire_metadata:{name}; the last one also needs the "
            "scope Questionnaire Value.Read."
        ),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=service.WORDS_MAX, description="The most words.")] = 40


class CommentWord(fields.Answer):
    """A word, and the comments that have it."""

    word: Annotated[str, Meta(description="As the filter `word` of responses takes it: without case and accents.")]
    text: Annotated[str, Meta(description="As it is written most often.")]
    n: Annotated[int, Meta(description="The comments that have it.")]


class CommentGroup(fields.Answer):
    """The comments of a group."""

    value: Annotated[str | None, Meta(description="Null: without a value.")]
    n: int
    words: Annotated[list[CommentWord], Meta(description="Those of the words in all that it has.")]


class CommentWords(fields.Answer):
    """The words of comments, those that most have first."""

    n: Annotated[int, Meta(description="The comments that were counted.")]
    from_time: Annotated[
        fields.DateTime | None,
        Meta(description="Of the oldest that was counted, where older ones match too; else null."),
    ]
    suppressed: Annotated[bool, Meta(description="Always false: who reads this may read each comment.")]
    words: Annotated[list[CommentWord], Meta(description="At most as many as `limit`.")]
    groups: Annotated[list[CommentGroup], Meta(description="The largest first, a hundred at most.")]
    suppressed_groups: Annotated[int, Meta(description="Always 0.")]


@routes.get(
    "/q/response/word",
    scope="Questionnaire Instance.Read",
    answer=CommentWords,
    query=WordQuery,
    summary="Count words of comments",
    description=("Of the newest 2,000 comments with the filter. Words that say little, such as “the”, are left out."),
)
async def count_words(call: Call[None], db: Database) -> Answer:
    query: WordQuery = call.query
    await check_filter(call.caller, query, db, is_query=True)
    found = await service.count(
        db,
        caller=call.caller,
        application_id=query.application_id,
        chosen=filter_of(call.caller, query),
        group_by=query.group_by or "",
        limit=query.limit,
    )
    from_time = times.format_optional(found.from_time, zone=call.zone)
    given = {**asdict(found), "from_time": from_time, "suppressed": False, "suppressed_groups": 0}
    return Answer(msgspec.convert(given, CommentWords))
