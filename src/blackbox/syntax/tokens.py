"""The lexer of call parts: where the result begins, and which words, quotes and lists stand before it."""

import bisect
import re
from typing import NamedTuple

from blackbox.syntax.escape import unescape

ARROW = "→"

Value = str | tuple[str, ...]


class Token(NamedTuple):
    """One argument: `value`, `key=value`, `key="quoted value"` or `key=[a, "b c"]`. Columns count from 0."""

    key: str | None
    value: Value
    start: int
    end: int
    quoted_key: bool = False

    @property
    def text(self) -> str:
        """The value as one string; a list is joined with commas."""
        return self.value if isinstance(self.value, str) else ", ".join(self.value)


_OPENING_OR_ARROW = re.compile(r'(?:(?<=[ \t\r=\[,({:])|\A)"|→')
#: Quotes that all open and close before the first arrow, as `find_arrow` would walk them: that arrow is outside.
_CLEAN_TO_ARROW = re.compile(r'[^"→]*+(?:(?<=[ \t\r=\[,({:])"[^"→]*+"(?=[ \t\r→,\]})])[^"→]*+)*+→')
_CLOSING = re.compile(r'"(?=[ \t\r→,\]})]|\Z)')
_ESCAPED_STEP = re.compile(r'\\.|"(?:[^"\\]|\\.)*+"|→', re.DOTALL)
#: A call part in which every quote opens at a value and closes before a space: regexes read it as the lexer would.
CLEAN = re.compile(r'(?:[^"\[{\\]*+(?<=[ \t=])"[^"\\]*+"(?![^ \t\r]))*+[^"\[{\\]*+\Z')
_CLEAN_WORD = re.compile(r'(?=[^ \t\r])(?:([A-Za-z_][\w.\-]*)=)?(?:"([^"]*+)"(?![^ \t\r])|([^ \t\r]*))')
_SPACE = re.compile(r"[ \t\r]*")
_BARE = re.compile(r"[^ \t\r]*")
_KEY = re.compile(r"([A-Za-z_][\w.\-]*)=")
_QUOTE = re.compile('"')
_QUOTED_KEY = re.compile(r'"((?:[^"\\]|\\.)*+)"=', re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_BRACKET = re.compile(r'\\"|["\[\]{}]')
_ESCAPED_BRACKET = re.compile(r'\\.|["\[\]{}]', re.DOTALL)
_SEPARATOR = re.compile(r'\\"|["\[\]{},]')
_ESCAPED_SEPARATOR = re.compile(r'\\.|["\[\]{},]', re.DOTALL)
_CLOSING_ITEM = re.compile(r'"(?=[ \t]*(?:,|\Z))')
#: What stands in for a secret looks like a list and is none.
#: The marker that stands for a secret.
REDACTED = re.compile(r"\[redacted(?::([\w.-]+))?\]")
_CLOSERS = {"[": "]", "{": "}"}


def find_arrow(source: str, start: int, *, escaped: bool = False) -> int:
    """The column of the arrow that splits call from result, or -1.

    It is the first one outside double quotes. Real lines have odd quotes (`cmd="git commit -m "fix"`); where such
    a quote swallows every arrow, the first arrow with a space on both sides is taken.
    """
    first = source.find(ARROW, start)
    if first < 0 or (not escaped and source.find('"', start, first) < 0):
        return first
    if escaped:
        steps = _ESCAPED_STEP.finditer(source, start)
        return next((step.start() for step in steps if step[0] == ARROW), -1)
    clean = _CLEAN_TO_ARROW.match(source, start)
    if clean is not None:
        return clean.end() - 1
    position = start
    odd = source.count('"', start) % 2 == 1
    while (step := _OPENING_OR_ARROW.search(source, position)) is not None:
        if step[0] == ARROW:
            return step.start()
        closing = _CLOSING.search(source, step.end())
        if closing is None:
            odd = True
            break
        position = closing.end()
    spaced = source.find(" → ", start) if odd else -1
    return spaced + 1 if spaced >= 0 else -1


def lex(source: str, start: int, end: int, *, escaped: bool = False) -> list[Token]:
    """The words in `source[start:end]`, in order, with their columns."""
    if CLEAN.match(source, start, end):
        return [
            Token(word[1], word[3] if word[2] is None else word[2], word.start(), word.end())
            for word in _CLEAN_WORD.finditer(source, start, end)
        ]
    return _Lexer(source, start, end, escaped).run()


class _Lexer:
    """One pass over one call part; quote and bracket partners are found once, so the pass stays linear."""

    def __init__(self, source: str, start: int, end: int, escaped: bool) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.escaped = escaped
        self._brackets: dict[int, int] | None = None
        self._closers: tuple[list[int], list[int]] | None = None

    def run(self) -> list[Token]:
        tokens: list[Token] = []
        position = self._skip(self.start)
        while position < self.end:
            token = self._token(position)
            tokens.append(token)
            position = self._skip(token.end)
        return tokens

    def _skip(self, position: int) -> int:
        space = _SPACE.match(self.source, position, self.end)
        return space.end() if space else position

    def _token(self, start: int) -> Token:
        key, position = None, start
        quoted_key = False
        match = _KEY.match(self.source, start, self.end)
        if match is not None:
            key, position = match[1], match.end()
        elif self.escaped and (match := _QUOTED_KEY.match(self.source, start, self.end)) is not None:
            key, position, quoted_key = unescape(match[1]), match.end(), True
        value, end = self._value(position)
        return Token(key, value, start, end, quoted_key)

    def _value(self, start: int) -> tuple[Value, int]:
        opening = self.source[start : start + 1] if start < self.end else ""
        if opening == '"':
            closing = self._closing_quote(start)
            if closing > 0:
                return self._unquote(start + 1, closing), closing + 1
        elif opening in _CLOSERS:
            closing = self._closing_bracket(start)
            if closing > 0:
                body = self.source[start : closing + 1]
                if opening == "{" or REDACTED.fullmatch(body):
                    return body, closing + 1
                return split_items(body[1:-1], escaped=self.escaped), closing + 1
        bare = _BARE.match(self.source, start, self.end)
        end = bare.end() if bare else self.end
        text = self.source[start:end]
        return (unescape(text) if self.escaped else text), max(end, start)

    def _unquote(self, start: int, end: int) -> str:
        text = self.source[start:end]
        return unescape(text) if self.escaped else text.replace('\\"', '"')

    def _closing_quote(self, opening: int) -> int:
        """The quote that ends the value opened at `opening`, or -1.

        Real producers do not escape inner quotes. A closing quote is followed by a space or the end of the part; of
        several, it is the first that leaves an even number of quotes behind it, so that `cmd="grep "x" y" z="1"`
        ends where a reader would end it.
        """
        if self.escaped:
            match = _QUOTED.match(self.source, opening, self.end)
            return match.end() - 1 if match and self._ends_token(match.end()) else -1
        if self._closers is None:
            self._closers = self._find_closers()
        for candidates in self._closers:
            index = bisect.bisect_right(candidates, opening)
            if index < len(candidates):
                return candidates[index]
        return -1

    def _find_closers(self) -> tuple[list[int], list[int]]:
        quotes = [match.start() for match in _QUOTE.finditer(self.source, self.start, self.end)]
        closing = [(n, i) for n, i in enumerate(quotes) if self._ends_token(i + 1)]
        return [i for n, i in closing if (len(quotes) - n) % 2 == 1], [i for _, i in closing]

    def _ends_token(self, position: int) -> bool:
        return position >= self.end or self.source[position] in " \t\r"

    def _closing_bracket(self, opening: int) -> int:
        if self._brackets is None:
            self._brackets = self._match_brackets()
        closing = self._brackets.get(opening, -1)
        return closing if closing > 0 and self._ends_token(closing + 1) else -1

    def _match_brackets(self) -> dict[int, int]:
        partners: dict[int, int] = {}
        stack: list[int] = []
        pattern = _ESCAPED_BRACKET if self.escaped else _BRACKET
        position = self.start
        last_quote = self.source.rfind('"', self.start, self.end)
        while (step := pattern.search(self.source, position, self.end)) is not None:
            position = step.end()
            character = step[0]
            if character == '"':
                # Under the escape rule every plain quote opens a string, in a list or not.
                if (stack or self.escaped) and position <= last_quote:
                    closing = self._closing_item_quote(step.start())
                    # Without a partner here there is none further on either: stop looking for quotes.
                    position, last_quote = (closing + 1, last_quote) if closing > 0 else (position, -1)
            elif character in _CLOSERS:
                stack.append(step.start())
            elif character in "]}" and stack and _CLOSERS[self.source[stack[-1]]] == character:
                partners[stack.pop()] = step.start()
        return partners

    def _closing_item_quote(self, opening: int) -> int:
        if self.escaped:
            match = _QUOTED.match(self.source, opening, self.end)
            return match.end() - 1 if match else -1
        match = _CLOSING.search(self.source, opening + 1, self.end)
        return match.start() if match else -1


def split_items(body: str, *, escaped: bool = False) -> tuple[str, ...]:
    """The comma-separated items of a list's inside; nested brackets stay text."""
    if not body.strip(" \t\r"):
        return ()
    items: list[str] = []
    pattern = _ESCAPED_SEPARATOR if escaped else _SEPARATOR
    start = position = depth = 0
    first = _skip_spaces(body, 0)
    quotes_close = True
    while (step := pattern.search(body, position)) is not None:
        position = step.end()
        character = step[0]
        if character == '"':
            if quotes_close and step.start() == first:
                closing = (_QUOTED.match if escaped else _CLOSING_ITEM.search)(body, step.start() + (not escaped))
                quotes_close = closing is not None
                position = closing.end() if closing else position
        elif character in _CLOSERS:
            depth += 1
        elif character in "]}":
            depth = max(0, depth - 1)
        elif character == "," and depth == 0:
            items.append(_item(body[start : step.start()], escaped))
            start, first = position, _skip_spaces(body, position)
    items.append(_item(body[start:], escaped))
    return tuple(items)


def _skip_spaces(body: str, position: int) -> int:
    space = _SPACE.match(body, position)
    return space.end() if space else position


def _item(text: str, escaped: bool) -> str:
    return unquote(text.strip(" \t\r"), escaped=escaped)


def unquote(text: str, *, escaped: bool = False) -> str:
    """`text` without the quotes around it, if it has them, and with its escapes undone."""
    if not escaped:
        return text[1:-1].replace('\\"', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text
    return unescape(text[1:-1] if _QUOTED.fullmatch(text) else text)
