"""The only module here that reads the user's configuration."""

import difflib
import functools
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from blackbox.errors import ReadError, UsageError
from blackbox.redaction.place import config_path
from blackbox.redaction.redactor import Redactor
from blackbox.redaction.rules import RuleSet, built_in, check_whole, read_user_rules, ruleset_versions

_REMEDY = "docs/formats/redaction-1.md describes the table [redaction]"


class _Settings(msgspec.Struct, forbid_unknown_fields=True):
    """The table `[redaction]`."""

    on: list[str] = []
    off: list[str] = []
    allow: list[str] = []
    rule: Any = []
    ruleset_version: str | None = None
    # The recorder alone reads these; they are no mistake here.
    keep_undecodable: Any = None
    decode_memory: Any = None
    decoded_limit: Any = None


@functools.cache
def load_redactor() -> Redactor:
    """The redactor of this user: the rules of the package, switched and extended by their configuration."""
    return read_redactor(config_path())


def read_redactor(path: Path) -> Redactor:
    """The redactor that a configuration file asks for; without the file, that of the package."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Redactor()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: no UTF-8 at byte {error.start}", "save the file as UTF-8") from None
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror}", "make the file readable, or remove it") from error
    try:
        table = tomllib.loads(text).get("redaction", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: no TOML: {error}", "mend the file") from error
    return build_redactor(table, str(path))


def redact(text: str) -> str:
    """The text with each secret replaced by a marker such as `[redacted:github_token]`, by this user's rules.

    `Redactor.redact` tells also how many of each kind there were, and works by rules of the caller's choice.
    """
    return load_redactor().redact(text).text


def build_redactor(table: Any, source: str) -> Redactor:
    """The redactor that a table `[redaction]` asks for; `source` is where the table comes from."""
    try:
        settings = msgspec.convert(table, _Settings)
    except msgspec.ValidationError as error:
        raise UsageError(f"{source}: [redaction]: {error}", _REMEDY) from error
    rule_set = _pinned(settings.ruleset_version, source)
    rules = read_user_rules(settings.rule, source, rule_set)
    known = {entry.name for entry in rule_set.classes} | {rule.class_name for rule in rules}
    for name in (*settings.on, *settings.off):
        if name not in known:
            raise UsageError(
                f"{source}: [redaction]: no class `{name}`", f"the classes are {', '.join(sorted(known))}"
            )
    for number, pattern in enumerate(settings.allow, start=1):
        check_whole(pattern, f"{source}: [redaction]: `allow` number {number}")
    return Redactor(rule_set, on=settings.on, off=settings.off, more=rules, allow=tuple(settings.allow))


def _pinned(version: str | None, source: str) -> RuleSet:
    """The rules of the version that the configuration asks for, else the newest."""
    try:
        return built_in(version)
    except KeyError:
        known = ruleset_versions()
        near = difflib.get_close_matches(str(version), known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"{source}: [redaction]: there is no rule set `{version}`", f"{hint}there is {', '.join(known)}"
        ) from None
