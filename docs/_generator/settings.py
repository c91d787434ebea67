"""Every setting as a table: what it is called, what holds without it, who may set it, what it means."""

import msgspec

from blackbird.config import settings
from blackbird.config.settings import Setting

#: What a value looks like, by the type of its setting.
_FORMS = {
    "address": "address and port",
    "count": "whole number",
    "duration": "time: `20 ms`, `1 h`",
    "hosts": "list of host names",
    "origins": "list of origins",
    "path": "path",
    "patterns": "list of patterns",
    "size": "size: `32 MiB`",
    "switch": "`true` or `false`",
    "tables": "tables",
    "text": "text",
    "token": "token",
    "url": "URL",
    "words": "list of words",
}


def setting_tables() -> str:
    """The settings by the tables of the file they stand in."""
    tables = []
    for section in settings.sections():
        chosen = [each for each in settings.known().values() if each.section == section]
        if section == settings.UPSTREAMS:
            chosen = [settings.upstream_setting(name) for name in settings.built_in_upstreams()]
        heading = f"### `[{section}]`"
        if all(each.is_planned for each in chosen):
            heading += "\n\nPlanned: these can be set and are checked, and nothing reads them yet."
        head = "| setting | value | default | who | meaning |\n|---|---|---|---|---|"
        tables.append("\n".join([heading, "", head, *(_row(each) for each in chosen)]))
    return "\n\n".join(tables)


def _row(setting: Setting) -> str:
    planned = "" if not setting.is_planned else f" *({setting.read_by})*"
    who = "you, a project" if setting.trust == "project" else "you"
    return f"| `{setting.name}` | {_form(setting)} | {_default(setting)} | {who} | {setting.help}{planned} |"


def _form(setting: Setting) -> str:
    if setting.choices:
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    bounds = f", {setting.least} to {setting.most}" if setting.least is not None else ""
    return _FORMS[setting.type] + bounds


def _default(setting: Setting) -> str:
    return "off" if setting.default is None else f"`{msgspec.json.encode(setting.default).decode()}`"
