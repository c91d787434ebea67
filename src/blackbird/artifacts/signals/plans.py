"""Plans that were approved: what is to be done from there on is settled."""

import re
from collections.abc import Iterator

from blackbird.artifacts import prose, quotes, shortening
from blackbird.artifacts.claims import Claim
from blackbird.artifacts.model import Signal, Speaker, Type
from blackbird.artifacts.scene import Scene
from blackbird.deeds import roles
from blackbird.deeds.results import is_error, is_interrupted, is_refused
from blackbird.deeds.roles import Use

_HEADING = re.compile(r"^\s{0,3}#{1,4}\s+(?P<words>\S.*)$", re.MULTILINE)
_LABEL = re.compile(r"^(?:implementation |revised |updated )?plan\s*[:—–-]\s*", re.IGNORECASE)


def claims(scene: Scene) -> Iterator[Claim]:
    """Each plan that the user let pass, by its title."""
    for deed in scene.deeds:
        call, result = deed.call.call, deed.outcome
        if result is None or roles.role_of(call.name, scene.about.mcp).use is not Use.PLAN_EXIT:
            continue
        plan = roles.first_text(call.arguments or {}, roles.keys_of(Use.PLAN_EXIT).texts)
        is_stopped = is_error(result) or is_interrupted(result) or is_refused(result)
        places = tuple(found for item in (deed.call, deed.result) if item and (found := quotes.whole(item)))
        if plan is None or is_stopped or not places:
            continue
        title = _title(plan)
        run = scene.run_of(deed.call)
        yield Claim(
            type=Type.DECISION,
            statement=f"Plan approved: {title}",
            normal=prose.normal(f"plan {title}"),
            by=Speaker.USER,
            signal=Signal.STRUCTURED,
            provenance=places,
            order=scene.order[deed.call.id],
            at=deed.call.at,
            task=run.task,
            run=run.id,
        )


def _title(plan: str) -> str:
    """Its first heading, else its first words."""
    heading = _HEADING.search(plan)
    words = heading["words"] if heading is not None else next(iter(plan.strip().split("\n")), "")
    return shortening.one_line(_LABEL.sub("", words.strip(" #*")) or words)
