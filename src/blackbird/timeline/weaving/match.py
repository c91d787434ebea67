"""Finds the node that an element of a history is, below the one that was reached so far."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from blackbird.canon.model import Role
from blackbird.timeline.weaving import keys
from blackbird.timeline.weaving.elements import Kind, Mold
from blackbird.timeline.weaving.passages import Given, Step
from blackbird.timeline.weaving.tree import LOG, REPLY, Node

#: How many elements further on a place is looked for, when one of them is in none.
_AHEAD = 8


class Found(NamedTuple):
    """The node that was reached, and how many elements it took."""

    node: Node
    taken: int = 1


def find(
    node: Node, steps: Sequence[Step | Given], at: int, is_failed: Callable[[Node], bool], *, is_strict: bool = False
) -> Found | None:
    """What the element at `at` is, if it is known at this place; not in other words, if that is to tell it apart."""
    mold = steps[at].mold
    if mold.kind is Kind.RESULT:
        return _result(node, mold)
    if mold.kind is Kind.CALL:
        found = call(node, mold, is_log=isinstance(steps[at], Given))
        return Found(found) if found is not None else None
    found_words = _words(node, steps, at, is_failed)
    return found_words or (None if is_strict else _spelled_anew(_behind_results(node), mold, is_failed))


def attach(node: Node, mold: Mold) -> Node:
    """Where something new goes that follows a node: results of one answer's calls stand one behind the other."""
    if mold.kind is Kind.RESULT:
        base = _base(node)
        chain = base.results()
        return chain[-1] if chain else base if base.kind is Kind.CALL else node
    return _behind_results(node)


def caller(node: Node, mold: Mold) -> Node | None:
    """The call that a new result below a node belongs to."""
    calls: list[Node] = []
    for above in node.above():
        if calls and above.kind is not Kind.CALL:
            break
        if above.kind is Kind.CALL:
            calls.append(above)
        elif above.kind is not Kind.RESULT:
            break
    calls.reverse()
    if mold.call_id is not None:
        for one in calls:
            if one.call_id == mold.call_id and not one.is_made_up:
                return one
    free = [one for one in calls if not one.is_answered and (one.is_made_up or mold.call_id is None)]
    named = [one for one in free if mold.name and one.name == mold.name]
    return next(iter(named or free), None)


def is_inserted(node: Node, steps: Sequence[Step | Given], at: int) -> bool | None:
    """Whether an unknown element stands within what is known: None if not, False if in the place of something."""
    for step in steps[at + 1 : at + 1 + _AHEAD]:
        mold = step.mold
        if not (mold.is_agents or mold.kind is Kind.RESULT):
            continue
        for below in node.below():
            if _is_same(below, mold):
                return below.parent is node
    return None


def call(node: Node, mold: Mold, *, is_log: bool = False) -> Node | None:
    """The call below a node that a mold is of: by its id, else by what was asked of which tool."""
    behind = _behind_results(node)
    for place in (node, behind) if behind is not node else (node,):
        child = place.children.get(mold.key)
        if child is not None and child.kind is Kind.CALL:
            return child
        child = _nameless(place, mold, is_log=is_log)
        if child is not None:
            return child
    for below in node.below():
        if _is_same(below, mold):
            return below
    return None


def _nameless(place: Node, mold: Mold, *, is_log: bool) -> Node | None:
    """A call that had no id then, has none now, or goes by another in a log: the same use, else the same tool."""
    calls = [child for child in place.latest() if child.kind is Kind.CALL]
    open_ones = [child for child in calls if child.is_made_up or mold.call_id is None]
    other_ones = [child for child in calls if (not child.sources & LOG if is_log else child.is_log_id)]
    same = [child for child in open_ones + other_ones if child.use == mold.use]
    return next(iter(same or [child for child in open_ones if child.name == mold.name]), None)


def _is_same(node: Node, mold: Mold) -> bool:
    if node.key == mold.key:
        return True
    if node.kind is not Kind.CALL or mold.kind is not Kind.CALL:
        return False
    return node.use == mold.use and (node.is_made_up or mold.call_id is None)


def _base(node: Node) -> Node:
    """What the results at a place follow: the last call of the answer."""
    while node.kind is Kind.RESULT and node.parent is not None:
        node = node.parent
    return node.last_call() if node.kind is Kind.CALL else node


def _behind_results(node: Node) -> Node:
    if node.kind is not Kind.RESULT:
        return node
    chain = node.results()
    return chain[-1] if chain else node


def _result(node: Node, mold: Mold) -> Found | None:
    base = _base(node)
    chain = base.results()
    for result in chain:
        if result.key == mold.key:
            return Found(_deeper(node, result))
    for result in chain:
        if mold.call_id is None and result.use == mold.use:
            return Found(_deeper(node, result))
        if mold.call_id is not None and result.is_made_up and result.name == mold.name:
            return Found(_deeper(node, result))
    for below in node.below():
        if below.key == mold.key:
            return Found(below)
    return None


def _deeper(node: Node, other: Node) -> Node:
    return node if node.kind is Kind.RESULT and node.depth > other.depth else other


def _words(node: Node, steps: Sequence[Step | Given], at: int, is_failed: Callable[[Node], bool]) -> Found | None:
    mold = steps[at].mold
    behind = _behind_results(node)
    for place in (node, behind) if behind is not node else (node,):
        child = place.children.get(mold.key)
        if child is not None:
            return Found(child)
    if not behind.children:
        return None
    return _joined(behind, steps[at]) or _parted(behind, steps, at) or _skipped(behind, mold, is_failed)


def _joined(node: Node, step: Step | Given) -> Found | None:
    """Words that were said in pieces, and are one now."""
    role = step.mold.role
    rest = ""
    while True:
        for child in node.latest():
            if child.kind is not Kind.WORDS or child.role is not role or not child.length:
                continue
            rest = rest or step.element.squeezed
            if child.length <= len(rest) and keys.words(role, rest[: child.length]) == child.key:
                node, rest = child, rest[child.length :]
                break
        else:
            return None
        if not rest:
            return Found(node)


def _parted(node: Node, steps: Sequence[Step | Given], at: int) -> Found | None:
    """Words that were said as one, and are in pieces now."""
    mold = steps[at].mold
    lengths = {
        child.length
        for child in node.latest()
        if child.kind is Kind.WORDS and child.role is mold.role and child.length > mold.length
    }
    if not lengths:
        return None
    squeezed = ""
    for taken, step in enumerate(steps[at:], 1):
        if step.mold.kind is not Kind.WORDS or step.mold.role is not mold.role or len(squeezed) >= max(lengths):
            break
        squeezed += step.element.squeezed
        child = node.children.get(keys.words(mold.role, squeezed)) if len(squeezed) in lengths else None
        if child is not None:
            return Found(child, taken)
    return None


def _skipped(node: Node, mold: Mold, is_failed: Callable[[Node], bool]) -> Found | None:
    """Words further down, if the client left out what stands between; of a user's, only what had failed."""
    for below in node.below():
        if below.key != mold.key:
            continue
        if mold.role is Role.ASSISTANT:
            return Found(below)
        between = below.parent
        while between is not None and between is not node and is_failed(between):
            between = between.parent
        if between is node:
            return Found(below)
    return None


def _spelled_anew(node: Node, mold: Mold, is_failed: Callable[[Node], bool]) -> Found | None:
    """An answer that was seen as it came, and that the client sends back in other words."""
    if mold.role is not Role.ASSISTANT:
        return None
    answers = [
        child
        for child in node.latest()
        if child.kind is Kind.WORDS and child.role is mold.role and child.sources & REPLY
    ]
    alive = [child for child in answers if not is_failed(child)]
    return Found((alive or answers)[-1]) if answers else None
