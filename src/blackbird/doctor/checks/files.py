"""Whether recordings, keys and settings are for their owner alone."""

import shlex
from collections.abc import Iterator

from blackbird.doctor.facts.files import Files, Loose
from blackbird.doctor.findings import Finding, error, note, ok, warning


def check(files: Files) -> Iterator[Finding]:
    """All about modes."""
    if not files.exists:
        yield note("home", "nothing was recorded yet: the home is not there", files.home, "blackbird run -- AGENT")
        return
    for problem in files.unreadable:
        yield warning("file-unreadable", "a folder of the recordings cannot be looked at", problem)
    foreign = [each for each in files.loose if each.is_foreign]
    loose = [each for each in files.loose if not each.is_foreign]
    if foreign:
        path = shlex.quote(files.home)
        yield error(
            "files-foreign",
            f"{_count(foreign)} in the home belong to another user",
            _first(foreign),
            f"sudo chown -R $(id -u) {path}",
        )
    if loose:
        yield error(
            "files-open",
            f"others can get at {_count(loose)} of the recordings, keys or settings",
            _first(loose),
            _remedy(loose, files.home),
        )
    if not files.loose:
        yield ok("modes", "recordings, keys and settings are for you alone", files.home)


def _remedy(loose: list[Loose], home: str) -> str:
    if len(loose) == 1:
        return f"chmod {'700' if loose[0].is_folder else '600'} {shlex.quote(loose[0].path)}"
    within = all(each.path == home or each.path.startswith(f"{home}/") for each in loose)
    place = shlex.quote(home)
    outside = [shlex.quote(each.path) for each in loose if not each.path.startswith(home)]
    return f"chmod -R go= {place}" + ("" if within else f" && chmod 600 {' '.join(outside)}")


def _first(loose: list[Loose]) -> str:
    first = loose[0]
    more = f" and {len(loose) - 1} more" if len(loose) > 1 else ""
    return f"{first.path} has mode {first.mode:04o}{more}"


def _count(loose: list[Loose]) -> str:
    return f"{len(loose)} file{'s' if len(loose) != 1 else ''} or folders" if len(loose) > 1 else "a file or folder"
