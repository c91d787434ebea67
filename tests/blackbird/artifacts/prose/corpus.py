"""The invented sentences with their labels, in two parts."""

import tomllib
from pathlib import Path

import msgspec

from blackbird.artifacts.model import Speaker, ThreadKind


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A sentence: what it is, and the slots that it names."""

    text: str
    speaker: Speaker
    type: str
    before: str = ""
    subject: str | None = None
    choice: str | None = None
    rejected: tuple[str, ...] | None = None
    rationale: str | None = None
    must: bool | None = None
    is_local: bool | None = None
    kind: ThreadKind | None = None
    reverts: bool | None = None


def read_corpus() -> dict[str, tuple[Case, ...]]:
    """The part that the patterns were tuned on, and the one that was held back."""
    data = (Path(__file__).parent / "corpus.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(data), dict[str, tuple[Case, ...]])
