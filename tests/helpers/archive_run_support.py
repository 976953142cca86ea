"""What tests of archive runs import: the lease, a new archive, and runs that are entered."""

from typing import Any

from psycopg.types.json import Jsonb
from support import (
    Db,
    one,
)

SNAPSHOT = "select pg_current_snapshot()::text"

FINISH = "select howdah.finish_archive_run(%s, %s, %s, %s, %s, %s, %s, %s, %s)"

FACTS = {
    "journal": {"rows": 1, "checksum": "123456789012345678901234567890"},
    "incidents": {"rows": 0, "checksum": "0"},
    "messages": {"rows": 0, "checksum": "0"},
    "journal_kept_from": None,
    "manifest": "abc",
    "path": "/archive",
    "started_at": "2026-01-01T00:00:00+00:00",
}


def lease(db: Db) -> int:
    epoch: int = one(db, "select howdah.acquire_lock('archive', 'test', 60)")
    return epoch


def begin(db: Db) -> tuple[int, str]:
    """The lease's epoch, and a new archive's identity."""
    epoch = lease(db)
    return epoch, one(db, "select howdah.begin_archive(%s)::text", [epoch])


def arguments(epoch: int, archive: str, run: int, snapshot: str, messages: Any = ()) -> list[Any]:
    return [
        epoch,
        archive,
        run,
        snapshot,
        Jsonb(FACTS),
        *([list(part) for part in zip(*messages, strict=True)] or [[]] * 4),
    ]


def finish(db: Db, epoch: int, archive: str, run: int, messages: Any = ()) -> None:
    """Enter a run that has all that is there now."""
    one(db, FINISH, arguments(epoch, archive, run, one(db, SNAPSHOT), messages))
