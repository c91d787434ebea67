"""Sessions that the arguments name, each once: what belongs to one is not told again on its own."""

from collections.abc import Callable
from pathlib import Path

from blackbox.cli import inputs, output
from blackbox.document.document import parse
from blackbox.session.load import load_with_files
from blackbox.session.session import Session


def each_session(names: list[str], work: Callable[[str, Session], None], *, as_json: bool) -> None:
    """Do the work for each session. A log that was read as a part or a sub-agent of one before it is left out."""
    known: dict[Path, str] = {}

    def load(name: str) -> None:
        if name == inputs.STDIN:
            work(name, Session(parse(inputs.read_all(name))))
            return
        whole = known.get(Path(name).resolve()) if Path(name).exists() else None
        if whole is not None:
            if not as_json:
                told = f"{output.printable(name)} is told with {output.printable(whole)}"
                output.stderr().print(told, style="bright_black")
            return
        session, files = load_with_files(name)
        known.update(dict.fromkeys(files, name))
        work(name, session)

    inputs.each_log(names, load, as_json=as_json)
