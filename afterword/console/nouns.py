"""The screens of nouns: the list, the form of one and its removal, all from the declaration."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.cases.statuses import STATUS
from afterword.console.inputs import Input, Options, document_of, form_page, read_as, same_version, shown
from afterword.console.screens import Screens, Visit
from afterword.console.settings import SETTINGS
from afterword.core.questionnaires.metadata import name_of
from afterword.kit.db import Database
from afterword.kit.nouns import declaration, service as nouns, structs
from afterword.kit.nouns.declaration import Editable, Noun, R, version_of
from afterword.kit.nouns.service import Made
from afterword.kit.texts import Marked
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.web import html
from afterword.listening.responses.themes import THEME
from afterword.people.responders import store as responders
from afterword.tenants.logins.identities import service as identities
from afterword.tenants.organizations.retention import HOLD

OptionsOf = Callable[[Visit, Any], Awaitable[Options]]
Part = Literal["list", "new", "edit", "removal"]
NOUNS: Final[tuple[Noun[Any], ...]] = (HOLD, STATUS, THEME)  # those without screens made by hand


def screens_of(noun: Noun[R], *, without: Collection[Part] = (), options: OptionsOf | None = None) -> Screens:
    """The screens of a noun, to which a module with screens made by hand adds its own, in place of those `without`.

    `options`: those of choices that are made for the visit and the row, which is None in the form of a new one.
    """
    return _NounScreens(noun, options).declare(without)


def settings_form(
    routes: Screens,
    noun: Noun[R],
    path: str,
    *,
    scope: str,
    title: Marked,
    lead: Callable[[Visit], str] = lambda _: "",
    back: tuple[Marked, str] = ("Settings", SETTINGS),
    inputs: Sequence[Input] = (),
    options: Callable[[Visit, R], Options] | None = None,
    links: Callable[[Visit], Sequence[tuple[str, str]]] = lambda _: (),
    tab: str = "",
    proof: bool = False,
    of_owners: bool = False,
    save: Callable[[Visit, Database, Mapping[str, Any]], Awaitable[object]] | None = None,
) -> None:
    """Register GET and POST of the form of a noun that an organization has one of.

    `inputs`: where they are not those of the declaration in its order. `proof`: saving needs the password given lately.
    `save` stores the changes where that is more than an update; it may return a response.
    """
    fields = inputs or inputs_of(noun)
    kind = (structs.update_of if "update" in noun.operations else structs.creation_of)(noun)

    async def show(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
        if of_owners:
            identities.require_owner(visit.caller)
        stored, words = await visit.row(noun), visit.words
        return form_page(
            visit,
            title=words(title),
            back=(words(back[0]), back[1]),
            inputs=fields,
            stored=stored,
            version=version_of(stored),
            refusal=refusal,
            options=options(visit, stored) if options else None,
            links=links(visit),
            thing=(noun.table, stored.organization_id),
            tab=tab,
            lead=lead(visit),
        )

    async def act(visit: Visit, db: Database) -> Response:
        changes = read_as(kind, document_of(visit.form, fields), visit).named()
        if save:
            answer = await save(visit, db, changes)
        else:
            key, expect = visit.caller.organization_id, same_version(visit)
            answer = await nouns.update(noun, db, key=key, changes=changes, expect=expect, **visit.acting)
        return answer if isinstance(answer, Response) else html.redirect(f"{path}?done=saved")

    routes.post(path, scope=scope, proof=proof, again=(errors.Invalid, errors.Stale))(act)
    routes.get(path, scope=scope, of_owners=of_owners)(show)


async def saved(
    visit: Visit, noun: Noun[R], row: R | None, document: Mapping[str, Any], create: Callable[..., Awaitable[Made[R]]]
) -> R:
    """The row with what the form has, or a new one. Raises what its rules raise."""
    columns = read_as((structs.update_of if row else structs.creation_of)(noun), document, visit).named()
    async with visit.write() as db:
        if row is None:
            return (await create(db, columns=columns, **visit.acting)).record
        key, expect = getattr(row, noun.key), same_version(visit)
        return await nouns.update(noun, db, key=key, changes=columns, expect=expect, **visit.acting)


def secret_page(noun: Noun[R], visit: Visit, made: Made[R]) -> Response:
    assert noun.screens is not None, f"{noun.one} declares its screens"  # noqa: S101
    return visit.page(
        "noun_secret.html",
        title=visit.words("The secret of “{title}”", title=_title(noun, made.record)),
        sentence=visit.words(noun.screens.shown_once),
        secret=next(iter(made.shown.values())),
        url=f"{noun.screens.path}/{getattr(made.record, noun.key)}",
    )


class _NounScreens:
    def __init__(self, noun: Noun[Any], options: OptionsOf | None) -> None:
        assert noun.screens is not None, f"{noun.one} declares its screens"  # noqa: S101
        self._noun, self._screens = noun, noun.screens
        self._list = noun.screens.path
        self._one = f"{self._list}/{{{noun.key}}}"
        self._inputs, self._later = inputs_of(noun), inputs_of(noun, later=True)
        self._moves = inputs_of(noun.deletion) if noun.deletion else ()
        self._options = options

    def declare(self, without: Collection[Part]) -> Screens:
        routes, scope_of, proof = Screens(), self._noun.scope_of, self._screens.proof
        form = f"{self._one}/edit" if self._screens.has_page else self._one
        if "list" not in without:
            routes.get(self._list, scope=f"{self._noun.scope}.{self._screens.reads}")(self.list_page)
        if "new" not in without:
            routes.get(f"{self._list}/new", scope=scope_of("create"), proof=proof)(self.form)
            again = (errors.Invalid, errors.Forbidden)
            routes.post(f"{self._list}/new", scope=scope_of("create"), proof=proof, again=again)(self.create)
        if "edit" not in without and "update" in self._noun.operations:
            routes.get(form, scope=scope_of("update"))(self.edit_page)
            again = (errors.Invalid, errors.Forbidden, errors.Stale, errors.Conflict)
            routes.post(form, scope=scope_of("update"), proof=proof, again=again)(self.update)
        if "removal" not in without:
            routes.get(f"{self._one}/removal", scope=scope_of("delete"))(self.confirm_removal)
            routes.post(f"{self._one}/removal", scope=scope_of("delete"))(self.remove)
        return routes

    async def list_page(self, visit: Visit) -> Response:
        noun, screens, words = self._noun, self._screens, visit.words
        is_whole = noun.order != declaration.NEWEST_FIRST  # such a list is short, and has no pages
        listing = structs.listing_of(noun)
        page = nouns.whole_page(noun) if is_whole else page_of(listing, visit.query)
        noun.allow(visit.caller, "list")
        async with visit.read() as db:
            found = await nouns.rows(noun, db, **visit.caller.reach, user_id=visit.caller.user_id, page=page)
            rows = [{"url": self._address(visit, one), **self._line(visit, one)} for one in found.items]
            names = await _names(visit, db, {row["person"] for row in rows if row.get("person")})
        return visit.page(
            "things.html",
            title=words(screens.title),
            lead=words(screens.lead),
            new=(words(screens.new), f"{self._list}/new") if noun.scope_of("create") in visit.caller.scopes else None,
            list=Listing(
                rows=[{**row, "state": names.get(row.get("person", ""), row["state"])} for row in rows],
                empty=words(screens.empty) if screens.empty else "",
                **({} if is_whole else page_links(found, visit.query, self._list)),
            ),
        )

    async def create(self, visit: Visit, db: Database) -> Response:
        noun = self._noun
        request = read_as(structs.creation_of(noun), document_of(visit.form, self._inputs), visit)
        made = await nouns.create(noun, db, columns=request.named(), **visit.acting)
        if made.shown:
            return secret_page(noun, visit, made)
        page = f"{self._list}/{getattr(made.record, noun.key)}" if self._screens.has_page else self._list
        return html.redirect(f"{page}?done=saved")

    async def edit_page(self, visit: Visit, refusal: errors.Refusal | None = None) -> Response:
        return await self.form(visit, await self._row(visit), refusal)

    async def update(self, visit: Visit, db: Database) -> Response:
        noun, key = self._noun, self._key(visit)
        changes = read_as(structs.update_of(noun), document_of(visit.form, self._later), visit).named()
        await nouns.update(noun, db, key=key, changes=changes, expect=same_version(visit), **visit.acting)
        back = f"{self._list}/{self._key(visit)}" if self._screens.has_page else self._list
        return html.redirect(f"{back}?done=saved")

    async def confirm_removal(self, visit: Visit) -> Response:
        words, row, screens = visit.words, await self._row(visit), self._screens
        async with visit.read() as db:
            found = await nouns.list_uses(self._noun, db, caller=visit.caller, key=self._key(visit))
            others = await self._others(visit, db, row) if found and self._moves else []
        uses = [(text, words.count(n, is_capped=n == nouns.USES_COUNTED_MAX), url) for text, n, url in found]
        ends = [] if uses and not others else [words(screens.removal_sentence)]
        return visit.confirm(
            title=words(screens.removal, title=_title(self._noun, row)),
            sentences=[words(screens.in_use), *ends] if uses else ends,
            uses=uses,
            fields=shown(visit, self._moves, None, {one.name: others for one in self._moves}) if others else (),
            button=words(screens.removal_button),
            back="" if "update" in self._noun.operations else self._list,
        )

    async def remove(self, visit: Visit) -> Response:
        await self._row(visit)
        deletion, document = self._noun.deletion, document_of(visit.form, self._moves)
        options = read_as(deletion, document, visit).named() if deletion and visit.form.values else None
        async with visit.write() as db:
            await nouns.delete(self._noun, db, key=self._key(visit), options=options, **visit.acting)
        return html.redirect(f"{self._list}?done=removed")

    async def _others(self, visit: Visit, db: Database, row: Any) -> list[tuple[str, str]]:
        """The keys and titles of those that can stand in for the row: of the organization, or of its application."""
        noun, page = self._noun, nouns.whole_page(self._noun)
        found = await nouns.rows(noun, db, **visit.caller.reach, user_id=visit.caller.user_id, page=page)
        others = [one for one in found.items if one != row and one.application_id in {None, row.application_id}]
        return [(str(getattr(one, noun.key)), self._line(visit, one)["title"]) for one in others]

    async def form(self, visit: Visit, row: Any = None, refusal: errors.Refusal | None = None) -> Response:
        noun, screens, words = self._noun, self._screens, visit.words
        here = f"{self._list}/{getattr(row, noun.key)}" if row else ""
        may_remove = row is not None and not screens.has_page and noun.scope_of("delete") in visit.caller.scopes
        return form_page(
            visit,
            title=_title(noun, row) if row else words(screens.new),
            back=(_title(noun, row), here) if row and screens.has_page else (words(screens.title), self._list),
            inputs=self._later if row else self._inputs,
            stored=row or _blank(noun, visit),
            version=version_of(row) if row else "",
            refusal=refusal,
            options=await self._options(visit, row) if self._options else None,
            links=[(words(screens.removal_button), f"{here}/removal")] if may_remove else (),
            thing=(noun.table, str(getattr(row, noun.key))) if row else None,
        )

    async def _row(self, visit: Visit) -> Any:
        """The row that the address names. Raises NotFound for one that the caller cannot change."""
        row = await visit.row(self._noun)
        if refusal := self._noun.fixed(visit.caller, row):
            raise errors.NotFound(refusal.detail)
        return row

    def _key(self, visit: Visit) -> Any:
        return self._noun.read_key(visit.id(self._noun.key))

    def _address(self, visit: Visit, row: Any) -> str:
        """The page of the row, else its form, else its removal; empty where it cannot be changed."""
        if not self._screens.has_page and self._noun.fixed(visit.caller, row) is not None:
            return ""
        address = f"{self._list}/{getattr(row, self._noun.key)}"
        has_more = self._screens.has_page or "update" in self._noun.operations
        return address if has_more else f"{address}/removal"

    def _line(self, visit: Visit, row: Any) -> dict[str, str]:
        screens, line = self._screens, {"title": _title(self._noun, row), "state": "", "when": "", "more": ""}
        if screens.is_dated:
            line["when"] = visit.words.date(row.created_time, time_zone=visit.zone)
        return {**line, **(screens.row(visit.words, row) if screens.row else {})}


async def _names(visit: Visit, db: Database, responder_ids: Collection[str]) -> dict[str, str]:
    """The names of people that the reader may see, by id."""
    caller = visit.caller
    keys = [(caller.organization_id, one) for one in responder_ids if "Responder Value.Read" in caller.scopes]
    found = await responders.list_responders(db, keys=keys) if keys else []
    return {one.responder_id: name for one in found if (name := name_of(one.metadata))}


def inputs_of(
    declared: Noun[Any] | type[msgspec.Struct], *, later: bool = False, names: Sequence[str] = ()
) -> tuple[Input, ...]:
    """The fields of the form of a new one, or of a change: the members with a label, of a noun or of a request.

    `names`: those of the form, in their order, where it has not all.
    """
    is_noun = isinstance(declared, Noun)
    order = names or (declared.screens.inputs if is_noun and declared.screens else ())
    found = declared.members if is_noun else declaration.members_of(declared)
    members = sorted(found, key=lambda one: order.index(one.name) if one.name in order else len(order))
    members = [one for one in members if one.name in names] if names else members
    marked = [(one, one.role) for one in members if isinstance(one.role, Editable) and one.role.label]
    marked = [(one, role) for one, role in marked if not (later and role.once)]
    return tuple(
        Input(one.name, role.kind, role.label, role.hint, role.options, required=_is_required(one.type, role))
        for one, role in marked
    )


def _title(noun: Noun[Any], row: Any) -> str:
    return getattr(row, noun.screens.titled if noun.screens else "title")


def _is_required(kind: Any, role: Editable) -> bool:
    return role.kind in {"number", "text", "choice"} and type(None) not in getattr(kind, "__args__", ())


def _blank(noun: Noun[Any], visit: Visit) -> Mapping[str, Any] | object:
    """The defaults of the declaration, and what its screens and the address say."""
    assert noun.screens is not None  # noqa: S101
    texts = {one.name: "" for one in noun.editable() if one.is_required}
    texts |= {name: visit.query.get(name, "") for name in noun.screens.by_address}
    return structs.creation_of(noun)(**{**texts, **noun.screens.blank})
