"""Ids: ULIDs of 16 bytes, and their 26 characters of Crockford's alphabet."""

import re

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BYTES = 16
CHARACTERS = 26
ZERO = bytes(BYTES)
REQUEST_PREFIX = "req_"

#: Python's digits to base 32 for those of the alphabet, in order.
_TO_DIGITS = str.maketrans(ALPHABET, "0123456789ABCDEFGHIJKLMNOPQRSTUV")
_TEXT = re.compile(f"[{ALPHABET}]{{{CHARACTERS}}}")
_BITS = 5


def to_text(identifier: bytes) -> str:
    """The 26 characters of an id."""
    number = int.from_bytes(identifier, "big")
    return "".join(ALPHABET[(number >> shift) & 31] for shift in range(_BITS * (CHARACTERS - 1), -1, -_BITS))


def from_text(text: str) -> bytes | None:
    """The 16 bytes of an id, or nothing if the text is none."""
    if _TEXT.fullmatch(text) is None:
        return None
    number = int(text.translate(_TO_DIGITS), 1 << _BITS)
    return number.to_bytes(BYTES, "big") if number < 1 << 8 * BYTES else None


def request_name(identifier: bytes) -> str:
    """The id of a request as people see it."""
    return REQUEST_PREFIX + to_text(identifier)


def parse(name: str) -> bytes | None:
    """The 16 bytes of an id with any prefix, such as `req_`."""
    return from_text(name.rpartition("_")[2])
