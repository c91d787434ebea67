"""`blackbird ca`: the private CA of forward mode, shown, handed out, renewed, taken away."""

import datetime as dt
from pathlib import Path
from typing import Annotated, Any

import typer

from blackbird import home as homes
from blackbird.authority import ca
from blackbird.authority.ca import Authority, Condition
from blackbird.authority.problems import Level, Problem, problems
from blackbird.cli.arguments import Json
from blackbird.errors import NotFound
from blackbird.home import Home
from blackbox.disk import replace_file, write_once
from blackbox.errors import ReadError, UsageError
from blackbox.terminal import output

_MARKS = {Level.OK: "✓", Level.ERROR: "✗", Level.WARNING: "!"}
_NOWHERE = "It is in no store of the system or of a browser; only agents that blackbird run starts trust it."
_RESTART = "Agents that run in forward mode trust the old one: start them again."

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def overview(context: typer.Context, as_json: Json = False) -> None:
    """The private CA with which agents in forward mode are recorded.

    Without a command: what it is, and which hosts it is limited to.

    Examples:

      blackbird ca show

      blackbird ca export blackbird-ca.pem
    """
    if context.invoked_subcommand is None:
        show(as_json)


@app.command("show")
def show(as_json: Json = False) -> None:
    """Show the private CA: the hosts it is limited to, how long it is valid, and where it is.

    It is made when an agent first runs in forward mode, on this machine and for it alone. It is installed nowhere.

    Exit codes: 0 it can be used or is not made yet, 1 something is wrong with it.

    Example:

      blackbird ca show
    """
    home = homes.find()
    condition = ca.inspect(home)
    found = problems(condition, ca.key_path(home), dt.datetime.now(dt.UTC))
    if as_json:
        output.write_json(_describe(home, condition, found))
    else:
        _show(condition, found)
    if any(problem.weight is Level.ERROR for problem in found):
        raise typer.Exit(1)


@app.command("export")
def export(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A new file; without one, or with `-`, standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write the certificate of the private CA as PEM, for a program that is to trust it; never its key.

    Examples:

      blackbird ca export blackbird-ca.pem

      blackbird ca export | openssl x509 -noout -text
    """
    home = homes.find()
    found = ca.read(home)
    if found is None:
        raise NotFound("there is no private CA yet", "blackbird ca renew makes one")
    pem = _read(found.certificate)
    if file in (None, "-"):
        body = {"schema": "ca-export/1", "file": None, "certificate": pem.decode("ascii")}
        output.write_json(body) if as_json else output.write(pem)
        return
    target = Path(file or "")
    _write(target, pem, force=force)
    if as_json:
        output.write_json(
            {"schema": "ca-export/1", "file": str(target.absolute()), "certificate": pem.decode("ascii")}
        )
        return
    output.stdout().print(output.marked("✓", output.printable(f"The certificate is in {target}")))


@app.command("renew")
def renew(as_json: Json = False) -> None:
    """Make a new private CA with a new key; the old one is good for nothing from then on.

    Agents that run in forward mode have to be started again.

    Example:

      blackbird ca renew
    """
    home = homes.find()
    made = ca.ensure(home, renew=True)
    if as_json:
        output.write_json({"schema": "ca-renew/1", **_authority(made)})
        return
    console = output.stdout()
    console.print(output.marked("✓", f"A new private CA, valid until {made.not_after:%Y-%m-%d}"))
    for name, text in _rows(made):
        console.print(f"  {name:<12} {output.printable(text)}")
    if made.state != "made":
        console.print(f"  {_RESTART}")


@app.command("remove")
def remove(as_json: Json = False) -> None:
    """Remove the private CA and its key. The next agent in forward mode gets another.

    Example:

      blackbird ca remove
    """
    gone = ca.remove(homes.find())
    if as_json:
        output.write_json({"schema": "ca-remove/1", "removed": [str(path) for path in gone]})
        return
    console = output.stdout()
    if not gone:
        console.print("There is no private CA")
        return
    console.print(output.marked("✓", "The private CA and its key are removed"))
    console.print(f"  {_RESTART}")


def _show(condition: Condition, found: list[Problem]) -> None:
    console = output.stdout()
    for problem in found:
        mark = _MARKS.get(problem.weight)
        text = output.printable(problem.what[:1].upper() + problem.what[1:])
        console.print(output.marked(mark, text) if mark is not None else f"· {text}")
        if problem.remedy:
            console.print(f"  {output.printable(problem.remedy)}")
    if condition.authority is not None:
        for name, text in _rows(condition.authority):
            console.print(f"  {name:<12} {output.printable(text)}")
    console.print(f"  {_NOWHERE}")


def _rows(authority: Authority) -> list[tuple[str, str]]:
    first, *rest = authority.hosts or ["none"]
    return [
        ("hosts", first),
        *(("", host) for host in rest),
        ("valid", f"{authority.not_before:%Y-%m-%d} to {authority.not_after:%Y-%m-%d}"),
        ("fingerprint", authority.fingerprint),
        ("certificate", str(authority.certificate)),
    ]


def _describe(home: Home, condition: Condition, found: list[Problem]) -> dict[str, Any]:
    about = None if condition.authority is None else _authority(condition.authority)
    told = [
        {"id": each.id, "level": each.weight.value, "what": each.what, "remedy": each.remedy or None}
        for each in found
        if each.weight is not Level.OK
    ]
    return {"schema": "ca/1", "folder": str(ca.folder(home)), "authority": about, "problems": told}


def _authority(authority: Authority) -> dict[str, Any]:
    return {
        "certificate": str(authority.certificate),
        "hosts": authority.hosts,
        "not_before": _instant(authority.not_before),
        "not_after": _instant(authority.not_after),
        "fingerprint": authority.fingerprint,
        "state": authority.state,
    }


def _instant(time: dt.datetime) -> str:
    return time.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}", "make it readable for you") from error


def _write(path: Path, pem: bytes, *, force: bool) -> None:
    if path.exists() and not force:
        raise UsageError(f"{output.printable(str(path))} is there already", "name a new file, or add --force")
    if path.exists():
        replace_file(path, pem)
    else:
        write_once(path, pem, sync=False)
