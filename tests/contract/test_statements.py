"""Each statement names the tenant; nothing is put together, unpickled or run."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from afterword.kit.db import columns
from tests.test_tidy import OWN_TABLE, STORE_VERBS, is_sql

SOURCE: Final = Path("afterword")
SCHEMA: Final = SOURCE / "run/migrations/schema.sql"
GATEWAY: Final = SOURCE / "kit/db/__init__.py"
NO_QUERIES: Final = {
    GATEWAY: "composes lists from whitelisted columns; see below",
    SOURCE / "kit/db/leases.py": "the statements of all jobs, of the literals that each store declares of its own",
    SOURCE
    / "kit/nouns/service.py": "the statements of nouns, each of the literals of its declaration; see tests/kit/nouns",
    SOURCE / "kit/nouns/statements.py": "likewise",
    SOURCE
    / "kit/db/retention.py": "the statements of what is kept for a time; tests/run/worker/retention.sql prints them",
    SOURCE / "kit/db/hosts.py": "settings of connections, of the names and values that the pools declare",
    SOURCE / "kit/db/walks.py": "the next rows of a table in an order, both literals where they are asked for",
    SOURCE / "privacy/resealing.py": "the statements of each sealed column, of the literals that stand there",
    SOURCE / "run/embedded.py": "roles and passwords take no parameters; both are our own letters and digits",
    SOURCE / "run/migrations/__init__.py": "runs the files beside it",
    SOURCE / "run/backups/store.py": "COPY, locks and indexes take no parameters; names are the catalogue's, quoted",
    SOURCE / "run/backups/service.py": "drops and makes indexes and keys in the catalogue's own words",
}
QUERIES: Final = frozenset(
    {
        "fetch", "fetch_row", "fetch_one", "fetch_column", "fetch_tuples", "fetch_pairs", "fetch_value", "fetch_list",
        "execute", "touches", "fetchval", "fetchrow",
    }
)  # fmt: skip
OF_COLUMNS: Final = frozenset(
    {
        "qualified",
        "as_document",
        "suffixed",
        "assigned",
        "has_own",
        "within",
    }
)  # of db.columns: they make a literal of literals
HELD: Final = "organization_id = $1"  # how the condition of db.leases begins
EXCUSE: Final = "# any tenant:"
TABLE: Final = re.compile(r"create table (?:public\.)?(\w+) \((.*?)\n\)", re.DOTALL)
MENTION: Final = re.compile(r"\b(?:from|join|into|update|using)\s+(?:only\s+)?(\w+)", re.IGNORECASE)
STATEMENT: Final = re.compile(  # in one case, lower or upper: a sentence may begin with With
    r"\s*(?:select|insert\s+into|update|delete\s+from|with|SELECT|INSERT\s+INTO|UPDATE|DELETE\s+FROM|WITH)\b"
)
DANGEROUS_NAMES: Final = frozenset({"eval", "exec", "compile", "__import__", "Markup"})
DANGEROUS_MODULES: Final = frozenset({"pickle", "marshal", "shelve", "dill", "jsonpickle", "jinja2", "code", "ctypes"})
DANGEROUS_LOADERS: Final = frozenset(
    {"Loader", "FullLoader", "UnsafeLoader", "CLoader", "CFullLoader", "CUnsafeLoader"}
)
DANGEROUS_CALLS: Final = (
    "yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load", "os.system", "os.popen", "subprocess.getoutput",
    "asyncio.create_subprocess_shell", "re.template", "builtins.eval", "tempfile.mktemp",
)  # fmt: skip
DANGEROUS_METHODS: Final = frozenset(call.rpartition(".")[2] for call in DANGEROUS_CALLS)  # unparsing takes long
IN_TEMPLATES: Final = {
    "a value that is not escaped": re.compile(r"\|\s*safe\b|autoescape\s+(?:false|off|\"none\"|'none')", re.IGNORECASE),
    "a script in the page": re.compile(r"<script(?![^>]*\bsrc=)|\son[a-z]+\s*=\s*[\"']|javascript:", re.IGNORECASE),
    "a value in a place without quotes": re.compile(r"\s[\w:-]+\s*=\s*{{"),
}
IN_SCRIPTS: Final = re.compile(r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write")

Finding = tuple[str, int, str]


@cache
def tenant_tables() -> frozenset[str]:
    """The tables that have a tenant."""
    found = dict(TABLE.findall(SCHEMA.read_text().lower()))
    return frozenset(
        name for name, columns in found.items() if re.search(r"^\s*organization_id\b", columns, re.MULTILINE)
    )


def files(pattern: str) -> list[Path]:
    """The files of the product."""
    return sorted(SOURCE.rglob(pattern))


class Source:
    """A module of the product, parsed and walked once for all that is looked for in it."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, path.read_text()
        self.tree = ast.parse(self.text)
        self.nodes = list(ast.walk(self.tree))
        self.functions = [one for one in self.nodes if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
        self.constants = literals_of(self.tree)
        self.statements = list(self._statements())

    def _statements(self) -> Iterator[tuple[int, str]]:
        """The texts that are SQL, with their constants filled in."""
        sums = [node for node in self.nodes if isinstance(node, (ast.JoinedStr, ast.BinOp))]
        parts = {part for whole in sums for part in ast.walk(whole) if part is not whole}
        for node in self.nodes:
            if isinstance(node, (ast.JoinedStr, ast.BinOp, ast.Constant)) and node not in parts:
                text = text_of(node, self.constants)
                if text is not None and STATEMENT.match(text):
                    yield node.lineno, text


def is_of_a_store(tree: ast.Module, line: int) -> bool:
    """Whether the line is in a function with a store's verb, or in what its annotation says is SQL."""
    within = [node for node in tree.body if node.lineno <= line <= (node.end_lineno or 0)]
    return any(
        is_sql(node.annotation)
        if isinstance(node, ast.AnnAssign)
        else isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
        and (STORE_VERBS.match(node.name.lstrip("_")) or is_sql(node.returns))
        for node in within
    )


def named_tables(statement: str) -> set[str]:
    """The tables that a statement reads or writes; what it calls by such a name itself (`with x as`) is none."""
    return {name.lower() for name in MENTION.findall(statement)} - set(OWN_TABLE.findall(statement))


def untold(source: Source) -> Iterator[Finding]:
    """Statements of a store that name a tenant's table, but neither the tenant nor why not."""
    lines, tables = source.text.splitlines(), tenant_tables()
    excused: set[int] = set()
    for node in source.functions:
        if EXCUSE in lines[node.lineno - 1]:
            excused.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for line, statement in source.statements:
        reached = named_tables(statement) & tables
        if reached and "organization_id" not in statement and line not in excused:
            yield str(source.path), line, f"reaches {sorted(reached)} of every tenant"


def out_of_place(source: Source) -> Iterator[Finding]:
    """Statements with a tenant's table outside of the stores, and of functions named like theirs."""
    for line, statement in source.statements if source.path.name != "store.py" else ():
        reached = named_tables(statement) & tenant_tables()
        if reached and not is_of_a_store(source.tree, line):
            yield str(source.path), line, f"reaches {sorted(reached)}"


def put_together(source: Source) -> Iterator[Finding]:
    """Queries that are no literal and no sum of literals."""
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[query, *_]) if name in QUERIES:
                if text_of(query, source.constants) is None and text_of(query, within(source, node)) is None:
                    yield str(source.path), node.lineno, f"{ast.unparse(query)[:60]} is put together"
            case _:
                pass


def within(source: Source, call: ast.Call) -> Mapping[str, str]:
    """The names that stand for literal text where a call stands."""
    around = [one for one in source.functions if one.lineno <= call.lineno <= (one.end_lineno or 0)]
    innermost = max(around, key=lambda one: one.lineno, default=None)
    return {**source.constants, **(named_once(innermost, source.constants) if innermost else {})}


def named_once(function: ast.AST, constants: Mapping[str, str]) -> dict[str, str]:
    """The names of a function that stand for literal text, and for nothing else in it."""
    stored = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    found: dict[str, str] = {}
    for node in ast.walk(function):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if stored.count(name) == 1:
                text = text_of(value, {**constants, **found})  # pyrefly: ignore[bad-argument-type]
                if text is not None:
                    found[name] = text
            case _:
                pass
    return found


def literals_of(tree: ast.Module) -> dict[str, str]:
    """The module's names that stand for literal text, those of the product that it imports too."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(SOURCE.name):
            found |= {one.asname or one.name: text for one in node.names if (text := imported(node, one.name))}
        if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "LiteralString":
            found[f"{node.name}()"] = ""  # of literals it makes a literal, as the type checker proves
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            text = text_of(node.value, found)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and text is not None:
                    found[target.id] = text
    return found


@cache
def literals_of_file(path: Path) -> Mapping[str, str]:
    """As literals_of."""
    return literals_of(ast.parse(path.read_text()))


def imported(node: ast.ImportFrom, name: str) -> str | None:
    """The literal text that an upper-case name of another module of ours stands for."""
    path = Path(*(node.module or "").split(".")).with_suffix(".py")
    return literals_of_file(path).get(name) if name.isupper() and path.exists() else None


def text_of(node: ast.expr, constants: Mapping[str, str]) -> str | None:
    """The text, if it is the same in every run."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return constants.get(name)
        case ast.Call(func=ast.Name(id=name), args=[names, ast.Constant(value=str(alias))]) if name in OF_COLUMNS:
            text = text_of(names, constants)
            return None if text is None else getattr(columns, name)(text, alias)
        case ast.Call(func=ast.Name(id="columns_of" | "data_of" | "shown_of")):  # of a record, and of the event log
            parts = ["columns"]
        case ast.Call(func=ast.Name(id=name), args=args) if f"{name}()" in constants:
            parts = [text_of(each, constants) or "" for each in args]
        case ast.Attribute(value=ast.Name(id=name), attr="is_held") if name.isupper():
            parts = [HELD]
        case ast.IfExp(body=body, orelse=other):  # one of two literals
            parts = [text_of(body, constants), text_of(other, constants)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [text_of(left, constants), text_of(right, constants)]
        case ast.JoinedStr(values=values):
            inside = (value.value if isinstance(value, ast.FormattedValue) else value for value in values)
            parts = [text_of(value, constants) for value in inside]
        case _:
            return None
    return None if None in parts else "".join(part for part in parts if part)


def dangers(source: Source) -> Iterator[Finding]:
    """Calls that run or revive text as code."""
    path = source.path
    for node in source.nodes:
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in DANGEROUS_NAMES:
                yield str(path), line, f"{name}()"
            case ast.Call(func=ast.Attribute(attr=name) as function) if (
                name in DANGEROUS_METHODS and ast.unparse(function) in DANGEROUS_CALLS
            ):
                yield str(path), line, f"{ast.unparse(function)}()"
            case ast.Import(names=names) if {alias.name.split(".")[0] for alias in names} & DANGEROUS_MODULES:
                yield str(path), line, ast.unparse(node)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in DANGEROUS_MODULES:
                yield str(path), line, ast.unparse(node)
            case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                yield str(path), line, "shell=True"
            case ast.Attribute(attr=name) if name in DANGEROUS_LOADERS:
                yield str(path), line, name
            case _:
                pass


def test_source() -> None:
    """In one go, as each file is parsed once. The statements of NO_QUERIES are looked at for their place alone."""
    found: list[Finding] = []
    for path in files("*.py"):
        source = Source(path)
        found += [*dangers(source), *out_of_place(source)]
        found += [] if path in NO_QUERIES else [*untold(source), *put_together(source)]
    assert [] == found


class TestTenant:
    def test_the_schema_is_read(self) -> None:
        assert {"queue_item", "questionnaire_instance", "answer", "responder", "event"} <= tenant_tables()
        assert "application_type" not in tenant_tables()

    def test_it_has_teeth(self, tmp_path: Path) -> None:
        path = tmp_path / "store.py"
        path.write_text(
            "async def get_item(db, *, item_id):\n"
            "    return await db.fetch_row('select * from queue_item where item_id = $1', item_id)\n"
            "async def list_items(db):  # any tenant: the worker serves everyone\n"
            "    return await db.fetch('select * from queue_item')\n"
            "async def get_own(db):\n"
            "    return await db.fetch('with answer as (select 1) select * from answer')\n"
            "_COLUMNS = 'a, b'\n"
            "async def list_answers(db):\n"
            "    return await db.fetch(f'select {_COLUMNS} from answer' + ' where true')\n"
        )
        assert [2, 9] == [line for _, line, _ in untold(Source(path))]


class TestQueries:
    def test_the_gateway_composes_lists_alone(self) -> None:
        """Whoever adds a second place where db puts a query together has to come by here."""
        functions = [
            node for node in ast.walk(ast.parse(GATEWAY.read_text())) if isinstance(node, ast.AsyncFunctionDef)
        ]
        composing = {
            function.name
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.JoinedStr) and STATEMENT.match(ast.unparse(node).lstrip("f'\""))
        }
        assert {"fetch_list", "_key"} == composing

    def test_no_excuse_from_the_type_checker(self) -> None:
        """`LiteralString` holds only where nobody switched it off."""
        excuse = re.compile(r"#\s*(?:type|pyright|pyrefly):\s*ignore.*|cast\([\"']?LiteralString.*")
        query = re.compile(rf"\bdb\.(?:records\(.*\)\.)?(?:{'|'.join(QUERIES)})\(")
        found = [
            (str(path), node.lineno)
            for path in files("*.py")
            for text in [path.read_text()]
            if path not in NO_QUERIES and excuse.search(text) and query.search(text)
            for node in ast.parse(text).body
            for part in [ast.get_source_segment(text, node) or ""]
            if excuse.search(part) and (query.search(part) or "LiteralString" in part or path.name == "store.py")
        ]
        assert [] == found

    def test_it_has_teeth(self, tmp_path: Path) -> None:
        path = tmp_path / "store.py"
        path.write_text(
            "A = 'select 1'\nB = A + ' from x'\n"
            "async def f(db, name):\n"
            "    await db.fetch(A)\n    await db.fetch(B)\n    await db.fetch(f'{B} where true')\n"
            "    await db.fetch(f'select {name}')\n    await db.fetch('select ' + name)\n"
            "    await db.fetch('select %s' % name)\n    await db.fetch('select {}'.format(name))\n"
            "    await db.fetch(' '.join([name]))\n    await db.fetch(name)\n"
        )
        assert [7, 8, 9, 10, 11, 12] == [line for _, line, _ in put_together(Source(path))]


class TestCode:
    def test_it_has_teeth(self, tmp_path: Path) -> None:
        path = tmp_path / "x.py"
        path.write_text(
            "import pickle\nfrom marshal import loads\nimport yaml, os\neval('1')\nyaml.load('a')\n"
            "yaml.load_all('a', Loader=yaml.Loader)\nos.system('a')\nrun('a', shell=True)\nyaml.safe_load('a')\n"
        )
        assert {1, 2, 4, 5, 6, 7, 8} == {line for _, line, _ in dangers(Source(path))}


class TestTemplates:
    def test_everything_is_escaped(self) -> None:
        texts = {path: path.read_text() for path in files("templates/**/*") if path.is_file()}
        assert texts
        assert {} == {
            (path, name): found
            for path, text in texts.items()
            for name, pattern in IN_TEMPLATES.items()
            if (found := pattern.findall(text))
        }

    def test_scripts_write_no_markup(self) -> None:
        assert files("*.js")
        assert {} == {path: found for path in files("*.js") if (found := IN_SCRIPTS.findall(path.read_text()))}
