"""Todos with their state: as the list was last given, and as single entries were added and changed."""

import re
from collections.abc import Iterator

import msgspec

from blackbird.artifacts import prose, quotes, shortening
from blackbird.artifacts.claims import Claim
from blackbird.artifacts.model import Signal, Speaker, ThreadKind, ThreadState, Type
from blackbird.artifacts.scene import Deed, Scene
from blackbird.canon.model import Item
from blackbird.deeds import roles, todos
from blackbird.deeds.roles import Use
from blackbird.deeds.todos import Task

_STATES = {
    "pending": ThreadState.OPEN,
    "blocked": ThreadState.OPEN,
    "in_progress": ThreadState.IN_PROGRESS,
    "completed": ThreadState.DONE,
    "cancelled": ThreadState.DROPPED,
}
_NUMBER = re.compile(r"#(\d+)")


def claims(scene: Scene) -> Iterator[Claim]:
    """Each change of each entry, in order. What a later list no longer names was dropped, unless it was done."""
    listed: dict[str, dict[str, Task]] = {}
    added: dict[tuple[str, str], str] = {}
    for deed in scene.deeds:
        use = roles.role_of(deed.call.call.name, scene.about.mcp).use
        if use is Use.TODO:
            yield from _listed(scene, deed, listed.setdefault(deed.call.thread, {}))
        elif use is Use.TODO_ADD:
            yield from _added(scene, deed, added)
        elif use is Use.TODO_CHANGE:
            yield from _changed(scene, deed, added)


def _listed(scene: Scene, deed: Deed, before: dict[str, Task]) -> Iterator[Claim]:
    tasks = todos.tasks_of(deed.call.call)
    if tasks is None:
        return
    now = {prose.normal(task.text): task for task in tasks if task.text}
    for key, task in now.items():
        if key not in before or before[key].state != task.state:
            yield _claim(scene, deed.call, task.text, task.state)
    if now:
        for key, task in before.items():
            if key not in now and _STATES[task.state].is_open:
                yield _claim(scene, deed.call, task.text, "cancelled")
    before.clear()
    before.update(now)


def _added(scene: Scene, deed: Deed, added: dict[tuple[str, str], str]) -> Iterator[Claim]:
    text = roles.first_text(deed.call.call.arguments or {}, roles.keys_of(Use.TODO_ADD).texts)
    if not text:
        return
    number = _NUMBER.search(deed.outcome.text if deed.outcome is not None else "")
    if number is not None:
        added[(deed.call.thread, number[1])] = text
    yield _claim(scene, deed.call, text, "pending")


def _changed(scene: Scene, deed: Deed, added: dict[tuple[str, str], str]) -> Iterator[Claim]:
    given, keys = deed.call.call.arguments or {}, roles.keys_of(Use.TODO_CHANGE)
    number, state = roles.first(given, keys.kinds), roles.first_text(given, keys.states)
    text = added.get((deed.call.thread, str(number)))
    if text is not None and state is not None:
        yield _claim(scene, deed.call, text, todos.state_of(state))


def _claim(scene: Scene, item: Item, text: str, state: str) -> Claim:
    run = scene.run_of(item)
    found = quotes.whole(item)
    claim = Claim(
        type=Type.THREAD,
        statement=shortening.one_line(text),
        normal=prose.normal(text),
        by=Speaker.AGENT,
        signal=Signal.STRUCTURED,
        provenance=(found,) if found is not None else (),
        order=scene.order[item.id],
        at=item.at,
        task=run.task,
        run=run.id,
        kind=ThreadKind.BLOCKER if state == "blocked" else ThreadKind.TODO,
        state=_STATES[state],
    )
    return msgspec.structs.replace(claim, closed_by=f"its state: {state}") if not claim.state.is_open else claim
