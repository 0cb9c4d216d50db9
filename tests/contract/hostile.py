"""Bodies that want to break a parser, and what is said to each; sent under the label of JSON unless said."""

import codecs
import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.contract.wire import CANARY

MEGABYTE: Final = 1_048_576
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Hostile:
    """A body in one piece, or in several without a length; `expected`: status and code."""

    label: str
    body: bytes | Sequence[bytes]
    expected: tuple[int, str]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def _bad(label: str, body: bytes, code: str) -> Hostile:
    return Hostile(label, body, (400, code))


def _labelled(label: str, content_type: str, body: bytes = b"{}") -> Hostile:
    return Hostile(label, body, (415, "unsupported_media_type"), {"content-type": content_type})


def _encoded(encoding: str, body: bytes) -> Hostile:
    return Hostile(f"in {encoding}", body, (415, "unsupported_encoding"), {"content-encoding": encoding})


def _members(count: int) -> bytes:
    return b"{" + b",".join(b'"n%d":1' % number for number in range(count)) + b"}"


_CANARY: Final = CANARY.encode()
_OBJECT: Final = b'{"a":"' + _CANARY + b'"}'

MALFORMED: Final = [
    _bad("only white space", b" \t\r\n", "malformed_json"),
    _bad("an open object", b"{", "malformed_json"),
    _bad("an open list", b"[", "malformed_json"),
    _bad("an open text", b'{"a":"' + _CANARY, "malformed_json"),
    _bad("a name alone", b'{"a"}', "malformed_json"),
    _bad("no value", b'{"a":}', "malformed_json"),
    _bad("no name", b'{:"' + _CANARY + b'"}', "malformed_json"),
    _bad("a comma at the end", b'{"a":1,}', "malformed_json"),
    _bad("a comma at the end of a list", b'{"a":[1,]}', "malformed_json"),
    _bad("two commas", b'{"a":1,,"b":2}', "malformed_json"),
    _bad("single quotes", b"{'a':'" + _CANARY + b"'}", "malformed_json"),
    _bad("no quotes", b"{a:1}", "malformed_json"),
    _bad("a comment", b'{"a":1/*' + _CANARY + b"*/}", "malformed_json"),
    _bad("a second value", _OBJECT + _OBJECT, "malformed_json"),
    _bad("a second value on a line of its own", _OBJECT + b"\n" + _OBJECT, "malformed_json"),
    _bad("garbage behind", _OBJECT + b"\x00\x00", "malformed_json"),
    _bad("a bracket too many", _OBJECT + b"}", "malformed_json"),
    _bad("a wrong bracket", b'{"a":[1}]', "malformed_json"),
    _bad("True", b'{"a":True}', "malformed_json"),
    _bad("undefined", b'{"a":undefined}', "malformed_json"),
    _bad("a number with a plus", b'{"a":+1}', "malformed_json"),
    _bad("a number with a zero in front", b'{"a":007}', "malformed_json"),
    _bad("a number without its end", b'{"a":1.}', "malformed_json"),
    _bad("a hexadecimal number", b'{"a":0x10}', "malformed_json"),
    _bad("a bad escape", b'{"a":"\\x41"}', "malformed_json"),
    _bad("half of an escape", b'{"a":"\\u12"}', "malformed_json"),
    _bad("a line end in a text", b'{"a":"' + _CANARY + b'\n"}', "malformed_json"),
    _bad("a form", b"a=" + _CANARY + b"&b[c]=2", "malformed_json"),
    _bad("XML", b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "malformed_json"),
    _bad("a pickle", b"\x80\x04K\x01.", "malformed_encoding"),
    _bad("bad UTF-8 in a text", b'{"a":"' + _CANARY + b'\xff"}', "malformed_encoding"),
    _bad("bad UTF-8 in a name", b'{"\xc3\x28":1}', "malformed_encoding"),
    _bad("UTF-8 longer than needed", b'{"a":"\xc0\xaf"}', "malformed_encoding"),
    _bad("a surrogate as UTF-8", b'{"a":"\xed\xa0\x80"}', "malformed_encoding"),
    _bad("beyond the last character", b'{"a":"\xf4\x90\x80\x80"}', "malformed_encoding"),
    _bad("Latin-1", '{"a":"é"}'.encode("latin-1"), "malformed_encoding"),
    _bad("UTF-16", codecs.BOM_UTF16_LE + _OBJECT.decode().encode("utf-16-le"), "malformed_encoding"),
    _bad("UTF-32", codecs.BOM_UTF32_LE + _OBJECT.decode().encode("utf-32-le"), "malformed_encoding"),
    _bad("two byte-order marks", codecs.BOM_UTF8 * 2 + b"{}", "malformed_json"),
    _bad("gzip without a label", gzip.compress(_OBJECT), "malformed_encoding"),
    _bad("NUL in a value", b'{"a":"' + _CANARY + b'\\u0000"}', "nul_character"),
    _bad("NUL in a name", b'{"a\\u0000b":1}', "nul_character"),
    _bad("NUL deep inside", b'{"a":[{"b":["\\u0000"]}]}', "nul_character"),
    _bad("a high surrogate alone", b'{"a":"' + _CANARY + b'\\ud83d"}', "lone_surrogate"),
    _bad("a low surrogate alone", b'{"a":"\\ude00"}', "lone_surrogate"),
    _bad("surrogates in the wrong order", b'{"a":"\\ude00\\ud83d"}', "lone_surrogate"),
    _bad("a surrogate in a name", b'{"\\ud83d":1}', "lone_surrogate"),
    _bad("a surrogate in the name of an error", b'{"metadata":{"questionnaire":{"\\ud83d":[]}}}', "lone_surrogate"),
    _bad("NaN", b'{"a":NaN}', "number_out_of_range"),
    _bad("Infinity", b'{"a":Infinity}', "number_out_of_range"),
    _bad("minus Infinity", b'{"a":-Infinity}', "number_out_of_range"),
    _bad("1e400", b'{"a":1e400}', "number_out_of_range"),
    _bad("-1e400", b'{"a":-1e400}', "number_out_of_range"),
    _bad("1e999999999", b'{"a":1e999999999}', "number_out_of_range"),
    _bad("19 digits", b'{"valid_days":1234567890123456789}', "number_out_of_range"),
    _bad("minus 19 digits", b'{"a":-1234567890123456789}', "number_out_of_range"),
    _bad("5,000 digits", b'{"a":' + b"7" * 5000 + b"}", "number_out_of_range"),
    _bad("500,000 digits", b'{"a":' + b"7" * 500_000 + b"}", "number_out_of_range"),
    _bad("a name twice", b'{"locale":"el","locale":"' + _CANARY + b'"}', "duplicate_member"),
    _bad("a name twice, once escaped", b'{"locale":"el","loc\\u0061le":"en"}', "duplicate_member"),
    _bad("a name twice inside", b'{"metadata":{"questionnaire":{"a":1,"a":2}}}', "duplicate_member"),
    _bad("an empty name twice", b'{"":1,"":2}', "duplicate_member"),
    _bad("__proto__ twice", b'{"__proto__":{},"__proto__":{}}', "duplicate_member"),
    _bad("201 members", _members(201), "too_many_members"),
    _bad("100,000 members", _members(75_000), "too_many_members"),
    _bad("201 members inside", b'{"metadata":{"questionnaire":' + _members(201) + b"}}", "too_many_members"),
    _bad("a name of 256 characters", b'{"' + b"n" * 256 + b'":1}', "name_too_long"),
    _bad("a name of 500,000 characters", b'{"' + b"n" * 500_000 + b'":1}', "name_too_long"),
    _bad("a name of 256 characters of two bytes", '{{"{}":1}}'.format("é" * 256).encode(), "name_too_long"),
    _bad("17 deep", b"[" * 17 + b"]" * 17, "too_deep"),
    _bad("17 objects deep", b'{"a":' * 16 + b"{}" + b"}" * 16, "too_deep"),
    _bad("64 deep", b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", "too_deep"),
    _bad("100,000 deep", b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep"),
    _bad("100,000 deep and never closed", b"[" * 100_000, "too_deep"),
    _bad("objects and lists in turn", b'[{"a":' * 20 + b"1" + b"}]" * 20, "too_deep"),
    _bad("deep behind an escaped quote", b'{"a\\"b":' + b"[" * 20 + b"]" * 20 + b"}", "too_deep"),
    _bad("brackets in a text, then broken", b'{"a":"' + b"[" * 5000 + b'"', "malformed_json"),
]
LABELLED: Final = [
    _labelled("multipart", "multipart/form-data; boundary=x", b"--x--"),
    _labelled("text", "text/plain"),
    _labelled("text that says it is JSON", "text/json"),
    _labelled("XML", "application/xml", b"<a/>"),
    _labelled("YAML", "application/yaml", b"a: 1"),
    _labelled("bytes", "application/octet-stream"),
    _labelled("CSV", "text/csv", b"a,b"),
    _labelled("lines of JSON", "application/x-ndjson"),
    _labelled("UTF-16", "application/json; charset=utf-16", '{"a":1}'.encode("utf-16")),
    _labelled("Latin-1", 'application/json;charset="iso-8859-1"'),
    _labelled("no type at all", ";;;"),
    _labelled("two types", "application/json, text/plain"),
    _labelled("a type that begins like JSON", "application/jsonx"),
    _encoded("gzip", gzip.compress(_OBJECT)),
    _encoded("deflate", zlib.compress(_OBJECT)),
    _encoded("br", b"\x0b\x02\x80{}\x03"),
    _encoded("zstd", b"\x28\xb5\x2f\xfd" + _OBJECT),
    _encoded("x-unknown", _OBJECT),
    _encoded("gzip, gzip", gzip.compress(gzip.compress(_OBJECT))),
    _encoded("identity, gzip", gzip.compress(b" " * 5_000_000)),
]
LARGE: Final = [
    Hostile("a byte too many", b'{"a":"' + b"x" * (MEGABYTE - 7) + b'"}', (413, "body_too_large")),
    Hostile("a length of 30 MB", b"{}", (413, "body_too_large"), {"content-length": "31457280"}),
    Hostile("a length of 30 digits", b"{}", (413, "body_too_large"), {"content-length": "9" * 30}),
    Hostile("many pieces", [b" " * 65_536] * 20, (413, "body_too_large")),
    Hostile("pieces of a broken text", [b'{"a":', b'"' + _CANARY], (400, "malformed_json")),
    Hostile("a character cut in two, and its end missing", [b'{"a":"\xc3', b'"}'], (400, "malformed_encoding")),
    Hostile("a wrong length", b'{"a":1', (400, "malformed_json"), {"content-length": "2"}),
]
HOSTILE: Final = [*MALFORMED, *LABELLED, *LARGE]
