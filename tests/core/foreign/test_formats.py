"""Promises of each format: one file is of one form, its draft passes the check, and all is told."""

import io
import zipfile

import pytest

from afterword import errors
from afterword.core import foreign
from afterword.core.foreign.parts import TITLE_SHOWN_CHARACTERS, Format, Line, Read
from tests.core.foreign.forms import Taken
from tests.core.foreign.lss import Q, survey
from tests.core.foreign.samples import SAMPLES

EACH = pytest.mark.parametrize("name", list(SAMPLES))


def test_each_format_has_a_sample() -> None:
    assert sorted(SAMPLES) == sorted(one.name for one in foreign.FORMATS)


@EACH
class TestEach:
    def test_is_of_one_form(self, name: str) -> None:
        assert [name] == [one.name for one in foreign.FORMATS if one.is_of(SAMPLES[name])]

    def test_passes_the_check_of_our_files(self, name: str) -> None:
        first, second = Taken(SAMPLES[name]).definition.questions()
        assert (second.show_if is not None) != bool(first.jumps)  # some systems have the one, some the other

    def test_in_utf16(self, name: str) -> None:
        """As spreadsheets and editors of Windows save texts; a workbook is none."""
        if name != "xlsform":
            again = SAMPLES[name].decode("utf-8-sig").encode("utf-16")
            assert foreign.read(SAMPLES[name]) == foreign.read(again)

    def test_is_the_same_each_time(self, name: str) -> None:
        assert foreign.read(SAMPLES[name])[1] == foreign.read(SAMPLES[name])[1]

    def test_tells_of_each_question(self, name: str) -> None:
        _, made = foreign.read(SAMPLES[name])
        keys = {one["key"] for group in made.document["groups"] for one in group["questions"]}
        assert keys == {line.key for line in made.lines if line.kind == "question"}
        assert all(len(line.title) <= TITLE_SHOWN_CHARACTERS for line in made.lines)
        assert foreign.Summary(2, 2, 1, 1, 0) == foreign.Summary.of(made.lines)

    @pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
    def test_a_cut_file_is_refused_or_told(self, name: str, share: float) -> None:
        content = SAMPLES[name]
        try:
            made = foreign.read(content[: int(len(content) * share)])[1]
        except (errors.Invalid, errors.Malformed) as refused:
            assert refused.detail  # noqa: PT017  a table without its last rows is still a table
        else:
            assert foreign.Summary.of(made.lines).questions_count <= 2


class TestRefused:
    @pytest.mark.parametrize("content", [b"", b"{}", b"<x/>", b"PK\x03\x04", b"display_name: Ours", bytes(range(256))])
    def test_of_no_form(self, content: bytes) -> None:
        with pytest.raises(errors.Invalid, match="It reads LimeSurvey"):
            foreign.read(content)

    def test_of_two_forms(self, monkeypatch: pytest.MonkeyPatch) -> None:
        other = Format("other", "Another", (".x",), lambda content: b"LimeSurvey" in content, lambda _: Read())
        monkeypatch.setattr(foreign, "FORMATS", (*foreign.FORMATS, other))
        with pytest.raises(errors.Invalid, match=r"could be of several systems.*LimeSurvey \+ Another"):
            foreign.read(SAMPLES["limesurvey"])

    def test_too_large(self) -> None:
        with pytest.raises(errors.TooLarge):
            foreign.read(bytes(50_000_000))


def test_summary() -> None:
    lines = [
        Line("question", "changed", "a", ""), Line("question", "changed", "b", "", whole=False),
        Line("condition", "left_out", "b", "", whole=False), Line("setting", "left_out", "b", "", whole=False),
        Line("text", "changed", "b", "", whole=False),
    ]  # fmt: skip
    assert foreign.Summary(2, 1, 1, 0, 1) == foreign.Summary.of(lines)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_of_limesurvey(compression: int) -> None:
    """Its report says what to bring; without compression its beginning looks like a structure."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        archive.writestr("survey_7.lss", survey([Q("a", "S")]))
        archive.writestr("survey_7_responses.lsr", "\xff" * 9)
    with pytest.raises(errors.Invalid, match="an archive of LimeSurvey"):
        foreign.format_of(content.getvalue())
