"""The word that opens the door over HTTP: the user's own, or one that is made up once and kept for its owner."""

import secrets

from blackbird.config.resolve import Config
from blackbird.home import Home
from blackbox.disk import make_folder, write_once
from blackbox.errors import ReadError

_BYTES = 32


def token(home: Home, config: Config) -> str:
    """The token of a home. Raises `ReadError` or `WriteError`."""
    chosen = config["mcp.token"]
    return str(chosen) if chosen is not None else _kept(home) or _made(home)


def _kept(home: Home) -> str:
    try:
        return home.mcp_token.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"{home.mcp_token}: {error}", "remove the file, and another will be made") from error


def _made(home: Home) -> str:
    make_folder(home.run)
    write_once(home.mcp_token, secrets.token_urlsafe(_BYTES).encode(), sync=False)
    return _kept(home)
