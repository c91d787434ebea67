"""The rules of `validate`, read from `rules.toml`: id, name, severity, and the page `blackbox explain` prints."""

import functools
import importlib.resources
import re
import tomllib
from typing import Literal

import msgspec

from blackbox.check.findings import Finding, Severity


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule. `bad` breaks it and `good` does not: the tests run both."""

    id: str
    name: str
    severity: Severity
    summary: str
    why: str
    remedy: str
    bad: str
    good: str
    #: Whether the examples are whole files; otherwise a valid header is put before them.
    whole: bool = False

    def example(self, which: Literal["bad", "good"]) -> bytes:
        """One of the examples as a whole file."""
        text = ("" if self.whole else EXAMPLE_HEADER) + (self.bad if which == "bad" else self.good)
        text = text.replace("{MIB}", "x" * (1 << 20)).replace("{FIFTY_LINES}", "u: Go on\n" * 50)
        pieces = _BYTE.split(text)
        return b"".join(bytes([int(p, 16)]) if i % 2 else p.encode() for i, p in enumerate(pieces))

    def finding(self, line: int, message: str, column: int | None = None, end_column: int | None = None) -> Finding:
        """A finding of this rule."""
        return Finding(self.id, self.severity, line, message, column, end_column)


_BYTE = re.compile(r"\{0x([0-9A-F]{2})\}")


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    rule: list[Rule]


#: What stands before the body examples of the rules.
EXAMPLE_HEADER = """\
---
format: bbox/1
id: sess_example
repo_sha: 4f2a9c1
branch: main
runner: local
sandbox_id: box_1
---
"""


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its id, in the order of the table."""
    text = importlib.resources.files("blackbox.check").joinpath("rules.toml").read_text(encoding="utf-8")
    table = msgspec.convert(tomllib.loads(text), _Table)
    return {rule.id: rule for rule in table.rule}


@functools.cache
def rule_named(name: str) -> Rule:
    """A rule by its name, for the checkers. An unknown name is a mistake in this package."""
    return next(rule for rule in all_rules().values() if rule.name == name)


def look_up(word: str) -> Rule | None:
    """A rule by id or name, as a user would type it."""
    wanted = word.strip().lower()
    return next((rule for rule in all_rules().values() if wanted in (rule.id.lower(), rule.name)), None)
