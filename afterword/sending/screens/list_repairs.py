"""One repair for all rows of a checked list that have the same problem."""

import asyncio
from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.screens import Screens, Visit
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.text import registers
from afterword.core.wire import imports
from afterword.core.wire.imports import REFERENCE, VALUE_CHARACTERS_MAX, Repair, pointer_of
from afterword.core.wire.tables import ADDRESS
from afterword.errors import Sentence
from afterword.kit.web import html
from afterword.sending.intake import lists
from afterword.sending.screens.address_lists import LISTS, ONE, pipeline_of, steps_of
from afterword.sending.screens.list_results import check_anew, said

VALUES: Final = 20  # that a page shows, the most frequent ones
OWN_OF_A_ROW: Final = (pointer_of(ADDRESS), pointer_of(REFERENCE))  # no two rows have the same

routes = Screens()


@routes.post(f"{ONE}/alike", scope="Queue.Create")
async def repair_alike(visit: Visit) -> Response:
    async with visit.read() as db:
        found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
        problem, column, numbers = await lists.rows_of(
            db, caller=visit.caller, found=found, key=visit.query.get("kind", "")
        )
    try:
        repair = _repair(visit, is_own=problem.kind.pointer in OWN_OF_A_ROW)
        content = await asyncio.to_thread(lists.repaired_alike, found, column, numbers, repair)
        await check_anew(visit, found, content)
    except (errors.Invalid, errors.TooLarge) as refusal:
        return await _alike(visit, refusal)
    return html.redirect(f"{LISTS}/{found.list_id}/check?done=saved")


def _repair(visit: Visit, *, is_own: bool) -> Repair:
    """As it was typed; raises Invalid for what is too long or no country."""
    form = visit.form
    values = {form.text(f"wrong{place}"): form.text(f"right{place}") for place in range(VALUES)}
    every, country = "" if is_own else form.text("every"), form.text("country")
    named = {"every": every, **{f"right{place}": form.text(f"right{place}") for place in range(VALUES)}}
    for name, value in named.items():
        if len(value) > VALUE_CHARACTERS_MAX:
            message = Sentence("A value has at most {n} characters here.", n=VALUE_CHARACTERS_MAX)
            raise errors.Invalid.at(f"/{name}", "too_long", message)
    if country and country not in registers.countries():
        raise errors.Invalid.at("/country", "invalid_value", "Choose a country of the list.")
    return Repair({wrong: right for wrong, right in values.items() if right}, every, country)


def _fits(value: str) -> bool:
    """Whether a form gives it back as it is: line breaks change on the way."""
    return len(value) <= VALUE_CHARACTERS_MAX and value.isprintable()


@routes.get(f"{ONE}/alike", scope="Queue.Create")
async def _alike(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, form = visit.words, visit.form
    async with visit.read() as db:
        found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
        problem, column, numbers = await lists.rows_of(
            db, caller=visit.caller, found=found, key=visit.query.get("kind", "")
        )
        pipeline = await pipeline_of(visit, db, found)
    text = await asyncio.to_thread(lists.text_of, found, found.layout.reading)
    counts = await asyncio.to_thread(imports.wrong_values, text, found.separator, column=column, numbers=numbers)
    short = [pair for pair in counts.most_common() if _fits(pair[0])]
    is_phone = problem.kind.pointer == pointer_of(ADDRESS) and pipeline.channel_id == CHANNEL_SMS
    countries = sorted(((code, words.country_name(code)) for code in registers.countries()), key=lambda pair: pair[1])
    return visit.page(
        "list_alike.html",
        title=words.plural("Repair {n} row", "Repair {n} rows", len(numbers)),
        status=refusal.status if refusal else 200,
        steps=steps_of(words),
        message=said(words, problem.kind),
        countries=[("", words("No change")), *countries] if is_phone else [],
        has_every=problem.kind.pointer not in OWN_OF_A_ROW,
        values=[(value, count, form.text(f"right{place}")) for place, (value, count) in enumerate(short[:VALUES])],
        value_max=VALUE_CHARACTERS_MAX,
        others=len(counts) - min(len(short), VALUES),
        chosen={"every": form.text("every"), "country": form.text("country")},
        action=f"{LISTS}/{found.list_id}/alike?kind={lists.key_of(problem)}",
        back=f"{LISTS}/{found.list_id}/check",
        refusal=refusal,
    )
