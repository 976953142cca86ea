"""Write tests/schema.sql, all that a database with Howdah has: tables, functions, views, rights: ``make schema``.

It is pg_dump's text on PostgreSQL 18, which puts objects in order of their names: a function that moves to another file
changes nothing. What differs from one installation to the next is left out.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from howdah.engine.embedded import EmbeddedServer
from howdah.migrations import migrate

VERSION = 18
"""The major version of PostgreSQL whose pg_dump writes the file; another one's text is another."""

FILE = Path(__file__).parent.parent / "tests" / "schema.sql"

_HEAD = """\
-- All that a database with Howdah has, as pg_dump says it on PostgreSQL 18. Written by make schema; do not edit.
--
-- What no line gives to another role belongs to howdah_owner. Left out: the journal's weeks, and compression by lz4,
-- with which not every server is built.
"""

_LEFT_OUT = (
    r"-- Dumped (from|by) .*\n",
    r"\\(un)?restrict .*\n",
    r"SET .*\n",
    r"SELECT pg_catalog\.set_config\(.*\n",
    r"--\n-- (Name|PostgreSQL database dump).*\n--\n",
    r"ALTER .* OWNER TO howdah_owner;\n",
    r"ALTER TABLE ONLY .* SET COMPRESSION lz4;\n",
)


def dump(dsn: str, pg_dump: Path) -> str:
    """The schema of Howdah in the database at ``dsn``, without what depends on machine and date."""
    command = [str(pg_dump), "--schema-only", "--schema=howdah", "--exclude-table=howdah.journal_2*", dsn]
    text = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    text = re.sub("|".join(f"^(?:{pattern})" for pattern in _LEFT_OUT), "", text, flags=re.MULTILINE)
    return _HEAD + "\n" + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def main() -> None:
    """Install Howdah in a new server, dump it and write the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)  # the server's user must get through
        server = EmbeddedServer(folder / "server", VERSION)
        try:
            dsn = server.start().dsn
            migrate(dsn)
            FILE.write_text(dump(dsn, server.bin("pg_dump")), encoding="utf-8")
        finally:
            server.stop("immediate")


if __name__ == "__main__":
    main()
