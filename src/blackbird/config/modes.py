"""What makes memory, as `memory.mode` says it; rules alone do so far, and whoever asked for more is told."""

DETERMINISTIC = "deterministic"
REMEDY = f'leave memory.mode away, or set it to "{DETERMINISTIC}"'


def unmet(mode: str) -> str | None:
    """What there is to say of a mode that asks for more than there is: one sentence, or nothing."""
    if mode == DETERMINISTIC:
        return None
    return (
        f'memory.mode is "{mode}", but nothing asks a model yet: rules alone make memory, as "{DETERMINISTIC}" does'
    )
