"""The kinds of line and how a line's first characters decide its kind."""

import enum
import re


class Kind(enum.StrEnum):
    """What a body line is. The value is its name in JSON output."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    TOOL_START = "tool_start"
    TOOL_PROGRESS = "tool_progress"
    OBSERVATION = "observation"
    SKILL = "skill"
    PLAN = "plan"
    MODE = "mode"
    RECALL = "recall"
    SUBAGENT = "subagent"
    MCP = "mcp"
    QUESTION = "question"
    COMMENT = "comment"
    LIFECYCLE = "lifecycle"
    PHASE = "phase"
    THINKING = "thinking"
    TODOS = "todos"
    BLANK = "blank"
    CONTINUATION = "continuation"
    UNKNOWN = "unknown"

    @property
    def label(self) -> str:
        """The name shown by `blackbox parse`: `ToolStart`, `Agent`, …"""
        return "".join(word.capitalize() for word in self.value.split("_"))


PREFIXES: dict[Kind, str] = {
    Kind.USER: "u:",
    Kind.AGENT: "a:",
    Kind.TOOL: "t:",
    Kind.TOOL_START: "t!:",
    Kind.TOOL_PROGRESS: "t~:",
    Kind.OBSERVATION: "o:",
    Kind.SKILL: "s:",
    Kind.PLAN: "p:",
    Kind.MODE: "m:",
    Kind.RECALL: "r:",
    Kind.SUBAGENT: "x:",
    Kind.MCP: "c:",
    Kind.QUESTION: "q:",
    Kind.COMMENT: "#",
    Kind.LIFECYCLE: "@",
    Kind.PHASE: "@phase",
    Kind.THINKING: "th:",
    Kind.TODOS: "td:",
}

PREFIX_LENGTHS = {kind: len(prefix) for kind, prefix in PREFIXES.items()}

#: Lines whose text is prose: an arrow in it is only an arrow.
PROSE = frozenset({Kind.USER, Kind.AGENT, Kind.THINKING, Kind.COMMENT, Kind.TODOS})
#: Prose with metadata at its end: all of it but comments.
MESSAGES = PROSE - {Kind.COMMENT}
#: Lines whose prefix is followed at once by a name: the tool, skill, server, mode …
NAMED = frozenset(
    {
        Kind.TOOL,
        Kind.TOOL_START,
        Kind.TOOL_PROGRESS,
        Kind.SKILL,
        Kind.PLAN,
        Kind.MODE,
        Kind.SUBAGENT,
        Kind.MCP,
    }
)
#: Lines that make a call which an observation may answer later.
CALLS = frozenset({Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS, Kind.MCP, Kind.SUBAGENT})
#: Lines that are no event of the session.
SILENT = frozenset({Kind.BLANK, Kind.CONTINUATION, Kind.UNKNOWN, Kind.COMMENT})

#: The first two characters settle most lines; `_classify_rest` looks at the others.
BY_TWO: dict[str, Kind] = {prefix: kind for kind, prefix in PREFIXES.items() if len(prefix) == 2}
BY_TWO |= {"# ": Kind.COMMENT, "  ": Kind.CONTINUATION, "\r": Kind.BLANK, "": Kind.BLANK}
BY_THREE: dict[str, Kind] = {prefix: kind for kind, prefix in PREFIXES.items() if len(prefix) == 3}
_LIFECYCLE = re.compile(r"@(?:(phase)(?![\w-])|[A-Za-z])")


def classify(source: str) -> Kind:
    """The kind of one physical line (given without its line feed)."""
    return BY_TWO.get(source[:2]) or _classify_rest(source)


def _classify_rest(source: str) -> Kind:
    kind = BY_THREE.get(source[:3])
    if kind is not None:
        return kind
    first = source[0]
    if first == "@":
        match = _LIFECYCLE.match(source)
        if match is not None:
            return Kind.PHASE if match[1] else Kind.LIFECYCLE
    elif first == "#":
        return Kind.COMMENT
    elif first == "\t":
        return Kind.CONTINUATION
    elif first == " ":
        # One space is no continuation: the line counts as if the space were not there.
        return classify(source[1:])
    return Kind.UNKNOWN if source.strip(" \t\r") else Kind.BLANK
