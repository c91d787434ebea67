"""What a line of shell runs: programs, what they are for, the files they name, and lines to know them again by."""

import fnmatch
import functools
import importlib.resources
import itertools
import posixpath
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import msgspec

from blackbird.artifacts import shell
from blackbird.artifacts.shell import Exit, Redirect, Simple, Word

Kind = Literal["test", "build", "lint", "format", "run", "vcs", "install", "search", "read", "other"]

#: Of two that a target's name says, the first: `lint-tests` lints.
_TARGET_KINDS: tuple[Kind, ...] = ("format", "lint", "test", "install", "build", "run")
#: Shells within shells that are still looked into.
_DEEPEST = 5
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_LONGEST = 300
#: So much of a line is read: what is behind is the text of a file, if it is anything.
_READABLE = 200_000
#: So many commands of one line are read; no person and no agent writes more.
_MOST = 200
_ELLIPSIS = "…"
#: Parts of a word that are different each time: temporary folders, ids, times.
_VOLATILE = re.compile(
    r"(?:/private)?(?:/var/folders|/tmp|/dev/shm)/[^\s:,=]+"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b"
    r"|\b\d{4}-\d\d-\d\d(?:[T_ ]\d\d[:-]?\d\d[^\s]*)?"
    r"|\b\d{9,}\b"
)


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """One command of a line. Paths are as the line has them, joined with the folder that it changed to before."""

    program: str
    kind: Kind
    #: By this the same command is known again, whatever stands around it and however much it prints.
    line: str
    words: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    exit: Exit = Exit.OWN
    folder: str | None = None

    def went_well(self, code: int | None) -> bool | None:
        """How it ended, by the exit code of the whole line; None if that does not say."""
        if code is None or self.exit is Exit.HIDDEN:
            return None
        return True if code == 0 else False if self.exit is Exit.OWN else None


class _Wrapper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    arguments: int = 0
    values: tuple[str, ...] = ()
    keeps: bool = False


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kinds: dict[str, tuple[str, ...]]
    targets: dict[str, tuple[str, ...]]
    wrappers: dict[str, _Wrapper]
    values: dict[str, tuple[str, ...]]
    files: dict[str, tuple[str, ...]]
    volatile: dict[str, tuple[str, ...]]


@functools.cache
def _table() -> _Table:
    text = importlib.resources.files("blackbird.artifacts").joinpath("commands.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


@functools.cache
def _kinds() -> dict[str, Kind]:
    return {name: kind for kind in get_args(Kind) for name in _table().kinds.get(kind, ())}


def read(line: str | Sequence[str]) -> tuple[Ran, ...]:
    """What a line runs, in order; a list is one command with its arguments."""
    text = line if isinstance(line, str) else shlex.join(line)
    commands = _read(text[:_READABLE], Exit.OWN, None, 0)
    return tuple(itertools.islice(commands, _MOST))


def _read(line: str, seen: Exit, folder: str | None, depth: int) -> Iterator[Ran]:
    for simple in shell.parse(line):
        told = simple.exit if seen is Exit.OWN else Exit.HIDDEN if Exit.HIDDEN in (seen, simple.exit) else Exit.SHARED
        where = _joined(folder, simple.folder)
        kept, words = _unwrapped(simple.words)
        script = _script(words)
        if script is not None and depth < _DEEPEST:
            yield from _read(script, told, where, depth + 1)
        elif words:
            yield _ran(kept, words, simple, told, where)


def _joined(outer: str | None, inner: str | None) -> str | None:
    if not outer or not inner:
        return outer or inner
    return inner if inner.startswith(("/", "~")) else f"{outer.rstrip('/')}/{inner}"


def _script(words: Sequence[Word]) -> str | None:
    """The line that a shell is given to run."""
    if not words:
        return None
    name = _name(words[0])
    if name == "eval":
        return " ".join(word.text for word in words[1:])
    if name not in _SHELLS:
        return None
    for at, word in enumerate(words[1:-1], 1):
        if re.fullmatch(r"-[a-z]*c", word.text):
            return words[at + 1].text
        if not word.text.startswith("-"):
            return None
    return None


def _unwrapped(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The wrappers that a command needs to be run again, and the command without assignments and wrappers."""
    kept: list[Word] = []
    at = 0
    while at < len(words):
        if _ASSIGNMENT.match(words[at].text):
            at += 1
            continue
        found = _wrapper(words, at)
        if found is None:
            break
        wrapper, size = found
        inside = _behind_options(words, at + size, wrapper)
        if inside >= len(words):
            break  # nothing is wrapped: it stands for itself
        if wrapper.keeps:
            kept += words[at:inside]
        at = inside
    return kept, list(words[at:])


def _name(word: Word) -> str:
    """A program's name without its folder, and without the version of an interpreter."""
    return re.sub(r"^(python3)\.\d+$", r"\1", posixpath.basename(word.text))


def _wrapper(words: Sequence[Word], at: int) -> tuple[_Wrapper, int] | None:
    name = _name(words[at])
    for size in (3, 2, 1):
        key = " ".join((name, *(word.text for word in words[at + 1 : at + size])))
        if key in _table().wrappers:
            return _table().wrappers[key], size
    return None


def _behind_options(words: Sequence[Word], at: int, wrapper: _Wrapper) -> int:
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "--":
        at += 2 if words[at].text in wrapper.values else 1
    if at < len(words) and words[at].text == "--":
        at += 1
    return at + wrapper.arguments


def _ran(kept: list[Word], words: list[Word], simple: Simple, told: Exit, folder: str | None) -> Ran:
    name = _name(words[0])
    texts = (name, *(word.text for word in words[1:]))
    verb = " ".join((name, *_arguments(name, texts[1:])[:1]))
    reads, writes, removes = _files(verb, words, simple.redirects)
    return Ran(
        program=name,
        kind=_kind(words[0].text, texts),
        line=_normal(kept, words, verb),
        words=texts,
        reads=_paths(reads, folder),
        writes=_paths(writes, folder),
        removes=_paths(removes, folder),
        exit=told,
        folder=folder,
    )


# Kinds


def _arguments(name: str, texts: Sequence[str]) -> list[str]:
    """The words behind a program that are neither options nor their values."""
    values = _table().values.get(name, ())
    found = []
    skip = False
    for text in texts:
        if skip:
            skip = False
        elif text in values:
            skip = True
        elif not text.startswith(("-", "+")):
            found.append(text)
    return found


def _kind(given: str, texts: tuple[str, ...]) -> Kind:
    """What a program is for, with its subcommand or target where that has a meaning."""
    name = texts[0]
    arguments = _arguments(name, texts[1:])
    for candidate in (*(f"{name} {word}" for word in (*arguments[:1], *texts[1:2])), name):
        if (candidate in _table().targets["programs"]) and (kind := _by_target(candidate, name, arguments)):
            return kind
        if candidate in _kinds():
            return _script_kind(candidate, arguments) or _kinds()[candidate]
    is_file = "/" in given or name.endswith((".sh", ".py", ".js", ".rb"))
    return "run" if is_file else "other"


def _by_target(candidate: str, name: str, arguments: Sequence[str]) -> Kind | None:
    """What a target is for: the first that says so."""
    for target in arguments[len(candidate.split()) - 1 :]:
        parts = set(re.split(r"[-_:./]", target.lower()))
        for kind in _TARGET_KINDS:
            if parts & set(_table().targets[kind]) and f"{name} {target}" not in _kinds():
                return kind
    return None


def _script_kind(program: str, arguments: Sequence[str]) -> Kind | None:
    """What an interpreter's script is for, if it is one that is known: `python manage.py test`."""
    if program not in _table().files["scripts"] or not arguments:
        return None
    name = " ".join((posixpath.basename(arguments[0]), *arguments[1:2]))
    return _kinds().get(name)


# Files


def _files(verb: str, words: Sequence[Word], redirects: Sequence[Redirect]) -> tuple[list[str], list[str], list[str]]:
    reads, writes, removes = _redirected(redirects)
    table = _table().files
    name = verb.partition(" ")[0]
    uses = {use for use in table if verb in table[use]}
    has_subcommand = bool(uses)
    uses |= {use for use in table if name in table[use]}
    literal = [word.text for word in words[1:] if word.is_literal]
    has_script = any(text in ("-e", "-f") or text.startswith("--expression") for text in literal)
    files = _arguments(name, literal)[has_subcommand:]
    if "pattern" in uses:
        files = files if has_script else files[1:]
        reads += files
        is_in_place = name == "sed" and any(re.match(r"-[a-zA-Z]*i|--in-place", text) for text in literal)
        writes += files if is_in_place else []
    if "reads" in uses:
        reads += files
    if "scripts" in uses and not any(text in ("-c", "-e", "-m") for text in literal):
        reads += files[:1]
    if "writes" in uses:
        writes += files
    if "removes" in uses:
        removes += files
    if uses & {"moves", "copies"} and len(files) > 1:
        *sources, target = files
        (removes if "moves" in uses else reads).extend(sources)
        is_folder = target.endswith("/") or len(sources) > 1
        writes += [f"{target.rstrip('/')}/{posixpath.basename(one)}" for one in sources] if is_folder else [target]
    return reads, writes, removes


def _redirected(redirects: Sequence[Redirect]) -> tuple[list[str], list[str], list[str]]:
    """What is read from and written to by redirection."""
    reads: list[str] = []
    writes: list[str] = []
    for redirect in redirects:
        target = redirect.target
        if not target.is_literal or target.text.isdigit() or target.text in ("", "-"):
            continue
        if ">" in redirect.operator:
            writes.append(target.text)
        elif redirect.operator.lstrip("0123456789") == "<":
            reads.append(target.text)
    return reads, writes, []


def _paths(names: Iterable[str], folder: str | None) -> tuple[str, ...]:
    """As paths from where the line began; without what is no file of its own."""
    found: dict[str, None] = {}
    for name in names:
        if not name or name.startswith("/dev/") or re.search(r"[*?$\n`]", name):
            continue
        is_absolute = name.startswith(("/", "~"))
        path = posixpath.normpath(name if is_absolute or not folder else f"{folder}/{name}")
        found[path] = None
    return tuple(found)


# Lines


def _normal(kept: Sequence[Word], words: Sequence[Word], verb: str) -> str:
    """The command without what changes from one time to the next."""
    plain = list(_without_volatile(verb, words))
    while plain and plain[-1].text == "--":
        plain.pop()
    return " ".join(filter(None, (_spelled(word) for word in (*kept, *plain))))[:_LONGEST]


def _without_volatile(verb: str, words: Sequence[Word]) -> Iterator[Word]:
    table = _table().volatile
    name = verb.partition(" ")[0]
    patterns = {*table["*"], *table.get(name, ()), *table.get(verb, ())}
    #: `-n=` in the table: the value is the next word.
    with_value = {pattern[:-1] for pattern in patterns if pattern.endswith("=")}
    skip = False
    hides_next = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif hides_next:
            hides_next = False
            yield Word(_ELLIPSIS)
        elif at and word.text in with_value:
            skip = True
        elif at and word.text.startswith("-") and any(fnmatch.fnmatchcase(word.text, one) for one in patterns):
            continue
        else:
            # What a commit is called changes each time.
            hides_next = name == "git" and word.text in ("-m", "-am", "--message", "-F")
            yield word if at or not word.text.startswith("/") else Word(_name(word))


def _spelled(word: Word) -> str:
    if not word.is_literal and ("$(" in word.text or "`" in word.text):
        return _ELLIPSIS
    if "\n" in word.text or len(word.text) > 120:
        return _ELLIPSIS
    text = _VOLATILE.sub(_ELLIPSIS, word.text)
    return shlex.quote(text) if word.is_quoted and not word.text.isidentifier() else text
