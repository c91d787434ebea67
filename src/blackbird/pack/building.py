"""Builds a pack: what may be in it, what is chosen, what fits, and the text that comes of it."""

from blackbird.pack import contract, naming, reading, remains, rulings, tasks
from blackbird.pack.budget import ORDER, Fit, Meter, missing, shares, spread
from blackbird.pack.material import Choice, Material
from blackbird.pack.model import LeftOut, Pack, Section, Wanted
from blackbird.pack.rendering import CLOSING, OPENING, spell_pack
from blackbird.store.memory import Memory
from blackbird.tokens import Counter

#: What a pack says depends on these rules; another number, and none that was kept is used again.
_RULES = "pack/1"
_POINTERS = "pointers"


def build(memory: Memory, wanted: Wanted, counter: Counter) -> Pack:
    """The pack for a task."""
    return compose(reading.material(memory, wanted), counter)


def builder(memory_builder: str) -> str:
    """What makes packs: these rules, and those that made the artifacts."""
    return f"{_RULES} {memory_builder}".strip()


def compose(material: Material, counter: Counter) -> Pack:
    """The pack of what may be in it: values in, values out."""
    caps = material.wanted.caps
    meter = Meter(counter)
    is_marking = bool(material.own)
    words = _words(material, counter)
    frame = meter.count(f"{OPENING}{words}\n{CLOSING}")
    choices = {choice.name: _that_says_something(choice) for choice in _choices(material)}
    fit = Fit(meter, is_marking=is_marking)
    names = [name for name in ORDER if name == _POINTERS or choices[name].candidates]
    given = shares(caps, caps.total - frame, names)
    spare = caps.total - frame - sum(given.values())
    own = {name: choices[name] for name in names if name != _POINTERS}
    filled = spread(own, caps, {name: given[name] for name in own}, max(spare, 0), fit)
    left_out = [one for name in own for one in missing(own[name], filled[name])]
    told = {identifier for section in filled.values() for line in section.lines for identifier in line.ids}
    pointed = remains.pointers(material, told, [one.id for one in left_out])
    room = caps.total - frame - sum(section.tokens for section in filled.values())
    filled[_POINTERS] = fit.section(pointed, caps.pointers, max(min(caps.pointers, room), 0))
    sections, text, tokens = _within(words, filled, caps.total, meter, is_marking=is_marking)
    left_out += [one for choice in choices.values() for one in choice.left_out]
    return _pack(material, counter, frame, text, tokens, sections, left_out)


def _words(material: Material, counter: Counter) -> str:
    """What the agent is told about the pack, and what comes from elsewhere in it."""
    words = contract.words(material.wanted.caps.total, counter)
    if any(material.others):
        words += f" {contract.OTHERS if material.own else contract.ALL_OTHERS}"
    return words


def _choices(material: Material) -> list[Choice]:
    return [
        remains.goal(material),
        remains.facts(material),
        naming.files(material),
        rulings.decisions(material),
        rulings.constraints(material),
        tasks.implemented(material),
        tasks.warnings(material),
        remains.open_threads(material),
    ]


def _that_says_something(choice: Choice) -> Choice:
    """A choice without what has no words left once they are marked."""
    silent = [candidate for candidate in choice.candidates if not candidate.title]
    left_out = [
        LeftOut(id=identifier, section=choice.name, title="", why="it says nothing")
        for candidate in silent
        for identifier in candidate.ids
    ]
    candidates = [candidate for candidate in choice.candidates if candidate.title]
    return choice._replace(candidates=candidates, left_out=[*choice.left_out, *left_out]) if silent else choice


def _within(
    words: str, filled: dict[str, Section], total: int, meter: Meter, *, is_marking: bool
) -> tuple[tuple[Section, ...], str, int]:
    """The sections in their order and the text of all; counters may find more in a whole than in its parts."""
    sections = [filled[name] for name in ORDER if name in filled and filled[name].lines]
    while sections:
        text = spell_pack(words, sections, is_marking=is_marking)
        tokens = meter.count(text)
        if tokens <= total:
            return tuple(sections), text, tokens
        last = sections.pop()
        if len(last.lines) > 1:
            fit = Fit(meter, is_marking=is_marking)
            choice = Choice(last.name, last.title)
            sections.append(fit.made(choice, last.cap, last.share, last.lines[:-1]))
    return (), "", 0


def _pack(
    material: Material,
    counter: Counter,
    frame: int,
    text: str,
    tokens: int,
    sections: tuple[Section, ...],
    left_out: list[LeftOut],
) -> Pack:
    wanted = material.wanted
    return Pack(
        session=wanted.session,
        task=wanted.task,
        description=wanted.description,
        budget=wanted.caps.total,
        tokens=tokens,
        counter=counter.name,
        builder=builder(material.builder),
        state=material.state,
        text=text,
        frame=frame if text else 0,
        sections=sections,
        left_out=tuple(left_out),
    )
