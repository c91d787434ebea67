"""Weaves the lines of agents' own logs: alone they make the timeline, beside the wire they join it."""

import msgspec

from blackbird.canon.model import Amend, Cost, Generation, Item, Mark, Purpose, Reply, Role, ToolResult, Usage
from blackbird.canon.seen import Entry
from blackbird.timeline.prices import Pricer
from blackbird.timeline.weaving import elements, keys, match
from blackbird.timeline.weaving.asides import Aside, Spot, is_news, place_of
from blackbird.timeline.weaving.elements import Element, Kind
from blackbird.timeline.weaving.loom import Loom, Response, Stand
from blackbird.timeline.weaving.passages import Given
from blackbird.timeline.weaving.threads import Strand
from blackbird.timeline.weaving.tree import LOG, WIRE, Node


class _Cursor:
    """How far a file came in one thread: where it is, and what an agent said there without its generation."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.spoken: list[Node] = []
        self.unclaimed: list[str] = []
        #: What the file said beside the conversation.
        self.asides: set[str] = set()
        #: The last thought, and what it stands behind.
        self.thought: tuple[Node, str] | None = None
        self._passed: set[str] = set()

    def go_behind(self, item: str) -> None:
        """What comes next follows an item of another log; once."""
        if item not in self._passed:
            self._passed.add(item)
            self.thought = (self.node, item)

    @property
    def tip(self) -> str | None:
        """The item that the next one follows: a thought of the same answer, or what the node became."""
        is_here = self.thought is not None and self.thought[0] is self.node
        return self.thought[1] if self.thought is not None and is_here else self.node.tip


class Logs:
    """Takes the lines of logs in, in the order of each file."""

    def __init__(self, loom: Loom, prices: Pricer | None) -> None:
        self._loom = loom
        self._prices = prices
        self._fed: set[bytes] = set()
        #: By the client's id of a line: the line it was read from, and the node that it leads to.
        self._lines: dict[str, tuple[bytes, Node]] = {}
        self._cursors: dict[tuple[str, str], _Cursor] = {}
        #: Thoughts that a log has told of.
        self._heard: set[str] = set()

    def take(self, entry: Entry, behind: Item | None = None) -> None:
        """One line; the same line of another file changes nothing. `behind` is what it follows, if that is told."""
        turns = (entry.turn,) if entry.turn is not None else ()
        found = elements.of_turns(turns, None, entry.origin)
        line = keys.digest(entry.evidence.source, str(entry.evidence.offset), str(entry.evidence.start))
        known = self._lines.get(entry.key) if entry.key is not None else None
        if known is not None and known[0] != line:
            self._cursor(entry, self._loom.threads.of_entry(entry), known[1])
            return
        if not self._is_new(entry, line, found):
            return
        strand = self._strand(entry, found)
        cursor = self._cursor(entry, strand, known[1] if known is not None else None)
        if behind is not None:
            cursor.go_behind(behind.id)
        if entry.turn is not None and entry.turn.role is not Role.ASSISTANT:
            cursor.spoken.clear()
            cursor.unclaimed.clear()
        generation = self._generation(entry, strand, cursor, found, line) if entry.reply is not None else None
        for place, element in enumerate(found):
            name = keys.item(line.hex(), "line", place)
            stand = Stand(name, entry.at, entry.evidence, generation, near=entry.near)
            self._element(strand, cursor, element, stand)
        if entry.mark is not None:
            self._mark(entry, strand, line)
        if entry.key is not None:
            self._lines[entry.key] = (line, cursor.node)
        if found:
            strand.is_used = True
            strand.leaf = cursor.node if cursor.node.depth >= strand.leaf.depth else strand.leaf

    def _is_new(self, entry: Entry, line: bytes, found: list[Element]) -> bool:
        """Whether this part of a line was not taken yet. A mark without an id is known by what it says and when."""
        told = b"" if entry.reply is None else repr((entry.reply.response_id, entry.reply.usage)).encode()
        which = line
        if entry.mark is not None and entry.key is None and entry.moment is not None:
            which = repr((entry.session, entry.thread, entry.text, entry.data)).encode("utf-8", "surrogatepass")
        key = keys.digest(
            which,
            entry.mark or "",
            str(entry.moment),
            told,
            repr(sorted(entry.about)),
            *(one.mold.key for one in found),
        )
        is_new = key not in self._fed
        self._fed.add(key)
        return is_new

    def _strand(self, entry: Entry, found: list[Element]) -> Strand:
        """The thread of a line; one that was inferred from histories is known by its first words."""
        threads = self._loom.threads
        native = entry.thread or entry.session
        strand = threads.known(native)
        first = next((one for one in found if one.mold.kind is Kind.WORDS), None)
        if first is not None and (strand is None or strand.leaf is strand.start):
            for node in self._loom.entries.get(first.mold.key, ()):
                candidate = threads.strands[node.thread]
                if candidate.thread.native is None and (candidate.thread.parent is None) == (entry.thread is None):
                    threads.adopt(native, candidate)
                    break
        main = threads.main_if_inferred()
        if first is None and main is not None and threads.known(native) is None:
            # Nothing tells yet whose line it is.
            return main
        strand = threads.of_entry(entry)
        if first is not None and strand.leaf is strand.start:
            threads.place(strand, first.squeezed)
        return strand

    def _cursor(self, entry: Entry, strand: Strand, same: Node | None) -> _Cursor:
        name = (entry.evidence.source, strand.id)
        cursor = self._cursors.get(name)
        if cursor is None:
            cursor = self._cursors[name] = _Cursor(strand.start)
        if same is not None:
            cursor.node = same
        elif entry.follows is not None:
            known = self._lines.get(entry.follows)
            cursor.node = known[1] if known is not None else cursor.node
        return cursor

    # What was said.

    def _element(self, strand: Strand, cursor: _Cursor, element: Element, stand: Stand) -> None:
        mold = element.mold
        if mold.kind is Kind.THOUGHT:
            self._thought(strand, cursor, element, stand)
        elif mold.kind is Kind.ASIDE:
            self._aside(strand, cursor, element, stand)
        elif mold.is_summary:
            self._summary(strand, cursor, element, stand)
        else:
            self._step(strand, cursor, element, stand)
        if mold.is_agents:
            cursor.spoken.append(cursor.node)
        is_new = stand.id in (cursor.node.item, cursor.node.thoughts.get(mold.key))
        if is_new and stand.generation is None and mold.role is Role.ASSISTANT:
            cursor.unclaimed.append(stand.id)

    def _step(self, strand: Strand, cursor: _Cursor, element: Element, stand: Stand) -> None:
        loom = self._loom
        element = self._renamed(element)
        mold = element.mold
        found = match.find(cursor.node, [Given(element)], 0, loom.is_failed)
        if found is None and cursor.node is strand.start:
            found = self._begun(strand, element)
        if found is not None:
            self._known(found.node, element, stand)
            cursor.node = found.node
            return
        place = match.attach(cursor.node, mold)
        if place.thread != strand.id:
            strand.fork_from(place.thread)
        node = place.grow(mold, strand.id)
        node.sources = LOG
        node.is_log_id = True
        if place.kind is Kind.START:
            loom.enter(node)
        loom.add(node, element, stand, cursor.tip if place is cursor.node else place.tip)
        cursor.node = node

    def _renamed(self, element: Element) -> Element:
        """A result of a call that goes by another id on the wire."""
        mold = element.mold
        call = self._loom.aliases.get(mold.call_id or "") if mold.kind is Kind.RESULT else None
        if call is None or call.call_id is None or call.call_id == mold.call_id:
            return element
        return element._replace(mold=mold._replace(key=keys.result(call.call_id), call_id=call.call_id))

    def _begun(self, strand: Strand, element: Element) -> match.Found | None:
        """The same words at the start of this thread, wherever in the tree that is."""
        for node in reversed(self._loom.entries.get(element.mold.key, ())):
            if node.thread == strand.id:
                return match.Found(node)
        return None

    def _known(self, node: Node, element: Element, stand: Stand) -> None:
        loom, part = self._loom, element.parts[0]
        if node.kind is Kind.RESULT and node.key != element.mold.key:
            node = next((one for one in node.above() if one.key == element.mold.key), node)
        if node.kind is Kind.CALL and element.mold.call_id not in (None, node.call_id):
            if node.is_made_up:
                loom.name(node, element.mold.call_id or "")
            else:
                loom.aliases[element.mold.call_id or ""] = node
        loom.touch(node, LOG, stand, part if isinstance(part, ToolResult) else None)

    def _thought(self, strand: Strand, cursor: _Cursor, element: Element, stand: Stand) -> None:
        loom, key, node = self._loom, element.mold.key, cursor.node
        known = node.thoughts.get(key)
        if known is None:
            node.thoughts[key] = known = stand.id
            loom.thoughts.add(key)
            loom.say(element, strand.id, stand, cursor.tip)
            self._heard.add(known)
        elif known not in self._heard:
            self._heard.add(known)
            amend = Amend(id=known, is_joined=True, evidence=(stand.evidence,))
            if known in loom.undated:
                loom.undated.discard(known)
                amend = msgspec.structs.replace(amend, at=stand.at, generation=stand.generation)
            loom.hand_out(amend)
        cursor.thought = (node, known)

    def _aside(self, strand: Strand, cursor: _Cursor, element: Element, stand: Stand) -> None:
        loom, node = self._loom, cursor.node
        spot = Spot(place_of(node), element.mold.key)
        known = loom.asides.logged(spot, cursor.asides)
        if known is None:
            known = Aside(stand.id, spot.place, LOG, is_timed=stand.at is not None)
            loom.asides.add(spot, known)
            loom.beside(node, element, strand.id, stand, is_late=bool(node.children))
        else:
            loom.again(known, LOG, stand)
        cursor.asides.add(known.item)

    def _summary(self, strand: Strand, cursor: _Cursor, element: Element, stand: Stand) -> None:
        """What a client made of an earlier part: it stands behind that, with the mark of the compaction between."""
        loom = self._loom
        known = [node for node in loom.entries.get(element.mold.key, ()) if node.thread == strand.id]
        if known:
            cursor.node = known[-1]
            loom.touch(cursor.node, LOG, stand)
            return
        leaf = strand.leaf
        parent = leaf.tip
        if leaf.kind is not Kind.START:
            if not strand.is_compaction_open:
                mark = Mark(
                    id=keys.item(stand.id, "compact"),
                    thread=strand.id,
                    at=stand.at,
                    near=stand.near,
                    parent=parent,
                    evidence=(stand.evidence,),
                    kind="compact",
                )
                loom.mark_compaction(strand, LOG, mark)
            parent = strand.compaction
        strand.is_compaction_open = False
        node = leaf.grow(element.mold, strand.id)
        node.sources = LOG
        loom.enter(node)
        loom.add(node, element, stand, parent)
        cursor.node = node

    # What stands beside it.

    def _mark(self, entry: Entry, strand: Strand, line: bytes) -> None:
        strand.is_used = True
        mark = Mark(
            id=keys.item(line.hex(), "mark", entry.mark or ""),
            thread=strand.id,
            at=entry.at,
            near=entry.near,
            parent=None,
            evidence=(entry.evidence,),
            kind=entry.mark or "",
            text=entry.text,
            data=entry.data,
        )
        if mark.kind != "compact":
            self._loom.hand_out(mark)
        elif strand.compaction is not None and is_news(strand.compaction_sources, LOG):
            strand.compaction_sources |= LOG
            self._loom.hand_out(Amend(id=strand.compaction, is_joined=True, evidence=mark.evidence))
        else:
            self._loom.mark_compaction(strand, LOG, msgspec.structs.replace(mark, parent=strand.leaf.tip))
            strand.is_compaction_open = True

    # The generations that a log tells of.

    def _generation(
        self, entry: Entry, strand: Strand, cursor: _Cursor, found: list[Element], line: bytes
    ) -> str | None:
        """The generation of a line that says something of one: the wire's, that of an earlier line, or a new one."""
        reply = entry.reply or Reply()
        response = self._response(reply, cursor, found)
        if response is None and reply.response_id is None and not found and not cursor.spoken:
            return None
        if response is None:
            response = self._new(entry, reply, strand, cursor, line)
        else:
            self._joined(entry, reply, response)
        if not found:
            for node in cursor.spoken:
                node.generation = node.generation or response.generation
            for item in cursor.unclaimed:
                self._loom.hand_out(Amend(id=item, generation=response.generation))
            cursor.spoken.clear()
            cursor.unclaimed.clear()
        return response.generation

    def _response(self, reply: Reply, cursor: _Cursor, found: list[Element]) -> Response | None:
        loom = self._loom
        if reply.response_id is not None and reply.response_id in loom.responses:
            return loom.responses[reply.response_id]
        nodes = list(cursor.spoken) if not found else []
        for element in found:
            known = match.find(cursor.node, [Given(element)], 0, loom.is_failed) if element.mold.is_agents else None
            if known is not None:
                nodes.append(known.node)
                break
        for node in reversed(nodes):
            response = loom.generations.get(node.generation or "")
            if response is not None and (reply.response_id is None or response.sources & WIRE):
                return response
        return None

    def _new(self, entry: Entry, reply: Reply, strand: Strand, cursor: _Cursor, line: bytes) -> Response:
        strand.is_used = True
        model = reply.model or entry.settings.model
        generation = Generation(
            id=keys.item(line.hex(), "generation"),
            thread=strand.id,
            at=entry.at,
            near=entry.near,
            parent=cursor.node.tip,
            evidence=(entry.evidence,),
            purpose=Purpose.SUBAGENT if strand.is_subagents else Purpose.TURN,
            outcome=reply.outcome,
            settings=entry.settings,
            model=model,
            stop_reason=reply.stop_reason,
            usage=reply.usage,
            cost=self._cost(model, reply.usage, entry.moment),
            reported_cost=reply.reported_cost,
            failure=reply.failure,
            response_id=reply.response_id,
            provider_request=entry.provider_request,
        )
        self._loom.hand_out(generation)
        response = Response(generation.id, strand, cursor.node)
        self._loom.note_response(reply.response_id, response, LOG, reply.usage)
        return response

    def _joined(self, entry: Entry, reply: Reply, response: Response) -> None:
        """Tells a known generation what a line adds: that it is in the log, and its usage if that was not known.

        The first lines of an answer may be written before its end, and count less than the last one does.
        """
        loom, usage = self._loom, reply.usage
        is_joined = is_news(response.sources, LOG)
        is_first_count = usage is not None and response.spent is None
        is_higher = usage is not None and not response.sources & WIRE and usage.total > (response.spent or 0)
        news = usage if is_first_count or is_higher else None
        if is_joined or news is not None:
            loom.hand_out(
                Amend(
                    id=response.generation,
                    is_joined=True if is_joined else None,
                    evidence=(entry.evidence,) if is_joined else (),
                    usage=news,
                    cost=self._cost(reply.model or entry.settings.model, news, entry.moment),
                    provider_request=entry.provider_request if is_joined else None,
                )
            )
        loom.note_response(reply.response_id, response, LOG, news)

    def _cost(self, model: str | None, usage: Usage | None, at: int | None) -> Cost | None:
        return self._prices.cost(model, usage, at) if self._prices is not None and usage is not None else None
