"""JSON Lines: one object a line out, and in again with the lines that are none."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


class Numbered(NamedTuple):
    """One line: its number, its text, and the object it holds, or None if it holds none."""

    number: int
    source: str
    value: dict[str, Any] | None


def dump(value: Mapping[str, Any]) -> str:
    """One object as a line, without its line feed."""
    return _encoder.encode(value).decode()


def can_carry(value: Any) -> bool:
    """Whether JSON can hold every text in `value`: a lone surrogate, a byte that was no UTF-8, is no character."""
    try:
        _encoder.encode(value)
    except UnicodeEncodeError:
        return False
    return True


def dump_all(values: Iterable[Mapping[str, Any]]) -> str:
    """All objects, each with its line feed."""
    return "".join(dump(value) + "\n" for value in values)


def load_all(data: bytes) -> Iterator[Numbered]:
    """Each line that is not blank. Lines end at LF alone."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        source = line.strip()
        if source:
            yield Numbered(number, source.decode(errors="surrogateescape"), load(source))


def load(source: bytes) -> dict[str, Any] | None:
    """The object of one line, or None."""
    try:
        value = _decoder.decode(source)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def diff(base: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch (RFC 7396) that makes `target` of `base`: None takes a key away."""
    patch: dict[str, Any] = {key: None for key in base if key not in target}
    for key, value in target.items():
        old = base.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = diff(old, value)
            if inner:
                patch[key] = inner
        elif key not in base or old != value or type(old) is not type(value):
            patch[key] = value
    return patch


def patched(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with a merge patch applied."""
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            old = result.get(key)
            result[key] = patched(old if isinstance(old, dict) else {}, value)
        else:
            result[key] = value
    return result
