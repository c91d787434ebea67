"""How much scope, age, type and state count for an artifact, and how it stands."""

from blackbird.artifacts.model import Artifact, Constraint, Decision, OpenThread, Outcome
from blackbird.retrieve.model import Scope
from blackbird.retrieve.weights import Weights
from blackbird.store.memory import Stored

_DAY = 86_400 * 1_000_000_000


def of_scope(artifact: Artifact, scope: Scope, weights: Weights) -> float:
    """By how much the nearest scope multiplies."""
    if scope.task is not None and artifact.task == scope.task:
        return weights.task
    if scope.session is not None and artifact.session == scope.session:
        return weights.session
    return weights.project if artifact.session in scope.project else 1.0


def of_age(at: int | None, newest: int | None, weights: Weights) -> float:
    """One for the newest, and ever less down to what the oldest counts; the clock on the wall has no part in it."""
    if at is None or newest is None:
        return weights.oldest
    days = max(0, newest - at) / _DAY
    # An exponent that float cannot take is as good as for ever.
    return float(weights.oldest + (1 - weights.oldest) * 0.5 ** min(days / weights.half_life, 1000.0))


def state(artifact: Artifact) -> str:
    """How it stands; empty for what simply holds."""
    content = artifact.content
    if isinstance(content, Decision | Constraint):
        return "superseded" if content.superseded_by is not None else "" if content.is_active else "ended"
    if isinstance(content, OpenThread):
        return str(content.state)
    return str(content.status) if isinstance(content, Outcome) else ""


def is_stale(stored: Stored) -> bool:
    """Whether it no longer holds, is closed, or has lost its evidence."""
    content = stored.artifact.content
    if isinstance(content, Decision | Constraint):
        return stored.is_expired or not content.is_active
    if isinstance(content, OpenThread):
        return stored.is_expired or not content.state.is_open
    return stored.is_expired
