"""What the model says next: one step of its job for each set of tool results that a request brings."""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blackbird.provider.jobs import BLOCKED, BROKEN, DONE, FIXED, Job, job
from blackbird.provider.tools import Action, Tool, sample, use

TITLE = "Fix the add function"
#: What mini-swe-agent tells a model to run when it has finished.
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
#: What aider calls the form of an edit; a model without tools answers in it.
_ARTIFACT = re.compile(r"\bart_[a-z2-7]{8,16}\b")
_BLOCKS = "SEARCH/REPLACE"
_BLOCK = f"calc.py\n```python\n<<<<<<< SEARCH\n    {BROKEN}\n=======\n    {FIXED}\n>>>>>>> REPLACE\n```\n"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a turn."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    #: The group of tools that it belongs to, for clients that have such.
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says next."""

    text: str
    thinking: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What every dialect has in common: the tools on offer, the results so far in order, and all that was said.

    `asked` is what was said by the user alone.
    `schema` is that of the JSON which the answer must be, if it must.
    """

    tools: tuple[Tool, ...] = ()
    results: tuple[str, ...] = ()
    text: str = ""
    asked: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Ids:
    """Ids that follow from the request alone, so that the same request gets the same answer."""

    seed: bytes
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def new(self, prefix: str) -> str:
        """The next id, such as `msg_5f1c…`."""
        material = self.seed + f"/{prefix}/{next(self._numbers)}".encode()
        return f"{prefix}_{hashlib.sha256(material).hexdigest()[:20]}"


def step(prompt: Prompt) -> int:
    """The number of the turn that follows, from 1; 0 without tools, where there is no job to do."""
    return _step(prompt, job(prompt.asked).knowing(prompt.text)) if prompt.tools else 0


def _step(prompt: Prompt, played: Job) -> int:
    ends = itertools.accumulate(len(actions) for actions in played.turns)
    return 1 + sum(end <= len(prompt.results) for end in ends)


def next_turn(prompt: Prompt, ids: Ids, folder: str = "") -> Turn:
    """The turn that follows the results which the prompt brings; `folder` is where the files of the job are."""
    if not prompt.tools:
        return Turn(_without_tools(prompt))
    played = job(prompt.asked).knowing(prompt.text)
    number = _step(prompt, played)
    if number <= len(played.turns):
        actions = [_aimed(action, prompt) for action in played.turns[number - 1]]
        calls = tuple(
            Call(ids.new("call"), tool.name, arguments, tool.namespace)
            for tool, arguments in (use(prompt.tools, action, folder) for action in actions)
        )
        first = actions[0]
        return Turn(f"Step {number}: {first.verb} {first.what}.", f"I should {first.verb} next.", calls)
    if SUBMIT in prompt.text:
        tool, arguments = use(prompt.tools, Action("run", SUBMIT), folder)
        return Turn(DONE, "The script is finished.", (Call(ids.new("call"), tool.name, arguments),))
    failed = any(word in (prompt.results or ("",))[-1] for word in ("FAILED", "Traceback"))
    return Turn(BLOCKED if failed else played.done, "The script is finished.")


def _aimed(action: Action, prompt: Prompt) -> Action:
    """What is to be fetched is the first that the search before it found."""
    if action.verb != "get" or action.what:
        return action
    found = _ARTIFACT.search(prompt.results[-1]) if prompt.results else None
    return Action("get", found[0] if found is not None else "art_none")


def _without_tools(prompt: Prompt) -> str:
    if prompt.schema:
        return json.dumps(sample(prompt.schema, TITLE))
    return f"{DONE}\n{_BLOCK}" if _BLOCKS in prompt.text else TITLE


def pieces(text: str, size: int = 24) -> list[str]:
    """The text as a model streams it; at least one piece, even of nothing."""
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def flat_text(value: object) -> str:
    """All the text inside a JSON value."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(flat_text(item) for item in value.values())
    if isinstance(value, list):
        return "\n".join(flat_text(item) for item in value)
    return ""


def count_tokens(value: object) -> int:
    """A count that is plausible and always the same: four letters a token."""
    return max(1, len(flat_text(value)) // 4)
