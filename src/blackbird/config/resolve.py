"""Which assignment wins, and what holds between settings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from blackbird.config import settings, values
from blackbird.config.layers import Assignment
from blackbird.config.settings import UPSTREAMS
from blackbird.errors import ConfigError
from blackbox.errors import UsageError
from blackbox.redaction.config import build_redactor
from blackbox.redaction.redactor import Redactor

_REDACTION = ("ruleset_version", "on", "off", "allow", "rule")


@dataclass(frozen=True)
class Config:
    """The settings of one run of a command: for each the assignment that won, by name."""

    assignments: dict[str, Assignment]

    def __getitem__(self, name: str) -> Any:
        return self.assignments[name].value

    @property
    def upstreams(self) -> dict[str, str]:
        """The upstreams by name."""
        return {
            name.partition(".")[2]: each.value
            for name, each in self.assignments.items()
            if each.setting.section == UPSTREAMS
        }


def resolve(layers: Sequence[Iterable[Assignment]]) -> Config:
    """The last layer that says something wins; what makes no sense together is a ConfigError."""
    winners: dict[str, Assignment] = {}
    for layer in layers:
        winners.update({each.setting.name: each for each in layer})
    order = {name: at for at, name in enumerate(settings.known())}
    names = sorted(winners, key=lambda name: (order.get(name, len(order)), name))
    config = Config({name: winners[name] for name in names})
    _check_reach(config)
    _check_rotation(config)
    redactor(config)
    return config


def _check_reach(config: Config) -> None:
    for part in ("proxy", "mcp"):
        listen = config.assignments[f"{part}.listen"]
        if not values.is_loopback(listen.value) and config[f"{part}.token"] is None:
            raise ConfigError(
                f"{listen.origin}: {part}.listen: {listen.value} can be reached from other machines, "
                f"and {part}.token is not set",
                f"set {part}.token to a long random word, or listen on 127.0.0.1",
            )


def _check_rotation(config: Config) -> None:
    age = config.assignments["trace.rotate_age"]
    if age.value % 1000:
        shown = values.show(age.setting, age.value)
        raise ConfigError(f"{age.origin}: trace.rotate_age: {shown} is no whole number of seconds", age.setting.help)


def redactor(config: Config) -> Redactor:
    """What finds and hides secrets as the settings want it. Raises `ConfigError` if they make no sense."""
    said = {key: config.assignments[f"redaction.{key}"] for key in _REDACTION}
    source = ", ".join(dict.fromkeys(str(each.origin) for each in said.values() if each.origin.level != "default"))
    try:
        return build_redactor({key: each.value for key, each in said.items()}, source)
    except UsageError as error:
        raise ConfigError(error.message, error.remedy) from error
