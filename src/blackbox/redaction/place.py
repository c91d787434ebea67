"""Where the user's configuration is; apart from what reads it, since that takes all the rules along."""

import os
from pathlib import Path

import platformdirs


def config_path() -> Path:
    """The user's configuration. A project cannot bring its own: it could switch redaction off."""
    home = os.environ.get("BLACKBIRD_HOME")
    return Path(home or platformdirs.user_config_dir("blackbird", appauthor=False)) / "config.toml"
