"""All screens of the console, for `app.py` and for the tests that go through them."""

from afterword.console import (
    account,
    alert_rules,
    audit,
    builder,
    builder_pages,
    case_figures,
    case_settings,
    cases,
    comments,
    digests,
    entry,
    exports,
    find,
    jumps,
    overview,
    passkeys,
    people,
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
    views,
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
    sending,
    questionnaire_settings,  # before the page of one
    questionnaires,
    builder_pages,  # before a question, whose id stands in the same place
    builder,
    jumps,
    publication,
    digests,
    comments,
    reports,
    shared,
    account,
    settings,
    audit,
    people,
    tokens,
    taggings,
    views,
    find,
)


def screens() -> list[Screen]:
    return [screen for module in MODULES for screen in module.routes.all]


def pages() -> list[Pages]:
    return [module.routes.pages for module in MODULES]
