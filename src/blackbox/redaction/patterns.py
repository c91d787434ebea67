"""The language of patterns, as a small tree: checked, and asked how its matches begin."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

_UPPER = range(0x41, 0x5B)
_UPPER_MASK = sum(1 << byte for byte in _UPPER)
_HIGH = sum(1 << byte for byte in range(0x80, 0x100))
_ESCAPES = {
    "d": sum(1 << byte for byte in b"0123456789"),
    "s": sum(1 << byte for byte in b" \t\n\r\x0b\x0c"),
    "w": sum(1 << byte for byte in range(0x80) if chr(byte).isalnum() or byte == 0x5F),
    "n": 1 << 0x0A,
    "r": 1 << 0x0D,
    "t": 1 << 0x09,
}
#: The mask of all bytes.
ANY_BYTE = (1 << 256) - 1
_GROUPS = ("(?:", "(?P<secret>", "(?i:")
#: Says nothing of the pattern itself: a user may have put a secret into it.
_NO_ANCHOR = "a match can begin with none of the anchors"
_COUNT = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
#: Inside of a class these are operators to Rust.
_CLASS_OPERATORS = ("--", "&&", "~~")


class PatternError(ValueError):
    """A pattern that is outside of the common subset."""


@dataclass(frozen=True, slots=True, eq=False)
class Bytes:
    """One byte out of a set, which is a mask of 256 bits."""

    mask: int


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    r"""`\b`: the border of a word, no byte at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A node some times over; `most` is None without an upper bound."""

    node: "Node"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One node after the other."""

    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The first alternative that matches."""

    nodes: tuple["Node", ...]


Node = Bytes | Boundary | Repeat | Sequence | Choice


def parse(pattern: str, *, fold: bool = False) -> Node:
    """The tree of a pattern. What is outside of the common subset is a PatternError that says where."""
    parser = _Parser(pattern)
    node = parser.choice(fold=fold)
    if parser.at < len(pattern):
        parser.fail("`)` closes nothing")
    return node


def check(pattern: str, *, fold: bool = False, whole: bool = False) -> Node:
    """`parse`, and what holds for the pattern as a whole. One that is matched `whole` may end where it likes."""
    node = parse(pattern, fold=fold)
    if least_length(node) == 0:
        raise PatternError("it matches the empty string")
    if not whole and _has_loose_high_bytes(node):
        raise PatternError(
            "a class with bytes from \\x80 on is repeated with an upper bound or not at all, "
            "so a match could end inside of a character"
        )
    return node


class _Parser:
    """Recursive descent over the text of a pattern."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        if not text.isascii():
            raise PatternError("it has characters beyond ASCII; write them as \\xHH")

    def fail(self, problem: str) -> NoReturn:
        raise PatternError(f"{problem}, at position {self.at + 1}")

    def choice(self, *, fold: bool) -> Node:
        nodes = [self._sequence(fold=fold)]
        while self._peek() == "|":
            self.at += 1
            nodes.append(self._sequence(fold=fold))
        return nodes[0] if len(nodes) == 1 else Choice(tuple(nodes))

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _sequence(self, *, fold: bool) -> Node:
        nodes: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            node = self._atom(fold=fold)
            nodes.append(self._repeated(node))
        return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))

    def _repeated(self, node: Node) -> Node:
        sign = self._peek()
        if sign not in ("*", "+", "?", "{"):
            return node
        if sign == "{":
            count = _COUNT.match(self.text, self.at)
            if count is None:
                self.fail("`{` starts no count; write `\\{` for the character")
            least = int(count[1])
            most = None if count[2] and not count[3] else int(count[3] or count[1])
            if most is not None and most < least:
                self.fail("the count ends before it begins")
            self.at = count.end()
        else:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
            self.at += 1
        if self._peek() == "?":
            self.at += 1
        if self._peek() in ("*", "+", "?", "{"):
            self.fail("a repeat of a repeat, or a possessive one")
        if least_length(node) == 0:
            self.fail("what is repeated may be empty")
        return Repeat(node, least, most)

    def _atom(self, *, fold: bool) -> Node:
        sign = self._peek()
        if sign == "(":
            return self._group(fold=fold)
        if sign == "[":
            return Bytes(_folded(self._class(), fold=fold))
        if sign == "\\":
            if self.text[self.at + 1 : self.at + 2] == "b":
                self.at += 2
                return Boundary()
            return Bytes(_folded(self._escape(), fold=fold))
        if sign in ".^$":
            self.fail(f"`{sign}` is not in the language")
        if sign in "*+?{":
            self.fail(f"`{sign}` has nothing to repeat")
        if sign in "]}":
            self.fail(f"`{sign}` has to be written `\\{sign}`")
        self.at += 1
        return Bytes(_folded(1 << ord(sign), fold=fold))

    def _group(self, *, fold: bool) -> Node:
        opening = next((group for group in _GROUPS if self.text.startswith(group, self.at)), None)
        if opening is None:
            self.fail("only (?:…), (?P<secret>…) and (?i:…) are groups of the language")
        self.at += len(opening)
        node = self.choice(fold=fold or opening == "(?i:")
        if self._peek() != ")":
            self.fail("a group is not closed")
        self.at += 1
        return node

    def _escape(self) -> int:
        self.at += 1
        sign = self._peek()
        self.at += 1
        if sign == "x":
            digits = self.text[self.at : self.at + 2]
            if not re.fullmatch("[0-9A-Fa-f]{2}", digits):
                self.fail("`\\x` needs two hexadecimal digits")
            self.at += 2
            return 1 << int(digits, 16)
        if sign in _ESCAPES:
            return _ESCAPES[sign]
        if not sign or sign.isalnum():
            self.fail(f"`\\{sign}` is not in the language")
        return 1 << ord(sign)

    def _class(self) -> int:
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        mask = 0
        while self._peek() != "]" or not mask:
            if any(self.text.startswith(operator, self.at) for operator in _CLASS_OPERATORS):
                self.fail("a doubled sign in a class is an operator to Rust; escape it")
            low = self._class_item()
            if self._peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._class_item()
                if low.bit_count() != 1 or high.bit_count() != 1 or high < low:
                    self.fail("a range has no order")
                mask |= high * 2 - low
            else:
                mask |= low
        self.at += 1
        if negated:
            if mask & _HIGH != _HIGH:
                self.fail("a negated class has to exclude \\x80-\\xff")
            return ANY_BYTE & ~mask
        if mask & _HIGH not in (0, _HIGH):
            self.fail("a class has all bytes from \\x80 on, or none")
        return mask

    def _class_item(self) -> int:
        sign = self._peek()
        if sign == "\\":
            if self.text[self.at + 1 : self.at + 2] == "b":
                self.fail("`\\b` has no place in a class")
            return self._escape()
        if sign in ("", "[", "]"):
            self.fail("a class is not closed, is empty, or has a bracket that is not escaped")
        self.at += 1
        return 1 << ord(sign)


def _folded(mask: int, *, fold: bool) -> int:
    if not fold:
        return mask
    return mask | (mask & _UPPER_MASK) << 32 | (mask & _UPPER_MASK << 32) >> 32


def least_length(node: Node) -> int:
    """The length of the shortest match."""
    match node:
        case Bytes():
            return 1
        case Boundary():
            return 0
        case Repeat():
            return node.least * least_length(node.node)
        case Sequence():
            return sum(map(least_length, node.nodes))
        case Choice():
            return min(map(least_length, node.nodes))


def _has_loose_high_bytes(node: Node) -> bool:
    match node:
        case Bytes():
            return bool(node.mask & _HIGH)
        case Repeat(node=inner, most=None):
            parts = inner.nodes if isinstance(inner, Choice) else (inner,)
            return any(_has_loose_high_bytes(part) for part in parts if not isinstance(part, Bytes))
        case Repeat(node=inner):
            return _has_loose_high_bytes(inner)
        case Sequence() | Choice():
            return any(map(_has_loose_high_bytes, node.nodes))
        case Boundary():
            return False


#: What is still to be matched: a node, and what comes after it.
_Rest = tuple[Node, "_Rest"] | None


def behind_anchors(node: Node, anchors: tuple[bytes, ...], *, fold: bool = False) -> dict[bytes, int]:
    """For each anchor the bytes (a mask) that can follow it in a match; all of them where a match may end.

    A match that begins with none of the anchors is a PatternError.
    """
    behind = dict.fromkeys(anchors, 0)
    stack: list[tuple[_Rest, bytes]] = [((node, None), b"")]
    while stack:
        rest, prefix = stack.pop()
        if prefix in behind:
            behind[prefix] |= _first_bytes(rest)
        longer = [anchor for anchor in anchors if anchor.startswith(prefix) and anchor != prefix]
        if not longer and prefix in behind:
            continue
        if rest is None:
            if not any(prefix.startswith(anchor) for anchor in anchors):
                raise PatternError(_NO_ANCHOR)
            continue
        if isinstance(rest[0], Bytes):
            for byte in _bytes_of(rest[0].mask, fold=fold):
                grown = prefix + bytes((byte,))
                if any(anchor.startswith(grown) for anchor in anchors):
                    stack.append((rest[1], grown))
                elif not any(grown.startswith(anchor) for anchor in anchors):
                    raise PatternError(_NO_ANCHOR)
            continue
        stack.extend((step, prefix) for step in _steps(rest))
    return behind


def _steps(rest: tuple[Node, _Rest]) -> Iterator[_Rest]:
    """One level of structure less, in every way that is possible."""
    node, after = rest
    match node:
        case Boundary():
            yield after
        case Sequence():
            for part in reversed(node.nodes):
                after = (part, after)
            yield after
        case Choice():
            for part in node.nodes:
                yield part, after
        case Repeat():
            if node.least == 0:
                yield after
            if node.most != 0:
                most = None if node.most is None else node.most - 1
                yield node.node, (Repeat(node.node, max(0, node.least - 1), most), after)
        case Bytes():
            pass


def _first_bytes(rest: _Rest) -> int:
    mask = 0
    stack = [rest]
    while stack:
        top = stack.pop()
        if top is None:
            return ANY_BYTE
        if isinstance(top[0], Bytes):
            mask |= top[0].mask
        else:
            stack.extend(_steps(top))
    return mask


def _bytes_of(mask: int, *, fold: bool) -> Iterator[int]:
    if fold:
        mask &= ~_UPPER_MASK
    while mask:
        yield mask.bit_length() - 1
        mask ^= 1 << mask.bit_length() - 1


def least_run(node: Node, alphabet: int) -> int:
    """How many bytes of the alphabet (a mask) every match has in one stretch, from the first such byte on."""
    return _run(_without_lead(node, alphabet), alphabet)[0]


def _without_lead(node: Node, alphabet: int) -> Node:
    """The node without the bytes at its beginning that are outside of the alphabet."""
    match node:
        case Sequence(nodes=(Bytes() as first, *others)) if not first.mask & alphabet:
            return _without_lead(Sequence(tuple(others)), alphabet)
        case Sequence(nodes=(Choice() as first, *others)):
            return Sequence((_without_lead(first, alphabet), *others))
        case Choice():
            return Choice(tuple(_without_lead(part, alphabet) for part in node.nodes))
        case _:
            return node


def _run(node: Node, alphabet: int) -> tuple[int, bool]:
    """The least length of the stretch at the beginning, and whether the stretch is the whole match."""
    match node:
        case Bytes():
            inside = not node.mask & ~alphabet
            return int(inside), inside
        case Boundary():
            return 0, True
        case Repeat():
            length, whole = _run(node.node, alphabet)
            return (node.least * length, True) if whole else (length if node.least else 0, False)
        case Choice():
            runs = [_run(part, alphabet) for part in node.nodes]
            return min(length for length, _ in runs), all(whole for _, whole in runs)
        case Sequence():
            total = 0
            for part in node.nodes:
                length, whole = _run(part, alphabet)
                total += length
                if not whole:
                    return total, False
            return total, True


def literal_prefix(node: Node) -> bytes:
    """The bytes that every match begins with."""
    parts = node.nodes if isinstance(node, Sequence) else (node,)
    prefix = bytearray()
    for part in parts:
        if not isinstance(part, Bytes) or part.mask.bit_count() != 1:
            break
        prefix.append(part.mask.bit_length() - 1)
    return bytes(prefix)
