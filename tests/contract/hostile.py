"""Bodies and queries that want to break a parser, and what is said to each; bodies are sent as JSON unless said.

tests/kit/web/test_parsing.py hands all of them to the parser, and test_bad_input.py and test_bad_queries.py send them
to each kind of route. Each may take 50 ms and 8 MB, and none may reach a handler.
"""

import codecs
import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.contract.wire import CANARY

MEGABYTE: Final = 1_048_576
JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
LINES: Final = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Hostile:
    """A body in one piece, or in several without a length; `expected`: status and code."""

    label: str
    body: bytes | Sequence[bytes]
    expected: tuple[int, str]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def depth(self) -> int:
        """The depth of its deepest value."""
        whole = self.body if isinstance(self.body, bytes) else b"".join(self.body)
        return whole.count(b"{") + whole.count(b"[")


def _bad(label: str, body: bytes, code: str) -> Hostile:
    return Hostile(label, body, (400, code))


def _labelled(label: str, content_type: str, body: bytes = b"{}") -> Hostile:
    return Hostile(label, body, (415, "unsupported_media_type"), {"content-type": content_type})


def _encoded(encoding: str, body: bytes) -> Hostile:
    return Hostile(f"in {encoding}", body, (415, "unsupported_encoding"), {"content-encoding": encoding})


def _form(label: str, body: bytes, code: str) -> Hostile:
    return Hostile(f"a form with {label}", body, (400, code), {"content-type": FORM})


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
    _bad("brackets the wrong way round", b"]]]][[[[", "malformed_json"),
    _bad("5,000 closing brackets", b"}" * 5000, "malformed_json"),
    _bad("ten open objects", b"{" * 10, "malformed_json"),
    _bad("a number as a name", b'{1:"x"}', "malformed_json"),
    _bad("None", b'{"a":None}', "malformed_json"),
    _bad("True", b'{"a":True}', "malformed_json"),
    _bad("undefined", b'{"a":undefined}', "malformed_json"),
    _bad("a number with a plus", b'{"a":+1}', "malformed_json"),
    _bad("a number with a zero in front", b'{"a":007}', "malformed_json"),
    _bad("a number without its end", b'{"a":1.}', "malformed_json"),
    _bad("a hexadecimal number", b'{"a":0x10}', "malformed_json"),
    _bad("a bad escape", b'{"a":"\\x41"}', "malformed_json"),
    _bad("half of an escape", b'{"a":"\\u12"}', "malformed_json"),
    _bad("a line end in a text", b'{"a":"' + _CANARY + b'\n"}', "malformed_json"),
    _bad("a control character", b'{"a":"\x01"}', "malformed_json"),
    _bad("NUL as it is", b'{"a":"\x00"}', "malformed_json"),
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
    _bad("half of a character", b'{"a":"\xc3"}', "malformed_encoding"),
    _bad("UTF-16 without a mark", '{"a":1}'.encode("utf-16-le"), "malformed_json"),
    _bad("UTF-32 without a mark", '{"a":1}'.encode("utf-32-be"), "malformed_json"),
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
    _bad("1e400 in a list", b'{"a":[1e400]}', "number_out_of_range"),
    _bad("an exponent of 5,000 digits", b'{"a":1e' + b"9" * 5000 + b"}", "number_out_of_range"),
    _bad("19 digits", b'{"valid_days":1234567890123456789}', "number_out_of_range"),
    _bad("minus 19 digits", b'{"a":-1234567890123456789}', "number_out_of_range"),
    _bad("5,000 digits", b'{"a":' + b"7" * 5000 + b"}", "number_out_of_range"),
    _bad("a million digits", b'{"a":' + b"7" * 1_000_000 + b"}", "number_out_of_range"),
    _bad("a name twice", b'{"locale":"el","locale":"' + _CANARY + b'"}', "duplicate_member"),
    _bad("a name twice, once escaped", b'{"locale":"el","loc\\u0061le":"en"}', "duplicate_member"),
    _bad("a name twice with one value", b'{"a":1,"a":1}', "duplicate_member"),
    _bad("a name twice in a list", b'{"a":[{"b":1,"b":1}]}', "duplicate_member"),
    _bad("a name twice inside", b'{"metadata":{"questionnaire":{"a":1,"a":2}}}', "duplicate_member"),
    _bad("an empty name twice", b'{"":1,"":2}', "duplicate_member"),
    _bad("__proto__ twice", b'{"__proto__":{},"__proto__":{}}', "duplicate_member"),
    _bad("201 members", _members(201), "too_many_members"),
    _bad("100,000 members", _members(75_000), "too_many_members"),
    _bad("201 members inside", b'{"metadata":{"questionnaire":' + _members(201) + b"}}", "too_many_members"),
    _bad("201 members behind lists", b'{"a":[' + b"[]," * 300 + b'[]],"b":' + _members(201) + b"}", "too_many_members"),
    _bad("a name of 256 characters inside", b'{"a":{"b":{"' + b"n" * 256 + b'":1}}}', "name_too_long"),
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
    _bad("deep behind escapes", b'{"a":"\\\\\\"]]]]","b":' + b"[" * 20 + b"]" * 20 + b"}", "too_deep"),
    _bad("200,000 objects and lists", b'{"a":[' * 100_000, "too_deep"),
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
    _labelled("half of a type", "json"),
    _labelled("any type", "*/*"),
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
FORMS: Final = [
    _form("an open bracket", b"a[b=" + _CANARY, "malformed_form"),
    _form("an open bracket, encoded", b"a%5Bb=" + _CANARY, "malformed_form"),
    _form("a closing bracket alone", b"a]=1", "malformed_form"),
    _form("a bracket first, like JSON", b"[a]=1", "malformed_json"),
    _form("text behind a bracket", b"a[b]c=1", "malformed_form"),
    _form("a bracket in a bracket", b"a[b[c]]=1", "malformed_form"),
    _form("no name", b"=" + _CANARY, "malformed_form"),
    _form("9 brackets", b"a" + b"[b]" * 9 + b"=1", "malformed_form"),
    _form("100,000 brackets", b"a" + b"[]" * 100_000 + b"=1", "name_too_long"),
    _form("1,001 pairs", b"&".join(b"a%d=1" % number for number in range(1001)), "malformed_form"),
    _form("100,000 pairs", b"a=1&" * 100_000, "malformed_form"),
    _form("a million separators", b"&" * 1_000_000, "malformed_form"),
    _form("201 members", b"&".join(b"a[n%d]=1" % number for number in range(201)), "too_many_members"),
    _form("a value and a map", b"metadata=" + _CANARY + b"&metadata[questionnaire][a]=1", "malformed_form"),
    _form("a map and a value", b"metadata[questionnaire][a]=1&metadata=" + _CANARY, "malformed_form"),
    _form("a list and a map", b"a[]=1&a[b]=2", "malformed_form"),
    _form("a map and a list", b"a[0]=1&a[]=2", "malformed_form"),
    _form("a name twice", b"locale=el&locale=" + _CANARY, "duplicate_member"),
    _form("a name twice, once encoded", b"locale=el&%6Cocale=en", "duplicate_member"),
    _form("a name twice inside", b"metadata[a][b]=1&metadata[a][b]=2", "duplicate_member"),
    _form("__proto__ twice", b"__proto__[a]=1&__proto__[a]=2", "duplicate_member"),
    _form("a percent sign", b"a=100%", "malformed_form"),
    _form("a cut escape", b"a=%4", "malformed_form"),
    _form("an escape of no digits", b"a=%zz", "malformed_form"),
    _form("bad UTF-8", b"a=%ff", "malformed_encoding"),
    _form("bad UTF-8, raw", b"a=" + _CANARY + b"\xff", "malformed_encoding"),
    _form("bad UTF-8 in a name", b"%c3%28=1", "malformed_encoding"),
    _form("UTF-8 longer than needed", b"a=%c0%af", "malformed_encoding"),
    _form("a surrogate", b"a=%ed%a0%80", "malformed_encoding"),
    _form("half of a character", b"a=%c3&b=%a9", "malformed_encoding"),
    _form("NUL", b"a=" + _CANARY + b"%00", "nul_character"),
    _form("NUL, raw", b"a=\x00", "nul_character"),
    _form("NUL in a name", b"a%00b=1", "nul_character"),
    _form("NUL between brackets", b"a[%00]=1", "nul_character"),
    _form("a name of 256 characters", b"n" * 256 + b"=1", "name_too_long"),
    _form("a name of 500,000 characters", b"n" * 500_000 + b"=1", "name_too_long"),
    _form("256 characters between brackets", b"a[" + b"n" * 256 + b"]=1", "name_too_long"),
    Hostile("a form in Latin-1", b"a=1", (415, "unsupported_media_type"), {"content-type": f"{FORM}; charset=latin1"}),
    Hostile("a form and JSON", b"a=1", (415, "unsupported_media_type"), {"content-type": f"{FORM}, {JSON}"}),
    Hostile("a form of 2 MB", b"a=" + b"x" * (2 * MEGABYTE), (413, "body_too_large"), {"content-type": FORM}),
    _form("JSON and more", b'{"a":1}&b=1', "malformed_json"),
    _form("JSON behind white space", b'\n[{"a":"\\u0000"}]', "nul_character"),
    _form("an index twice", b"a[0]=1&a[0]=2", "duplicate_member"),
]
HOSTILE: Final = [*MALFORMED, *LABELLED, *LARGE, *FORMS]
HOSTILE_LISTS: Final = [
    *(hostile for hostile in LABELLED if hostile.headers.get("content-type") != LINES),
    Hostile("an open list", b"[", (400, "malformed_json")),
    Hostile("an open record", b'[{"a":"' + _CANARY + b'"}', (400, "malformed_json")),
    Hostile("a comma at the end", b"[{},]", (400, "malformed_json")),
    Hostile("a second list", b"[{}][{}]", (400, "malformed_json")),
    Hostile("a list under a form's label, open", b"[{}", (400, "malformed_json"), {"content-type": FORM}),
    Hostile("100,000 deep and never closed", b"[" * 100_000, (400, "malformed_json")),
    Hostile("bad UTF-8 and no end", b'[{"a":"' + _CANARY + b'\xff"}', (400, "malformed_encoding")),
    Hostile("UTF-16", '[{"a":1}]'.encode("utf-16"), (400, "malformed_encoding")),
    Hostile("a form", b"a=1", (415, "unsupported_media_type"), {"content-type": FORM}),
    Hostile("10,001 records", b"[" + b"1," * 10_000 + b"1]", (413, "body_too_large")),
    Hostile("a million records", b"[" + b"1," * 1_000_000 + b"1]", (413, "body_too_large")),
    Hostile("a million lines", b"1\n" * 1_000_000, (413, "body_too_large"), {"content-type": LINES}),
    Hostile("a length of 33 MB", b"[]", (413, "body_too_large"), {"content-length": "34603008"}),
]
"""For operations that read many records: a wrong record is no wrong body there."""
_MALFORMED_QUERIES: Final = (
    "a[", "a[b", "a[b=1", "a[b][c=1", "a]", "[a]=1", "=1", "a[b]c=1", "a[[b]]=1", "a[b[c]]=1", "a=1&a[b]=2",
    "a[]=1&a[b]=2", "a[b]=1&a=2", "%", "a=%zz", "a=%4", "a=100%", "a[1][2][3][4][5][6][7][8][9]=1",
    "&".join(f"a{number}=1" for number in range(1001)),
)  # fmt: skip
QUERIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(_MALFORMED_QUERIES, "malformed_query"),
    "a=%ff": "malformed_encoding",
    "%c3%28=1": "malformed_encoding",
    "a=%c0%80": "malformed_encoding",
    "a=%ed%a0%80": "malformed_encoding",
    "a=%00": "nul_character",
    "a%00b=1": "nul_character",
    "a[%00]=1": "nul_character",
    f"locale=1&locale={CANARY}": "duplicate_member",
    "a[b]=1&a[b]=2": "duplicate_member",
    f"{'n' * 256}=1": "name_too_long",
    f"a[{'n' * 256}]=1": "name_too_long",
    "&".join(f"a[n{number}]=1" for number in range(201)): "too_many_members",
}
"""Each with the code of its refusal."""
