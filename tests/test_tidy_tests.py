"""Rules for the tests themselves: each asserts something, none ends before it has, and each module has its test."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

TESTS = Path(__file__).parent
PRODUCT = TESTS.parent / "afterword"
RAISING = {"raises", "warns", "fail"}  # of pytest
LAYERS: Final = frozenset({"api", "service", "store", "records", "resources", "pages"})  # of a part: tested together
BEGINS_BADLY: Final = re.compile(r'^ *(?:r?"""|# )((?:What|Who|Whose|How|That)\b.*)', re.MULTILINE)
# Areas whose packages stand below them.
OF_PACKAGES: Final = frozenset({"asking", "extras", "kit", "listening", "people", "run", "sending", "tenants"})
Function = ast.FunctionDef | ast.AsyncFunctionDef
BLOCKS = ast.If | ast.For | ast.While | ast.AsyncFor | ast.With | ast.AsyncWith | ast.Try


def is_test(function: Function) -> bool:
    return function.name.startswith("test_")


def functions_of(tree: ast.Module) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def asserts(node: ast.AST) -> bool:
    """Whether this very statement or call can fail the test."""
    match node:
        case ast.Assert():
            return True
        case ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError"))):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="pytest"), attr=name)):
            return name in RAISING
        case _:
            return False


def called(function: Function) -> set[str]:
    """The last parts of the names that it calls."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls}


def asserting(functions: dict[str, list[Function]]) -> set[str]:
    """The names of the functions that assert, themselves or by what they call."""
    found = {name for name, each in functions.items() if any(asserts(n) for one in each for n in ast.walk(one))}
    calls = {name: set[str]().union(*map(called, each)) for name, each in functions.items()}
    while more := {name for name in calls.keys() - found if calls[name] & found}:
        found |= more
    return found


def early_returns(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """Returns of nothing before anything was asserted; that one error alone is raised is an assertion."""
    for statement in body:
        if any(asserts(node) for node in ast.walk(statement)):
            if isinstance(statement, BLOCKS):
                yield from early_returns(statement.body)
            if not isinstance(statement, ast.If | ast.Try):
                return
        elif isinstance(statement, ast.Return) and statement.value is None:
            yield statement
        elif isinstance(statement, BLOCKS):
            yield from early_returns([*statement.body, *getattr(statement, "orelse", [])])


def problems(sources: dict[str, str]) -> Iterator[str]:
    """Faults of these files, with their names."""
    named = {name: list(functions_of(ast.parse(text))) for name, text in sources.items()}
    by_name: dict[str, list[Function]] = {}
    for function in (one for each in named.values() for one in each):
        by_name.setdefault(function.name, []).append(function)
    known = asserting({name: each for name, each in by_name.items() if not name.startswith("test_")})
    for name, functions in named.items():
        for test in (one for one in functions if is_test(one) and Path(name).name.startswith("test_")):
            if not any(asserts(node) for node in ast.walk(test)) and not called(test) & known:
                yield f"{name}:{test.lineno}: {test.name}() asserts nothing"
            for early in early_returns(test.body):
                yield f"{name}:{early.lineno}: {test.name}() may end before it asserts; give it only what it is about"


def test_each_test_asserts() -> None:
    assert [] == list(problems({str(path.relative_to(TESTS)): path.read_text() for path in TESTS.rglob("*.py")}))


@pytest.mark.parametrize(
    ("body", "is_wrong"),
    [
        ("pass", True),
        ("run()", True),
        ("check()", False),
        ("indirectly()", False),
        ("assert run()", False),
        ("with pytest.raises(ValueError): run()", False),
        ("if run(): return\n    assert run()", True),
        ("for _ in run():\n        if _: return\n    assert run()", True),
        ("assert run()\n    if run(): return\n    run()", False),
        ("try: run()\n    except ValueError: return\n    assert run()", False),
    ],
)
def test_the_rule(body: str, is_wrong: bool) -> None:  # noqa: FBT001
    source = (
        f"def run(): pass\ndef check(): assert 1\ndef indirectly(): run(); check()\nasync def test_x():\n    {body}\n"
    )
    assert is_wrong is bool(list(problems({"test_x.py": source})))


@pytest.mark.parametrize("folder", ["afterword", "benchmarks", "clients", "release", "tests"])
def test_sentences_begin_with_their_actor(folder: str) -> None:
    """A docstring or comment that begins with what, who, whose, how or that hides its actor in a clause."""
    files = (TESTS.parent / folder).rglob("*.py")
    assert {} == {str(path): found for path in files if (found := BEGINS_BADLY.findall(path.read_text()))}


def package_of(path: Path) -> tuple[str, ...]:
    """The folders of a package: below an area of packages two of them, elsewhere one; screens are one too."""
    folders = path.parts[:-1]
    has_packages = folders[:1] and (folders[0] in OF_PACKAGES or folders[1:2] == ("screens",))
    return folders[:2] if has_packages else folders[:1]


def has_its_test(module: Path, tests: list[Path]) -> bool:
    """Whether one of `tests` (relative to tests/) is the test of `module` (relative to afterword/)."""
    package = package_of(module)
    near = [test for test in tests if package_of(test) == package]
    name = module.stem.strip("_")
    if package[0:1] and package[0] in OF_PACKAGES and any(test.parts[:2] == (*package, name) for test in tests):
        return True
    if any(test.name == f"test_{name}.py" or name in test.parts[len(package) : -1] for test in near):
        return True
    if module.stem not in LAYERS or len(module.parts) == 1:
        return False
    if len(module.parts) == len(package) + 1:
        return bool(near)
    part = module.parts[-2]
    return any(test.name.startswith(f"test_{part}") or part in test.parts[len(package) : -1] for test in near)


def test_each_module_has_its_test() -> None:
    """`afterword/a/b/c.py` is tested in `tests/a/**/test_c.py` or `c/`, and `afterword/c.py` in `tests/test_c.py`.

    In an area of packages, `a` is an area and a package of it, such as `asking/links`.

    The layers of a part (`afterword/a/b/service.py`, `store.py`, …) are tested through one another, and may share
    `tests/a/**/test_b*.py` or the folder `tests/a/**/b/`; those of a package (`afterword/a/service.py`) any test of it.
    """
    tests = [path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")]
    modules = [path.relative_to(PRODUCT) for path in PRODUCT.rglob("*.py") if path.name != "__init__.py"]
    without = {str(module) for module in modules if not has_its_test(module, tests)}
    without = {
        name for name in without if not name.startswith("run/migrations/")
    }  # tests/run/migrations/test_migrations.py runs them all
    assert not without, "modules without a test where their path says"


@pytest.mark.parametrize(
    ("module", "test", "is_its"),
    [
        ("a/b/c.py", "a/test_c.py", True),
        ("a/b/c.py", "a/b/test_c.py", True),
        ("a/b/c.py", "a/b/c/test_other.py", True),
        ("a/b/c.py", "a/test_b.py", False),
        ("a/b/c.py", "other/test_c.py", False),
        ("a/b/c.py", "test_c.py", False),
        ("c.py", "test_c.py", True),
        ("c.py", "a/test_c.py", False),
        ("__main__.py", "test_main.py", True),
        ("a/b/store.py", "a/test_b_of_others.py", True),
        ("a/b/store.py", "a/b/test_other.py", True),
        ("a/b/store.py", "a/test_other.py", False),
        ("a/store.py", "a/test_other.py", True),
        ("a/store.py", "test_other.py", False),
        ("asking/a/c.py", "asking/a/test_c.py", True),
        ("asking/a/c.py", "asking/test_c.py", False),
        ("asking/a/store.py", "asking/a/test_other.py", True),
        ("asking/a/b/store.py", "asking/a/test_other.py", False),
        ("asking/a/store.py", "asking/b/test_other.py", False),
        ("a/screens/c.py", "a/test_c.py", False),
    ],
)
def test_what_is_its_test(module: str, test: str, is_its: bool) -> None:  # noqa: FBT001
    assert is_its is has_its_test(Path(module), [Path(test)])


@pytest.mark.skipif(not (TESTS.parent / ".git").exists(), reason="needs the repository")
def test_names_of_files_have_no_blanks_or_signs() -> None:
    """Output that a shell took for the name of a file would stay in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=TESTS.parent, capture_output=True, text=True, check=True)  # noqa: S607
    assert [] == [name for name in listed.stdout.split("\0") if not re.fullmatch(r"[\w./@+-]*", name)]
