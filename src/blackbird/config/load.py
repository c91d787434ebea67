"""The only module here that reads: the user's file, the project's, and the environment."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from blackbird.config import layers
from blackbird.config.resolve import Config, resolve
from blackbird.errors import ConfigError
from blackbird.home import Home
from blackbox.errors import ReadError

PROJECT_FILE = ".blackbird.toml"
_LONGEST_FILE = 1 << 20


def load(
    home: Home,
    options: Iterable[tuple[str, str, str]] = (),
    *,
    variables: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Config:
    """The configuration that holds here and now: option, environment, project, user, default."""
    project = nearest_project() if folder is None else find_project(folder, Path.home())
    return resolve(
        [
            layers.from_defaults(),
            layers.from_file(_read(home.config_file), str(home.config_file), "user file"),
            layers.from_file(_read(project), str(project), "project file") if project is not None else [],
            layers.from_environment(os.environ if variables is None else variables),
            layers.from_options(options),
        ]
    )


def nearest_project() -> Path | None:
    """The project's file that holds here, if there is one."""
    try:
        return find_project(Path.cwd(), Path.home())
    except FileNotFoundError:
        # The folder that this was started in is gone, and no project with it.
        return None


def find_project(folder: Path, user_home: Path) -> Path | None:
    """The nearest `.blackbird.toml` from a folder up to the root of its repository, or below the user's home.

    Outside of both only the folder itself counts: what lies above may be anybody's.
    """
    above = [folder.absolute(), *folder.absolute().parents]
    root = next((place for place in above if (place / ".git").exists()), None)
    if root is not None:
        reach = above[: above.index(root) + 1]
    elif user_home in above:
        reach = above[: above.index(user_home)] or [user_home]
    else:
        reach = above[:1]
    return next((place / PROJECT_FILE for place in reach if (place / PROJECT_FILE).is_file()), None)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LONGEST_FILE:
            raise ConfigError(f"{path}: larger than 1 MiB, which no configuration is", "look at what is in it")
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: no UTF-8 at byte {error.start}", "save the file as UTF-8") from None
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror}", "make the file readable, or remove it") from error
