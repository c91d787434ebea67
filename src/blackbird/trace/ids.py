"""Ids: ULIDs of 16 bytes, and their 26 characters of Crockford's alphabet."""

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BYTES = 16
CHARACTERS = 26
ZERO = bytes(BYTES)
REQUEST_PREFIX = "req_"

_VALUES = {character: value for value, character in enumerate(ALPHABET)}
_BITS = 5


def to_text(identifier: bytes) -> str:
    """The 26 characters of an id."""
    number = int.from_bytes(identifier, "big")
    return "".join(ALPHABET[(number >> shift) & 31] for shift in range(_BITS * (CHARACTERS - 1), -1, -_BITS))


def from_text(text: str) -> bytes | None:
    """The 16 bytes of an id, or nothing if the text is none."""
    if len(text) != CHARACTERS:
        return None
    number = 0
    for character in text:
        value = _VALUES.get(character)
        if value is None:
            return None
        number = number << _BITS | value
    return number.to_bytes(BYTES, "big") if number < 1 << 8 * BYTES else None


def request_name(identifier: bytes) -> str:
    """The id of a request as people see it."""
    return REQUEST_PREFIX + to_text(identifier)
