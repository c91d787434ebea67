"""The jobs that the model plays: a small repair unless what the user asked for has the cue of another."""

import re
from dataclasses import dataclass, replace

from blackbird.provider.tools import Action

BROKEN = "return a - b"
FIXED = "return a + b"
TEST_COMMAND = "python3 -m unittest -q test_calc"
DONE = (
    "The test passes now.\n\n"
    "Decision: add() uses plain integer addition, because the test defines it that way.\n"
    "Constraint: calc.py must not import third-party packages.\n"
    "TODO: add a test for negative numbers.\n"
)
BLOCKED = "The test still fails, so the task is blocked.\n\nTODO: find out why the edit did not help.\n"
#: The context that Blackbird gives to an agent, wherever its client puts it.
_PACK = re.compile(r"<blackbird-context>.*?</blackbird-context>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Job:
    """One tuple a turn; several actions in a turn are parallel calls. `done` are the last words if all went well."""

    cue: str
    turns: tuple[tuple[Action, ...], ...]
    done: str
    #: What the context pack names is neither read nor run again. A rule, and not how a model decides.
    trusts_pack: bool = False

    def knowing(self, text: str) -> "Job":
        """What is left to do for whoever was told all this."""
        if not self.trusts_pack:
            return self
        pack = "".join(_PACK.findall(text))
        left = (tuple(action for action in turn if not _names(pack, action.what)) for turn in self.turns)
        return replace(self, turns=tuple(turn for turn in left if turn))


def _names(pack: str, what: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(what)}(?![\w-])", pack) is not None


REPAIR = Job(
    "",
    (
        (Action("read", "calc.py"), Action("read", "test_calc.py")),
        (Action("run", TEST_COMMAND),),
        (Action("edit", "calc.py", BROKEN, FIXED),),
        (Action("run", TEST_COMMAND),),
    ),
    DONE,
)
EXTEND = Job(
    "a function sub()",
    (
        (Action("read", "calc.py"),),
        (Action("edit", "calc.py", FIXED, f"{FIXED}\n\n\ndef sub(a, b):\n    return a - b"),),
        (Action("run", TEST_COMMAND),),
    ),
    "calc.py has sub() now, and the test passes.\n\nTODO: cover sub() with a test of its own.\n",
)
COVER = Job(
    "cover negative numbers",
    (
        (Action("search", "amounts"),),
        (Action("get", ""),),
        (
            Action(
                "edit", "test_calc.py", "add(2, 3), 5)", "add(2, 3), 5)\n        self.assertEqual(add(-2, -3), -5)"
            ),
        ),
        (Action("run", TEST_COMMAND),),
    ),
    "The test covers negative numbers now, and passes.\n",
)
#: For clients that are asked to look something up and do nothing else.
LOOK_UP = Job(
    "What does the memory say",
    ((Action("search", "integer addition"),), (Action("get", ""),)),
    "That is what the memory says.\n",
)
#: For whoever asks again what the repair has shown.
REVIEW = Job(
    "Does add() still hold",
    ((Action("read", "calc.py"),), (Action("read", "test_calc.py"),), (Action("run", TEST_COMMAND),)),
    "It does.\n",
    trusts_pack=True,
)
_OTHERS = (EXTEND, COVER, LOOK_UP, REVIEW)


def job(asked: str) -> Job:
    """The job that was asked for last."""
    found = max(_OTHERS, key=lambda other: asked.rfind(other.cue))
    return found if found.cue in asked else REPAIR
