"""What a user chose of what an agent asked, as the result of a line."""

from blackbird.canon.model import ToolResult
from blackbird.deeds.questions import Asked, answer_to
from blackbird.deeds.results import is_error
from blackbird.flightlog.entries import answers
from blackbox.syntax.results import Result
from blackbox.write import results


def answer_of(asked: Asked, result: ToolResult, *, is_only: bool) -> Result:
    """The answer to one question."""
    if is_error(result):
        return answers.result_of(result)
    answer = answer_to(asked, result, answers.text_of(result), is_only=is_only)
    return results.selected(*answer.selected) if answer.selected else results.answer(answer.text)
