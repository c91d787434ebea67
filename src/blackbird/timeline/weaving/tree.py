"""The tree of a session: a node for each thing said, called or answered, which knows its keys and no text."""

import itertools
from collections.abc import Iterator

from blackbird.canon.model import Role
from blackbird.timeline.weaving.elements import Kind, Mold

#: Where a node was seen: in the history of a request, in an answer, in an agent's own log.
HISTORY, REPLY, LOG = 1, 2, 4
WIRE = HISTORY | REPLY

#: How far below a node something is looked for that should follow it, and how far above.
REACH = 96
BREADTH = 256
CLIMB = 8192


class Attempts:
    """The answers that were asked for at one place: how many failed in a row, and what came out of the last."""

    __slots__ = ("count", "is_failed", "items", "joined")

    def __init__(self) -> None:
        self.count = 0
        self.is_failed = False
        self.items: list[str] = []
        #: Nodes that only a log had told of, and that the last one was taken for.
        self.joined: list[Node] = []


class Node:
    """One step of a conversation."""

    __slots__ = (
        "anchor",
        "attempts",
        "call_id",
        "children",
        "depth",
        "generation",
        "is_answered",
        "is_log_id",
        "is_made_up",
        "is_summary",
        "is_timed",
        "item",
        "key",
        "kind",
        "length",
        "name",
        "parent",
        "role",
        "run",
        "sources",
        "thoughts",
        "thread",
        "tip",
        "use",
    )

    def __init__(self, thread: str, parent: "Node | None" = None) -> None:
        self.thread = thread
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent is not None else 0
        #: The summary that it comes after, or where the conversation starts.
        self.anchor: Node = parent.anchor if parent is not None else self
        self.kind = Kind.START
        self.key = b""
        self.use = b""
        self.name = ""
        self.role = Role.USER
        self.length = 0
        self.call_id: str | None = None
        self.is_made_up = False
        #: Only a log has told its id: the wire may know it by another.
        self.is_log_id = False
        self.is_answered = False
        self.is_summary = False
        self.is_timed = False
        #: The item that it became, and the last one that stands at this place: what follows has that as its parent.
        self.item: str | None = None
        self.tip: str | None = None
        self.generation: str | None = None
        self.sources = 0
        self.run: str | None = None
        self.attempts: Attempts | None = None
        self.children: dict[bytes, Node] = {}
        #: The thoughts that follow it, and their items.
        self.thoughts: dict[bytes, str] = {}

    @property
    def is_agents(self) -> bool:
        """Whether a model said it."""
        return self.kind is Kind.CALL or (self.kind is Kind.WORDS and self.role is Role.ASSISTANT)

    def grow(self, mold: Mold, thread: str) -> "Node":
        """A new node below this one; one with the same key has its place taken."""
        node = Node(thread, self)
        node.kind, node.key, node.use, node.name = mold.kind, mold.key, mold.use, mold.name
        node.role, node.length, node.call_id = mold.role, mold.length, mold.call_id
        if mold.is_summary:
            node.summarise()
        self.children[mold.key] = node
        return node

    def summarise(self) -> None:
        """It stands for all that led to it."""
        self.is_summary = True
        self.anchor = self

    def rename(self, key: bytes) -> None:
        """Gives it another key: its id became known."""
        if self.parent is not None and self.parent.children.get(self.key) is self:
            del self.parent.children[self.key]
            self.parent.children[key] = self
        self.key = key

    def above(self) -> Iterator["Node"]:
        """It and what came before it, up to where the conversation starts."""
        node: Node | None = self
        for _ in range(CLIMB):
            if node is None or node.kind is Kind.START:
                return
            yield node
            node = node.parent

    def below(self) -> Iterator["Node"]:
        """What follows it, the nearest first."""
        level = self.latest()
        for _ in range(REACH):
            if not level:
                return
            yield from level
            level = [child for node in level for child in node.latest()][:BREADTH]

    def latest(self) -> list["Node"]:
        """What follows it right away, the oldest first, of very many the latest alone."""
        children = self.children
        if len(children) <= BREADTH:
            return list(children.values())
        return list(itertools.islice(reversed(children.values()), BREADTH))[::-1]

    def last_call(self) -> "Node":
        """The last of the calls that came out of the same answer as this one."""
        node = self
        while True:
            for child in node.latest():
                if child.kind is Kind.CALL and child.generation == node.generation:
                    node = child
                    break
            else:
                return node

    def results(self) -> list["Node"]:
        """The results that follow it, one behind the other, the last one deepest."""
        found: list[Node] = []
        level = [self]
        while level:
            level = [child for node in level for child in node.latest() if child.kind is Kind.RESULT]
            found += level
        return found
