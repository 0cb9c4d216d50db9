"""The composition root of a web process: which routes there are, and what they stand on."""

import time
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from afterword.asking import coupons
from afterword.asking.instances import api as instances_api, pages as instance_pages, reviews, spam
from afterword.asking.links import domains, pages as link_pages, public_links
from afterword.asking.questionnaires import api as questionnaires_api, drafts, library, metadata, translations, visuals
from afterword.cases import api as alerts_api, call_backs, recoveries
from afterword.core.wire.site import API_PREFIX, Site
from afterword.events import deliveries, log, webhooks
from afterword.kit import db
from afterword.kit.db.replicas import Replica
from afterword.kit.telemetry import Telemetry
from afterword.kit.web import static
from afterword.kit.web.limits import Limiter, Limits
from afterword.kit.web.metrics import Collect, Metrics, Probes, Sample
from afterword.kit.web.middleware import LoadShedder, Middleware, OwnersOf, PageGate, Tracing
from afterword.kit.web.operations import Routes
from afterword.kit.web.read_only import ReadOnly
from afterword.kit.web.reference import Reference
from afterword.kit.web.routing import Pages, Router
from afterword.kit.web.runner import Operation, OperationContext
from afterword.listening.exports import api as exports_api
from afterword.listening.imports import api as response_imports_api
from afterword.listening.reports import api as reports_api, digests, invitations, overview, shares
from afterword.listening.responses import api as responses_api, taggings, themes
from afterword.listening.search import api as search_api, question_uses, recent_values
from afterword.people.responders import pages as responder_pages, suppressions
from afterword.privacy import api as erasures_api, profiles, retention
from afterword.run import console, migrations, renderings
from afterword.run.backups import manifests
from afterword.run.worker import timeouts
from afterword.sending import previews
from afterword.sending.intake import batches, dry_runs, references, sequences, test_messages
from afterword.sending.intake.imports import api as imports_api
from afterword.sending.intake.sources import api as sources_api
from afterword.sending.pipelines import api as pipelines_api, policies, versions
from afterword.sending.providers import api
from afterword.sending.queue import (
    api as queue_api,
    backtests,
    batches as queue_batches_api,
    clock,
    lists,
    metrics as queue_metrics,
    outbox,
    traces,
)
from afterword.sending.receipts import inbound
from afterword.tenants import audit
from afterword.tenants.logins import api as logins_api, policies as login_policies_api
from afterword.tenants.logins.identities import api as identities_api
from afterword.tenants.organizations import (
    applications,
    assets,
    idempotency,
    pages as accounts_pages,
    plans,
    retention as organization_retention,
    service as organizations,
    users,
)
from afterword.tenants.organizations.tokens import access, api as tokens_api
from afterword.tenants.organizations.tokens.access import SessionUses, TokenUses

FIGURES_SECONDS = 5.0


MakeEndpoint = Callable[..., Any]
"""Of a context and origins: makes a page that calls this very application, which is set as its `app` once whole."""


def create_app(
    *,
    pool: db.Pool,
    site: Site,
    limits: Limits = Limits(),  # noqa: B008  frozen
    metrics_access: str = "loopback",
    origins: Collection[str] = (),
    routes: Sequence[Routes] | None = None,
    show_outbox: bool = False,
    ticks: TokenUses | None = None,
    seen: SessionUses | None = None,
    load_shedder: LoadShedder | None = None,
    make_endpoint: MakeEndpoint | None = None,
    telemetry: Telemetry | None = None,
    backup_every: timedelta | None = None,
    copy: Replica | None = None,
    reader: Replica | None = None,
) -> ASGIApp:
    """The web application, plain ASGI, for one pool and one public address.

    `metrics_access`: clients that may read /metrics, `loopback`, `all` or `off`; `origins`: exact origins of browsers
    that may call the API; `routes`: those of all packages unless given; `show_outbox`: with the pages of captured
    messages; `ticks` are told which tokens are used and `seen` which sessions, and the caller writes them down;
    `make_endpoint` makes the one for assistants; `telemetry` is told of each request; `backup_every`: workers make
    backups this often; `copy`: the pool is on a standby, and nothing is written; `reader`: a standby for long reads.
    """
    metrics = Metrics()
    limiter = Limiter(limits)
    context = OperationContext(
        pool=pool,
        site=site,
        limiter=limiter,
        authenticate=partial(access.authenticate, cache=access.TokenCache(), ticks=ticks),
        claim_key=idempotency.claim_idempotency_key,
        keep_answer=idempotency.update_kept_answer,
        copy=copy,
        reader=reader,
    )
    probes = Probes(
        pool=pool,
        is_migrated=migrations.is_usable,
        metrics=metrics,
        collectors=[queue_figures(pool, backup_every)],
        access=metrics_access,
        copy=copy,
    )
    table = [route for group in (api_routes() if routes is None else routes) for route in group.all]
    state = {"pool": pool, "site": site, "limiter": limiter, "sessions": seen or SessionUses(), "reader": reader}
    pages = [
        *page_groups(),
        *console.pages(),
        probes.pages,
        Reference(table, site, show_outbox=show_outbox).pages,
        *([outbox.page_routes] if show_outbox else []),
    ]
    endpoint = make_endpoint(context, origins=origins) if make_endpoint else None
    router = Router(
        [
            *([("POST", "/mcp", lambda: endpoint)] if endpoint else []),
            *((route.method, f"{API_PREFIX}{route.path}", partial(Operation, route, context)) for route in table),
            *((page.method, page.path, partial(page.app, state)) for group in pages for page in group.all),
        ]
    )
    gate = PageGate(site, _owners_of(pool))
    served = router if copy is None else ReadOnly(router, copy, site)
    app = Middleware(served, site=site, metrics=metrics, origins=origins, load_shedder=load_shedder, gate=gate)
    if endpoint is not None:
        endpoint.app = app
    return app if telemetry is None else Tracing(app, telemetry)


def api_routes() -> list[Routes]:
    """The routes of all packages, in the order of the reference."""
    return [
        applications.routes,
        organizations.routes,
        users.routes,
        tokens_api.routes,
        plans.routes,
        domains.routes,
        identities_api.routes,
        login_policies_api.routes,
        organization_retention.routes,
        retention.routes,
        audit.routes,
        logins_api.routes,
        questionnaires_api.routes,
        library.routes,
        drafts.routes,
        translations.routes,
        questionnaires_api.version_routes,
        visuals.routes,
        assets.routes,
        metadata.routes,
        instances_api.routes,
        instances_api.of_questionnaires,
        coupons.routes,
        public_links.routes,
        previews.routes,
        responses_api.routes,
        spam.routes,
        themes.routes,
        taggings.routes,
        response_imports_api.routes,
        queue_api.routes,
        batches.routes,
        imports_api.routes,
        sequences.routes,
        recoveries.routes,
        sources_api.routes,
        dry_runs.routes,
        backtests.routes,
        references.routes,
        traces.routes,
        lists.routes,
        queue_batches_api.routes,
        outbox.routes,
        clock.routes,
        pipelines_api.routes,
        versions.routes,
        policies.routes,
        test_messages.routes,
        api.routes,
        test_messages.account_routes,
        inbound.routes,
        suppressions.routes,
        profiles.routes,
        search_api.routes,
        recent_values.routes,
        question_uses.routes,
        erasures_api.routes,
        alerts_api.routes,
        reports_api.routes,
        invitations.routes,
        overview.routes,
        shares.routes,
        digests.routes,
        exports_api.routes,
        log.routes_of(renderings.render, renderings.RESOURCES),
        *(one.routes for one in (webhooks, deliveries)),
    ]


def page_groups() -> list[Pages]:
    return [
        accounts_pages.routes,
        assets.page_routes,
        instance_pages.routes,
        call_backs.routes,
        reviews.routes,
        link_pages.routes,
        domains.page_routes,
        previews.page_routes,
        responder_pages.routes,
        test_messages.page_routes,
        inbound.page_routes,
        sources_api.page_routes,
        static.routes,
    ]


def _owners_of(pool: db.Pool) -> OwnersOf:
    async def owners_of(kind: str, key: str) -> set[str]:
        return await db.load(pool, domains.list_owners, kind=kind, key=key)

    return owners_of


def queue_figures(pool: db.Pool, backup_every: timedelta | None) -> Collect:
    last: list[Sample] = []
    read_at = -FIGURES_SECONDS

    async def collect() -> list[Sample]:
        nonlocal last, read_at
        if time.monotonic() - read_at >= FIGURES_SECONDS:
            async with db.connection(pool) as database:
                last = [
                    *await queue_metrics.samples(database),
                    *await manifests.samples(database, every=backup_every),
                    *await deliveries.list_figures(database),
                    *await timeouts.samples(database),
                ]
            read_at = time.monotonic()
        return last

    return collect
