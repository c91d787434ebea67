"""The rule file `rules.toml` and the user's own rules, read and checked."""

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from blackbox.errors import UsageError
from blackbox.redaction.patterns import PatternError, behind_anchors, check

FORMAT = "redaction/1"
#: The class of a rule in the user's configuration that names none.
USER_CLASS = "user"
_FOLDER = importlib.resources.files("blackbox.redaction")
_KIND = re.compile("[a-z][a-z0-9_]*")
_NEEDS = {"upper", "lower", "digit"}
_T = TypeVar("_T")
_REMEDY = "docs/formats/redaction-1.md describes rules and the language of patterns"


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    id: str
    class_name: str = msgspec.field(name="class")
    kind: str


class Rule(_Entry, frozen=True, kw_only=True):
    """A secret that one pattern finds."""

    pattern: str
    anchors: tuple[str, ...] = ()
    fold: bool = False
    ignore: tuple[str, ...] = ()


class Block(_Entry, frozen=True, kw_only=True):
    """A secret with a begin and an end."""

    begin: str
    end: str
    body: str
    limit: int
    anchors: tuple[str, ...] = ()


class Entropy(_Entry, frozen=True, kw_only=True):
    """A word that looks random."""

    alphabet: str
    least: int
    most: int
    bits: int
    needs: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


Item = Block | Rule | Entropy
_I = TypeVar("_I", Block, Rule, Entropy)


class RuleClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be switched on and off as one."""

    name: str
    on: bool
    help: str


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The classes that are on and off for one use."""

    name: str
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


class Wire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is hidden by where it stands in HTTP: names of header fields, ends of such names, and query parameters."""

    headers: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    query: tuple[str, ...] = ()


class RuleSet(msgspec.Struct, frozen=True):
    """A rule file; the items stand by rank."""

    version: str
    classes: tuple[RuleClass, ...]
    profiles: tuple[Profile, ...]
    items: tuple[Item, ...]
    wire: Wire = Wire()


@functools.cache
def built_in(version: str | None = None) -> RuleSet:
    """The rules of the package, the newest or a pinned version of them; an unknown version is a KeyError.

    The tests check them, so that no start of a program has to.
    """
    if version is None:
        return read_rules(_FOLDER.joinpath("rules.toml").read_text(encoding="utf-8"), "rules.toml", trusted=True)
    if version == built_in().version:
        return built_in()
    if version not in ruleset_versions():
        raise KeyError(version)
    name = f"{version}.toml"
    return read_rules(_FOLDER.joinpath("rulesets", name).read_text(encoding="utf-8"), name, trusted=True)


@functools.cache
def ruleset_versions() -> tuple[str, ...]:
    """The versions of the rules that a configuration can pin, the newest last."""
    older = [file.name.removesuffix(".toml") for file in _FOLDER.joinpath("rulesets").iterdir()]
    return (*sorted(older, key=lambda version: [int(part) for part in version.split(".")]), built_in().version)


def read_rules(text: str, source: str, *, trusted: bool = False) -> RuleSet:
    """A rule file. What is wrong with it is a UsageError that names the file and the rule."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source}: no TOML: {error}", "mend the file") from error
    unknown = sorted(set(table) - {"format", "version", "class", "profile", "block", "rule", "entropy", "wire"})
    if unknown:
        raise UsageError(f"{source}: unknown key `{unknown[0]}`", _REMEDY)
    if table.get("format") != FORMAT:
        raise UsageError(
            f"{source}: its `format` is not {FORMAT}", "use a version of blackbox that knows this format"
        )
    rules = RuleSet(
        version=_convert(table.get("version"), str, f"{source}: `version`"),
        classes=tuple(_convert(entry, RuleClass, f"{source}: a class") for entry in table.get("class", ())),
        profiles=tuple(_convert(entry, Profile, f"{source}: a profile") for entry in table.get("profile", ())),
        items=(
            *_read_all(table.get("block", ()), Block, source),
            *_read_all(table.get("rule", ()), Rule, source),
            *_read_all(table.get("entropy", ()), Entropy, source),
        ),
        wire=_convert(table.get("wire", {}), Wire, f"{source}: [wire]"),
    )
    if not trusted:
        known = {entry.name for entry in rules.classes}
        _check_all(rules.items, known, source, taken=())
        for profile in rules.profiles:
            if not known.issuperset((*profile.on, *profile.off)):
                raise UsageError(f"{source}: profile {profile.name} switches a class that is not there", _REMEDY)
    return rules


def read_user_rules(entries: Any, source: str, behind: RuleSet | None = None) -> tuple[Rule, ...]:
    """The `[[redaction.rule]]` tables of a configuration file, ranked behind the rules of the package."""
    behind = behind or built_in()
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(
            f"{source}: `redaction.rule` is no list of tables", "write [[redaction.rule]] above each rule"
        )
    rules = _read_all([{"class": USER_CLASS, **entry} for entry in entries], Rule, source)
    known = {entry.name for entry in behind.classes} | {USER_CLASS}
    _check_all(rules, known, source, taken=[item.id for item in behind.items])
    return rules


def check_whole(pattern: str, where: str) -> None:
    """A pattern that is held against whole secrets."""
    _check_pattern(pattern, where, whole=True)


def _convert(value: Any, shape: type[_T], where: str) -> _T:
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}", _REMEDY) from error


def _read_all(entries: Sequence[dict[str, Any]], shape: type[_I], source: str) -> tuple[_I, ...]:
    return tuple(_convert(entry, shape, f"{source}: rule `{entry.get('id', '?')}`") for entry in entries)


def _check_all(items: Sequence[Item], known: set[str], source: str, *, taken: Sequence[str]) -> None:
    ids = set(taken)
    for item in items:
        where = f"{source}: rule `{item.id}`"
        if not item.id or item.id in ids:
            raise UsageError(f"{where}: the id is empty or taken", "give each rule an id of its own")
        ids.add(item.id)
        if item.class_name not in known:
            raise UsageError(
                f"{where}: class `{item.class_name}` is not there", f"use one of {', '.join(sorted(known))}"
            )
        if not _KIND.fullmatch(item.kind):
            raise UsageError(f"{where}: kind `{item.kind}` is not [a-z][a-z0-9_]*", "use lower case, digits and _")
        _check_item(item, where)


def _check_item(item: Item, where: str) -> None:
    if isinstance(item, Rule):
        _check_pattern(item.pattern, f"{where}: `pattern`", fold=item.fold, anchors=item.anchors)
        if item.fold and any(anchor != anchor.lower() for anchor in item.anchors):
            raise UsageError(f"{where}: an anchor has upper case", "with `fold`, write anchors in lower case")
    elif isinstance(item, Block):
        _check_pattern(item.begin, f"{where}: `begin`", anchors=item.anchors)
        _check_pattern(item.end, f"{where}: `end`")
        _check_pattern(item.body, f"{where}: `body`")
        if item.limit < 1:
            raise UsageError(f"{where}: `limit` is less than 1", _REMEDY)
    elif not 1 <= item.least <= item.most or not item.alphabet.isascii() or not _NEEDS.issuperset(item.needs):
        raise UsageError(f"{where}: `least`, `most`, `alphabet` or `needs` cannot be right", _REMEDY)
    for pattern in () if isinstance(item, Block) else item.ignore:
        _check_pattern(pattern, f"{where}: `ignore`", whole=True)


def _check_pattern(
    pattern: str, where: str, *, fold: bool = False, whole: bool = False, anchors: tuple[str, ...] = ()
) -> None:
    try:
        node = check(pattern, fold=fold, whole=whole)
        if "" in anchors or not all(anchor.isascii() for anchor in anchors):
            raise PatternError("an anchor is empty or not ASCII")
        if anchors:
            behind_anchors(node, tuple(anchor.encode() for anchor in anchors), fold=fold)
        re.compile(pattern.encode())
    except (PatternError, re.error) as error:
        raise UsageError(f"{where}: {error}", _REMEDY) from error
