"""From a timeline to the artifacts of a session."""

from blackbird.artifacts.model import Artifact, Provenance, Segment, Type, artifact_id
from blackbird.canon.model import Item, Message, Origin, Text
from blackbird.timeline.timeline import Timeline

#: Another version makes other artifacts of the same timeline.
BUILDER = "0"
_LONGEST_TITLE = 80


class Builder:
    """Makes the artifacts of one session, again and again as it grows: what was made of an item is made once."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._made: dict[str, tuple[Item, list[Artifact]]] = {}

    def artifacts(self, timeline: Timeline) -> list[Artifact]:
        """All that the timeline comes to."""
        found: list[Artifact] = []
        for item in timeline.items:
            known = self._made.get(item.id)
            if known is None or known[0] != item:
                known = self._made[item.id] = (item, self._segments(item))
            found += known[1]
        return found

    def _segments(self, item: Item) -> list[Artifact]:
        if not isinstance(item, Message) or item.origin not in (Origin.USER, Origin.AGENT) or not item.evidence:
            return []
        texts = [part for part in item.parts if isinstance(part, Text) and part.text.strip()]
        return [
            Artifact(
                id=artifact_id(Type.SEGMENT, self._session, item.id, str(at)),
                type=Type.SEGMENT,
                session=self._session,
                title=text.text.strip().split("\n")[0][:_LONGEST_TITLE],
                content=Segment(speaker=item.origin, text=text.text, position=at),
                provenance=(Provenance(item=item.id, evidence=item.evidence[0], quote=text.text, spans=text.spans),),
                builder=BUILDER,
                at=item.at,
            )
            for at, text in enumerate(texts)
        ]
