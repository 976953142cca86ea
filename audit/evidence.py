"""A digest of the Parquet that an audit kept, so that a signed page belongs to it and to no other."""

from __future__ import annotations

import hashlib
from pathlib import Path

COMMAND = "find . -name '*.parquet' | LC_ALL=C sort | xargs sha256sum | sha256sum"
"""The command that computes it in the output folder."""


def digest(folder: Path) -> str:
    """The SHA-256 that COMMAND prints in the folder."""
    files = sorted(f"./{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.parquet"))
    whole = hashlib.sha256()
    for name in files:
        with (folder / name).open("rb") as file:
            whole.update(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n".encode())
    return whole.hexdigest()
