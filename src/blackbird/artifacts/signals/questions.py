"""Questions with the option that was chosen: a decision with its alternatives. One without an answer is left open."""

from collections.abc import Iterator

from blackbird.artifacts import prose, quotes, shortening
from blackbird.artifacts.claims import Claim
from blackbird.artifacts.model import Provenance, Signal, Speaker, ThreadKind, ThreadState, Type
from blackbird.artifacts.scene import Deed, Scene
from blackbird.deeds import questions, roles
from blackbird.deeds.questions import Asked
from blackbird.deeds.results import is_error, is_interrupted, is_refused
from blackbird.deeds.roles import Use


def claims(scene: Scene) -> Iterator[Claim]:
    """What was asked through a tool, and answered or not."""
    for deed in scene.deeds:
        if roles.role_of(deed.call.call.name, scene.about.mcp).use is Use.QUESTION:
            asked = questions.questions_of(deed.call.call)
            for one in asked:
                yield _claim(scene, deed, one, is_only=len(asked) == 1)


def _claim(scene: Scene, deed: Deed, asked: Asked, *, is_only: bool) -> Claim:
    result = deed.outcome
    if result is None or is_error(result) or is_interrupted(result) or is_refused(result):
        return _open(scene, deed, asked)
    answer = questions.answer_to(asked, result, result.text, is_only=is_only)
    chosen = answer.selected or ((answer.text.strip(),) if answer.text.strip() else ())
    if not chosen:
        return _open(scene, deed, asked)
    choice = ", ".join(chosen)
    item = deed.result or deed.call
    run = scene.run_of(item)
    return Claim(
        type=Type.DECISION,
        statement=f"{shortening.one_line(asked.text)} {shortening.one_line(choice)}",
        normal=prose.normal(f"{asked.text} {choice}"),
        by=Speaker.USER,
        signal=Signal.STRUCTURED,
        provenance=tuple(_places(deed, chosen)),
        order=scene.order[item.id],
        at=item.at,
        task=run.task,
        run=run.id,
        subject=prose.key(asked.header or asked.text),
        choice=shortening.one_line(choice),
        chosen=prose.key(choice),
        rejected=tuple(option for option in asked.options if option not in chosen),
    )


def _open(scene: Scene, deed: Deed, asked: Asked) -> Claim:
    run = scene.run_of(deed.call)
    found = quotes.whole(deed.call)
    return Claim(
        type=Type.THREAD,
        statement=shortening.one_line(asked.text),
        normal=prose.normal(asked.text),
        by=Speaker.AGENT,
        signal=Signal.STRUCTURED,
        provenance=(found,) if found is not None else (),
        order=scene.order[deed.call.id],
        at=deed.call.at,
        task=run.task,
        run=run.id,
        kind=ThreadKind.QUESTION,
        state=ThreadState.OPEN,
    )


def _places(deed: Deed, chosen: tuple[str, ...]) -> Iterator[Provenance]:
    """The answer in its words, where the result has them, and the question."""
    if deed.result is not None:
        result = deed.result.result
        for one in chosen:
            at = result.text.find(one)
            if at >= 0:
                found = quotes.of_text(deed.result, result.text, result.spans, at, at + len(one))
                if found is not None:
                    yield found
    for item in (deed.call, deed.result):
        found = quotes.whole(item) if item is not None else None
        if found is not None:
            yield found
