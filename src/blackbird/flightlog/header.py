"""The header of a flight log: what is known of a session, and a stated placeholder for what a log must have."""

import re
from collections.abc import Mapping

from blackbird.canon.model import Mark, Message, Origin
from blackbird.flightlog.events import first_model
from blackbird.timeline.timeline import About, Spent, Timeline
from blackbox.write.header import HeaderFields
from blackbox.write.scalars import Argument

#: Stands for a commit where there was none.
NO_COMMIT = "0000000"
_COMMIT = re.compile(r"[0-9A-Fa-f]{6,40}")
_LONGEST_COMMIT = 40
_PLACEHOLDER = f"repo_sha {NO_COMMIT} is a placeholder: the commit is not known"


def header_of(timeline: Timeline, *, form: str, is_whole: bool = True) -> HeaderFields:
    """The header; without `is_whole` the session goes on, and what it will have used is not said."""
    about = timeline.about
    sha = (about.sha or "")[:_LONGEST_COMMIT]
    has_commit = _COMMIT.fullmatch(sha) is not None
    notes = [] if has_commit else [_PLACEHOLDER]
    notes += [f"not read: {problem}" for problem in (*timeline.problems, *timeline.unread)] if is_whole else []
    model = first_model(timeline.items) or next(iter(about.models), None)
    given = {
        "format": f"{form}/1",
        "id": about.session or "session",
        "mode": _mode(timeline),
        "model": model,
        "agent": about.client,
        "version": about.client_version,
        "repo": about.repository,
        "repo_sha": sha if has_commit else NO_COMMIT,
        "branch": about.branch,
        "dirty": about.dirty,
        "sandbox_id": about.sandbox,
        "toolset": about.tools or None,
        "skills": about.skills or None,
        "mcp": about.mcp or None,
        "notes": "; ".join(notes) or None,
        "client_version": about.client_version,
        "slug": about.slug,
        "cwd": about.cwd,
        **(_totals(timeline.spent) if is_whole else {}),
        "extra": _extra(about, timeline.spent if is_whole else None),
    }
    fields: HeaderFields = {key: value for key, value in given.items() if value not in (None, "")}  # type: ignore[assignment]  # the keys are those of the header
    return fields


def _mode(timeline: Timeline) -> str | None:
    """The mode that the session began in, if a mark before its first words says so."""
    for item in timeline.items:
        if isinstance(item, Mark) and item.kind == "mode":
            return item.text or None
        if isinstance(item, Message) and item.origin is Origin.USER:
            return None
    return None


def _totals(spent: Spent) -> dict[str, int]:
    if not spent.generations:
        return {}
    usage = spent.usage
    return {
        "tokens_total_in": usage.prompt,
        "tokens_total_out": usage.output,
        "tokens_cached": usage.cache_read,
        "tokens_cache_create": usage.cache_write,
    }


def _extra(about: About, spent: Spent | None) -> Mapping[str, Argument]:
    """What the log format has no field for."""
    given: dict[str, Argument] = {
        "title": about.title,
        "goal": about.goal,
        "runs": list(about.runs),
        "tasks": list(about.tasks),
        "client_sessions": list(about.natives),
        "models": list(about.models) if len(about.models) > 1 else [],
        "redaction_policy": about.policy,
    }
    if spent is not None:
        given |= {"prices": spent.prices, "unpriced_models": list(spent.unknown), **_outcome(about)}
    return {key: value for key, value in given.items() if value not in (None, "", [])}


def _outcome(about: About) -> dict[str, Argument]:
    return {"exit_code": about.exit_code, "signal": about.signal}
