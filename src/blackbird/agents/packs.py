"""How a client is given the context pack: by a hook, a file, its configuration or its prompt, for one child. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from blackbird.agents.hooks import Handler, is_at_work
from blackbird.agents.merging import Attached, joined, spelled
from blackbird.agents.table import Briefing, Client

#: The variable that names the pack's file to every child.
VARIABLE = "BLACKBIRD_PACK"
_END_OF_OPTIONS = "--"


class Paper(NamedTuple):
    """A pack as it is handed over: its text, and the files that it is in."""

    text: str
    #: The text itself.
    file: str
    #: What a hook says that gives it to its client.
    answer: str


def wanted(client: Client, arguments: Sequence[str]) -> Briefing | None:
    """How this child takes a pack, unless it is started for something else than to work."""
    return client.pack if is_at_work(client, arguments) else None


def answer(text: str, event: str) -> bytes:
    """What a hook prints to have a text put into the conversation; three clients read the same."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}).encode()


def handler(way: Briefing, paper: Paper) -> Handler:
    """The hook that says what is in the file of the answer, and nothing once that is gone."""
    return Handler(way.event, ["cat", "--", paper.answer], is_awaited=True)


def by_option(way: Briefing, arguments: Sequence[str], paper: Paper) -> Attached:
    """The pack's file behind an option that can be there several times."""
    return Attached([arguments[0], way.option, paper.file, *arguments[1:]])


def by_variable(
    client: Client, way: Briefing, arguments: Sequence[str], paper: Paper, variables: Mapping[str, str]
) -> Attached:
    """The pack's file, named in the configuration that a variable holds."""
    return joined(client, way.variable, spelled(way.content, {"file": paper.file}), arguments, variables, "pack")


def by_prompt(client: Client, way: Briefing, arguments: Sequence[str], paper: Paper) -> Attached:
    """The pack before the prompt, if one is given that is no command of the client's own."""
    text = paper.text
    for sign in way.escape:
        text = text.replace(sign, f"\\{sign}")
    words = list(arguments)
    for at, start in _prompts(way, words):
        prompt = words[at][start:]
        if prompt and not prompt.startswith(tuple(way.commands)):
            words[at] = f"{words[at][:start]}{text}\n\n{prompt}"
            return Attached(words)
    return Attached(words, notes=[f"{client.title} takes a pack with a prompt in its arguments alone"])


def _prompts(way: Briefing, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where a prompt stands: in which word, and from which sign on. Options go before what stands alone."""
    found: list[tuple[int, int]] = []
    alone: list[tuple[int, int]] = []
    at = 1
    while at < len(words):
        word = words[at]
        name, equals, _ = word.partition("=")
        if word == _END_OF_OPTIONS:
            alone += [(rest, 0) for rest in range(at + 1, len(words))]
            break
        if word in way.options and at + 1 < len(words):
            found.append((at + 1, 0))
            at += 1
        elif equals and name in way.options:
            found.append((at, len(name) + 1))
        elif word in way.valued:
            at += 1
        elif not word.startswith("-"):
            alone.append((at, 0))
        at += 1
    return [*found, *(alone if way.positional else [])][:1]


def attached(
    client: Client, arguments: Sequence[str], paper: Paper, variables: Mapping[str, str]
) -> tuple[Attached, Handler | None]:
    """What the child gets, and the hook that is needed for it, if it is one."""
    way = wanted(client, arguments)
    if way is None:
        return Attached(list(arguments)), None
    match way.way:
        case "hook":
            return Attached(list(arguments)), handler(way, paper)
        case "option":
            return by_option(way, arguments, paper), None
        case "variable":
            return by_variable(client, way, arguments, paper, variables), None
        case "prompt":
            return by_prompt(client, way, arguments, paper), None
