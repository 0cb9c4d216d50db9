"""The console's texts: every one that a screen shows is in the Greek catalogue, with the same blanks to fill."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from afterword import texts
from afterword.alerts import statuses
from afterword.console import charts, conditions, done, find, people, response_list, screens, text
from afterword.console.cases import alert_rule_form, cases, story
from afterword.console.cases import figures as case_figures
from afterword.console.cases import rows as case_rows
from afterword.console.logins import account, entry, passkeys, welcome
from afterword.console.questionnaires import boxes, endings, kiosks, links, outline, question_form, translations
from afterword.console.questionnaires import pages as builder_pages
from afterword.console.questionnaires import settings as questionnaire_settings
from afterword.console.reports import comments, digests, overview, shared
from afterword.console.reports import forms as report_forms
from afterword.console.reports import views as report_views
from afterword.console.responses import doubtful
from afterword.console.sending import (
    acts,
    address_lists,
    contact_policy,
    invitations,
    pipeline_parts,
    pipelines,
    sending,
)
from afterword.console.settings import (
    audit,
    brands,
    domain,
    identity,
    logins,
    metadata_names,
    notifications,
    plans,
    provider_forms,
    provider_records,
    providers,
    retention,
    tokens,
    webhooks,
)
from afterword.console.settings import members as settings
from afterword.core.messaging import domain_records
from afterword.core.questionnaires import differences, metadata, question_types
from afterword.core.text import placeholders
from afterword.core.wire import tables
from afterword.pipelines import resources
from afterword.pipelines.versions import service as pipeline_versions
from afterword.questionnaires import condition_rows
from tests.nouns.declared import all_nouns

SOURCE = Path(texts.__file__).parent
CALL = re.compile(r'\bt\("([^"]+)"')
EXPECTED = re.compile(r'"expected": "([^"]+)"')  # of a member, in words of its own
PLURAL = re.compile(r'\bt\.plural\("([^"]+)", "([^"]+)"')
BLANKS = re.compile(r"\{\w+\}")
OTHERS = tuple(  # with texts of the console
    SOURCE / name
    for name in (
        "questionnaires/condition_rows.py",
        "pipelines/resources.py",
        "alerts/call_backs/service.py",
        "pipelines/versions/service.py",
    )
)
REFUSALS = {
    "FieldError", "at", "Sentence", "Conflict", "Forbidden", "Gone", "Invalid", "Malformed", "NotFound", "Stale",
    "LastOwner", "SystemStatus", "Taken", "TooLarge", "TooMany", "found",
}  # fmt: skip
REFUSING = (  # modules with sentences of refusals that screens say
    "alerts/cases/service.py",
    "alerts/messages/service.py",
    "core/answers/tags.py",
    "core/messaging/addresses.py",
    "core/organizations/passwords.py",
    "core/questionnaires/conditions.py",
    "core/questionnaires/definition.py",
    "core/questionnaires/dependencies.py",
    "core/questionnaires/endings.py",
    "core/questionnaires/metadata.py",
    "core/questionnaires/question_types.py",
    "core/questionnaires/questions.py",
    "core/questionnaires/variables.py",
    "core/reading/documents.py",
    "core/reading/structs.py",
    "core/text/placeholders.py",
    "core/wire/hosts.py",
    "core/wire/imports.py",
    "core/wire/tables.py",
    "core/wire/times.py",
    "core/wire/translation_files.py",
    "core/wire/written.py",
    "db/leases.py",
    "instances/tags/service.py",
    "intake/imports/service.py",
    "intake/lists/service.py",
    "intake/recoveries/service.py",
    "logins/identities/service.py",
    "logins/links/service.py",
    "logins/passkeys/service.py",
    "logins/policies/service.py",
    "logins/service.py",
    "pipelines/policies/service.py",
    "pipelines/service.py",
    "questionnaires/service.py",
    "queue/service.py",
    "queue/traces/service.py",
    "web/fields.py",
)
NOUNS = {"choices", "rows", "title", "label", "value", "exports", "imports", "acts on many items"}  # in such sentences
TABLES = (
    address_lists.MEANINGS, address_lists.ADDRESSES, address_lists.LEVELS, tables.ENCODINGS,
    address_lists.FORMAT_TEXTS, address_lists.SURE, address_lists.UNSURE, address_lists.ASKED,
    address_lists.SEPARATORS, address_lists.CONFLICTS, dict(enumerate(address_lists.STEPS)),
    acts.ACTIONS,
    *(dict(enumerate(pair)) for table in (acts.TITLES, acts.CHANGED, acts.BUTTONS) for pair in table.values()),
    sending.TABS, sending.STATUS_TEXTS, sending.REASONS, sending.RULES, sending.OUTCOMES, sending.CHANNELS,
    dict(enumerate(sending.TIMES)),
    retention.KINDS, retention.TITLES, done.TEXTS, {"kept": done.KEPT},
    account.LOGINS, charts.PARTS, report_views.METRICS, report_views.GROUPS,
    report_views.BOOLEANS, report_forms.METRICS,
    report_forms.BUCKETS, report_forms.BYS, report_forms.COMPARES, overview.STAGES, invitations.STAGES, cases.TABS,
    case_rows.SEVERITIES, statuses.SYSTEM_TITLES, case_figures.GROUPS, case_figures.SELECTED,
    dict(enumerate(case_figures.COLUMNS)),
    comments.BANDS, comments.BYS, comments.GROUPS, find.GROUPS,
    people.KINDS, people.REMINDERS, people.SUPPRESSIONS, people.MODES,
    providers.KINDS, providers.SETTINGS, providers.STATES, providers.ADDRESSES, providers.ADAPTERS, providers.OUTCOMES,
    domain.STATES, domain.STATE_SENTENCES, domain.PROBLEMS, provider_forms.SECURITIES, provider_records.FINDINGS,
    audit.KINDS, audit.ACTIONS, audit.FIELDS, tokens.KINDS, tokens.ENDS, tokens.OVERLAPS,
    notifications.DIGESTS, notifications.CASES, notifications.KINDS,
    text.WEEKDAYS, story.SEVERITIES, story.STATES,
    alert_rule_form.LABELS, alert_rule_form.TRIGGERS, conditions.GROUPS, condition_rows.COMPARISONS,
    dict(brands.FONTS), dict(brands.CORNERS), dict(brands.DENSITIES), brands.SUBJECTS, brands.LABELS,
    pipelines.STATES, webhooks.STATES, plans.STATES, resources.CHANNELS,
    doubtful.STATE_TEXTS, doubtful.FLAG_TEXTS, doubtful.NOTES, response_list.TABS, response_list.CHANNELS,
    endings.LABELS, question_form.CONTACTS, question_form.KINDS_OF_FILES,
    {name: one.label for name, one in question_types.TYPES.items()},
    {f"{name}.{key}": text for name, one in question_types.TYPES.items() for key, text in one.labels.items()},
    *({key: style.label for key, style in one.styles.items()} for one in question_types.TYPES.values()),
    {name: member.label for name, member in question_types.MEMBERS.items()},
    {name: member.hint for name, member in question_types.MEMBERS.items() if member.hint},
    questionnaire_settings.LAYOUTS, questionnaire_settings.LABELS,
    builder_pages.AROUND, text.LOOKS, text.SHADES, translations.SHOWS,
    links.STATES,
    response_list.BANDS, response_list.BAND_CHIPS, text.CHANGES, text.CHANGES_OF_MONTHS,
    differences.SENTENCES, differences.MEMBERS, metadata.COMMON,
    pipeline_versions.CHANGED, {name: text for name, (_, text) in pipeline_versions.MEMBERS.items()},
)  # fmt: skip


def sentences(path: Path) -> set[str]:
    """The sentences of a module, without docstrings; f-strings are for readers of the API alone."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    others = {id(one.value) for one in nodes if isinstance(one, ast.Expr)}
    others |= {id(part) for one in nodes if isinstance(one, ast.JoinedStr) for part in one.values}
    texts = [one.value for one in nodes if isinstance(one, ast.Constant) and id(one) not in others]
    return {text for text in texts if isinstance(text, str) and re.fullmatch(r"[\w“{].* .*\.|.*[.”] \{\w+\}", text)}


@cache
def noun_files() -> tuple[Path, ...]:
    """The modules that declare nouns."""
    return tuple(
        path
        for path in SOURCE.rglob("*.py")
        if re.search(r"nouns.declaration import .*\bNoun\b", path.read_text(encoding="utf-8"))
        and "nouns" not in path.parts
    )


def marked(call: ast.Call) -> set[str]:
    """The texts of a member's mark, or of the screens of a noun."""
    untold = {"path", "tab", "reads", "row", "titled", "blank", "inputs", "holds"}
    members = [*call.args[:2], *call.args[3:]] if ast.unparse(call.func) == "Editable" else call.args
    nodes = [*members, *(one.value for one in call.keywords if one.arg not in untold)]
    return {text for node in nodes for text in _texts_in(node) if text}


def _texts_in(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[0], ast.Constant):
        return _texts_in(node.elts[1])  # the value of an option, and its text
    if isinstance(node, ast.Tuple):
        return {text for one in node.elts for text in _texts_in(one)}
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def shown() -> set[str]:
    """The texts that templates and screens ask for."""
    found: set[str] = set()
    for path in (SOURCE / "templates/console").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        found |= {*CALL.findall(text), *(each for pair in PLURAL.findall(text) for each in pair)}
    for path in (*(SOURCE / "console").rglob("*.py"), *OTHERS, *noun_files()):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func)
            texts = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if name.rpartition(".")[2] == "words" or name.endswith("words.plural"):
                found |= {*texts}
            elif name in {"Editable", "Screens"} and path in noun_files():
                found |= marked(call)
            elif name.rpartition(".")[2] in REFUSALS:
                found |= {text for text in texts if text.endswith(".")}
    found |= _refused()
    found |= {text for table in TABLES for text in table.values()}
    found |= {text for _, text, _, _ in screens.SECTIONS} | {text for role in settings.ROLES for text in role[1:]}
    found |= {text for pair in shared.WORDS.values() for text in pair}
    found |= {text for pair in report_forms.READY_TEXTS.values() for text in pair}
    found |= {*outline.SENTENCES.values()} | {one.title for one in metadata.PRODUCT}
    found |= {text for text, _, _ in audit.GROUPS.values()}
    found |= {text for starter in welcome.STARTERS for text in starter[1:]} | {*welcome.STEPS}
    found |= {*digests.WEEK_DAYS} | {*notifications.GROUPS} | {hint for _, _, hint in brands.COLORS}
    found |= {text for _, *unit in resources.UNITS for text in unit}
    found |= {part.title for part in pipeline_parts.PARTS.values()}
    found |= {*pipeline_parts.FOLLOWING, *(text for pair in pipeline_parts.STAYING.values() for text in pair)}
    for one in (
        *(one for part in pipeline_parts.PARTS.values() for one in part.inputs),
        *contact_policy.INPUTS,
        *metadata_names.NAME_INPUTS[:1],
        *links.INPUTS,
        *boxes.INPUTS,
        *domain.INPUTS,
        *identity.INPUTS,
        *logins.INPUTS,
        *identity.GROUP_INPUTS,
        *kiosks.INPUTS,
    ):
        found |= {one.label, one.hint, *(text for _, text in one.options if one.is_translated)}
    found |= {*digests.WEEK_DAYS} | {text for _, text in domain_records.SENTENCES.values()}
    found |= {text for each in provider_forms.FIELDS.values() for one in each for text in (one.label, one.hint)}
    return (found | {"Erased.", entry.WRONG, passkeys.REFUSED, story.ON_ITS_WAY}) - {""}


def _refused() -> set[str]:
    """The sentences of refusals that screens say."""
    found = NOUNS | {placeholders.KNOWN}
    for name in REFUSING:
        found |= sentences(SOURCE / name)
    found |= {noun.nothing for noun in all_nouns()}
    for path in (one for name in ("service", "store") for one in SOURCE.rglob(f"{name}.py")):
        found |= {text for text in sentences(path) if text.startswith("There is no such ")}
    for path in (*(one for name in ("api", "resources") for one in SOURCE.rglob(f"{name}.py")), *noun_files()):
        found |= {*EXPECTED.findall(path.read_text(encoding="utf-8"))}
    return found


@pytest.mark.parametrize("language", [one for one in screens.LANGUAGES if one != texts.SOURCE_LANGUAGE])
def test_complete(language: str) -> None:
    with (texts.LOCALE_FOLDER / language / "LC_MESSAGES/console.po").open("rb") as file:
        entries = [one for one in read_po(file, locale=language) if one.id]
    catalogue = {text for one in entries for text in _all(one.id)}
    assert set() == shown() - catalogue
    assert set() == catalogue - shown()
    for one in entries:
        for said in _all(one.string):
            assert said, one.id
            assert set(BLANKS.findall(_all(one.id)[0])) == set(BLANKS.findall(said)), one.id


def _all(texts: object) -> list[str]:
    return [str(text) for text in texts] if isinstance(texts, list | tuple) else [str(texts)]
