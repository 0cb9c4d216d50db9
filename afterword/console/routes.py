"""All screens of the console, for `app.py` and for the tests that go through them."""

from afterword.console import (
    account,
    alert_rules,
    audit,
    builder,
    builder_pages,
    case_figures,
    case_settings,
    case_statuses,
    cases,
    comments,
    contact_policy,
    digests,
    entry,
    exports,
    find,
    flows,
    invitations,
    jumps,
    metadata_names,
    organization,
    overview,
    passkeys,
    people,
    pipeline_messages,
    pipeline_parts,
    pipelines,
    plans,
    provider_forms,
    provider_records,
    providers,
    publication,
    questionnaire_settings,
    questionnaires,
    recoveries,
    reports,
    responses,
    sending,
    settings,
    shared,
    taggings,
    tags,
    tokens,
    translations,
    views,
    webhooks,
    welcome,
)
from afterword.console.screens import Screen
from afterword.web.routing import Pages

MODULES = (
    entry,
    welcome,
    passkeys,
    overview,
    exports,
    tags,
    responses,
    case_figures,  # before the page of a case, whose id stands in the same place
    cases,
    recoveries,
    case_settings,
    alert_rules,
    case_statuses,
    contact_policy,
    organization,
    plans,
    metadata_names,
    webhooks,
    pipelines,  # before the page of an item, whose id stands in the same place
    pipeline_messages,
    pipeline_parts,
    sending,
    questionnaire_settings,  # before the page of one
    questionnaires,
    builder_pages,  # before a question, whose id stands in the same place
    builder,
    jumps,
    publication,
    invitations,
    translations,
    flows,
    digests,
    comments,
    reports,
    shared,
    account,
    settings,
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


def screens() -> list[Screen]:
    return [screen for module in MODULES for screen in module.routes.all]


def pages() -> list[Pages]:
    return [module.routes.pages for module in MODULES]
