"""A redactor with rules small enough to see through: `hunter2`, what follows `--password`, and keys named so."""

import re

from blackbox.redaction.redactor import Found, Redacted, Redactor

_SECRET = re.compile(rb"hunter2|--password ([^\s\[]\S*)")


class Words(Redactor):
    """Hides `hunter2` wherever it stands, and what follows `--password`."""

    def __init__(self) -> None:
        """No rules are loaded."""

    def find(self, data: bytes) -> list[Found]:
        return [Found(*(match.span(1) if match[1] else match.span()), "password") for match in _SECRET.finditer(data)]

    def redact_bytes(self, data: bytes) -> tuple[bytes, dict[str, int]]:
        found = self.find(data)
        for secret in reversed(found):
            data = data[: secret.start] + b"[redacted:password]" + data[secret.end :]
        return data, {"password": len(found)} if found else {}

    def redact(self, text: str) -> Redacted:
        data, counts = self.redact_bytes(text.encode(errors="surrogatepass"))
        return Redacted(data.decode(errors="surrogatepass"), counts)

    def redact_value(self, key: str, value: str) -> Redacted:
        return Redacted("[redacted:named]", {"named": 1}) if key == "password" else self.redact(value)
