"""The same thing in the same words: paths, commands and errors without what differs from one time to the next."""

import posixpath
import re
from collections.abc import Iterator

#: Programs that look around, move files or are part of the shell: nobody needs to be told of them.
_LOOKING = frozenset(
    (
        *(
            "ls",
            "pwd",
            "cd",
            "cat",
            "head",
            "tail",
            "wc",
            "find",
            "file",
            "stat",
            "du",
            "tree",
            "diff",
            "open",
            "which",
        ),
        *("grep", "egrep", "rg", "sed", "awk", "sort", "uniq", "cut", "tr", "xargs", "tee", "jq", "echo", "printf"),
        *("git", "gh", "mkdir", "rm", "cp", "mv", "touch", "chmod", "date", "sleep", "kill", "pgrep", "ps"),
        *("true", "false", "test", "[", "for", "while", "if", "do", "done", "then", "fi", "else", "type", "command"),
        *("export", "env", "set", "unset", "python", "python3", "node"),
    )
)
_TELLING = frozenset({("git", "merge"), ("git", "rebase"), ("gh", "api")})
_SHORTEST, _LONGEST = 6, 160
_ERROR_LETTERS = 80
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HASH = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{12,}\b")
_OUTPUT = re.compile(r"\s*\d?>&?\s*(?:\d|/dev/null|/tmp/\S+)")
_DOCUMENT = re.compile(r"<<-?\s*'?\"?(\w+)'?\"?.*?\n\1\b", re.DOTALL)


class Project:
    """Names of one project, whose work folder may be a part of a repository."""

    def __init__(self, folder: str) -> None:
        inner, outer = posixpath.basename(folder), posixpath.basename(posixpath.dirname(folder))
        self._outside = re.compile(rf"/(?:Users|home)/\w+/[\w./-]*?{re.escape(outer)}/")
        self._inside = re.compile(rf"^{re.escape(inner)}/")
        self._mentioned = re.compile(rf"(?<![\w./-])(?:\./)?{re.escape(inner)}/")

    def path(self, name: str) -> str:
        """A path from the folder of the work, or from that of the repository."""
        plain = self._outside.sub("", name.strip().strip("`\"'"))
        return self._inside.sub("", re.sub(r"^\./", "", plain))

    def text(self, words: str) -> str:
        """A text with all paths like that, and single blanks."""
        plain = self._mentioned.sub("", self._outside.sub("", words))
        return re.sub(r"[ \t]+", " ", re.sub(r"(?<![\w.])\./(?=\w)", "", plain))

    def error(self, line: str) -> str:
        """The beginning of an error's line without numbers and hashes."""
        plain = _HASH.sub("H", _COLOUR.sub("", self.text(line).strip()))
        return re.sub(r"\s+", " ", re.sub(r"\d+", "N", plain))[:_ERROR_LETTERS].strip()

    def error_line(self, line: str) -> str:
        """A whole line of a pack, like that: an error is looked for anywhere in it."""
        plain = self.text(re.sub(r"</?tool_use_error>", "", line))
        plain = _HASH.sub("H", _COLOUR.sub("", plain.strip()))
        return re.sub(r"\s+", " ", re.sub(r"\d+", "N", plain))

    def commands(self, line: str) -> Iterator[str]:
        """The commands of a line that do more than look around, of each pipe the first."""
        for segment in _segments(_DOCUMENT.sub("", line)):
            plain = re.sub(r"\s+", " ", _OUTPUT.sub("", self.text(segment))).strip()
            plain = re.sub(r"^(?:\w+=\S+ )+", "", plain)
            words = plain.split(" ")
            is_look = words[0] in _LOOKING and tuple(words[:2]) not in _TELLING
            is_command = re.fullmatch(r"[\w./~-]+", words[0]) is not None and not plain.startswith("#")
            if is_command and not is_look and _SHORTEST <= len(plain) <= _LONGEST:
                yield plain


def _segments(line: str) -> Iterator[str]:
    """What stands between `&&`, `||`, `;` and ends of lines, outside of quotes; without what is behind a pipe."""
    start = at = 0
    quote = ""
    is_behind_pipe = False
    while at < len(line):
        sign, width = line[at], 1
        if quote:
            width = 2 if sign == "\\" and quote == '"' else 1
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in ";\n|" or line.startswith("&&", at):
            if not is_behind_pipe:
                yield line[start:at]
            width = 2 if line.startswith(("&&", "||"), at) else 1
            is_behind_pipe = sign == "|" and width == 1
            start = at + width
        at += width
    if not is_behind_pipe:
        yield line[start:]
