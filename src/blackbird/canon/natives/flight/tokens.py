"""The usage of messages in a flight log, which repeats it on every line that a message became."""

from collections.abc import Mapping

import msgspec

from blackbird.canon.model import Reply, Usage
from blackbird.canon.seen import Entry
from blackbox.events.comments import Metrics
from blackbox.syntax.values import integer

_KEYS = ("tokens_in", "tokens_cached", "tokens_cache_create")


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
        key = (base.thread, *read)
        done: list[Entry] = []
        if key != self._key or (message is not None and self._message not in (None, message)):
            done = self.tell()
            self.forget()
        self._key, self._message = key, message or self._message
        before = _usage_of(self._entry)
        output = max(written or 0, before.output if before is not None else 0)
        if self._told is None:
            usage = Usage(input=read[0] or 0, cache_read=read[1] or 0, cache_write=read[2] or 0, output=output)
        elif output > self._told.output:
            usage = Usage(output=output - self._told.output)
        else:
            return done
        self._entry = msgspec.structs.replace(base, reply=Reply(model=model, usage=usage))
        return done

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


def measured(metrics: Metrics, model: str | None) -> Reply:
    """The metrics of a step, whose prompt includes what was read from a cache; they may name another model."""
    read = metrics.cached_tokens or 0
    usage = Usage(
        input=max((metrics.prompt_tokens or 0) - read, 0), cache_read=read, output=metrics.completion_tokens or 0
    )
    return Reply(model=metrics.extra.get("model") or model, usage=usage, reported_cost=metrics.cost_usd)
