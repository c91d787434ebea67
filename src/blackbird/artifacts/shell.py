"""A line of shell, taken apart: simple commands, their words, their redirections, what becomes of their exit code.

It runs nothing, expands nothing and knows no program. Whatever it is given, it ends after one pass.
"""

import enum
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

#: Groups within groups that are still followed; deeper ones are read as if they stood side by side.
DEEPEST = 20

_PLAIN = re.compile(r"[^ \t\r\n\\'\"`$#;&|()<>]+")
_REDIRECT = re.compile(r"(?:\d{0,3}|&)(?:<<<|<<-?|>>|>\||<>|<&|>&|<|>)")
_OPERATORS = ("&&", "||", "|&", ";;", "|", ";", "&", "\n", "(", ")")
_BEGINS = frozenset(("if", "while", "until", "for", "case", "select"))
_ENDS = frozenset(("fi", "done", "esac"))
_KEYWORDS = _BEGINS | _ENDS | frozenset(("then", "do", "else", "elif", "{", "}", "time", "!", "function"))


_GIVING_UP = frozenset(("exit", "return", "false"))
_TRIVIAL = _GIVING_UP | frozenset(
    ("cd", "pushd", "popd", "echo", "export", "source", ".", "set", "true", ":", "mkdir", "sleep", "printf")
)


class Exit(enum.StrEnum):
    """What the exit code of the whole line says about one command of it."""

    #: It is this command's.
    OWN = "own"
    #: Zero means that it went well; else it failed, or another one did.
    SHARED = "shared"
    #: Nothing: a pipe, `|| true` or a later command gave it.
    HIDDEN = "hidden"


class Word(NamedTuple):
    """A word without its quotes. `is_literal`: nothing in it is left for the shell to replace."""

    text: str
    is_quoted: bool = False
    is_literal: bool = True


class Redirect(NamedTuple):
    """Where input comes from or output goes to."""

    operator: str
    target: Word


class Simple(msgspec.Struct, frozen=True):
    """One command: its words, where it is run, and what becomes of its exit code."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    exit: Exit = Exit.OWN
    folder: str | None = None


class _Operator(NamedTuple):
    text: str


_Token = Word | Redirect | _Operator


class _Pipe(NamedTuple):
    """Commands joined by `|`, and the operator behind them."""

    members: list["Simple | _Group"]
    behind: str


class _Group(NamedTuple):
    """A list of pipes: a whole line, or what stands between parentheses."""

    pipes: list[_Pipe]
    is_subshell: bool = False


def parse(line: str) -> tuple[Simple, ...]:
    """The simple commands of a line, in order."""
    group = _grouped(list(_tokens(line)))
    return tuple(_Walk().commands(group, Exit.OWN))


def as_typed(line: str) -> tuple[str, ...]:
    """The simple commands of a line as they stand there, without redirections; of a pipe the first one."""
    found: list[str] = []
    words: list[str] = []
    is_behind_pipe = False
    for token, first, last in (*_placed(line), (_Operator("\n"), 0, 0)):
        if isinstance(token, Word):
            words.append(line[first:last])
        elif isinstance(token, _Operator):
            while words and words[0] in _KEYWORDS:
                words.pop(0)
            if words and not is_behind_pipe:
                found.append(" ".join(words))
            words.clear()
            is_behind_pipe = token.text in ("|", "|&")
    return tuple(found)


# Words


def _tokens(line: str) -> Iterator[_Token]:
    return (token for token, _, _ in _placed(line))


def _placed(line: str) -> Iterator[tuple[_Token, int, int]]:
    """The tokens of a line, each with where it begins and ends."""
    at = 0
    documents: list[tuple[str, bool]] = []
    while at < len(line):
        letter = line[at]
        if letter in " \t\r" or line.startswith("\\\n", at):
            at += 2 if letter == "\\" else 1
        elif letter == "#":
            at = _find(line, "\n", at)
        elif letter == "\n":
            yield _Operator("\n"), at, at + 1
            at = _behind_documents(line, at + 1, documents)
            documents.clear()
        elif line.startswith(("<(", ">("), at):
            end = _closing(line, at + 2, ")") + 1
            yield Word(line[at:end], is_literal=False), at, end
            at = end
        elif (found := _REDIRECT.match(line, at)) is not None:
            first = at
            target, at = _word(line, _skip_blanks(line, found.end()))
            if found[0].endswith(("<<", "<<-")):
                documents.append((target.text, found[0].endswith("-")))
            yield Redirect(found[0], target), first, at
        elif (operator := next((one for one in _OPERATORS if line.startswith(one, at)), None)) is not None:
            yield _Operator(operator), at, at + len(operator)
            at += len(operator)
        else:
            first = at
            word, at = _word(line, at)
            yield word, first, at


def _skip_blanks(line: str, at: int) -> int:
    while at < len(line) and line[at] in " \t":
        at += 1
    return at


def _find(line: str, what: str, at: int) -> int:
    """Where it is next; the end, if it is nowhere."""
    found = line.find(what, at)
    return len(line) if found < 0 else found


def _behind_documents(line: str, at: int, documents: list[tuple[str, bool]]) -> int:
    """Behind the here-documents that begin at a line's start."""
    for end, may_be_indented in documents:
        while at < len(line):
            stop = _find(line, "\n", at)
            text = line[at:stop]
            at = stop + 1
            if (text.lstrip("\t") if may_be_indented else text) == end:
                break
    return min(at, len(line))


def _word(line: str, at: int) -> tuple[Word, int]:
    """The word that begins here, and where it ends."""
    parts: list[str] = []
    is_quoted = False
    is_literal = True
    while at < len(line):
        letter = line[at]
        if (plain := _PLAIN.match(line, at)) is not None:
            parts.append(plain[0])
            at = plain.end()
        elif letter == "\\":
            parts.append(line[at + 1 : at + 2].replace("\n", ""))
            at += 2
        elif letter == "'":
            end = _find(line, "'", at + 1)
            parts.append(line[at + 1 : end])
            is_quoted, at = True, end + 1
        elif letter == '"':
            end = _closing(line, at + 1, '"')
            inner = line[at + 1 : end]
            parts.append(re.sub(r'\\([$`"\\\n])', r"\1", inner))
            is_literal = is_literal and not ("$" in inner or "`" in inner)
            is_quoted, at = True, end + 1
        elif letter in "$`":
            end = _substitution(line, at)
            parts.append(line[at:end])
            is_literal, at = False, end
        elif letter == "#" and parts:
            parts.append("#")
            at += 1
        else:
            break
    return Word("".join(parts), is_quoted, is_literal), at


def _substitution(line: str, at: int) -> int:
    """Behind `$name`, `${…}`, `$(…)` or a command between backticks."""
    if line[at] == "`":
        return _closing(line, at + 1, "`") + 1
    if line.startswith("$(", at):
        return _closing(line, at + 2, ")") + 1
    if line.startswith("${", at):
        return _find(line, "}", at) + 1
    return at + 1


def _closing(line: str, at: int, end: str) -> int:
    """Where a quote or a parenthesis closes, over all that is nested in it; the end of the line if it does not."""
    open_ones = [end]
    while at < len(line):
        letter, awaited = line[at], open_ones[-1]
        if letter == "\\":
            at += 1
        elif letter == awaited:
            open_ones.pop()
            if not open_ones:
                return at
        elif letter == "(" and (awaited == ")" or line[at - 1] == "$"):
            open_ones.append(")")
        elif awaited == ")" and letter in '"`':
            open_ones.append(letter)
        elif awaited == ")" and letter == "'":
            at = _find(line, "'", at + 1)
        at += 1
    return len(line)


# Structure


def _grouped(tokens: list[_Token]) -> _Group:
    """Tokens as pipes and groups, without recursion: the open groups lie on a stack."""
    stack = [_Group([])]
    pipe: list[Simple | _Group] = []
    pipes = [pipe]
    simple: list[_Token] = []

    def close_simple() -> None:
        words = tuple(token for token in simple if isinstance(token, Word))
        redirects = tuple(token for token in simple if isinstance(token, Redirect))
        if words or redirects:
            pipes[-1].append(Simple(words, redirects))
        simple.clear()

    def close_pipe(operator: str) -> None:
        close_simple()
        if pipes[-1]:
            stack[-1].pipes.append(_Pipe(pipes[-1], operator))
            pipes[-1] = []

    for token in tokens:
        if not isinstance(token, _Operator):
            simple.append(token)
        elif token.text in ("|", "|&"):
            close_simple()
        elif token.text == "(" and len(stack) < DEEPEST:
            simple.clear()  # nothing, or the name of a function
            stack.append(_Group([], is_subshell=True))
            pipes.append([])
        elif token.text == ")" and len(stack) > 1:
            close_pipe("")
            group = stack.pop()
            pipes.pop()
            pipes[-1].append(group)
        else:
            close_pipe(token.text)
    while len(stack) > 1:
        close_pipe("")
        group = stack.pop()
        pipes.pop()
        pipes[-1].append(group)
    close_pipe("")
    return stack[0]


class _Walk:
    """Goes through the groups, and knows the folder and the settings at each command."""

    def __init__(self) -> None:
        self.folder: str | None = ""
        self.stops_at_errors = False
        self.heeds_pipes = False
        self.depth = 0

    def commands(self, group: _Group, seen: Exit) -> Iterator[Simple]:
        folder = self.folder
        for chain, is_last in _chains(group.pipes):
            told = self._exit_of(chain, is_last=is_last, seen=seen)
            for pipe in chain:
                yield from self._pipe(pipe, told)
        if group.is_subshell:
            self.folder = folder

    def _exit_of(self, chain: list[_Pipe], *, is_last: bool, seen: Exit) -> Exit:
        """What the code of the list tells of the pipes that `&&` and `||` join."""
        if chain[-1].behind == "&" or not (is_last or self.stops_at_errors):
            return Exit.HIDDEN
        if any(pipe.behind == "||" and not _gives_up(after) for pipe, after in itertools.pairwise(chain)):
            return Exit.HIDDEN
        is_alone = is_last and sum(not _is_trivial(pipe) for pipe in chain) <= 1
        return seen if is_alone or seen is Exit.HIDDEN else Exit.SHARED

    def _pipe(self, pipe: _Pipe, seen: Exit) -> Iterator[Simple]:
        for at, member in enumerate(pipe.members):
            is_last = at + 1 == len(pipe.members)
            told = seen if is_last else Exit.SHARED if self.heeds_pipes and seen is not Exit.HIDDEN else Exit.HIDDEN
            if isinstance(member, _Group):
                yield from self.commands(member, told)
            else:
                yield from self._simple(member, told)

    def _simple(self, simple: Simple, seen: Exit) -> Iterator[Simple]:
        at = 0
        while at < len(simple.words) and not simple.words[at].is_quoted and simple.words[at].text in _KEYWORDS:
            keyword = simple.words[at].text
            self.depth += (keyword in _BEGINS) - (keyword in _ENDS)
            at = len(simple.words) if keyword in ("for", "case", "select") else at + 1
            if keyword in ("!", "if", "elif", "while", "until"):
                seen = Exit.HIDDEN
        self.depth = max(0, self.depth)
        words = simple.words[at:]
        if not words and not simple.redirects:
            return
        told = Exit.HIDDEN if self.depth else seen
        yield Simple(words, simple.redirects, told, self.folder)
        self._heed(words)

    def _heed(self, words: tuple[Word, ...]) -> None:
        """What a command changes for those behind it."""
        texts = [word.text for word in words]
        if texts[:1] == ["set"]:
            self.stops_at_errors |= any(re.match(r"-[a-z]*e", text) for text in texts[1:])
            self.heeds_pipes |= "pipefail" in texts
        if texts[:1] in (["cd"], ["pushd"]):
            target = words[1] if len(words) > 1 else Word("~")
            self.folder = _entered(self.folder, target)


def _chains(pipes: list[_Pipe]) -> Iterator[tuple[list[_Pipe], bool]]:
    """Pipes that `&&` and `||` join, and whether they are the last of the list."""
    chain: list[_Pipe] = []
    for at, pipe in enumerate(pipes):
        chain.append(pipe)
        is_last = at + 1 == len(pipes)
        if is_last or pipe.behind not in ("&&", "||"):
            yield chain, is_last
            chain = []


def _is_trivial(pipe: _Pipe) -> bool:
    """Whether it hardly ever fails, and is of no interest if it does."""
    simple = pipe.members[-1]
    return isinstance(simple, Simple) and (not simple.words or simple.words[0].text in _TRIVIAL)


def _gives_up(pipe: _Pipe) -> bool:
    simple = pipe.members[-1]
    return isinstance(simple, Simple) and bool(simple.words) and simple.words[0].text in _GIVING_UP


def _entered(folder: str | None, target: Word) -> str | None:
    if not target.is_literal or target.text in ("", "-"):
        return None
    if target.text.startswith(("/", "~")) or not folder:
        return target.text if target.text.startswith(("/", "~")) or folder == "" else None
    return f"{folder.rstrip('/')}/{target.text}"
