"""The composition root of a web process: which routes there are, and what they stand on."""

import time
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from afterword.asking.coupons import pools as coupon_pools
from afterword.asking.instances import api as instances_api
from afterword.asking.instances import pages as instance_pages
from afterword.asking.instances.spam import api as spam_api
from afterword.asking.links import pages as link_pages
from afterword.asking.links import public_links
from afterword.asking.links.domains import api as domains_api
from afterword.asking.links.domains import pages as domain_pages
from afterword.asking.links.domains import store as domains_store
from afterword.asking.links.kiosks import pages as kiosk_pages
from afterword.asking.links.widgets import pages as widget_pages
from afterword.asking.questionnaires import api as questionnaires_api
from afterword.asking.questionnaires.drafts import api as drafts_api
from afterword.asking.questionnaires.library import api as library_api
from afterword.asking.questionnaires.metadata import service as metadata
from afterword.asking.questionnaires.translations import api as translations_api
from afterword.asking.questionnaires.visuals import api as visuals_api
from afterword.cases import api as alerts_api
from afterword.cases.call_backs import pages as call_pages
from afterword.cases.recovery_invitations import api as recoveries_api
from afterword.core.wire.site import API_PREFIX, Site
from afterword.events import api as events_api
from afterword.events.deliveries import store as deliveries_store
from afterword.kit import db
from afterword.kit.telemetry import Telemetry
from afterword.kit.web import static
from afterword.kit.web.limits import Limiter, Limits
from afterword.kit.web.metrics import Collect, Metrics, Probes, Sample
from afterword.kit.web.middleware import LoadShedder, Middleware, OwnersOf, PageGate, Tracing
from afterword.kit.web.operations import Routes
from afterword.kit.web.reference import Reference
from afterword.kit.web.routing import Pages, Router
from afterword.kit.web.runner import Operation, OperationContext
from afterword.listening.exports import api as exports_api
from afterword.listening.reports import api as reports_api
from afterword.listening.reports import digests
from afterword.listening.reports.invitations import api as invitations_api
from afterword.listening.reports.overview import api as overview_api
from afterword.listening.reports.shares import api as shares_api
from afterword.listening.responses import api as responses_api
from afterword.listening.responses import views
from afterword.listening.responses.comments import api as comments_api
from afterword.listening.responses.taggings import api as taggings_api
from afterword.listening.search import api as search_api
from afterword.listening.search.question_uses import api as question_uses_api
from afterword.listening.search.recent_values import api as recent_values_api
from afterword.people.responders import pages as responder_pages
from afterword.people.responders import suppressions
from afterword.privacy import api as erasures_api
from afterword.privacy.profiles import api as people_api
from afterword.privacy.retention import api as retention_api
from afterword.run import console, migrations, renderings
from afterword.run.backups import figures as backups_figures
from afterword.sending.intake import sequences
from afterword.sending.intake.batches import api as batches_api
from afterword.sending.intake.dry_runs import api as dry_runs_api
from afterword.sending.intake.imports import api as imports_api
from afterword.sending.intake.references import api as references_api
from afterword.sending.intake.test_messages import api as test_messages_api
from afterword.sending.intake.test_messages import pages as test_message_pages
from afterword.sending.pipelines import api as pipelines_api
from afterword.sending.pipelines.policies import api as policies_api
from afterword.sending.pipelines.versions import api as pipeline_versions_api
from afterword.sending.previews import api as previews_api
from afterword.sending.previews import pages as preview_pages
from afterword.sending.providers import api as providers_api
from afterword.sending.queue import api as queue_api
from afterword.sending.queue import metrics as queue_metrics
from afterword.sending.queue import pages as queue_pages
from afterword.sending.queue.backtests import api as backtests_api
from afterword.sending.queue.batches import api as queue_batches_api
from afterword.sending.queue.clock import api as clock_api
from afterword.sending.queue.lists import api as queue_lists_api
from afterword.sending.queue.outbox import api as outbox_api
from afterword.sending.queue.traces import api as traces_api
from afterword.sending.receipts.inbound import api as inbound_api
from afterword.sending.receipts.inbound import pages as inbound_pages
from afterword.tenants.audit import api as audit_api
from afterword.tenants.logins import api as logins_api
from afterword.tenants.logins.identities import api as identities_api
from afterword.tenants.logins.policies import api as login_policies_api
from afterword.tenants.logins.sessions.last_seen import SessionUses
from afterword.tenants.organizations import applications, users
from afterword.tenants.organizations import pages as accounts_pages
from afterword.tenants.organizations import retention as organization_retention
from afterword.tenants.organizations import service as organizations
from afterword.tenants.organizations.assets import api as assets_api
from afterword.tenants.organizations.assets import pages as assets_pages
from afterword.tenants.organizations.idempotency import service as idempotency
from afterword.tenants.organizations.plans import api as plans_api
from afterword.tenants.organizations.tokens import access
from afterword.tenants.organizations.tokens import api as tokens_api
from afterword.tenants.organizations.tokens.access import TokenUses

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
) -> ASGIApp:
    """The web application, plain ASGI, for one pool and one public address.

    `metrics_access`: clients that may read /metrics, `loopback`, `all` or `off`; `origins`: exact origins of browsers
    that may call the API; `routes`: those of all packages unless given; `show_outbox`: with the pages of captured
    messages; `ticks` are told which tokens are used and `seen` which sessions, and the caller writes them down;
    `make_endpoint` makes the one for assistants; `telemetry` is told of each request; `backup_every`: workers make
    backups this often.
    """
    metrics = Metrics()
    limiter = Limiter(limits)
    context = OperationContext(
        pool=pool,
        site=site,
        limiter=limiter,
        authenticate=partial(access.authenticate, cache=access.TokenCache(), ticks=ticks),
        claim_key=idempotency.claim_idempotency_key,
        keep_answer=idempotency.keep_idempotent_answer,
    )
    probes = Probes(
        pool=pool,
        is_migrated=migrations.is_usable,
        metrics=metrics,
        collectors=[queue_figures(pool, backup_every)],
        access=metrics_access,
    )
    table = [route for group in (api_routes() if routes is None else routes) for route in group.all]
    state = {"pool": pool, "site": site, "limiter": limiter, "sessions": seen or SessionUses()}
    pages = [
        *page_groups(),
        *console.pages(),
        probes.pages,
        Reference(table, site, show_outbox=show_outbox).pages,
        *([queue_pages.routes] if show_outbox else []),
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
    app = Middleware(router, site=site, metrics=metrics, origins=origins, load_shedder=load_shedder, gate=gate)
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
        plans_api.routes,
        domains_api.routes,
        identities_api.routes,
        login_policies_api.routes,
        organization_retention.routes,
        retention_api.routes,
        audit_api.routes,
        logins_api.routes,
        questionnaires_api.routes,
        library_api.routes,
        drafts_api.routes,
        translations_api.routes,
        questionnaires_api.version_routes,
        visuals_api.routes,
        assets_api.routes,
        metadata.routes,
        instances_api.routes,
        instances_api.of_questionnaires,
        coupon_pools.routes,
        public_links.routes,
        previews_api.routes,
        responses_api.routes,
        spam_api.routes,
        comments_api.routes,
        taggings_api.routes,
        views.routes,
        queue_api.routes,
        batches_api.routes,
        imports_api.routes,
        sequences.routes,
        recoveries_api.routes,
        dry_runs_api.routes,
        backtests_api.routes,
        references_api.routes,
        traces_api.routes,
        queue_lists_api.routes,
        queue_batches_api.routes,
        outbox_api.routes,
        clock_api.routes,
        pipelines_api.routes,
        pipeline_versions_api.routes,
        policies_api.routes,
        test_messages_api.routes,
        providers_api.routes,
        test_messages_api.accounts,
        inbound_api.routes,
        suppressions.routes,
        people_api.routes,
        search_api.routes,
        recent_values_api.routes,
        question_uses_api.routes,
        erasures_api.routes,
        alerts_api.routes,
        reports_api.routes,
        invitations_api.routes,
        overview_api.routes,
        shares_api.routes,
        digests.routes,
        exports_api.routes,
        *events_api.routes_of(renderings.render),
    ]


def page_groups() -> list[Pages]:
    groups = (
        accounts_pages,
        assets_pages,
        instance_pages,
        call_pages,
        link_pages,
        widget_pages,
        kiosk_pages,
        domain_pages,
        preview_pages,
        responder_pages,
        test_message_pages,
        inbound_pages,
        static,
    )
    return [group.routes for group in groups]


# Dependencies of the web layer on the packages above it --------------------------------------------------------------


def _owners_of(pool: db.Pool) -> OwnersOf:
    async def owners_of(kind: str, key: str) -> set[str]:
        async with db.connection(pool) as database:
            return await domains_store.list_owners(database, kind=kind, key=key)

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
                    *await backups_figures.samples(database, every=backup_every),
                    *await deliveries_store.list_figures(database),
                ]
            read_at = time.monotonic()
        return last

    return collect
