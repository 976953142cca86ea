"""What the database knows of an archive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

RUN_COLUMNS = (
    "archive_id, run, current, same_cluster, snapshot, journal_rows, journal_checksum, incident_rows,"
    " incident_checksum,"
    " message_rows, message_checksum, journal_kept_from, manifest, path, started_at, finished_at, verified_at, damage"
)


@dataclass(frozen=True)
class ArchiveRun:
    """A finished run of an archive: its content and the result of its last verification."""

    archive_id: UUID
    run: int
    current: bool
    same_cluster: bool
    snapshot: str
    journal_rows: int
    journal_checksum: str
    incident_rows: int
    incident_checksum: str
    message_rows: int
    message_checksum: str
    journal_kept_from: datetime | None
    manifest: str
    path: str
    started_at: datetime
    finished_at: datetime
    verified_at: datetime | None
    damage: str | None


@dataclass(frozen=True)
class ArchiveIdentity:
    """The identity that this database's archive folder must have. archive_id None: no archive was started."""

    engine: str
    system_identifier: int
    archive_id: UUID | None
