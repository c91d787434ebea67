"""Sessions that the arguments name, each once: what belongs to one is not told again on its own."""

from collections.abc import Callable, Sequence
from pathlib import Path

from blackbox.document.document import parse
from blackbox.reading.contents import check_session
from blackbox.report.companions import Subagents, read_subagents
from blackbox.report.places import Member
from blackbox.session.load import load_with_files
from blackbox.session.session import Session
from blackbox.terminal import inputs, output

#: What is done for a session: its name, itself, and the sub-agents that only their companions hold.
_Work = Callable[[str, Session, Sequence[Member]], None]


def each_session(names: list[str], work: _Work, *, as_json: bool) -> None:
    """Do the work for each session. A log that was read as a part or a sub-agent of one before it is left out."""
    known: dict[Path, str] = {}

    def load(name: str) -> None:
        if name == inputs.STDIN:
            session = Session(parse(inputs.read_all(name)))
            check_session(name, session)
            work(name, session, ())
            return
        whole = known.get(Path(name).resolve()) if Path(name).exists() else None
        if whole is not None:
            if not as_json:
                _tell(f"{output.printable(name)} is told with {output.printable(whole)}")
            return
        session, files = load_with_files(name)
        check_session(name, session)
        known.update(dict.fromkeys(files, name))
        subagents = read_subagents(name, session)
        work(name, session, subagents.members)
        _tell_subagents(name, subagents, as_json=as_json)

    inputs.each_log(names, load, as_json=as_json)


def _tell_subagents(name: str, subagents: Subagents, *, as_json: bool) -> None:
    """Where the sub-agents were read from; those that could not be are errors, the last of them to be caught."""
    if subagents.members and not as_json:
        many = f"{len(subagents.members)} sub-agent{'' if len(subagents.members) == 1 else 's'}"
        log = output.printable(name)
        _tell(f"{many} of {log} read from .jsonl; lines are those of blackbox export FILE --format bbox")
    for error in subagents.errors[:-1]:
        output.tell_error(error, as_json=as_json)
    if subagents.errors:
        raise subagents.errors[-1]


def _tell(text: str) -> None:
    output.stderr().print(text, style="bright_black")
