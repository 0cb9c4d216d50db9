"""Explanations of each code of a refusal, for the pages /problems/{code} and the reference."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Explanation:
    """Status, title, cause and remedy of a code."""

    status: int
    title: str
    text: str


_TEXT = """\
400 malformed_json: Malformed JSON
The body is not one valid JSON value with nothing after it. Check commas, quotes and brackets, and that nothing
follows the last bracket.

400 malformed_form: Malformed form
The body is not a readable form: a bracket is not closed, a name is both a value and a map, there are more than 1,000
pairs, or brackets are nested deeper than 8.

400 malformed_query: Malformed query
The part of the address behind the question mark cannot be read: a bracket is not closed, a name is both a value and a
map, or there are more than 1,000 pairs.

400 malformed_encoding: Malformed encoding
The request is not valid UTF-8 text. Send UTF-8, in bodies and behind the percent signs of addresses.

400 malformed_header: Malformed header
A header of the request cannot be read, such as an Idempotency-Key of more than 255 characters. The member errors
names the header.

400 duplicate_member: Duplicate member
A name stands twice in one object, form or query, so it is not clear which of the values is meant. Send each name
once.

400 too_deep: Nested too deeply
Objects and lists are nested deeper than this route reads: 16 levels, 24 for questionnaire definitions.

400 too_many_members: Too many members
One object has more than 200 members.

400 name_too_long: Name too long
A member's name has more than 255 characters.

400 nul_character: NUL character
A text or a name holds the character NUL (U+0000), which we do not store. Remove it.

400 lone_surrogate: Lone surrogate
A text holds one half of a surrogate pair (such as \\ud83d alone). It was probably cut in the middle of an emoji; cut
by characters instead.

400 number_out_of_range: Number out of range
A number is NaN, infinite or too large: integers have at most 18 digits, other numbers must fit a double.

400 invalid_request: Invalid OAuth request
A member of the form is missing or stands twice, or it is no form. Send grant_type=client_credentials as
application/x-www-form-urlencoded.

400 unsupported_grant_type: Unsupported grant
Access tokens are given for grant_type=client_credentials alone.

400 unauthorized_client: Unauthorized client
Only tokens of an organization are OAuth clients; this one is a person's.

400 invalid_scope: Invalid scope
A scope does not exist or the client does not hold it. Scopes are written here in lower case with underscores, such as
queue.create, with spaces between them.

401 invalid_client: Invalid client
The client is not known, has ended, or its secret is wrong: client_id is the id of an organization's token,
client_secret its whole text.

401 unauthenticated: Authentication required
The request carries no token. Send the header Authorization: Bearer and your token.

401 invalid_token: Invalid token
There is no such token. It may be misspelt or cut, or belong to another installation.

401 token_expired: Token expired
The token was good until its expiry. Create a new one, or rotate tokens before they end.

401 token_revoked: Token revoked
Somebody revoked this token, or its user has left. Create a new one.

401 ambiguous_credentials: Ambiguous credentials
Two headers carry different tokens. Send one.

401 bad_signature: Bad signature
The call of a provider is not signed, or not as the address that it came to wants it. Nothing was changed.

403 insufficient_scope: Insufficient scope
The token is good, but was not given the scope that this operation needs; required_scopes names it. Create a token
with that scope.

403 domain_mismatch: Other organization
The header esat-domain names another organization than the token's. Correct the header or leave it out.

403 forbidden: Forbidden
You may see this, but your role does not allow the change.

404 not_found: Not found
There is nothing with this id that your token can see: it never existed, was deleted, or belongs to another
organization.

404 unknown_route: Unknown route
There is no operation at this address. The reference at /docs lists all.

405 method_not_allowed: Method not allowed
The address exists, but not for this method. The header Allow lists the methods that it has.

406 not_acceptable: Not acceptable
The header Accept admits none of the types that this operation can answer with. Leave it out or admit
application/json.

408 request_timeout: Request timeout
The body did not arrive within 30 seconds. Send it again.

409 already_exists: Already exists
There is one with this key already.

409 in_use: In use
Something else refers to it, or it refers to something that is not there.

409 last_owner: Last owner
An organization has one active owner at least. Make another one before this one goes.

409 system_status: Status of the system
This alert status belongs to the system: it is neither changed nor removed.

409 token_ended: Token ended
The token was revoked or has expired, so it is not rotated. Make a new one.

409 not_ready: Not ready
It is still being made. Try again a little later.

409 item_in_dispatch: Item in dispatch
The queue item is being sent at this moment, so it cannot be changed. Try again after the seconds in Retry-After.

409 item_not_repeatable: Item cannot be sent again
Only an item that is Failed or Ignored can be sent again. One that waits goes by itself, one that was Sent or Aborted
stays as it is; create a new item instead.

409 item_closed: Item closed
The queue item has been sent, has failed, was cancelled or was skipped; it does not change any more.

409 outcome_unknown: Outcome unknown
An earlier attempt to send this item may have reached the person, so its record is kept.

409 questionnaire_not_published: Questionnaire not published
The questionnaire has no published version, so nothing can be issued. Publish it first.

409 questionnaire_inactive: Questionnaire inactive
The questionnaire is switched off or archived, so nothing is issued. Activate it first.

409 application_inactive: Application inactive
The application is switched off, so nothing is issued, and what is queued waits. Activate it first.

409 questionnaire_closed: Questionnaire closed
The questionnaire has all the responses that it was to have, so nothing more is issued.

409 finalized: Finalized
The questionnaire was completed and takes no further answers.

409 idempotency_in_progress: First request under way
A request with this Idempotency-Key is still being worked on. Send it again after the seconds in Retry-After.

410 gone: Gone
It was here and was removed for good after its time.

410 expired: Expired
The time to answer this questionnaire is over.

412 precondition_failed: Precondition failed
It was changed since you read it: If-Match names another version. Read it again and repeat your change.

413 body_too_large: Body too large
The body is over the limit: 1 MB, or 32 MB for bulk and import.

414 target_too_long: Address too long
Path and query together are over 16 KB. Filter by fewer values.

415 unsupported_media_type: Unsupported media type
The body is of a type that this operation does not read. Send application/json in UTF-8.

415 unsupported_encoding: Unsupported encoding
The body is compressed. Send it as it is, without Content-Encoding.

422 invalid: Invalid request
One or more fields are wrong. The member errors lists all of them, each with a JSON Pointer to its place, a code and a
sentence.

422 idempotency_key_reused: Idempotency-Key reused
This Idempotency-Key belongs to another request. Use a new key for each new request.

429 rate_limited: Too many requests
Too many requests in this minute. Wait for the seconds in Retry-After; the RateLimit headers tell how many are left.

500 internal_error: Internal error
A mistake of ours. It is in our log under the request's id; nothing of what you sent was stored by this request.

503 unavailable: Unavailable
The service cannot reach its database or is overloaded. Send the request again after the seconds in Retry-After.
"""


def _read(text: str) -> dict[str, Explanation]:
    found: dict[str, Explanation] = {}
    for paragraph in text.strip().split("\n\n"):
        head, _, body = paragraph.partition("\n")
        status, code, title = head.split(" ", 2)
        found[code.removesuffix(":")] = Explanation(int(status), title, body.replace("\n", " "))
    return found


EXPLANATIONS: Final[Mapping[str, Explanation]] = _read(_TEXT)

FIELD_CODES: Final[Mapping[str, str]] = {
    "required": "A member that must be there is missing or null.",
    "wrong_type": "A value of another type is expected: a text, an integer, true or false, a list, an object.",
    "not_nullable": "This member cannot be set to null.",
    "too_short": "The text has fewer characters than required.",
    "too_long": "The text has more characters than allowed.",
    "too_few": "The list has fewer entries than required.",
    "too_many": "The list or map has more entries than allowed.",
    "out_of_range": "The number or date lies outside its bounds.",
    "invalid_format": "The text does not have the expected form.",
    "invalid_date_time": "This is no date with a time such as 2026-11-21T18:23:45+02:00.",
    "leap_second": "The second 60 is not taken; use the second before or after.",
    "invalid_locale": "This is no language tag such as el or en-US.",
    "invalid_address": "This is no address of the pipeline's channel: an e-mail address, a phone number.",
    "unknown_id": "There is nothing with this id that your token can see.",
    "unknown_value": "The value is none of those that are allowed.",
    "unknown_column": "The list cannot be filtered or ordered by this column.",
    "unknown_criterion": "There is no such comparison for filter_by.",
    "unknown_field": "The answer has no member of this name.",
    "unknown_scope": "There is no such scope, or you do not hold it yourself.",
    "unknown_metadata": "No metadata of this name is declared (only with Prefer: handling=strict).",
    "unknown_member": "There is no such member or parameter (only with Prefer: handling=strict).",
    "read_only": "The service sets this member (only with Prefer: handling=strict).",
    "exclusive": "These cannot be sent together.",
    "invalid_cursor": "The cursor belongs to another list, filter or order, or was changed.",
    "cursor_expired": "The cursor points behind what the event log still holds.",
    "page_too_deep": "Pages end at the 100,000th row; use limit and cursor to go on.",
}
