"""What a text, a call or a line is known by: digests that stay the same however a client spells it the next time."""

import base64
import hashlib
from typing import Any

import msgspec

from blackbird.canon.model import Role

_SIZE = 16
_ID_BYTES = 10
_ENCODER = msgspec.json.Encoder(order="deterministic")


def raw(data: bytes) -> bytes:
    """Of bytes as they are; what is sent again takes it, so it is the one that processors have instructions for."""
    return hashlib.sha256(data).digest()


def digest(*pieces: str | bytes) -> bytes:
    """Of several pieces; where one ends counts."""
    state = hashlib.blake2b(digest_size=_SIZE)
    for piece in pieces:
        data = piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.digest()


def squeeze(text: str) -> str:
    """A text without its blanks: trimmed, wrapped or joined, it stays the same."""
    return "".join(text.split())


def words(role: Role, squeezed: str) -> bytes:
    """Of what someone said."""
    return digest("words", role.value, squeezed)


def call(call_id: str) -> bytes:
    """Of a call with an id."""
    return digest("call", call_id)


def use(name: str, arguments: dict[str, Any] | None, written: str) -> bytes:
    """Of a tool and what it was given, in any order of its fields."""
    spelled = (
        _ENCODER.encode(arguments) if arguments is not None else squeeze(written).encode("utf-8", "surrogatepass")
    )
    return digest("use", name, spelled)


def result(call_id: str) -> bytes:
    """Of what came of a call with an id."""
    return digest("result", call_id)


def item(source: str, *place: str | int) -> str:
    """The id of an item by where it stands."""
    spelled = "\0".join((source, *map(str, place))).encode("utf-8", "surrogatepass")
    return "it_" + base64.b32encode(hashlib.sha256(spelled).digest()[:_ID_BYTES]).decode("ascii").lower()
