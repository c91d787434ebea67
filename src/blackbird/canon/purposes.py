"""What a request was for, by a table of what clients send beside the turns of a conversation."""

import functools
import importlib.resources
import tomllib

import msgspec

from blackbird.canon.model import Purpose
from blackbird.canon.seen import Ask
from blackbird.sessions.links import Links

#: How much of a text is looked at; callers need not hand over more.
LONGEST = 2048
_FILE = "purposes.toml"


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule of the table, which says what each condition means."""

    purpose: Purpose
    methods: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    known: bool | None = None
    tools: bool | None = None
    idle: bool | None = None
    schemas: tuple[frozenset[str], ...] = ()
    max_tokens: int | None = None
    kinds: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    within: int = 800
    unless: tuple[str, ...] = ()

    @property
    def needs_words(self) -> bool:
        """Whether it depends on what was said."""
        return bool(self.system or self.first or self.last)


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...]


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rules, in the order in which they are tried."""
    text = importlib.resources.files("blackbird.canon").joinpath(_FILE).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table).rule


def classify(
    *,
    method: str | None,
    path: str | None,
    ask: Ask | None,
    first_words: str,
    last_words: str,
    system_words: str,
    links: Links,
) -> Purpose:
    """What a request was for; `ask` is None where no dialect reads it.

    `first_words` are those of the first message in the user's name, all its texts joined. `last_words` are the last
    text of the last such message, empty if that holds no text (as one of tool results): what a client wants beside
    the conversation it says last. `system_words` are those of the system prompt, its blocks joined. The first
    `LONGEST` characters of each are enough.
    """
    end = (path or "").partition("?")[0].lower()
    said = _said("system", system_words[:LONGEST]) | _said("first", first_words[:LONGEST])
    said |= _said("last", last_words[:LONGEST])
    for index, rule in enumerate(rules()):
        if rule.needs_words and index not in said:
            continue
        if _fits_request(rule, (method or "").upper(), end) and _fits_ask(rule, ask, links):
            return rule.purpose
    if ask is None:
        return Purpose.OTHER
    return Purpose.TURN if links.kind is None and links.parent is None else Purpose.SUBAGENT


@functools.lru_cache(maxsize=256)
def _said(where: str, text: str) -> frozenset[int]:
    """The rules that find a phrase in a text. Kept, since one conversation sends the same texts again and again."""
    plain = " ".join(text.lower().split())
    return frozenset(
        index for index, rule in enumerate(rules()) if plain and _says(getattr(rule, where), plain, rule)
    )


def _says(phrases: tuple[str, ...], text: str, rule: Rule) -> bool:
    is_said = any(text.find(phrase, 0, rule.within + len(phrase)) >= 0 for phrase in phrases)
    return is_said and not any(phrase in text for phrase in rule.unless)


def _fits_request(rule: Rule, method: str, path: str) -> bool:
    if rule.methods and method not in rule.methods:
        return False
    if rule.ends and not any(path.endswith(end.lower()) for end in rule.ends):
        return False
    return not rule.parts or any(part.lower() in path for part in rule.parts)


def _fits_ask(rule: Rule, ask: Ask | None, links: Links) -> bool:
    if rule.known is not None and rule.known is not (ask is not None):
        return False
    if rule.tools is not None and (ask is None or rule.tools is not bool(ask.tools)):
        return False
    if rule.idle is not None and (ask is None or rule.idle is not ask.is_idle):
        return False
    if rule.schemas and (ask is None or frozenset(ask.hints.get("schema", ())) not in rule.schemas):
        return False
    if rule.max_tokens is not None and not _wants_at_most(ask, rule.max_tokens):
        return False
    return not rule.kinds or links.kind in rule.kinds


def _wants_at_most(ask: Ask | None, tokens: int) -> bool:
    return ask is not None and ask.settings.max_tokens is not None and ask.settings.max_tokens <= tokens
