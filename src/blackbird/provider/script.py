"""The job that the model plays: a small repair, one step for each set of tool results that a request brings."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blackbird.provider.tools import Action, Tool, sample, use

BROKEN = "return a - b"
FIXED = "return a + b"
TEST_COMMAND = "python3 -m unittest -q test_calc"

#: One tuple a turn; several actions in a turn are parallel calls.
REPAIR: tuple[tuple[Action, ...], ...] = (
    (Action("read", "calc.py"), Action("read", "test_calc.py")),
    (Action("run", TEST_COMMAND),),
    (Action("edit", "calc.py", BROKEN, FIXED),),
    (Action("run", TEST_COMMAND),),
)
DONE = (
    "The test passes now.\n\n"
    "Decision: add() uses plain integer addition, because the test defines it that way.\n"
    "Constraint: calc.py must not import third-party packages.\n"
    "TODO: add a test for negative numbers.\n"
)
BLOCKED = "The test still fails, so the task is blocked.\n\nTODO: find out why the edit did not help.\n"
TITLE = "Fix the add function"
#: What mini-swe-agent tells a model to run when it has finished.
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
#: What aider calls the form of an edit; a model without tools answers in it.
_BLOCKS = "SEARCH/REPLACE"
_BLOCK = f"calc.py\n```python\n<<<<<<< SEARCH\n    {BROKEN}\n=======\n    {FIXED}\n>>>>>>> REPLACE\n```\n"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a turn."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says next."""

    text: str
    thinking: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What every dialect has in common: the tools on offer, the results so far in order, and all that was said.

    `schema` is that of the JSON which the answer must be, if it must.
    """

    tools: tuple[Tool, ...] = ()
    results: tuple[str, ...] = ()
    text: str = ""
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
    if not prompt.tools:
        return 0
    ends = itertools.accumulate(len(actions) for actions in REPAIR)
    return 1 + sum(end <= len(prompt.results) for end in ends)


def next_turn(prompt: Prompt, ids: Ids, folder: str = "") -> Turn:
    """The turn that follows the results which the prompt brings; `folder` is where the files of the job are."""
    if not prompt.tools:
        return Turn(_without_tools(prompt))
    number = step(prompt)
    if number <= len(REPAIR):
        actions = REPAIR[number - 1]
        calls = tuple(
            Call(ids.new("call"), name, arguments)
            for name, arguments in (use(prompt.tools, action, folder) for action in actions)
        )
        first = actions[0]
        return Turn(f"Step {number}: {first.verb} {first.what}.", f"I should {first.verb} next.", calls)
    if SUBMIT in prompt.text:
        name, arguments = use(prompt.tools, Action("run", SUBMIT), folder)
        return Turn(DONE, "The script is finished.", (Call(ids.new("call"), name, arguments),))
    failed = any(word in prompt.results[-1] for word in ("FAILED", "Traceback"))
    return Turn(BLOCKED if failed else DONE, "The script is finished.")


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
