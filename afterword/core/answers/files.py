"""Files that answer a question: their kinds by content, their names, and the answer that lists them."""

import io
import re
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.documents import is_array, is_object

NAME_CHARACTERS_MAX: Final = 100
DIRECTORY_BYTES_MAX: Final = 1_000_000  # the list of a zip archive
END_BYTES_MAX: Final = 22 + 65_535  # of a zip archive: the record that ends it, with a comment
KIND_BYTES_MAX: Final = 100  # of the media type in an OpenDocument file
PDF_END_BYTES: Final = 2_048  # the end of the file must be marked within them
Refusal = Literal["empty", "too_large", "wrong_kind", "damaged", "harmful", "unchecked"]

EXTENSIONS: Final[Mapping[str, str]] = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "text/plain": "txt",
}
# By family: the endings that the page offers. Pictures are stored as JPEG or PNG, and CSV as text: a spreadsheet would
# run its formulas.
ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "picture": (".jpg", ".jpeg", ".png", ".webp", ".gif"),
    "pdf": (".pdf",),
    "document": (".docx", ".odt"),
    "spreadsheet": (".xlsx", ".ods"),
    "text": (".txt", ".csv"),
}
_PICTURES: Final = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_MAIN_PARTS: Final = {  # of an Office Open XML package
    "word/document.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xl/workbook.xml": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_PROGRAMS: Final = ("<", "%!", "#!", "{\\rtf")  # beginnings of texts that a program may run: pages, drawings, scripts
_FAMILIES: Final = {
    kind: family for kind, ending in EXTENSIONS.items() for family, known in ENDINGS.items() if f".{ending}" in known
}


class NewFile(msgspec.Struct, frozen=True, kw_only=True):
    file_id: str
    name: str
    media_type: str
    content: bytes
    content_hash: bytes  # of the file as it came
    is_in_folder: bool = False

    @property
    def entry(self) -> dict[str, int | str]:
        return {"file_id": self.file_id, "name": self.name, "type": self.media_type, "bytes": len(self.content)}


class RefusedFile(msgspec.Struct, frozen=True):
    name: str
    refusal: Refusal


Received = Sequence[NewFile | RefusedFile]  # for one question


def family_of(content: bytes) -> tuple[str, str] | None:
    """The family and media type of the content; None for any other. That of a picture is empty: it is encoded again."""
    if content.startswith(_PICTURES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        return "picture", ""
    if content.startswith(b"%PDF-"):
        return ("pdf", "application/pdf") if b"%%EOF" in content[-PDF_END_BYTES:] else None
    kind = _kind_of_archive(content) if content.startswith(b"PK\x03\x04") else _kind_of_text(content)
    return (_FAMILIES[kind], kind) if kind else None


def name_of(given: str, media_type: str) -> str:
    """A name without folders, control and direction characters, with the ending of its media type."""
    last = given.replace("\\", "/").rpartition("/")[2]
    kept = "".join(one for one in last if unicodedata.category(one)[0] not in "CZ" or one == " ")
    ending = f".{EXTENSIONS[media_type]}"
    words = kept.strip(" .").split()
    stem = re.sub(r"\.[^.]{0,20}\Z", "", " ".join(words))[: NAME_CHARACTERS_MAX - len(ending)].strip(" .")
    return f"{stem or 'file'}{ending}"


def names_of(value: object) -> list[str]:
    entries = value if is_array(value) else ()
    return [str(one.get("name")) for one in entries if is_object(one)]


def accepted(question: Question) -> list[str]:
    return [ending for family in question.file_types for ending in ENDINGS[family]]


def _kind_of_archive(content: bytes) -> str | None:
    """By the parts of an office file, of which no content is unpacked; None for one with macros."""
    end = content.rfind(b"PK\x05\x06")
    if (
        content.count(b"PK\x05\x06", max(0, len(content) - END_BYTES_MAX)) != 1  # a reader may take another one
        or content[end - 20 : end - 16] == b"PK\x06\x07"
        or not 0 < int.from_bytes(content[end + 12 : end + 16], "little") <= DIRECTORY_BYTES_MAX
    ):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError, OSError):
        return None
    names = {one.filename for one in parts}
    if any(name.lower().endswith("vbaproject.bin") or name.startswith("Basic/") for name in names):
        return None
    if "[Content_Types].xml" in names:
        return next((kind for part, kind in _MAIN_PARTS.items() if part in names), None)
    first = parts[0] if parts else None
    if first is None or first.filename != "mimetype" or first.compress_type != zipfile.ZIP_STORED:
        return None
    start = first.header_offset + 30 + len("mimetype")  # OpenDocument: the first part, not compressed, without extras
    kind = (
        content[start : start + first.file_size].decode("ascii", "replace") if first.file_size < KIND_BYTES_MAX else ""
    )
    return kind if _FAMILIES.get(kind) in {"document", "spreadsheet"} else None


def _kind_of_text(content: bytes) -> str | None:
    """None for bytes that are no UTF-8 or have control characters, and for texts that a program may run."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) or text.lstrip().startswith(_PROGRAMS) else "text/plain"
