"""The build of the wheel: maturin, which without Rust would fetch a toolchain of 1.4 GB unasked."""

import os
import shutil
import sys

from maturin import *
from maturin import get_requires_for_build_wheel as requires

os.environ["MATURIN_NO_INSTALL_RUST"] = "1"


def get_requires_for_build_wheel(config_settings=None):
    if shutil.which("cargo") is None:
        sys.exit(
            "click-bandits is compiled from Rust, and there is no cargo in the PATH: install Rust 1.95 or newer "
            "(https://rustup.rs), or the wheel of a release, which needs none."
        )
    return requires(config_settings)


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel
