"""The interface's texts: every one that a page shows is in every catalogue, with the same blanks to fill."""

import ast
import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from afterword.asking.instances import answer_page
from afterword.core.questionnaires.question_types import TYPES
from afterword.kit import texts

SOURCE = Path(texts.__file__).parents[1]
CALL = re.compile(r'\bt\("([^"]+)"')
BLANKS = re.compile(r"\{\w+\}")
# Handlers of pages, and what puts their texts together.
MODULES = (
    *(path for path in SOURCE.rglob("pages.py") if "screens" not in path.parts),
    *(
        SOURCE / name
        for name in (
            "asking/instances/answer_page.py",
            "asking/instances/call_backs.py",
            "asking/instances/answer_page.py",
            "asking/instances/rendering.py",
            "asking/instances/views.py",
            "kit/web/public.py",
        )
    ),
)


def shown() -> set[str]:
    """The texts that templates and doors ask for."""
    found = {text for path in (SOURCE / "templates/public").rglob("*.html") for text in CALL.findall(path.read_text())}
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
        found |= {
            str(call.args[0].value)
            for call in calls
            if isinstance(call.args[0], ast.Constant)
            and (
                (isinstance(call.func, ast.Name) and call.func.id in {"t", "texts", "words"})
                or (isinstance(call.func, ast.Attribute) and call.func.attr == "texts")
            )
        }
    tables = answer_page.TEXTS
    found |= {answer_page.EXCLUSIVE, answer_page.MISFIT, answer_page.WHOLE_NUMBER}
    found |= {*tables["wrong"].values(), *tables["files"].values(), *tables["mouths"]}
    found |= {text for row in tables["wrong_of"].values() for text in row.values()}
    found |= {text for name in ("bounds", "out_of_bounds") for row in tables[name].values() for text in row}
    found |= {label for label, *_ in tables["contact"].values()}
    for row in TYPES.values():
        found |= {*row.ends, *(label for faces in row.faces.values() for _, label in faces)} - {""}
    return found - {"pages"}


@pytest.mark.parametrize("language", [one for one in texts.LANGUAGES if one != texts.SOURCE_LANGUAGE])
def test_complete(language: str) -> None:
    with (texts.LOCALE_FOLDER / language / "LC_MESSAGES/pages.po").open("rb") as file:
        catalogue = {str(one.id): str(one.string) for one in read_po(file, locale=language) if one.id}
    assert set() == shown() - set(catalogue)
    assert [] == [text for text, said in catalogue.items() if set(BLANKS.findall(text)) != set(BLANKS.findall(said))]
