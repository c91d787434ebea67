"""What came back from a tool, as the result of a line: words, standard error, exit code, whether it was stopped."""

from typing import Any

from blackbird.canon.model import ToolResult
from blackbird.deeds.results import exit_code, is_error, is_interrupted
from blackbird.flightlog.entries.line import media_text
from blackbox.syntax.results import Result
from blackbox.write import results
from blackbox.write.scalars import MetaFields

#: An error of one line up to this long stands within its brackets.
_SHORT = 200


def text_of(result: ToolResult) -> str:
    """All that came back: the text, what only the client's own log has of standard error, and references to media."""
    pieces = [result.text] if result.text else []
    stderr = result.details.get("stderr")
    if isinstance(stderr, str) and stderr.strip() and stderr.strip() not in result.text:
        pieces.append(stderr)
    pieces += [media_text(media) for media in result.media]
    return "\n".join(pieces)


def result_of(result: ToolResult) -> Result:
    """The result as a line has it."""
    text = text_of(result)
    if is_error(result):
        is_short = len(text) <= _SHORT and "\n" not in text.strip("\n")
        return results.err(text.strip("\n")) if is_short else results.error(text)
    return results.text(text) if text.strip() else results.ok()


def meta_of(result: ToolResult) -> MetaFields:
    """What the metadata of the line says of it."""
    meta: MetaFields = {}
    code = exit_code(result)
    extra: dict[str, Any] = {} if code is None else {"exit_code": code}
    if extra:
        meta["extra"] = extra
    if is_interrupted(result):
        meta["interrupted"] = True
    return meta
