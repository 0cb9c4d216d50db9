"""The command line: each command is there, and whatever refuses it is a sentence with an exit code, no traceback."""

import importlib
import subprocess
import sys

import cyclopts
import pytest

from afterword import __main__, errors
from afterword.__main__ import COMMANDS, EXIT_REFUSED, EXIT_SETTING
from afterword.errors import FieldError
from afterword.kit import settings
from afterword.run.cli import CommandError


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there(name: str) -> None:
    """They are imported when they run, so nothing else would notice one that was renamed."""
    target, sentence = COMMANDS[name]
    module, _, attribute = target.partition(":")
    assert callable(getattr(importlib.import_module(f"afterword.run.cli.{module}"), attribute))
    assert sentence.endswith(".")


def app_that_raises(error: Exception) -> cyclopts.App:
    app = cyclopts.App()

    @app.default
    async def command() -> None:
        raise error

    return app


@pytest.mark.parametrize(
    ("refusal", "code", "said"),
    [
        (settings.SettingError("AFTERWORD_PORT is no number."), EXIT_SETTING, "AFTERWORD_PORT is no number."),
        (CommandError("There is no such file."), EXIT_REFUSED, "There is no such file."),
        (errors.Conflict("It is closed."), EXIT_REFUSED, "It is closed."),
        (
            errors.Invalid.of(FieldError("too_long", "At most 9.", pointer="/a")),
            EXIT_REFUSED,
            "1 field is wrong: a. At most 9.",
        ),
    ],
)
async def test_refusals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], refusal: Exception, code: int, said: str
) -> None:
    monkeypatch.setattr(__main__, "parser", lambda: app_that_raises(refusal))
    assert code == await __main__.run([])
    assert ("", f"afterword: {said}\n") == tuple(capsys.readouterr())


async def test_a_bug_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "parser", lambda: app_that_raises(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        await __main__.run([])


class TestUnread:
    """Standard output that nobody reads to its end, as behind `| head`."""

    SCRIPT = """
import sys
from afterword import __main__
async def run(words):
    for _ in range({lines}):
        print("x" * 100)
    {then}
__main__.run = run
__main__.main()
"""

    @pytest.mark.parametrize("lines", [1, 10_000])
    def test_ends_quietly(self, lines: int) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", self.SCRIPT.format(lines=lines, then="")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as child:
            assert child.stdout
            assert child.stderr
            child.stdout.close()
            assert (b"", 141) == (child.stderr.read(), child.wait(60))

    def test_another_broken_pipe_is_told(self) -> None:
        script = self.SCRIPT.format(lines=1, then="raise BrokenPipeError('the mail server')")
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=False)
        assert 1 == ended.returncode
        assert b"the mail server" in ended.stderr
