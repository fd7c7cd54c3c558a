"""The program joulecast out of the package: `pip install` puts it on the PATH of the environment."""
from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program, with the words of this command line. Zoo and predictors are the package's, or $JOULECAST_HOME's."""
    package = pathlib.Path(__file__).parent
    program = package / "bin" / "joulecast"
    if not program.is_file():
        raise SystemExit(f"joulecast: {program} is missing: this package was not installed by pip. Run the joulecast of your build folder.")
    os.environ.setdefault("JOULECAST_HOME", str(package / "shipped"))
    if sys.argv[1:2] == ["export-hf"]:
        os.environ.setdefault("JOULECAST_PYTHON", sys.executable)
    os.execv(program, [str(program), *sys.argv[1:]])
