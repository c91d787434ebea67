"""Whose artifacts a search is narrowed to, in the language of the index, for a single artifact, and in words."""

from blackbird.artifacts.model import Artifact
from blackbird.retrieve.model import Asked, Scope
from blackbird.store.index import quoted
from blackbird.store.texts import session_token, task_token, type_token


def only(scope: Scope) -> tuple[tuple[str, ...], str | None]:
    """What a scope narrows a search to: a session, else a task, else the sessions of a project."""
    if not scope.only:
        return (), None
    if scope.session is not None:
        return (scope.session,), None
    return ((), scope.task) if scope.task is not None else (scope.project, None)


def within(asked: Asked) -> str:
    """The scope and the types in the language of the index; nothing if all is searched."""
    sessions, task = only(asked.scope)
    wanted = [
        [session_token(session) for session in sessions],
        [task_token(task)] if task is not None else [],
        [type_token(kind) for kind in asked.types],
    ]
    return " AND ".join(f"({' OR '.join(map(quoted, tokens))})" for tokens in wanted if tokens)


def is_asked(artifact: Artifact, asked: Asked) -> bool:
    """Whether an artifact is of the scope and of the types."""
    sessions, task = only(asked.scope)
    return (
        (not sessions or artifact.session in sessions)
        and (task is None or artifact.task == task)
        and (not asked.types or artifact.type in asked.types)
    )


def named(asked: Asked) -> str:
    """The scope and the types for people."""
    sessions, task = only(asked.scope)
    parts = [
        f"session {sessions[0]}" if len(sessions) == 1 else f"{len(sessions)} sessions" if sessions else "",
        f"task {task}" if task is not None else "",
        f"the types {', '.join(asked.types)}" if asked.types else "",
    ]
    return " and ".join(part for part in parts if part)
