"""Responses of all questionnaires: the list, and beside it the one that is open."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.answers import answers_of
from afterword.console.response_list import CHANNELS, RESPONSES, TAG_CHARACTERS_MAX, choice_of, done, list_of
from afterword.console.screens import Screens, Visit
from afterword.console.views import views_of
from afterword.core.text import words as search_words
from afterword.instances.tags import service as tags
from afterword.instances.tags import store as tags_store
from afterword.responses import service
from afterword.web import html

routes = Screens()
ONE: Final = f"{RESPONSES}/{{instance_id}}"


@routes.get(RESPONSES, scope="Questionnaire Instance.Read")
async def list_responses(visit: Visit) -> Response:
    async with visit.read() as db:
        choice = choice_of(visit)
        values = await list_of(visit, db, choice)
        views = await views_of(visit, db, choice)
    return visit.page(
        "responses.html",
        title=visit.words("Responses"),
        open=None,
        views=views,
        may_tag="Tag.Create" in visit.caller.scopes,
        actions=[("add", visit.words("Add")), ("remove", visit.words("Remove"))],
        **values,
    )


@routes.post(f"{RESPONSES}/read", scope="Questionnaire Instance.Read")
async def read_all(visit: Visit) -> Response:
    async with visit.write() as db:
        await service.read_all(db, caller=visit.caller, now=visit.now)
    return html.redirect(done(choice_of(visit).url(), "read"))


@routes.get(ONE, scope="Questionnaire Instance.Read")
async def open_response(visit: Visit) -> Response:
    """The list with one response open beside it; on a phone the response alone."""
    choice, instance_id = choice_of(visit), visit.id("instance_id")
    async with visit.write() as db:  # it is read from now on
        shown = await answers_of(db, caller=visit.caller, instance_id=instance_id)
        if shown is None or shown.submitted_time is None:
            raise errors.NotFound("There is no such response.")
        await service.read(db, caller=visit.caller, instance_id=instance_id, now=visit.now)
        values = await list_of(visit, db, choice, is_beside=True)
        listed = await tags_store.list_tags_of_instances(
            db, organization_id=visit.caller.organization_id, instance_ids=[instance_id]
        )
    here = next((row for row in values["rows"] if row["id"] == instance_id), None)
    words = visit.words
    return visit.page(
        "responses.html",
        title=words("Response of {moment}", moment=words.moment(shown.submitted_time, time_zone=visit.zone)),
        open={
            "id": instance_id,
            "response": shown,
            "pieces": [search_words.highlighted(one.text, choice.words) for one in shown.answers],
            "row": here,
            "metadata": [
                (name, search_words.highlighted(value, choice.words))
                for name, value in sorted(shown.instance.metadata.items())
            ],
            "when": words.moment(shown.submitted_time, time_zone=visit.zone),
            "channel": words(CHANNELS.get(shown.instance.channel_id, "Link")),
            "tags": [one.tag for one in listed],
            "back": choice.url(after=choice.after, since=choice.since),
            "tag_url": choice.url(f"{instance_id}/tag"),
            "untag_url": choice.url(f"{instance_id}/untag"),
        },
        may_tag="Tag.Create" in visit.caller.scopes,
        **values,
    )


@routes.post(f"{ONE}/tag", scope="Tag.Create")
async def add_tag(visit: Visit) -> Response:
    async with visit.write() as db:
        await tags.add(
            db,
            caller=visit.caller,
            instance_id=visit.id("instance_id"),
            text=visit.form.text("tag")[: TAG_CHARACTERS_MAX + 1],
            now=visit.now,
        )
    return html.redirect(choice_of(visit).url(visit.id("instance_id")))


@routes.post(f"{ONE}/untag", scope="Tag.Delete")
async def remove_tag(visit: Visit) -> Response:
    async with visit.write() as db:
        await tags.remove(
            db,
            caller=visit.caller,
            instance_id=visit.id("instance_id"),
            text=visit.form.text("tag"),
            now=visit.now,
            check_version=lambda _: None,
        )
    return html.redirect(choice_of(visit).url(visit.id("instance_id")))
