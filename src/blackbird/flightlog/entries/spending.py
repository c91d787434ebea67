"""What a response used and how it came out, as the comments that follow its lines."""

import decimal
from typing import Any

from blackbird.canon.model import Generation, Outcome, Purpose
from blackbird.canon.natives.flight.tokens import HOUR_KEY, REASONING_KEY
from blackbox.events import comments
from blackbox.write import metrics_of
from blackbox.write.scalars import MetaFields

#: Of a cost, more digits than a price list has.
_DIGITS = decimal.Decimal("1e-12")
#: From this status on, a request was turned down.
_FIRST_ERROR = 400
_OWN = frozenset({Purpose.TURN, Purpose.SUBAGENT})


def is_own(generation: Generation) -> bool:
    """Whether a response belongs to a conversation, and is no side call such as a title or a warm-up."""
    return generation.purpose in _OWN


def cost_of(generation: Generation) -> decimal.Decimal | None:
    """What a response cost, if its model has a price."""
    if generation.cost is None or generation.cost.usd is None:
        return None
    return generation.cost.usd.quantize(_DIGITS).normalize()


def named(generation: Generation, main_model: str | None, meta: MetaFields) -> MetaFields:
    """Which response a line came out of, for programs that put the lines of one together again."""
    found: MetaFields = {}
    if generation.model and generation.model != main_model:
        found["model"] = generation.model
    ids = {"response": generation.response_id or generation.id}
    request = generation.provider_request or generation.request_id
    ids |= {"request": request} if request is not None else {}
    found["extra"] = {**meta.get("extra", {}), **ids}
    return found


def metrics_comment(
    generation: Generation, step: int | None, *, with_tokens: bool, model: str | None = None
) -> comments.Metrics | None:
    """`# metrics step=N …`; None if there is nothing to say. `with_tokens` is for logs whose lines have none.

    `model` is that of the response, where it is not the session's.
    """
    usage = generation.usage
    extra = {} if model is None else {"model": model}
    extra |= _extra(generation, with_tokens=with_tokens)
    counts: dict[str, Any] = {}
    if usage is not None and with_tokens:
        counts = {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.output,
            "cached_tokens": usage.cache_read,
        }
    cost = cost_of(generation)
    if not counts and cost is None and not extra.keys() - {"request", "model"}:
        return None
    return metrics_of(step, **counts, cost_usd=cost, extra=extra)


def _extra(generation: Generation, *, with_tokens: bool) -> dict[str, Any]:
    usage = generation.usage
    extra: dict[str, Any] = {}
    if usage is not None and with_tokens:
        extra |= {"cache_creation_input_tokens": usage.cache_write} if usage.cache_write else {}
        extra |= {HOUR_KEY: usage.cache_write_1h} if usage.cache_write_1h else {}
        extra |= {REASONING_KEY: usage.reasoning} if usage.reasoning else {}
    if generation.reported_cost is not None:
        extra["reported_cost_usd"] = f"{generation.reported_cost:f}"
    if generation.attempt > 1:
        extra["attempt"] = generation.attempt
    if not is_own(generation):
        extra["purpose"] = generation.purpose.value
    if generation.request_id is not None:
        extra["request"] = generation.request_id
    return extra


def silent_comment(generation: Generation) -> comments.Fields:
    """A request that brought neither words nor figures: what it was for, and how it came out."""
    about: dict[str, str | tuple[str, ...]] = {
        "purpose": generation.purpose.value,
        "outcome": generation.outcome.value,
    }
    for key, value in (
        ("status", generation.status),
        ("model_name", generation.model),
        ("request", generation.request_id),
    ):
        if value is not None and value != "":
            about[key] = str(value)
    return comments.Fields(about)


def failure_note(generation: Generation) -> comments.Note | None:
    """In words, what went wrong with a response; None if nothing did."""
    if generation.outcome is Outcome.COMPLETE:
        return None
    which = f"attempt {generation.attempt}"
    if not is_own(generation):
        which = f"{generation.purpose.value} request, {which}"
    if generation.outcome is Outcome.ACTIVE:
        return comments.Note(f"{which} was still under way when this was written")
    said = "was cut off before its end" if generation.outcome is Outcome.CUT else _failed(generation.status)
    later = ", and a later one took its place" if generation.is_superseded else ""
    failure = generation.failure
    words = () if failure is None else (failure.code, failure.message)
    # A provider that gives its error no name but the status has said that already.
    why = [word for word in words if word and word != str(generation.status)]
    return comments.Note(": ".join([f"{which} {said}{later}", *why]))


def _failed(status: int | None) -> str:
    if status is None:
        return "failed"
    # The status comes before the answer: one that promised success says nothing of what came after it.
    return f"failed with status {status}" if status >= _FIRST_ERROR else "failed within its answer"
