"""Secrets out, once more: an answer passes the user's rules of today, whichever held when it was recorded."""

import enum
import functools
import hashlib
from typing import Any, TypeVar

import msgspec

from blackbird.config.resolve import Config, redactor
from blackbox.redaction.rules import built_in

_Value = TypeVar("_Value")
#: Texts that were looked at; answers name the same sessions, files and titles again and again.
_REMEMBERED = 4096
_SECTION = "redaction."


class Egress:
    """The rules of a configuration, applied to whole answers."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._text = functools.lru_cache(_REMEMBERED)(self._redact)

    def clean(self, value: _Value) -> _Value:
        """The same value with each secret replaced by its marker, in all texts that it holds."""
        found: Any = self._clean(value)
        cleaned: _Value = found
        return cleaned

    @functools.cached_property
    def name(self) -> str:
        """Another one for other rules: what is kept without secrets is so by these."""
        said = {name: each.value for name, each in self._config.assignments.items() if name.startswith(_SECTION)}
        told = msgspec.json.encode([built_in().version, said], order="deterministic", enc_hook=str)
        return hashlib.blake2b(told, digest_size=16).hexdigest()

    def data(self, data: bytes) -> tuple[bytes, int]:
        """The same for bytes, and how many secrets there were."""
        found, counts = self._redactor.redact_bytes(data)
        return found, sum(counts.values())

    @functools.cached_property
    def _redactor(self) -> Any:
        # Built when the first answer leaves: to read the rules takes longer than to find most answers.
        return redactor(self._config)

    def _redact(self, text: str) -> str:
        return str(self._redactor.redact(text).text)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, enum.Enum):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, msgspec.Struct):
            changed = self._changed({name: getattr(value, name) for name in value.__struct_fields__})
            return msgspec.structs.replace(value, **changed) if changed else value
        if isinstance(value, dict):
            return {self._clean(key): self._clean(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            made = [self._clean(each) for each in value]
            return made if isinstance(value, list) else tuple(made) if type(value) is tuple else type(value)(*made)
        return value

    def _changed(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields that are another value now; most answers hold no secret, and are not built anew."""
        cleaned = {name: self._clean(value) for name, value in fields.items()}
        return {name: value for name, value in cleaned.items() if value != fields[name]}
