"""Hand-made exchanges and log lines in a dialect as small as can be, and what a weaver makes of them, in short."""

import json
from collections.abc import Iterable
from typing import Any

from blackbird.canon.model import (
    Amend,
    Call,
    Evidence,
    Generation,
    Item,
    Message,
    Outcome,
    Part,
    Purpose,
    Reply,
    Result,
    Role,
    Settings,
    Side,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from blackbird.canon.seen import Ask, Entry, Exchanged, Slice
from blackbird.sessions.links import Links
from blackbird.timeline.order import settle
from blackbird.timeline.weaver import Weaver

SECOND = 1_000_000_000
#: The ids of a session's own thread, and those of a client that has none.
OWN = Links(session="s1", thread="s1")
NO_IDS = Links()
SUMMARY = (
    "This session is being continued from a previous conversation that ran out of context. Summary: all is well."
)


def user(*content: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content), **extra}


def agent(*content: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content), **extra}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def call(name: str, call_id: str | None = None, **arguments: Any) -> dict[str, Any]:
    return {"call": name, "id": call_id, "arguments": arguments}


def result(call_id: str | None, text: str = "done", name: str | None = None, **extra: Any) -> dict[str, Any]:
    return {"result": text, "id": call_id, "name": name, **extra}


def think(text: str) -> dict[str, Any]:
    return {"think": text}


def part(value: Any) -> Part:
    if isinstance(value, str):
        return Text(value)
    if "call" in value:
        return ToolCall(value["call"], value["id"], value["arguments"], json.dumps(value["arguments"]))
    if "result" in value:
        told = {key: value[key] for key in ("details", "error") if key in value}
        return ToolResult(value["id"], value["result"], name=value["name"], **told)
    if "think" in value:
        return Thinking(value["think"])
    return Text(value["text"])


def turns(message: Slice) -> tuple[Turn, ...]:
    value = json.loads(message.data)
    content = value["content"] if isinstance(value["content"], list) else [value["content"]]
    return (Turn(Role(value["role"]), tuple(map(part, content)), message.start, message.end),)


def slices(messages: Iterable[dict[str, Any]]) -> tuple[Slice, ...]:
    found, start = [], 0
    for message in messages:
        data = json.dumps(message).encode()
        found.append(Slice(data, start))
        start += len(data) + 1
    return tuple(found)


def saying(*content: Any, **facts: Any) -> Reply:
    """An answer that says this."""
    return Reply(parts=tuple(map(part, content)), **facts)


def failing(outcome: Outcome = Outcome.ERROR, *content: Any, **facts: Any) -> Reply:
    """An answer that came no further than this."""
    return saying(*content, outcome=outcome, **facts)


class Talk:
    """A session that is being recorded: requests and log lines one second apart."""

    def __init__(self, weaver: Weaver | None = None) -> None:
        self.weaver = weaver or Weaver()
        self.things: list[Item | Amend] = []
        self.seen: list[Exchanged] = []
        self.now = 0

    def ask(
        self,
        history: Iterable[dict[str, Any]],
        reply: Reply | None,
        *,
        links: Links = OWN,
        purpose: Purpose = Purpose.TURN,
        system_prompt: str | None = None,
        previous: str | None = None,
        **facts: Any,
    ) -> list[Item | Amend]:
        """One exchange; returns what the weaver hands out."""
        self.now += SECOND
        name = f"req_{len(self.seen)}"
        prompt = slices([system(system_prompt)]) if system_prompt is not None else ()
        is_idle = facts.pop("is_idle", False)
        seen = Exchanged(
            request_id=name,
            at=self.now,
            ended=self.now + SECOND // 2,
            purpose=purpose,
            dialect="talk",
            ask=Ask(
                settings=Settings(model="m-1", temperature=0.5, max_tokens=64),
                history=slices(history),
                system=prompt,
                previous=previous,
                is_idle=is_idle,
            ),
            reply=reply,
            turns=turns,
            locate=lambda side, start, end: Evidence(
                source=name, side=side, start=start, end=end, segment=1, sequence=7
            ),
            links=links,
            **facts,
        )
        return self.feed(seen)

    def feed(self, seen: Exchanged) -> list[Item | Amend]:
        """An exchange as it is."""
        self.seen.append(seen)
        found = self.weaver.exchange(seen)
        self.things += found
        return found

    def log(
        self, message: dict[str, Any] | None = None, *, session: str = "s1", source: str = "src_1", **facts: Any
    ) -> list[Item | Amend]:
        """One line of the agent's own log."""
        self.now += SECOND
        turn = turns(Slice(json.dumps(message).encode(), 0))[0] if message is not None else None
        offset = facts.pop("offset", self.now)
        evidence = Evidence(source=source, side=Side.LINE, start=0, end=9, file=f"{source}.jsonl", offset=offset)
        facts.setdefault("at", self.now)
        found = self.weaver.entry(Entry(session=session, turn=turn, evidence=evidence, **facts))
        self.things += found
        return found

    @property
    def items(self) -> tuple[Item, ...]:
        """All items in order."""
        return settle(self.things)

    def short(self, *, generations: bool = False) -> list[str]:
        """The items in a word or two each."""
        return [brief(item) for item in self.items if generations or not isinstance(item, Generation)]

    def parents(self) -> dict[str, str | None]:
        """What each item follows, in a word or two."""
        items = {item.id: brief(item) for item in self.items}
        return {brief(item): items.get(item.parent or "") for item in self.items if not isinstance(item, Generation)}

    def usage(self) -> Usage:
        """All tokens."""
        total = Usage()
        for item in self.items:
            if isinstance(item, Generation) and item.usage is not None:
                total += item.usage
        return total


def brief(item: Item) -> str:
    flags = [name for name in ("inherited", "joined", "superseded") if getattr(item, f"is_{name}")]
    thread = "" if item.thread == "main" else f"{item.thread}| "
    return thread + " ".join([_what(item), *flags])


def _what(item: Item) -> str:
    if isinstance(item, Message):
        words = "+".join(getattr(one, "text", "?") for one in item.parts)
        is_thought = isinstance(item.parts[0], Thinking)
        return f"{'thought' if is_thought else item.origin.value}: {words[:24]}"
    if isinstance(item, Call):
        return f"call {'?' if item.is_made_up else item.call_id} {item.call.name}"
    if isinstance(item, Result):
        return f"result {item.call_id if not item.call_id.startswith('call_') else '?'} {item.result.text}"
    if isinstance(item, Generation):
        return f"{item.purpose.value} {item.outcome.value} {item.attempt}"
    return f"mark {item.kind}"
