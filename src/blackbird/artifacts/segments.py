"""The conversation in small pieces that can be cited, for when nothing better is found."""

from collections.abc import Iterator

from blackbird.artifacts import paths, quotes, shortening
from blackbird.artifacts.model import Artifact, Segment, Speaker, Type, artifact_id
from blackbird.artifacts.scene import Scene
from blackbird.canon.model import Message

#: A piece ends at a paragraph, else at a line, else at a word, once it is this long.
_ENOUGH = 900
_MOST = 1400
_TITLE = 80


def segments(scene: Scene, builder: str) -> Iterator[Artifact]:
    """What the user and the agent said, piece by piece."""
    position = 0
    for item in scene.own():
        if not isinstance(item, Message):
            continue
        run = scene.run_of(item)
        for number, (part, is_human) in enumerate(scene.spoken(item)):
            for first, last in pieces(part.text):
                place = quotes.of_text(item, part.text, part.spans, first, last)
                if place is None:
                    continue
                text = part.text[first:last]
                yield Artifact(
                    id=artifact_id(Type.SEGMENT, scene.session, item.id, str(number), str(first)),
                    type=Type.SEGMENT,
                    session=scene.session,
                    task=run.task,
                    run=run.id,
                    title=shortening.one_line(text, _TITLE),
                    content=Segment(
                        speaker=Speaker.USER if is_human else Speaker.AGENT,
                        text=text,
                        position=position,
                        paths=tuple(dict.fromkeys(paths.mentioned(text, scene.about.cwd))),
                    ),
                    provenance=(place,),
                    builder=builder,
                    at=item.at,
                )
                position += 1


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where each piece begins and ends, without the blanks around it; none of a text that says nothing."""
    at = 0
    while at < len(text):
        end = _end(text, at)
        first, last = at, end
        while first < last and text[first].isspace():
            first += 1
        while last > first and text[last - 1].isspace():
            last -= 1
        if first < last:
            yield first, last
        at = end


def _end(text: str, at: int) -> int:
    if len(text) - at <= _MOST:
        return len(text)
    for mark in ("\n\n", "\n", " "):
        found = text.find(mark, at + _ENOUGH, at + _MOST)
        if found >= 0:
            return found + len(mark)
    return at + _MOST
