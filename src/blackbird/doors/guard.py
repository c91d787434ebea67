"""Who may come in over HTTP: programs that show the token, by a name of this machine, and no page in a browser."""

import hmac
import ipaddress
from collections.abc import Mapping

import msgspec

_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Refusal(msgspec.Struct, frozen=True):
    """Why a request is not taken: the status, and an error as every command tells it."""

    status: int
    code: str
    message: str
    remedy: str

    @property
    def body(self) -> dict[str, str]:
        """What is sent."""
        return {"code": self.code, "message": self.message, "remedy": self.remedy}


class Guard(msgspec.Struct, frozen=True):
    """Decides by the fields of a request alone. `host` and `port` are where the server listens."""

    host: str
    port: int
    token: str

    def refuse(self, fields: Mapping[str, str], *, needs_token: bool = True) -> Refusal | None:
        """Why a request is refused, if it is. The keys of `fields` are in lower case."""
        host, origin = fields.get("host", ""), fields.get("origin")
        if not self._is_ours(host):
            return Refusal(421, "host_refused", "the Host field names another machine", f"ask http://{self.name}")
        if origin is not None and not (
            origin.startswith("http://") and self._is_ours(origin.removeprefix("http://"))
        ):
            return Refusal(403, "origin_refused", "pages in browsers are not answered", "ask without an Origin field")
        if needs_token and not self._has_token(fields.get("authorization", "")):
            remedy = "send `Authorization: Bearer TOKEN`; blackbird mcp --show-token prints it"
            return Refusal(401, "token_missing", "the token is missing or another one", remedy)
        return None

    @property
    def name(self) -> str:
        """Where it listens, as it stands in an address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def _is_ours(self, host: str) -> bool:
        """Whether a host and port mean this server: a page whose own name was made to lead here gives that name."""
        is_wide = not ipaddress.ip_address(self.host).is_loopback
        names = [f"{name}:{self.port}" for name in _NAMES]
        return host in names or host == self.name or (is_wide and _is_address(host))

    def _has_token(self, field: str) -> bool:
        scheme, _, shown = field.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(shown.strip().encode(), self.token.encode())


def _is_address(host: str) -> bool:
    """Whether a host is spelled as an address: a name can be made to lead anywhere, an address cannot."""
    name, colon, port = host.rpartition(":")
    try:
        ipaddress.ip_address((name if colon and port.isdecimal() else host).strip("[]"))
    except ValueError:
        return False
    return True
