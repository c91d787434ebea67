"""The only module here that reads the user's configuration."""

import functools
import os
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from blackbox.errors import ReadError, UsageError
from blackbox.redaction.redactor import Redactor
from blackbox.redaction.rules import built_in, check_whole, read_user_rules

_REMEDY = "docs/formats/redaction-1.md describes the table [redaction]"


class _Settings(msgspec.Struct, forbid_unknown_fields=True):
    """The table `[redaction]`."""

    on: list[str] = []
    off: list[str] = []
    allow: list[str] = []
    rule: Any = []


@functools.cache
def load_redactor() -> Redactor:
    """The redactor of this user: the rules of the package, switched and extended by their configuration."""
    return read_redactor(config_path())


def config_path() -> Path:
    """The user's configuration. A project cannot bring its own: it could switch redaction off."""
    home = os.environ.get("BLACKBIRD_HOME")
    return Path(home or platformdirs.user_config_dir("blackbird", appauthor=False)) / "config.toml"


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
    return _redactor(table, str(path))


def _redactor(table: Any, source: str) -> Redactor:
    try:
        settings = msgspec.convert(table, _Settings)
    except msgspec.ValidationError as error:
        raise UsageError(f"{source}: [redaction]: {error}", _REMEDY) from error
    rules = read_user_rules(settings.rule, source)
    known = {entry.name for entry in built_in().classes} | {rule.class_name for rule in rules}
    for name in (*settings.on, *settings.off):
        if name not in known:
            raise UsageError(
                f"{source}: [redaction]: no class `{name}`", f"the classes are {', '.join(sorted(known))}"
            )
    for number, pattern in enumerate(settings.allow, start=1):
        check_whole(pattern, f"{source}: [redaction]: `allow` number {number}")
    return Redactor(on=settings.on, off=settings.off, more=rules, allow=tuple(settings.allow))
