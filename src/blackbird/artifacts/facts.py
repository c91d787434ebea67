"""What is known of the project from what was done in it: its languages, its layout, the commands that worked."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from blackbird.artifacts import quotes
from blackbird.artifacts.model import Artifact, Fact, Provenance, Type, artifact_id
from blackbird.artifacts.scene import Scene
from blackbird.artifacts.work import Act

_LANGUAGES = {
    **dict.fromkeys(("py", "pyi"), "Python"),
    **dict.fromkeys(("ts", "tsx"), "TypeScript"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "JavaScript"),
    **dict.fromkeys(("c", "h"), "C"),
    **dict.fromkeys(("cc", "cpp", "hpp", "cxx"), "C++"),
    "rs": "Rust",
    "go": "Go",
    "java": "Java",
    "kt": "Kotlin",
    "rb": "Ruby",
    "php": "PHP",
    "swift": "Swift",
    "cs": "C#",
    "scala": "Scala",
    "ex": "Elixir",
    "exs": "Elixir",
    "sh": "Shell",
    "sql": "SQL",
    "vue": "Vue",
}
_COMMANDS = {"test": "test_command", "build": "build_command", "lint": "lint_command", "run": "run_command"}
_PLACES = 6
#: A folder is part of the layout when so many files of it were touched.
_TOUCHED = 2
_FOLDERS = 8


class _Seen(NamedTuple):
    """Something that was met: its name and value, when, and where that stands."""

    name: str
    value: str
    at: int | None
    place: Provenance


def facts(scene: Scene, work: Sequence[Act], builder: str) -> Iterator[Artifact]:
    """One artifact a fact, in the order in which they were first met."""
    met: dict[tuple[str, str], list[_Seen]] = {}
    for seen in _met(work):
        met.setdefault((seen.name, seen.value), []).append(seen)
    for name, value in [key for key in met if key[0] != "layout"] + _layout(met):
        seen_there = met[(name, value)]
        last = max((one.at for one in seen_there if one.at is not None), default=None)
        yield Artifact(
            id=artifact_id(Type.FACT, scene.session, name, value),
            type=Type.FACT,
            session=scene.session,
            title=f"{name.replace('_', ' ')}: {value}",
            content=Fact(name=name, value=value, times=len(seen_there), last_at=last),
            provenance=tuple(dict.fromkeys(one.place for one in seen_there))[-_PLACES:],
            builder=builder,
            at=last,
        )


def _layout(met: dict[tuple[str, str], list[_Seen]]) -> list[tuple[str, str]]:
    """The folders in which most was done."""
    often = [key for key, seen in met.items() if key[0] == "layout" and len(seen) >= _TOUCHED]
    return sorted(often, key=lambda key: (-len(met[key]), key))[:_FOLDERS]


def _met(work: Iterable[Act]) -> Iterator[_Seen]:
    for act in work:
        place = quotes.whole(act.result or act.call)
        if place is None:
            continue
        if act.command is not None and act.command.ok is True and act.command.kind in _COMMANDS:
            yield _Seen(_COMMANDS[act.command.kind], act.known_as, act.at, place)
        for path in (*(change.path for change in act.changes), *act.read):
            language = _LANGUAGES.get(path.rpartition(".")[2].lower()) if "." in path else None
            if language is not None:
                yield _Seen("language", language, act.at, place)
            folder = path.rpartition("/")[0]
            if folder and not folder.startswith(("/", "..", "~")):
                yield _Seen("layout", f"{folder}/", act.at, place)
