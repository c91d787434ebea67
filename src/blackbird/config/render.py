"""The resolved settings as the recorder reads them: `run/recorder.json`."""

from typing import Any
from urllib.parse import urlsplit

import msgspec

from blackbird.config import settings
from blackbird.config.resolve import Config
from blackbird.home import Home
from blackbox.disk import make_folder, write_once

SCHEMA = "recorder-config/1"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def recorder_config(config: Config, home: Home) -> dict[str, Any]:
    """Everything the recorder needs to know."""
    return {
        "schema": SCHEMA,
        "home": str(home.path),
        "listen": config["proxy.listen"],
        "token": config["proxy.token"],
        "control_socket": str(home.control_socket),
        "allowed_hosts": config["proxy.allowed_hosts"],
        "allowed_origins": config["proxy.allowed_origins"],
        "upstreams": config.upstreams,
        "default_upstream": config["proxy.upstream_url"],
        "intercept": intercepted(config),
        "ca_file": config["proxy.ca_file"],
        "mode": config["proxy.mode"],
        "websocket": config["proxy.websocket"],
        "hooks": config["proxy.hooks"],
        "lossless": config["proxy.lossless"],
        "queue_bytes": config["proxy.queue_size"],
        "keep_undecodable": config["redaction.keep_undecodable"],
        "decode_memory": config["redaction.decode_memory"],
        "decoded_limit": config["redaction.decoded_limit"],
        "drain_seconds": config["proxy.drain_seconds"],
        "threads": config["proxy.threads"],
        "trace": {
            "persist": config["trace.persist"],
            "sync_ms": config["trace.sync_interval"],
            "rotate_bytes": config["trace.rotate_size"],
            "rotate_seconds": config["trace.rotate_age"] // 1000,
            "retention_days": config["trace.retention_days"],
            "max_bytes": config["trace.max_size"],
            "seal": config["trace.seal"],
        },
        "redaction": {
            "ruleset_version": config["redaction.ruleset_version"],
            "off": config["redaction.off"],
            "on": config["redaction.on"],
            "allow": config["redaction.allow"],
            "rules": rules_toml(config["redaction.rule"]),
        },
    }


def intercepted(config: Config) -> dict[str, str]:
    """The hosts that are recorded when the recorder is used as a proxy, each with the name of its upstream.

    A provider's own host comes first, so that one whose requests go to a gateway is recorded under its name.
    """
    hosts: dict[str, str] = {}
    for upstreams in (settings.built_in_upstreams(), config.upstreams):
        for name, url in upstreams.items():
            hosts.setdefault(authority(url), name)
    return hosts


def authority(url: str) -> str:
    """Host and port of a URL that was checked."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def write(config: Config, home: Home) -> None:
    """Put the configuration where the recorder reads it, for its owner alone: it may hold a token."""
    make_folder(home.run)
    body = msgspec.json.format(msgspec.json.encode(recorder_config(config, home)), indent=1)
    write_once(home.recorder_json, body + b"\n", sync=False)


def rules_toml(rules: list[dict[str, Any]]) -> str | None:
    """The user's own rules as a rule file has them, or nothing."""
    if not rules:
        return None
    return "\n".join(_rule({"class": "user", **rule}) for rule in rules)


def _rule(rule: dict[str, Any]) -> str:
    return "[[rule]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in rule.items())


def _value(value: str | bool | list[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return '"' + "".join(_ESCAPES.get(each) or _character(each) for each in value) + '"'


def _character(character: str) -> str:
    return character if character >= " " and character != "\x7f" else f"\\u{ord(character):04x}"
