"""The metadata every line may carry, and the two places it is read from.

Known keys count in the call part outside quotes, and in a trailing run after a result or at the end of prose.
Anywhere else `level=info` is just what some tool printed.
"""

import datetime as dt
import functools
import re
from collections.abc import Iterable, Mapping

from blackbox.syntax import values
from blackbox.syntax.tokens import Token

# `@compact` has the arguments tokens_before and tokens_after.
KEY = (
    r"id|step|ts|tid|span|parent|latency_ms|attempt|level|model|sig|"
    r"tokens_(?!before=|after=|before\Z|after\Z)\w+|extra\.[\w.\-]+"
)
LEVELS = frozenset({"debug", "info", "warn", "error"})
#: On a recall: the MCP server and method that were asked, joined as in the name of a `c:` line.
RECALL_MCP = "extra.mcp"
_KNOWN = re.compile(KEY)
_BARE_PAIR = re.compile(rf'(?:{KEY})=[^"]*+')
_ESCAPED_BARE_PAIR = re.compile(rf'(?:{KEY})=(?:[^"\\]|\\.)*+', re.DOTALL)
_QUOTED_PAIR = re.compile(rf'(?:{KEY})="[^"]*+"')
_ESCAPED_QUOTED_PAIR = re.compile(rf'(?:{KEY})="(?:[^"\\]|\\.)*+"', re.DOTALL)
_AS_SPACES = {9: " ", 13: " "}
_FLAG = "interrupted"
#: What lines of an earlier session carry in the log of one that goes on from it, with the value `true`.
INHERITED = "extra.inherited"


@functools.lru_cache(maxsize=4096)
def is_known(key: str) -> bool:
    """Whether `key` names metadata rather than an argument."""
    return _KNOWN.fullmatch(key) is not None


def split_tokens(tokens: Iterable[Token]) -> tuple[list[Token], dict[str, str]]:
    """Lexed words as arguments and metadata, by the same rules. A quoted key is never metadata."""
    arguments: list[Token] = []
    found: dict[str, str] = {}
    after_pair = False
    for token in tokens:
        if token.key is not None and not token.quoted_key and is_known(token.key):
            found.setdefault(token.key, token.text)
            after_pair = True
        elif after_pair and token.key is None and token.end - token.start == len(_FLAG) and token.value == _FLAG:
            found[_FLAG] = ""
            after_pair = False
        else:
            arguments.append(token)
            after_pair = False
    return arguments, found


def run_start(source: str, start: int, end: int, *, escaped: bool = False) -> int:
    """Where the run of known `key=value` words at the end of `source[start:end]` begins; `end` if there is none.

    The words are taken from the right, so the cost follows the run and not the line. A value holds no quote but the
    two around it: `he said "use id=5"` ends in prose.
    """
    run = cut = rstrip_end(source, start, end)
    none = run
    # One kind of space: looking back for each kind in turn would pass over the whole line at every word.
    spaced = source.translate(_AS_SPACES) if "\t" in source or "\r" in source else source
    bare = _ESCAPED_BARE_PAIR if escaped else _BARE_PAIR
    while cut > start:
        word = max(spaced.rfind(" ", start, cut), start - 1) + 1
        if bare.fullmatch(source, word, cut):
            run = word
        elif source[cut - 1] == '"' and (quoted := _quoted_pair(spaced, start, cut, escaped)) >= 0:
            run = word = quoted
        elif source[word:cut] != _FLAG:
            break
        cut = rstrip_end(source, start, word)
    return end if run == none else run


def _quoted_pair(spaced: str, start: int, end: int, escaped: bool) -> int:
    """Where the word `key="…"` that ends at `end` begins, or -1."""
    opening = spaced.rfind('"', start, end - 1)
    while escaped and opening > start and spaced[opening - 1] == "\\":
        opening = spaced.rfind('"', start, opening)
    word = max(spaced.rfind(" ", start, opening), start - 1) + 1 if opening > start else end
    pattern = _ESCAPED_QUOTED_PAIR if escaped else _QUOTED_PAIR
    return word if pattern.fullmatch(spaced, word, end) else -1


def rstrip_end(source: str, start: int, end: int) -> int:
    """Where `source[start:end]` ends without the spaces behind it."""
    while end > start and source[end - 1] in " \t\r":
        end -= 1
    return end


class Meta:
    """A line's metadata with its values typed. A value that does not fit its type reads as None; `raw` keeps it."""

    __slots__ = ("raw",)

    def __init__(self, raw: Mapping[str, str]) -> None:
        self.raw = raw

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Meta) and dict(self.raw) == dict(other.raw)

    __hash__ = None  # type: ignore[assignment]  # equality is by content, and `raw` may be a dict

    def __repr__(self) -> str:
        return f"Meta({dict(self.raw)!r})"

    @property
    def id(self) -> str | None:
        """The call, question, plan or message id."""
        return self.raw.get("id")

    @property
    def step(self) -> int | None:
        """The step number."""
        return values.integer(self.raw.get("step"))

    @property
    def ts(self) -> dt.datetime | None:
        """Wall-clock time."""
        return values.timestamp(self.raw.get("ts"))

    @property
    def tid(self) -> str:
        """The thread (agent) the line belongs to; the main agent's `1` is implied."""
        return self.raw.get("tid", "1")

    @property
    def span(self) -> str | None:
        """The operation id."""
        return self.raw.get("span")

    @property
    def parent(self) -> str | None:
        """The enclosing span, or the message this one answers: text either way."""
        return self.raw.get("parent")

    @property
    def latency_ms(self) -> int | None:
        """How long the operation took."""
        return values.integer(self.raw.get("latency_ms"))

    @property
    def attempt(self) -> tuple[int, int | None] | None:
        """Which try this is, and of how many where that is known."""
        return values.attempt(self.raw.get("attempt"))

    @property
    def level(self) -> str | None:
        """Severity: debug, info, warn or error."""
        return self.raw.get("level")

    @property
    def model(self) -> str | None:
        """The model that produced this very line."""
        return self.raw.get("model")

    @property
    def sig(self) -> str | None:
        """The signature of a thinking block."""
        return self.raw.get("sig")

    @property
    def interrupted(self) -> bool:
        """Whether the tool was interrupted."""
        return _FLAG in self.raw

    @property
    def inherited(self) -> bool:
        """Whether the line tells of an earlier session that this one goes on from."""
        return self.raw.get(INHERITED) == "true"

    @property
    def tokens_in(self) -> int | None:
        """Input tokens of this message."""
        return values.integer(self.raw.get("tokens_in"))

    @property
    def tokens_out(self) -> int | None:
        """Output tokens of this message."""
        return values.integer(self.raw.get("tokens_out"))

    @property
    def tokens_cached(self) -> int | None:
        """Cached input tokens of this message."""
        return values.integer(self.raw.get("tokens_cached"))

    @property
    def extra(self) -> dict[str, str]:
        """The `extra.*` fields, without their prefix."""
        return {key[6:]: value for key, value in self.raw.items() if key.startswith("extra.")}

    @property
    def mcp(self) -> tuple[str, str]:
        """The MCP server and the method that a recall asked, by `extra.mcp`; empty where it does not say."""
        server, _, method = self.raw.get(RECALL_MCP, "").partition(".")
        return server, method
