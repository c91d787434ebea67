"""Whose a question is: the session, task and run of the process that asks, as `blackbird run` told it."""

from collections.abc import Mapping
from typing import Self

import msgspec


class Whose(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent works. Nobody's, if nothing is known."""

    session: str | None = None
    task: str | None = None
    run: str | None = None
    #: The folder, which tells the project as long as nothing is known of the session.
    folder: str | None = None

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Self:
        """What the environment of a process says."""
        return cls(
            session=variables.get("BLACKBIRD_SESSION") or None,
            task=variables.get("BLACKBIRD_TASK") or None,
            run=variables.get("BLACKBIRD_RUN") or None,
        )
