"""The console's texts: every one that a screen shows is in each catalogue, with the same blanks to fill."""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from afterword.console import screens
from afterword.core.text import placeholders
from afterword.core.wire import tables
from afterword.kit import texts
from tests.kit.nouns.declared import all_nouns

TERMS: Mapping[str, Mapping[str, Mapping[str, list[str]]]] = json.loads(
    (Path(__file__).parent / "terms.json").read_text(encoding="utf-8")
)
DECLARED = ast.FunctionDef | ast.ClassDef
TEXT = ast.Name("Marked")
SOURCE = Path(texts.__file__).parents[1]
TABLES = re.compile(r"(?<!toml\.)\btables_of\(__name__(?:, \"(\w+)\")?\)")
CALL = re.compile(r'\bt\("([^"]+)"')
SENTENCE = re.compile(r'\bSentence\(\s*"([^"]+)"[,)]')
EXPECTED = re.compile(r'"expected": "([^"]+)"')  # of a member, in words of its own
PLURAL = re.compile(r'\bt\.plural\("([^"]+)", "([^"]+)"')
BLANKS = re.compile(r"\{\w+\}")
OTHERS = tuple(  # with texts of the console
    SOURCE / name
    for name in (
        "asking/questionnaires/condition_rows.py",
        "sending/pipelines/resources.py",
        "cases/call_backs.py",
        "sending/pipelines/versions.py",
    )
)
REFUSALS = {
    "FieldError", "at", "Sentence", "Conflict", "Forbidden", "Gone", "Invalid", "Malformed", "NotFound", "Stale",
    "LastOwner", "SystemStatus", "Taken", "TooLarge", "TooMany", "found", "same_version",
}  # fmt: skip
REFUSING = (  # modules with sentences of refusals that screens say
    "cases/alert_instances/service.py",
    "cases/messages.py",
    "core/answers/imported.py",
    "core/answers/instances.py",
    "core/answers/values.py",
    "core/messaging/addresses.py",
    "core/organizations/passwords.py",
    "core/questionnaires/conditions.py",
    "core/questionnaires/question_types.py",
    "core/questionnaires/definition.py",
    "core/questionnaires/flow.py",
    "core/questionnaires/endings.py",
    "core/questionnaires/metadata.py",
    "core/questionnaires/questions.py",
    "core/questionnaires/variables.py",
    "core/reading/documents.py",
    "core/reading/elements.py",
    "core/reading/structs.py",
    "core/sources/general.py",
    "core/sources/paths.py",
    "core/sources/signatures.py",
    "core/text/placeholders.py",
    "core/wire/site.py",
    "core/wire/imports.py",
    "core/wire/response_columns.py",
    "core/wire/tables.py",
    "core/wire/times.py",
    "core/wire/translation_files.py",
    "core/wire/written.py",
    "listening/exports/schedules.py",
    *(f"core/foreign/{path.name}" for path in (SOURCE / "core/foreign").glob("*.py")),
    "listening/imports/files.py",
    "listening/imports/service.py",
    "listening/imports/uploads.py",
    "kit/db/leases.py",
    "asking/instances/tags.py",
    "sending/intake/imports/service.py",
    "sending/intake/lists.py",
    "sending/intake/sources/records.py",
    "cases/recoveries.py",
    "tenants/logins/identities/service.py",
    "tenants/logins/links.py",
    "tenants/logins/passkeys.py",
    "tenants/logins/policies.py",
    "tenants/logins/service.py",
    "sending/pipelines/policies.py",
    "sending/pipelines/service.py",
    "asking/questionnaires/service.py",
    "sending/queue/scheduler.py",
    "sending/queue/service.py",
    "sending/queue/traces.py",
    "kit/web/fields.py",
    "core/organizations/access.py",
    "tenants/organizations/checks.py",
)
DESCRIPTIONS = {"summary", "description", "about", "about_create", "about_update"}
SCHEMA = "extra_json_schema"
QUERY = re.compile(r"\bdb\.(?:fetch|execute)")
NOUNS = {"choices", "rows", "title", "label", "value", "exports", "imports", "acts on many items"}  # in such sentences


def sentences(path: Path) -> set[str]:
    """The sentences of a module, without docstrings; f-strings and descriptions are for readers of the API alone."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    others = {id(one.value) for one in nodes if isinstance(one, ast.Expr)}
    described = [one.value for one in nodes if isinstance(one, ast.keyword) and one.arg in DESCRIPTIONS | {SCHEMA}]
    others |= {id(part) for one in described for part in ast.walk(one)}
    others |= {id(part) for one in nodes if isinstance(one, ast.JoinedStr) for part in one.values}
    texts = [one.value for one in nodes if isinstance(one, ast.Constant) and id(one) not in others]
    return {text for text in texts if isinstance(text, str) and re.fullmatch(r"[\w“{].* .*\.|.*[.”] \{\w+\}", text)}


@cache
def shown() -> frozenset[str]:
    """The texts that templates and screens ask for, and those that are declared as Marked."""
    found = _refused() | {*tables.ENCODINGS.values()}
    for path in (SOURCE / "templates/console").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        found |= {*CALL.findall(text), *(each for pair in PLURAL.findall(text) for each in pair)}
    modules = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    trees = [
        ast.parse(text)
        for path, text in modules.items()
        if not {"console", "screens"}.isdisjoint(path.relative_to(SOURCE).parts)
        or path in OTHERS
        or re.search(r"(texts|locales) import .*\bMarked\b|nouns.declaration import .*\bNoun\b|\bSourceKind\b", text)
    ]
    declared = [
        {node.name: marked_parameters(node) for node in tree.body if isinstance(node, DECLARED)} for tree in trees
    ]
    of_all = {name: marked for each in declared for name, marked in each.items() if marked}
    for tree, own in zip(trees, declared, strict=True):
        takes = {**of_all, **own, "words": {"0": TEXT}, "plural": {"0": TEXT, "1": TEXT}}
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and node.value is not None and is_marked(node.annotation):
                found |= {*texts_in(node.value, node.annotation)}
            if isinstance(node, ast.Call):
                found |= {*given_to(node, takes.get(ast.unparse(node.func).rpartition(".")[2], {}))}
    found |= {*_labels(modules.values(), of_all["Editable"]), *_of_tables(modules)}
    return frozenset(found - {""} | {"Erased."})  # which the database writes


def _labels(modules: Iterable[str], parameters: Mapping[str, ast.expr]) -> Iterator[str]:
    """Those of the requests of the API that a form follows from."""
    for text in modules:
        if "Editable(" in text:
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            for node in calls:
                if ast.unparse(node.func) in {"Editable", "Given"}:
                    yield from given_to(node, parameters)


def _of_tables(modules: Mapping[Path, str]) -> Iterator[str]:
    for path, text in modules.items():
        module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        for name in TABLES.findall(text):
            yield from texts_of_table(texts.tables_of(module, name))


def texts_of_table(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    entries = value if isinstance(value, list) else []
    if isinstance(value, dict):
        entries = [one for name, one in value.items() if name not in {"path", "found_by"}]
    for one in entries:
        yield from texts_of_table(one)


def is_marked(annotation: ast.expr) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "Marked" for one in ast.walk(annotation))


def marked_parameters(declared: ast.FunctionDef | ast.ClassDef) -> dict[str, ast.expr]:
    """The annotations with Marked, by name and by place, of a function's parameters or of a record's members."""
    if isinstance(declared, ast.ClassDef):
        members = [one for one in declared.body if isinstance(one, ast.AnnAssign)]
        named = [(ast.unparse(one.target), one.annotation) for one in members]
    else:
        named = [(one.arg, one.annotation) for one in (*declared.args.args, *declared.args.kwonlyargs)]
    return {
        key: annotation
        for place, (name, annotation) in enumerate(named)
        if annotation is not None and is_marked(annotation)
        for key in (name, str(place))
    }


def given_to(call: ast.Call, parameters: Mapping[str, ast.expr]) -> Iterator[str]:
    """The texts of a call, and the sentences of a refusal."""
    given = {str(place): one for place, one in enumerate(call.args)} | {
        str(one.arg): one.value for one in call.keywords
    }
    is_refusal = ast.unparse(call.func).rpartition(".")[2] in REFUSALS
    for name, value in given.items():
        if is_refusal and isinstance(value, ast.Constant) and str(value.value).endswith("."):
            yield str(value.value)
        if name in parameters:
            yield from texts_in(value, parameters[name])


def texts_in(value: ast.expr, annotation: ast.expr) -> Iterator[str]:
    """The constants of a value that its annotation says are texts."""
    if isinstance(value, ast.IfExp):
        yield from (*texts_in(value.body, annotation), *texts_in(value.orelse, annotation))
    elif isinstance(annotation, ast.BinOp):
        yield from texts_in(value, annotation.left if is_marked(annotation.left) else annotation.right)
    elif isinstance(annotation, ast.Subscript):
        for one, kind in parts_of(value, annotation):
            yield from texts_in(one, kind)
    elif is_marked(annotation) and isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value


def parts_of(value: ast.expr, annotation: ast.Subscript) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The parts of a table, each with its own annotation."""
    kinds = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if ast.unparse(annotation.value) == "Final":
        yield value, kinds[0]
    elif isinstance(value, ast.Dict):
        for key, one in zip(value.keys, value.values, strict=True):
            yield from ((key or one, kinds[0]), (one, kinds[1]))
    elif isinstance(value, ast.Tuple | ast.List):
        is_fixed = ast.unparse(annotation.value) == "tuple" and ast.unparse(kinds[-1]) != "..."
        yield from zip(value.elts, kinds if is_fixed else [kinds[0]] * len(value.elts), strict=True)


def _refused() -> set[str]:
    """The sentences of refusals that screens say."""
    found = NOUNS | {placeholders.KNOWN} | {noun.nothing for noun in all_nouns()}
    for name in REFUSING:
        found |= sentences(SOURCE / name)
    for path in SOURCE.glob("*/**/*.py"):
        text = path.read_text(encoding="utf-8")
        if "There is no such " in text and (path.stem == "service" or QUERY.search(text)):
            found |= {said for said in sentences(path) if said.startswith("There is no such ")}
        found |= {*EXPECTED.findall(text), *SENTENCE.findall(text)}
    return found


def test_complete() -> None:
    """All languages at once: the texts that are shown take ten seconds to find."""
    for language in screens.LANGUAGES:
        if language != texts.SOURCE_LANGUAGE:
            check_catalogue(language)


def check_catalogue(language: str) -> None:
    with (texts.LOCALE_FOLDER / language / "LC_MESSAGES/console.po").open("rb") as file:
        entries = [one for one in read_po(file, locale=language) if one.id]
    catalogue = {text for one in entries for text in _all(one.id)}
    assert set() == shown() - catalogue, language
    assert set() == catalogue - shown(), language
    for one in entries:
        forms = _all(one.string)
        for said in forms:
            assert said, (language, one.id)
            left_out = {"{n}"} if len(forms) > 1 and said == forms[0] else set[str]()  # “a day” for “1 day”
            assert set(BLANKS.findall(_all(one.id)[0])) - left_out == set(BLANKS.findall(said)) - left_out, one.id


@pytest.mark.parametrize("language", TERMS)
def test_terms(language: str) -> None:
    """A language says the same thing with the same word: no word of another product, and none for two things."""
    with (texts.LOCALE_FOLDER / language / "LC_MESSAGES/console.po").open("rb") as file:
        said = [each.lower() for one in read_po(file, locale=language) if one.id for each in _all(one.string)]
    whole = "\n".join(said)
    for term, words in TERMS[language].items():
        assert any(word.lower() in whole for word in words["use"]), term
        for word in words["avoid"]:
            pattern = re.compile(rf"\b{re.escape(word.lower())}\b")
            assert [] == [text for text in said if pattern.search(text)], word


def _all(texts: object) -> list[str]:
    return [str(text) for text in texts] if isinstance(texts, list | tuple) else [str(texts)]
