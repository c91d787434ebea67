"""Which hosts a call reaches, as far as its arguments say: URLs anywhere, and commands that go to the network.

A command that reaches a server without naming it (`npm install`, `git push`) counts as such: the log cannot say which
host that was, and leaving it out would look like an answer.
"""

import ipaddress
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blackbox.events import tools
from blackbox.events.calls import Arguments
from blackbox.report.tables import network
from blackbox.session.calls import Call
from blackbox.syntax.kinds import Kind
from blackbox.syntax.tokens import Value

_URL = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://(?:[^\s/@\"'`<>]*@)?(\[[0-9A-Fa-f:.]+\]|[^\s/:?#\"'`<>()\[\]{},;\\]+)"
)
_NOT_REMOTE = frozenset({"file", "data", "about", "javascript"})
#: `git@host:path`, as git, scp and rsync take it.
_SCP_LIKE = re.compile(r"(?<![\w.@/-])[\w.-]+@([\w-]+(?:\.[\w-]+)+):(?!//)[\w./~-]")
_HOST = re.compile(
    r"(?:[^\s/@]+@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9-]*\.)+[A-Za-z0-9-]+|localhost)(?=[:/?#]|\Z)"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = re.compile(r"[;|&()]+")


class Contact(NamedTuple):
    """A server that a call reaches: its host, or what it is where the command does not name it."""

    name: str
    is_named: bool = True

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine."""
        return self.is_named and is_loopback(self.name)


def contacts_of(call: Call) -> list[Contact]:
    """The servers that a tool or MCP call reaches, each once, as far as its arguments say."""
    found = [Contact(host) for text in texts_of(call.arguments) for host in hosts_in(text)]
    command = command_of(call)
    if command is not None:
        found += contacts_in_command(command)
    elif (searched := network().web_tools.get(tools.plain(call.name))) is not None and not found:
        found.append(Contact(searched, is_named=False))
    return list(dict.fromkeys(found))


def command_of(call: Call) -> str | None:
    """The command line that a call runs: that of a shell, or of a tool that has the name of a command."""
    if call.kind is not Kind.TOOL:
        return None
    name = tools.plain(call.name)
    arguments = call.arguments
    stated = [" ".join(_texts(value)) for value in tools.named(arguments.keyword, tools.keys().commands)]
    words = " ".join((*stated, arguments.words)).strip()
    if tools.is_command(call.name):
        return words or None
    if name in network().programs:
        return f"{name} {words}"
    return None


def texts_of(arguments: Arguments) -> Iterator[str]:
    """All values of a call, as text."""
    for value in (*arguments.positional, *arguments.keyword.values()):
        yield from _texts(value)


def hosts_in(text: str) -> Iterator[str]:
    """The hosts of the URLs and of `user@host:path` in a text."""
    for match in _URL.finditer(text):
        if match[0].partition(":")[0].lower() not in _NOT_REMOTE:
            yield _clean(match[1])
    for match in _SCP_LIKE.finditer(text):
        yield _clean(match[1])


def contacts_in_command(command: str) -> Iterator[Contact]:
    """The servers that a command line goes to, one command of it after the other."""
    for words in commands_in(command):
        program, rest = words[0].rpartition("/")[2], words[1:]
        named = [Contact(host) for word in rest for host in hosts_in(word)]
        yield from named
        plain = _plain_words(rest)
        if program in network().takes_host:
            yield from (Contact(_clean(match[1])) for word in plain[:1] if (match := _HOST.match(word)))
        elif program in network().copies:
            yield from (Contact(_clean(match[1])) for word in plain if ":" in word and (match := _HOST.match(word)))
        elif not named:
            known = network().by_name.get(program)
            if known is not None and (not known.words or known.words.intersection(plain[:2])):
                yield Contact(known.server, is_named=False)


def commands_in(command: str) -> Iterator[list[str]]:
    """The simple commands of a command line, each as its words; what quotes hold is one word."""
    words: list[str] = []
    for word in (*_words(command), ";"):
        if word and not _OPERATORS.fullmatch(word):
            words.append(word)
            continue
        while words and (words[0] in network().wrappers or _ASSIGNMENT.match(words[0])):
            words = words[1:]
        if words:
            yield words
        words = []


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command.replace("\n", " ; ").replace("`", " ; "), posix=True, punctuation_chars=";|&()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        # An odd quote, as in a line that was cut short.
        return re.sub(r"([;|&()]+)", r" \1 ", command).split()


def _plain_words(words: Iterable[str]) -> list[str]:
    """The words that are neither options nor values of options."""
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in network().valued_options
        else:
            found.append(word)
    return found


def _clean(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _texts(value: Value) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
