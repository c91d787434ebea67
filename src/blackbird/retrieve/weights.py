"""What counts how much, and how much work a search may be: all numbers of the retrieval in one place."""

import msgspec

from blackbird.artifacts.model import Type

RULINGS = (Type.DECISION, Type.CONSTRAINT)
RESULTS = (Type.OUTCOME, Type.THREAD, Type.FACT, Type.SUMMARY)


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """Factors of a score. Whatever they are tuned to, the order of types cannot be inverted.

    Of two artifacts that the words fit equally and that are of the same scope, a ruling goes before a result and a
    result before a piece of transcript, however old each is; and what still holds goes before what does not.
    """

    #: Decisions and constraints; outcomes, open threads, facts and summaries; pieces of transcripts.
    ruling: float = 2.2
    result: float = 1.4
    transcript: float = 1.0
    #: Of the task, the session, or the project that is asked for.
    task: float = 1.25
    session: float = 1.15
    project: float = 1.05
    #: What the oldest counts beside the newest, and in how many days half of the difference is gone.
    oldest: float = 0.95
    half_life: float = 30.0
    #: What is superseded, closed or has lost its evidence.
    stale: float = 0.4
    #: What a word counts that stands in the next piece of a transcript, in the one after it, and so on.
    window: tuple[float, ...] = (0.5, 0.3, 0.15)
    #: What a word counts for a decision or constraint that stands in the talk in which it was made, or around it;
    #: if several were made there, a share of that.
    lent: float = 0.4
    #: The higher, the more it counts that a word stands there and around it again and again.
    saturation: float = 0.5
    #: A word in a field of its own kind, and one in a text that is longer than a piece of a transcript.
    paths: float = 1.2
    symbols: float = 1.2
    errors: float = 1.2
    length: int = 250
    dilution: float = 0.25

    def __post_init__(self) -> None:
        for rule, holds in self._rules().items():
            if not holds:
                raise ValueError(f"weights: {rule}")

    def _rules(self) -> dict[str, bool]:
        nearest = (1.0, *self.window)
        return {
            "the oldest must count something, and no more than the newest": 0 < self.oldest <= 1
            and self.half_life > 0,
            "a ruling must go before a result of any age": self.ruling * self.oldest > self.result,
            "a result must go before a transcript of any age": self.result * self.oldest > self.transcript > 0,
            "what is stale must go behind what holds": 0 < self.stale * self.ruling < self.transcript * self.oldest,
            "a nearer scope must count more": self.task >= self.session >= self.project >= 1,
            "a nearer neighbour must count more": all(a > b > 0 for a, b in zip(nearest, self.window, strict=False)),
            "the talk around a ruling must count less than its own words": 0 < self.lent < 1,
            "a field must count, and length must not count negatively": min(self.paths, self.symbols, self.errors) > 0
            and self.saturation > 0
            and self.length > 0
            and self.dilution >= 0,
        }

    def of_type(self, kind: Type) -> float:
        """What a type counts."""
        return self.ruling if kind in RULINGS else self.result if kind in RESULTS else self.transcript


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds the work of a search, however large the memory is."""

    #: A word in more than this share of the artifacts is left out where some words are enough, unless it is in few.
    common: float = 0.02
    few: int = 2000
    #: Occurrences that are looked at, the rarest words first; the rarest is looked at in any case.
    occurrences: int = 40_000
    words: int = 32
    #: Artifacts with all words, of each kind, that are weighed: the last written.
    whole: int = 1000
    #: Artifacts whose neighbourhood is looked at, of each kind; those that are read; those that are read closely.
    #: More if more are asked for.
    coarse: int = 64
    read: int = 64
    close: int = 16
    #: Decisions and constraints that are looked at since they were made in such a piece of a transcript.
    made: int = 256
    #: Artifacts without an index that are looked at: the last written.
    waiting: int = 1000

    def most(self, documents: int) -> int:
        """How many artifacts a word may be in."""
        return max(self.few, int(documents * self.common))


WEIGHTS = Weights()
LIMITS = Limits()
