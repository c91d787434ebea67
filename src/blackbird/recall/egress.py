"""Secrets out, once more: an answer passes the user's rules of today, whichever held when it was recorded."""

import enum
import functools
import hashlib
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from blackbird.config.resolve import Config, redactor
from blackbox.redaction.redactor import Redactor
from blackbox.redaction.rules import built_in

_Value = TypeVar("_Value")
#: For so many short answers it is quicker to find out first which rules can match at all, and prepare only those: a
#: command gives one answer. Whoever gives more has all rules prepared, which then find more quickly.
_SHORT, _FEW = 1 << 16, 2
_SECTION = "redaction."
#: Names that were given here. A pack has hundreds of them, and no more is in one than that it is there.
_ID = re.compile(r"art_[a-z2-7]{16}")


class Egress:
    """The rules of a configuration, applied to whole answers."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._answered = 0

    def clean(self, value: _Value) -> _Value:
        """The value with each secret in a text of it replaced by its marker; if there is none, the very same."""
        texts = list(dict.fromkeys(_texts(value)))
        together = "\n".join(texts).encode("utf-8", "surrogatepass")
        redactor = self._redactor_for(together)
        # Hardly any answer has one. What stands in a text is found as well where texts stand below each other.
        if not redactor.find(together):
            return value
        changed = {text: cleaned for text in texts if (cleaned := redactor.redact(text).text) != text}
        found: _Value = _replaced(value, changed) if changed else value
        return found

    @functools.cached_property
    def name(self) -> str:
        """Another one for other rules: what is kept without secrets is so by these."""
        said = {name: each.value for name, each in self._config.assignments.items() if name.startswith(_SECTION)}
        told = msgspec.json.encode([built_in().version, said], order="deterministic", enc_hook=str)
        return hashlib.blake2b(told, digest_size=16).hexdigest()

    def data(self, data: bytes) -> tuple[bytes, int]:
        """The same for bytes, and how many secrets there were."""
        found, counts = self._redactor_for(data).redact_bytes(data)
        return found, sum(counts.values())

    @functools.cached_property
    def _redactor(self) -> Redactor:
        return redactor(self._config)

    def _redactor_for(self, data: bytes) -> Redactor:
        self._answered += 1
        is_enough = self._answered > _FEW or len(data) > _SHORT
        return self._redactor if is_enough else self._redactor.for_text(data)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if not isinstance(value, enum.Enum) and not _ID.fullmatch(value):
            yield value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _texts(getattr(value, name))
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(key)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _replaced(value: Any, changed: dict[str, str]) -> Any:
    """The value with other texts; parts of it that have none of them stay the very same."""
    if isinstance(value, str):
        return value if isinstance(value, enum.Enum) else changed.get(value, value)
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        made = {name: _replaced(each, changed) for name, each in fields.items()}
        others = {name: each for name, each in made.items() if each is not fields[name]}
        return msgspec.structs.replace(value, **others) if others else value
    if isinstance(value, dict):
        return {_replaced(key, changed): _replaced(each, changed) for key, each in value.items()}
    if isinstance(value, list | tuple):
        entries = [_replaced(each, changed) for each in value]
        if all(each is before for each, before in zip(entries, value, strict=True)):
            return value
        return entries if isinstance(value, list) else _like(value, entries)
    return value


def _like(value: tuple[Any, ...], entries: list[Any]) -> tuple[Any, ...]:
    return tuple(entries) if type(value) is tuple else type(value)(*entries)
