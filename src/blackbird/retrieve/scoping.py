"""Whose artifacts a search is narrowed to, in the language of the index, for a single artifact, and in words."""

from blackbird.artifacts.model import Artifact
from blackbird.retrieve.model import Asked, Scope
from blackbird.store.index import quoted
from blackbird.store.texts import session_token, type_token


def only(scope: Scope) -> tuple[str, ...]:
    """The sessions that a scope narrows a search to: one, those of a project, or both; none: all are searched."""
    if not scope.only:
        return ()
    return (*((scope.session,) if scope.session is not None else ()), *scope.project)


def within(asked: Asked) -> str:
    """The scope and the types in the language of the index; nothing if all is searched."""
    wanted = [
        [session_token(session) for session in only(asked.scope)],
        [type_token(kind) for kind in asked.types],
    ]
    return " AND ".join(f"({' OR '.join(map(quoted, tokens))})" for tokens in wanted if tokens)


def is_asked(artifact: Artifact, asked: Asked) -> bool:
    """Whether an artifact is of the scope and of the types."""
    sessions = only(asked.scope)
    return (not sessions or artifact.session in sessions) and (not asked.types or artifact.type in asked.types)


def named(asked: Asked) -> str:
    """The scope and the types for people."""
    sessions = only(asked.scope)
    parts = [
        f"session {sessions[0]}" if len(sessions) == 1 else f"{len(sessions)} sessions" if sessions else "",
        f"the types {', '.join(asked.types)}" if asked.types else "",
    ]
    return " and ".join(part for part in parts if part)
