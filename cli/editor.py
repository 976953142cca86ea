"""Edit text in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def edit(text: str, suffix: str) -> str:
    """Return the text as edited in $VISUAL or $EDITOR. Raises HowdahError without a terminal or if the editor fails."""
    from ..engine.errors import HowdahError

    if not sys.stdin.isatty():
        raise HowdahError("no change was given, and stdin is not a terminal", "Give --body, --body-file or --header.")
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="howdah-") as folder:
        file = Path(folder) / f"body{suffix}"
        file.write_bytes(text.encode())
        try:
            subprocess.run([*command, str(file)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise HowdahError(f"not done: the editor {command[0]} failed: {error}") from error
        edited = file.read_bytes().decode()
    # Editors add a line end that the body did not have.
    return edited if text.endswith("\n") else edited.removesuffix("\n")
