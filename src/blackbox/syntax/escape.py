r"""The one escape rule, in force in files whose header says `escape: 1`.

A backslash gives the next character its plain meaning (`\→ \= \" \[ \# \@ \\`), `\n \r \t \s` are line feed,
carriage return, tab and space, `\e` is nothing at all (it keeps an empty line visible), `\xHH` and `\uHHHH` are
characters by number. Files without the header field are read without any unescaping.
"""

import re

_NAMED = {"n": "\n", "r": "\r", "t": "\t", "s": " ", "e": ""}
_SEQUENCE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.)|\Z)", re.DOTALL)
#: Control characters, the other Unicode line ends (many tools break lines there), and what UTF-8 cannot carry.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def unescape(text: str) -> str:
    """Undo `escape`. An unknown sequence keeps its backslash, so nothing is lost."""
    if "\\" not in text:
        return text
    return _SEQUENCE.sub(_plain, text)


def bad_sequences(text: str) -> list[int]:
    """Where in `text` a backslash starts no known sequence."""
    return [match.start() for match in _SEQUENCE.finditer(text) if not _is_known(match)]


def _plain(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    if number is not None:
        return chr(int(number, 16))
    if not _is_known(match):
        return match[0]
    return _NAMED.get(match[3], match[3])


def _is_known(match: re.Match[str]) -> bool:
    if match[1] or match[2]:
        return True
    character = match[3]
    return character is not None and (character in _NAMED or not character.isalnum())


def escape_controls(text: str) -> str:
    """Double backslashes and number the characters that no text line should carry raw."""
    return number_controls(text.replace("\\", "\\\\"))


def number_controls(text: str) -> str:
    """Escaped text in which some characters that no line should carry stand raw, with these escaped as well."""
    return _CONTROL.sub(_number, text)


def _number(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x0D:
        return "\\r"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
