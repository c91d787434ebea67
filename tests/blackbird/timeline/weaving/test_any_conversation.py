"""Any conversation, sent as whole histories in any spelling, gives what was said, each thing once."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbird.canon.model import Call, Generation, Message, Origin, Outcome, Result, Text
from tests.blackbird.timeline.weaving.talk import (
    NO_IDS,
    OWN,
    Talk,
    agent,
    call,
    failing,
    result,
    saying,
    system,
    think,
    user,
)

#: Few words, so that many things are said twice.
_WORDS = st.sampled_from(["continue", "go on", "yes", "a b", "ab", "Done."])
_TOOLS = st.lists(st.tuples(st.sampled_from(["read", "list"]), st.sampled_from("ab")), max_size=3)
_REPLY = st.tuples(st.booleans(), st.lists(_WORDS, max_size=2), _TOOLS).filter(lambda reply: reply[1] or reply[2])
#: What a user says, and the answers up to the next time; before some an attempt fails.
_ROUND = st.tuples(
    _WORDS, st.lists(st.tuples(_REPLY, st.none() | st.lists(_WORDS, max_size=1)), min_size=1, max_size=3)
)


class Speaker:
    """Plays a conversation on both sides, and knows what must come of it."""

    def __init__(self, data: st.DataObject, *, has_ids: bool) -> None:
        self.data = data
        self.has_ids = has_ids
        self.talk = Talk()
        self.links = data.draw(st.sampled_from([OWN, NO_IDS]), "links")
        self.history: list[dict[str, Any]] = []
        self.expected: list[tuple[str, str]] = []
        self.calls = 0
        self.beside = 0

    def coin(self) -> bool:
        return self.data.draw(st.booleans())

    def ask(self, reply: Any) -> None:
        self.talk.ask(self.sent(self.history), reply, links=self.links)

    def sent(self, history: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """A history as a client may spell it; what it adds itself stands in a turn, or behind it in another name."""
        messages: list[dict[str, Any]] = []
        for message in history:
            spelled, beside = self.noisy(message), message.get("beside")
            if beside is None:
                messages.append(spelled)
            elif self.coin():
                messages += [spelled, system(f"PostToolUse hook additional context: {beside}")]
            else:
                content = spelled["content"] if isinstance(spelled["content"], list) else [spelled["content"]]
                reminder = f"<system-reminder>\n{beside}\n</system-reminder>"
                messages.append({**spelled, "content": [*content, reminder] if self.coin() else [reminder, *content]})
        return messages

    def add(self, message: dict[str, Any]) -> None:
        """Something that the client sends, sometimes with words of its own."""
        has_more = self.coin()
        self.history.append({**message, "beside": "Use tabs."} if has_more else message)
        self.beside += has_more

    def noisy(self, message: dict[str, Any]) -> dict[str, Any]:
        content = [self.respelled(part) for part in message["content"]]
        if message["role"] == "assistant" and self.coin():
            content = [part for part in content if not (isinstance(part, dict) and "think" in part)]
        if content and all(isinstance(part, dict) and "result" in part for part in content):
            content = self.data.draw(st.permutations(content))
        spelled: Any = content[0] if len(content) == 1 and isinstance(content[0], str) and self.coin() else content
        return {"role": message["role"], "content": spelled, "cache": self.data.draw(st.integers(0, 2))}

    def respelled(self, part: Any) -> Any:
        if isinstance(part, str):
            return f" {part}\n" if self.coin() else part
        if "call" in part and self.coin():
            return {**part, "arguments": {**part["arguments"], "all": False}}
        return part

    def round(
        self, words: str, answers: list[tuple[tuple[bool, list[str], list[tuple[str, str]]], list[str] | None]]
    ) -> None:
        self.add(user(words))
        self.expected.append(("user", words))
        for (has_thought, texts, tools), failed in answers:
            if failed is not None:
                self.ask(failing(Outcome.CUT, *failed))
            calls = [self.tool(name, path) for name, path in tools]
            said = [*([think("hm")] if has_thought else []), *texts]
            streamed = [one if self.has_ids else {**one, "id": None} for one in calls]
            self.ask(saying(*said, *streamed))
            self.history.append(agent(*said, *calls))
            self.expected += [("thought", "hm")] if has_thought else []
            self.expected += [("agent", text) for text in texts]
            self.expected += [("call", one["id"]) for one in calls]
            if not calls:
                return
            self.add(user(*(result(one["id"], f"of {one['id']}") for one in calls)))
            self.expected += [("result", one["id"]) for one in calls]
        self.ask(saying("The end."))
        self.history.append(agent("The end."))
        self.expected.append(("agent", "The end."))

    def tool(self, name: str, path: str) -> dict[str, Any]:
        self.calls += 1
        return call(name, f"id{self.calls}", path=path)

    def woven(self) -> list[tuple[str, str]]:
        items = [item for item in self.talk.items if not isinstance(item, Generation) and not item.is_superseded]
        return [_told(item) for item in items if not _is_beside(item)]

    def woven_beside(self) -> int:
        return sum(_is_beside(item) for item in self.talk.items)


def _is_beside(item: Any) -> bool:
    return isinstance(item, Message) and item.origin is Origin.CLIENT


def _told(item: Any) -> tuple[str, str]:
    if isinstance(item, Message):
        part = item.parts[0]
        is_text = isinstance(part, Text)
        return (item.origin.value if is_text else "thought"), getattr(part, "text", "").strip()
    assert isinstance(item, Call | Result)
    return ("call" if isinstance(item, Call) else "result"), item.call_id


def _unordered(told: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Results of one answer come in any order."""
    found: list[tuple[str, str]] = []
    run: list[tuple[str, str]] = []
    for one in [*told, ("", "")]:
        if one[0] == "result":
            run.append(one)
        else:
            found += sorted(run)
            run = []
            found.append(one)
    return found


@pytest.mark.requirement("CANON-10")
@settings(deadline=None, max_examples=80)
@given(st.data(), st.booleans(), st.lists(_ROUND, min_size=1, max_size=4))
def test_any_conversation(data: st.DataObject, has_ids: bool, rounds: list[Any]) -> None:
    speaker = Speaker(data, has_ids=has_ids)
    for words, answers in rounds:
        speaker.round(words, answers)
    assert _unordered(speaker.woven()) == _unordered(speaker.expected)
    assert speaker.woven_beside() == speaker.beside
    for seen in list(speaker.talk.seen):
        assert speaker.talk.feed(seen) == []
    for end in range(1, len(speaker.history) + 1):
        speaker.talk.ask(speaker.sent(speaker.history[:end]), None, links=speaker.links)
    assert _unordered(speaker.woven()) == _unordered(speaker.expected)
    assert speaker.woven_beside() == speaker.beside


@pytest.mark.requirement("CANON-10")
@settings(deadline=None, max_examples=40)
@given(st.data(), st.lists(_ROUND, min_size=1, max_size=3), st.lists(_ROUND, min_size=1, max_size=2))
def test_any_branch(data: st.DataObject, rounds: list[Any], others: list[Any]) -> None:
    """An earlier word of the user's is said otherwise, and the conversation goes on from there."""
    speaker = Speaker(data, has_ids=True)
    for words, answers in rounds:
        speaker.round(words, answers)
    starts = [at for at, message in enumerate(speaker.history) if isinstance(message["content"][0], str)]
    starts = [at for at in starts if speaker.history[at]["role"] == "user"]
    del speaker.history[data.draw(st.sampled_from(starts)) :]
    for number, (_, answers) in enumerate(others):
        speaker.round(f"something else {number}", answers)
    assert _unordered(speaker.woven()) == _unordered(speaker.expected)
