"""Write the SQL of the baseline migration anew from the tables in ``schema/``: ``make baseline``.

It may change until the first release has it. From then on tables change by further revisions, as CONTRIBUTING.md says.
``--sum`` prints what the release puts into ``RELEASED``.
"""

from __future__ import annotations

import sys
from hashlib import sha256

from alembic.script import ScriptDirectory

from howdah.migrations import config
from howdah.migrations.versions import r1001_baseline as baseline
from howdah.schema.ddl import ddl


def is_frozen() -> bool:
    """Whether the baseline was released, or another revision stands on it."""
    head = ScriptDirectory.from_config(config()).get_current_head()
    return baseline.RELEASED is not None or head != baseline.revision


def checksum() -> str:
    """Identifies the SQL as it is now."""
    return sha256(baseline.SQL.read_bytes()).hexdigest()


def main() -> None:
    """Write the file, or say why not; or print its sum."""
    if sys.argv[1:] == ["--sum"]:
        print(checksum())
        return
    if is_frozen():
        sys.exit("The baseline is frozen: write a revision, as CONTRIBUTING.md says.")
    baseline.SQL.write_text(ddl(), encoding="utf-8")


if __name__ == "__main__":
    main()
