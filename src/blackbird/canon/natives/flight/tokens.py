"""The usage of messages in a flight log, which repeats it on every line that a message became."""

from collections.abc import Mapping

import msgspec

from blackbird.canon.model import Reply, Usage
from blackbird.canon.seen import Entry
from blackbox.events.comments import Metrics
from blackbox.syntax.values import integer, money

_KEYS = ("tokens_in", "tokens_cached", "tokens_cache_create")
#: Parts of what was used: of what went into a cache, what stays for an hour; of what was written, thoughts.
HOUR_KEY, REASONING_KEY = "cache_creation_1h_input_tokens", "reasoning_tokens"


class Tokens:
    """Waits for more lines of the same message, until another speaks.

    Lines in a row with the same tokens read are one message, unless their ids say otherwise. What was written grows
    while it streamed: what comes after the message was told adds only what is more.
    """

    def __init__(self) -> None:
        self._key: tuple[object, ...] | None = None
        self._message: str | None = None
        self._entry: Entry | None = None
        #: What of the message was told.
        self._told: Usage | None = None

    def take(self, meta: Mapping[str, str], message: str | None, base: Entry, model: str | None) -> list[Entry]:
        """A line with these metadata; `base` is an entry of it that says nothing yet."""
        read = [integer(meta.get(key)) for key in _KEYS]
        written = integer(meta.get("tokens_out"))
        if read[0] is None and written is None:
            return []
        key = (base.thread, meta.get("step"), *read)
        done: list[Entry] = []
        if key != self._key or (message is not None and self._message not in (None, message)):
            done = self.tell()
            self.forget()
        self._key, self._message = key, message or self._message
        before = _usage_of(self._entry)
        output = max(written or 0, before.output if before is not None else 0)
        if self._told is None:
            usage = Usage(
                input=read[0] or 0,
                cache_read=read[1] or 0,
                cache_write=read[2] or 0,
                output=output,
                **parts_of({key.removeprefix("extra."): value for key, value in meta.items()}),
            )
        elif output > self._told.output:
            usage = Usage(output=output - self._told.output)
        else:
            return done
        self._entry = msgspec.structs.replace(base, reply=Reply(model=model, usage=usage))
        return done

    def cost(self, reply: Reply) -> Reply | None:
        """What a message cost, if that is said apart from its tokens; the same again if no tokens wait for it."""
        waiting = self._entry
        if waiting is None or waiting.reply is None:
            return reply if reply.reported_cost is not None and self._told is None else None
        known = msgspec.structs.replace(waiting.reply, reported_cost=reply.reported_cost)
        self._entry = msgspec.structs.replace(waiting, reply=known)
        return None

    def tell(self) -> list[Entry]:
        """The usage of the message so far."""
        entry, self._entry = self._entry, None
        told = _usage_of(entry)
        if entry is None or told is None:
            return []
        self._told = told if self._told is None else self._told + told
        return [entry]

    def forget(self) -> None:
        """Another message begins, or a line that says it better."""
        self._key = self._message = self._entry = self._told = None


def _usage_of(entry: Entry | None) -> Usage | None:
    return entry.reply.usage if entry is not None and entry.reply is not None else None


def parts_of(extra: Mapping[str, str]) -> dict[str, int]:
    """What is told of parts of a usage, by the names that they have there."""
    return {
        "cache_write_1h": integer(extra.get(HOUR_KEY)) or 0,
        "reasoning": integer(extra.get(REASONING_KEY)) or 0,
    }


def measured(metrics: Metrics, model: str | None, *, is_priced: bool = False) -> Reply:
    """The metrics of a step, whose prompt includes what a cache had of it, and what went into one.

    They may name another model. `is_priced`: the cost was calculated, and what the agent reported stands apart.
    """
    model = metrics.extra.get("model") or model
    cost = money(metrics.extra.get("reported_cost_usd")) if is_priced else metrics.cost_usd
    counts = (metrics.prompt_tokens, metrics.completion_tokens, metrics.cached_tokens)
    if all(count is None for count in counts):
        return Reply(model=model, reported_cost=cost)
    read, written = metrics.cached_tokens or 0, integer(metrics.extra.get("cache_creation_input_tokens")) or 0
    usage = Usage(
        input=max((metrics.prompt_tokens or 0) - read - written, 0),
        cache_read=read,
        cache_write=written,
        output=metrics.completion_tokens or 0,
        **parts_of(metrics.extra),
    )
    return Reply(model=model, usage=usage, reported_cost=cost)
