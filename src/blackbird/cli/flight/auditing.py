"""`blackbird audit`: what a session changed, called, touched and decided."""

from typing import Annotated

import typer

from blackbird.cli.flight import session as sessions
from blackbird.flightlog import files
from blackbox.document.document import parse
from blackbox.reading.audit import show_audit
from blackbox.redaction.config import load_redactor
from blackbox.report.audit import audit
from blackbox.session.session import Session
from blackbox.terminal import output

SCHEMA = "audit/1"


def command(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION", help="A session, a run or a client's own id, or its start; else the newest."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema audit/1).")] = False,
) -> None:
    """Answer four questions about a session, each with its evidence.

    What files did it modify? What servers did it call? Did it touch anything sensitive? What did it decide, and why?

    Lines are those of the log that `blackbird export SESSION -o -` writes. Files that a shell command changes are not
    found, since commands are not carried out again; the lines that hold commands are listed.

    Examples:

      blackbird audit

      blackbird audit harbour --json | jq '.files[] | select(.is_modified) | .path'
    """
    chosen = sessions.choose(session)
    timeline = chosen.timeline()
    sessions.tell_problems(timeline, as_json=as_json)
    redactor = load_redactor()
    found = audit(Session(parse(files.bbox_bytes(timeline, redactor))), redactor)
    if as_json:
        fields = {name: getattr(found, name) for name in found.__struct_fields__}
        output.write_json({"schema": SCHEMA, **fields})
    else:
        show_audit(output.stdout(), chosen.scope.name, found)
