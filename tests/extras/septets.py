"""A phone's reading of the GSM 7-bit alphabet."""

from afterword.core.messaging.segments import BASIC, ESCAPE, EXTENSION


def decode_gsm7(octets: bytes) -> str:
    """The text of unpacked septets; what no table has becomes a space, as on phones."""
    second = {code: character for character, code in EXTENSION.items()}
    found: list[str] = []
    is_escaped = False
    for octet in octets:
        if octet == ESCAPE and not is_escaped:
            is_escaped = True
            continue
        basic = BASIC[octet] if octet < len(BASIC) and octet != ESCAPE else " "
        found.append(second.get(octet, basic) if is_escaped else basic)
        is_escaped = False
    return "".join(found)
