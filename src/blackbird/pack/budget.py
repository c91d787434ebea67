"""How many tokens each section gets, and what fits into them.

A section never takes more than its cap. If the caps together are more than the total leaves, files and commands get
`NAMES` tokens and `NAMES_SHARE` of what is left, since a name is short and saves a search; but a line is kept free
for each of `KEPT`. The others get a line each, as far as there is room for lines, `KEPT` first and then in the
order of `HANDED`, and share the rest in proportion to their caps. What a section does not use is handed on, in that
order, to those that would take more and are below their caps.
"""

from collections.abc import Iterator, Mapping, Sequence

from blackbird.pack.material import Candidate, Choice
from blackbird.pack.model import Caps, LeftOut, Line, Section
from blackbird.pack.rendering import heading, spell, spell_section
from blackbird.tokens import Counter

#: The sections as they stand in a pack.
ORDER = (
    "goal",
    "facts",
    "files",
    "decisions",
    "constraints",
    "implemented",
    "warnings",
    "open_threads",
    "pointers",
)
#: Who is handed what others left: first who would lose most.
HANDED = ("goal", "constraints", "decisions", "warnings", "open_threads", "files", "implemented", "facts", "pointers")
#: What files and commands get of a total that is short.
NAMES, NAMES_SHARE = 120, 0.5
#: A heading and a line that says something.
_LINE = 20
#: Who has one before names get what is theirs, and how long it is: a rule in few words, and then what it is all for.
KEPT = {"constraints": 30, "decisions": 30, "goal": _LINE}
#: Nothing that says anything is shorter; and after so many that did not fit, none of the others is tried.
_LEAST, _MISSES = 6, 8


class Meter:
    """Counts tokens; the same text is counted once."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._counted: dict[str, int] = {}

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        found = self._counted.get(text)
        if found is None:
            found = self._counted[text] = self._counter.count(text)
        return found


def shares(caps: Caps, available: int, names: Sequence[str]) -> dict[str, int]:
    """What each of these sections gets at first."""
    wanted = {name: int(getattr(caps, name)) for name in names}
    available = max(available, 0)
    if sum(wanted.values()) <= available:
        return wanted
    names_cap = wanted.pop("files", 0)
    kept = sum(min(line, wanted.get(name, 0)) for name, line in KEPT.items())
    given = min(names_cap, int(NAMES + NAMES_SHARE * available), max(available - kept, 0))
    others = _alike(wanted, available - given)
    return {name: given if name == "files" else others.get(name, 0) for name in names}


def _alike(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """A line for each as far as that reaches, `KEPT` first, and more in proportion to the caps."""
    given: dict[str, int] = {}
    left = room
    for name in (name for name in dict.fromkeys((*KEPT, *HANDED)) if wanted.get(name)):
        line = min(KEPT.get(name, _LINE), wanted[name], room)
        if line > left:
            break
        given[name] = line
        left -= line
    more = {name: wanted[name] - line for name, line in given.items()}
    in_all = sum(more.values()) or 1
    return {name: min(wanted[name], line + left * more[name] // in_all) for name, line in given.items()}


def spread(
    choices: Mapping[str, Choice], caps: Caps, given: Mapping[str, int], spare: int, fit: "Fit"
) -> dict[str, Section]:
    """The sections, filled with what they were given and with what others left of it; `spare` is there besides."""
    filled = {name: fit.section(choice, getattr(caps, name), given[name]) for name, choice in choices.items()}
    left = spare + sum(given[name] - filled[name].tokens for name in choices)
    for name in (name for name in HANDED if name in choices):
        before = filled[name]
        most = min(getattr(caps, name), before.tokens + left)
        if most <= before.share or len(before.lines) == len(choices[name].candidates):
            continue
        filled[name] = fit.section(choices[name], before.cap, most)
        left -= filled[name].tokens - before.tokens
    return filled


class Fit:
    """Fills sections with the best candidates that fit."""

    def __init__(self, meter: Meter, *, is_marking: bool) -> None:
        self._meter = meter
        self._is_marking = is_marking

    def section(self, choice: Choice, cap: int, share: int) -> Section:
        """A section of at most so many tokens, its heading included."""
        lines: list[Line] = []
        text = heading(choice.title)
        used = self._meter.count(text)
        missed = 0
        for candidate in choice.candidates:
            if used + _LEAST > share or missed == _MISSES:
                break
            missed += 1
            for line, spelled in self._variants(candidate):
                together = used + line.tokens
                if together > share:
                    together = self._meter.count(text + spelled)
                if together <= share:
                    lines.append(line)
                    text, used, missed = text + spelled, together, 0
                    break
        return self.made(choice, cap, share, lines)

    def made(self, choice: Choice, cap: int, share: int, lines: Sequence[Line]) -> Section:
        """A section with as many of these lines as it may have, counted as a whole."""
        for most in range(len(lines), 0, -1):
            tokens = self._meter.count(spell_section(choice.title, lines[:most], is_marking=self._is_marking))
            if tokens <= share:
                return self._named(choice, cap, share, tokens, lines[:most])
        return self._named(choice, cap, share, 0, ())

    def _named(self, choice: Choice, cap: int, share: int, tokens: int, lines: Sequence[Line]) -> Section:
        return Section(name=choice.name, title=choice.title, cap=cap, share=share, tokens=tokens, lines=tuple(lines))

    def _variants(self, candidate: Candidate) -> Iterator[tuple[Line, str]]:
        """A line and its bullets, then with ever fewer of them, then ever shorter."""
        bullets = candidate.bullets
        kinds = [(candidate.forms[0], bullets[:most]) for most in range(len(bullets), 0, -1)]
        kinds += [(form, bullets[:1]) for form in candidate.forms[1:] if bullets]
        kinds += [(form, ()) for form in (candidate.forms if not bullets else candidate.forms[-1:])]
        for text, below in kinds:
            is_marked = self._is_marking and candidate.session is not None
            spelled = spell(text, candidate.ids, below, is_marked=is_marked)
            line = Line(
                text=text,
                ids=candidate.ids,
                tokens=self._meter.count(spelled),
                why=candidate.why,
                bullets=below,
                session=candidate.session,
            )
            yield line, spelled


def missing(choice: Choice, section: Section) -> list[LeftOut]:
    """What a section could have had and had no room for."""
    told = {(line.ids, line.text) for line in section.lines}
    return [
        LeftOut(
            id=candidate.ids[0] if candidate.ids else "",
            section=choice.name,
            title=candidate.title,
            why=f"no room: {section.tokens} of {section.share} tokens are taken",
        )
        for candidate in choice.candidates
        if not any((candidate.ids, form) in told for form in candidate.forms)
    ]
