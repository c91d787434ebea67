"""The parts of the build that pyproject.toml cannot say; docs/decisions/0001 has the reasons."""

import sys
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools_rust import RustBin


class PlatformWheel(bdist_wheel):
    """One wheel per platform for every Python: the Rust program does not link against an interpreter."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", super().get_tag()[2])


cargo = tomllib.loads(Path("Cargo.toml").read_text(encoding="utf-8"))
recorder = RustBin("blackbird-recorder", path="crates/recorder/Cargo.toml", cargo_manifest_args=["--locked"])

setup(
    version=cargo["workspace"]["package"]["version"],
    rust_extensions=[] if sys.platform == "win32" else [recorder],
    cmdclass={"bdist_wheel": PlatformWheel},
)
