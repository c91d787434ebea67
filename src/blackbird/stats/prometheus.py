"""The figures in Prometheus' text format. All are gauges: answers are kept up to a bound, so counts can fall."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blackbird.stats.figures import Figures, Took

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "blackbird_memory_"
#: Each metric with what it says; the page on metrics is made of the same table.
HELP = {
    "up": "1 if the memory can be read, else 0.",
    "lag_records": "Records of the trace that the memory does not have yet.",
    "lag_seconds": "Age of the oldest record that the memory does not have yet.",
    "size_bytes": "What the memory takes on the disk, packs that are kept included.",
    "sessions": "Sessions in the memory.",
    "artifacts": "Artifacts in the memory, by type.",
    "findings": "What could not be understood.",
    "answers": "Answers that are kept, by op and door.",
    "answer_seconds": "Time that answers took, by op and door; quantiles of those that are kept.",
    "answer_tokens": "Tokens of an answer, by op and door; quantiles of those that are kept.",
    "answers_beyond": "Answers beyond what the contract asks of a run, by op and door.",
    "packs": "Packs that were given out, by whether they were built or cached.",
    "pack_seconds": "Time that packs took, by whether they were built or cached; quantiles.",
    "pack_section_tokens": "Tokens of a pack's sections, by section; quantiles.",
    "tokens": "Tokens that providers told of, by model and kind.",
    "requests": "Requests that providers told tokens or cost of, by model.",
    "cost_usd": "What those tokens cost by the price list, by model.",
    "unpriced_requests": "Requests of models that the price list does not know, by model.",
}


class _Sample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


def render(figures: Figures) -> str:
    """All figures that are few: nothing here is told by session or task, of which there is no end."""
    samples = [
        _Sample("up", {}, 1),
        _Sample("lag_records", {}, figures.lag.records),
        _Sample("lag_seconds", {}, figures.lag.seconds),
        _Sample("size_bytes", {}, figures.holdings.bytes),
        _Sample("sessions", {}, figures.holdings.sessions),
        *(_Sample("artifacts", {"type": kind}, count) for kind, count in figures.holdings.artifacts.items()),
        _Sample("findings", {}, figures.holdings.findings),
        *_of_answers(figures),
        *_of_packs(figures),
        *_of_models(figures),
    ]
    return _text(samples)


def unreadable() -> str:
    """What is told of a memory that cannot be read."""
    return _text([_Sample("up", {}, 0)])


def _of_answers(figures: Figures) -> Iterator[_Sample]:
    for each in figures.answers:
        labels = {"op": each.op, "door": each.door}
        yield _Sample("answers", labels, each.took.count)
        yield _Sample("answers_beyond", labels, each.beyond)
        yield from _seconds("answer_seconds", labels, each.took)
        yield from _quantiles("answer_tokens", labels, each.tokens_p50, each.tokens_p95)


def _of_packs(figures: Figures) -> Iterator[_Sample]:
    for how, taken in (("built", figures.packs.built), ("cached", figures.packs.cached)):
        yield _Sample("packs", {"how": how}, taken.count)
        if taken.count:
            yield from _seconds("pack_seconds", {"how": how}, taken)
    for section, tokens in figures.packs.sections.items():
        yield from _quantiles("pack_section_tokens", {"section": section}, tokens.p50, tokens.p95)


def _of_models(figures: Figures) -> Iterator[_Sample]:
    for bill in figures.by_model:
        model, spent = {"model": bill.model or ""}, bill.spent
        usage = spent.usage
        kinds = {
            "input": usage.input,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
            "output": usage.output,
        }
        yield from (_Sample("tokens", model | {"kind": kind}, count) for kind, count in kinds.items())
        yield _Sample("requests", model, spent.generations)
        if spent.usd is not None:
            yield _Sample("cost_usd", model, float(spent.usd))
        if spent.unknown:
            yield _Sample("unpriced_requests", model, spent.generations)


def _seconds(name: str, labels: dict[str, str], taken: Took) -> Iterator[_Sample]:
    yield from _quantiles(name, labels, taken.p50_ms / 1e3, taken.p95_ms / 1e3)


def _quantiles(name: str, labels: dict[str, str], middle: float, late: float) -> Iterator[_Sample]:
    yield _Sample(name, labels | {"quantile": "0.5"}, middle)
    yield _Sample(name, labels | {"quantile": "0.95"}, late)


def _text(samples: Iterable[_Sample]) -> str:
    """Samples of one metric stand together below its heading, as the format wants it."""
    groups: dict[str, list[_Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.name, []).append(sample)
    lines = []
    for name, group in groups.items():
        lines += [f"# HELP {PREFIX}{name} {HELP[name]}", f"# TYPE {PREFIX}{name} gauge"]
        lines += [f"{PREFIX}{name}{_labels(sample.labels)} {_number(sample.value)}" for sample in group]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6f}".rstrip("0").rstrip(".")
