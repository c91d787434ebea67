"""The job that the model plays: a small repair, one step for each set of tool results that a request brings."""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blackbird.provider.tools import Action, Tool, memory_tool, sample, use

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
#: The task that has the model look at what the repair left, and what it says then.
REVIEW = "Say what was decided about add()."
REVIEWED = "It was decided that add() uses plain integer addition.\n"
#: What mini-swe-agent tells a model to run when it has finished.
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
#: What aider calls the form of an edit; a model without tools answers in it.
_BLOCKS = "SEARCH/REPLACE"
_BLOCK = f"calc.py\n```python\n<<<<<<< SEARCH\n    {BROKEN}\n=======\n    {FIXED}\n>>>>>>> REPLACE\n```\n"


#: The context that Blackbird gives to an agent, wherever its client puts it.
_PACK = re.compile(r"<blackbird-context>.*?</blackbird-context>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a turn."""

    id: str
    name: str
    arguments: Mapping[str, Any]
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


def job(prompt: Prompt) -> tuple[tuple[Action, ...], ...]:
    """What there is to do: the repair, or a look at what it left, if that is asked for.

    Whoever looks asks the memory first, if there is one; then reads each file and runs each command that the context
    pack does not name. That is a rule which anybody can follow, and not how a model decides.
    """
    if REVIEW not in prompt.text:
        return REPAIR
    pack = "".join(_PACK.findall(prompt.text))
    asked = (Action("recall", "decision add"),) if memory_tool(prompt.tools) is not None else ()
    actions = [action for turn in REPAIR for action in turn if action.verb != "edit" and action.what not in pack]
    once = list(dict.fromkeys(actions))
    return tuple(group for group in (asked, *((action,) for action in once)) if group)


def step(prompt: Prompt) -> int:
    """The number of the turn that follows, from 1; 0 without tools, where there is no job to do."""
    if not prompt.tools:
        return 0
    ends = itertools.accumulate(len(actions) for actions in job(prompt))
    return 1 + sum(end <= len(prompt.results) for end in ends)


def next_turn(prompt: Prompt, ids: Ids, folder: str = "") -> Turn:
    """The turn that follows the results which the prompt brings; `folder` is where the files of the job are."""
    if not prompt.tools:
        return Turn(_without_tools(prompt))
    number, turns = step(prompt), job(prompt)
    if number <= len(turns):
        calls = tuple(_call(prompt, action, ids, folder) for action in turns[number - 1])
        first = turns[number - 1][0]
        return Turn(f"Step {number}: {first.verb} {first.what}.", f"I should {first.verb} next.", calls)
    if SUBMIT in prompt.text:
        return Turn(DONE, "The script is finished.", (_call(prompt, Action("run", SUBMIT), ids, folder),))
    if REVIEW in prompt.text:
        return Turn(REVIEWED, "The script is finished.")
    failed = any(word in prompt.results[-1] for word in ("FAILED", "Traceback"))
    return Turn(BLOCKED if failed else DONE, "The script is finished.")


def _call(prompt: Prompt, action: Action, ids: Ids, folder: str) -> Call:
    tool, arguments = use(prompt.tools, action, folder)
    return Call(ids.new("call"), tool.name, arguments, tool.namespace)


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
