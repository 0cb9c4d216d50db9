"""All screens of the console, for `app.py` and for the tests that go through them."""

from afterword.console import find, notices, people
from afterword.console.cases import alert_rules, cases, recoveries
from afterword.console.cases import figures as case_figures
from afterword.console.cases import settings as case_settings
from afterword.console.logins import account, entry, identities, passkeys, welcome
from afterword.console.nouns import NOUNS, screens_of
from afterword.console.questionnaires import (
    boxes,
    builder,
    endings,
    jumps,
    kiosks,
    preview,
    publication,
    questionnaires,
    translations,
)
from afterword.console.questionnaires import links as public_links
from afterword.console.questionnaires import pages as builder_pages
from afterword.console.questionnaires import settings as questionnaire_settings
from afterword.console.reports import comments, digests, overview, reports, shared
from afterword.console.responses import doubtful, exports, responses, taggings, tags, views
from afterword.console.screens import Screen
from afterword.console.sending import (
    acts,
    address_lists,
    contact_policy,
    invitations,
    list_repairs,
    list_results,
    outbox,
    pauses,
    pipeline_messages,
    pipeline_parts,
    pipeline_versions,
    pipelines,
    sending,
    sent_messages,
)
from afterword.console.settings import (
    audit,
    brands,
    coupons,
    domain,
    identity,
    logins,
    members,
    metadata_names,
    notifications,
    organization,
    pictures,
    plans,
    provider_forms,
    provider_records,
    providers,
    retention,
    tokens,
    webhooks,
)
from afterword.web.routing import Pages

MODULES = (
    entry,
    identities,
    welcome,
    passkeys,
    overview,
    exports,
    tags,
    doubtful,
    responses,
    case_figures,  # before the page of a case, whose id stands in the same place
    cases,
    recoveries,
    case_settings,
    alert_rules,
    contact_policy,
    organization,
    domain,
    identity,
    logins,
    brands,
    pictures,
    coupons,
    plans,
    metadata_names,
    webhooks,
    acts,  # before the page of an item, whose id stands in the same place
    address_lists,
    list_repairs,
    list_results,
    outbox,
    pauses,
    pipelines,  # before the page of an item, whose id stands in the same place
    pipeline_messages,
    pipeline_parts,
    pipeline_versions,
    sending,
    sent_messages,
    questionnaire_settings,  # before the page of one
    questionnaires,
    preview,
    builder_pages,  # before a question, whose id stands in the same place
    endings,
    builder,
    jumps,
    publication,
    invitations,
    translations,
    public_links,
    boxes,
    kiosks,
    digests,
    comments,
    reports,
    shared,
    account,
    notices,
    notifications,
    members,
    retention,
    audit,
    people,
    tokens,
    provider_forms,  # before the page of an account, whose id stands in the place of "new"
    provider_records,
    providers,
    taggings,
    views,
    find,
)


ROUTES = (*(module.routes for module in MODULES), *map(screens_of, NOUNS))


def screens() -> list[Screen]:
    return [screen for routes in ROUTES for screen in routes.all]


def pages() -> list[Pages]:
    return [routes.pages for routes in ROUTES]
