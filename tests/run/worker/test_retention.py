"""The statements of retention, as they are sent: a change of one is read in the difference of `retention.sql`."""

from pathlib import Path

from afterword.run.worker.retention import RETENTION

PRINTED = Path(__file__).with_name("retention.sql")


def test_statements() -> None:
    printed = "".join(
        f"-- {name}: kept for {old.age}, at most {old.batch} at once\n{old.statement};\n\n"
        for name, old in RETENTION.items()
    )
    assert PRINTED.read_text(encoding="utf-8") == printed, f"write it anew, and read the difference:\n{printed}"
