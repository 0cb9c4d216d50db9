"""A tag for many responses of the list: these of the page or all that match, its progress, and the way back."""

from typing import Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances import tags
from afterword.console.response_list import RESPONSES, ResponseFilter, chips_of
from afterword.console.screens import Database, Screens, Visit
from afterword.core.wire.lists import Page
from afterword.kit.texts import Texts
from afterword.kit.ui.lists import ROWS, address
from afterword.kit.web import html
from afterword.listening.responses import service as responses, taggings
from afterword.listening.responses.service import FOUND_MAX
from afterword.listening.responses.taggings import TAG_LISTING, Action

routes = Screens()
TAGS: Final = f"{RESPONSES}/tags"
NAME: Final = f"{TAGS}/name"
REMOVAL: Final = f"{TAGS}/removal"
LONGEST_DAYS: Final = 3_650


@routes.get(TAGS, scope="Tag.Read")
async def list_tags(visit: Visit) -> Response:
    words, after = visit.words, visit.query.get("after", "")
    page = Page.first(TAG_LISTING, limit=ROWS)
    found = await visit.load(
        tags.list_words, **visit.caller.reach, page=replace(page, after=(after, after)) if after else page
    )
    is_free = not visit.caller.is_limited
    return visit.page(
        "tags.html",
        title=words("Tags"),
        may_rename=is_free and "Tag.Update" in visit.caller.scopes,
        removal_url=REMOVAL if is_free and "Tag.Delete" in visit.caller.scopes else "",
        rows=[(one.tag, words.count(one.count, is_capped=one.is_part)) for one in found.items],
        url_of=lambda tag: ResponseFilter(tag=tag, period=str(LONGEST_DAYS)).url(),
        name_url_of=lambda tag: address(NAME, tag=tag),
        next_url=address(TAGS, after=found.items[-1].tag) if found.next_key is not None else "",
        first_url=TAGS if after else "",
    )


@routes.get(NAME, scope="Tag.Update")
async def name_form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    tag = visit.form.text("old") or visit.query.get("tag", "")
    return visit.page(
        "tag.html",
        title=visit.words("Rename the tag “{tag}”", tag=tag),
        refusal=refusal,
        tag=tag,
        name=visit.form.text("tag") or tag,
        url=NAME,
        back=TAGS,
    )


@routes.post(NAME, scope="Tag.Update", again=(errors.Invalid, errors.Conflict))
async def rename(visit: Visit) -> Response:
    form = visit.form
    await visit.change(tags.rename, caller=visit.caller, text=form.text("old"), to=form.text("tag"), now=visit.now)
    return html.redirect(f"{TAGS}?done=renamed")


@routes.post(REMOVAL, scope="Tag.Delete")
async def remove(visit: Visit, db: Database) -> Response:
    """Remove it everywhere at once; the page that follows takes it back, for thirty days."""
    made = await taggings.remove_everywhere(db, caller=visit.caller, tag=visit.form.text("tag"), now=visit.now)
    return html.redirect(f"{RESPONSES}/taggings/{made.tagging_id}")


TAGGINGS: Final = f"{RESPONSES}/taggings"
ONE: Final = f"{TAGGINGS}/{{tagging_id}}"
REFRESH_SECONDS: Final = "2"


@routes.get(TAGGINGS, scope="Tag.Create")
async def count_first(visit: Visit, db: Database) -> Response:
    """The number of responses that match, before all of them are tagged."""
    visit.caller.require("Questionnaire Instance.Read")
    words, choice = visit.words, ResponseFilter.read(visit.query).fixed(visit)
    theme = await choice.theme(visit, db)
    asked = choice.asked(visit, theme)
    found = await responses.select(db, **asked, limit=FOUND_MAX)
    return visit.page(
        "tagging_all.html",
        title=words.plural("Tag {n} response", "Tag {n} responses", len(found)),
        filters=[text for text, _ in await chips_of(visit, db, choice, theme)],
        count=len(found),
        action=choice.url("taggings"),
        actions=actions_of(visit.words),
        back=ResponseFilter.read(visit.query).url(),
    )


@routes.post(TAGGINGS, scope="Tag.Create")
async def tag_responses(visit: Visit, db: Database) -> Response:
    choice, form = ResponseFilter.read(visit.query), visit.form
    action: Action = "remove" if form.text("action") == "remove" else "add"
    made = await taggings.begin(
        db,
        **choice.asked(visit, await choice.theme(visit, db)),
        tag=form.text("tag"),
        action=action,
        instance_ids=None if form.text("among") == "all" else form.all("id"),
        now=visit.now,
    )
    return html.redirect(choice.url(f"taggings/{made.tagging_id}"))


def actions_of(words: Texts) -> list[tuple[str, str]]:
    return [("add", words("Add")), ("remove", words("Remove"))]


@routes.get(ONE, scope="Tag.Read")
async def show_tagging(visit: Visit) -> Response:
    tagging = await visit.find(taggings.get_record)
    choice = ResponseFilter.read(visit.query)
    response = visit.page(
        "tagging.html",
        title=visit.words("Tag: {tag}", tag=tagging.tag),
        tagging=tagging,
        back=choice.url(),
        undo_url=choice.url(f"taggings/{tagging.tagging_id}/undo"),
    )
    if tagging.state in {"running", "undoing"}:
        response.headers["Refresh"] = REFRESH_SECONDS
    return response


@routes.post(f"{ONE}/undo", scope="Tag.Create")
async def undo_tagging(visit: Visit) -> Response:
    await visit.change(taggings.undo, caller=visit.caller, **visit.ids, now=visit.now)
    return html.redirect(ResponseFilter.read(visit.query).url(f"taggings/{visit.id('tagging_id')}"))
