"""The archive's folder: whose it is, which runs are in it, and how a run gets in whole or not at all.

- archive.json: whose it is
- run=N/manifest.json: what the run holds: figures, columns, size and SHA-256 of every file
- run=N/_finished: the database knows the run; a run without this file may be removed
- run=N/journal/date=…/queue=…/*.parquet, run=N/incidents/…, run=N/messages/…
- _staging/…: a run that is being written
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from ...engine.calls.archives import ArchiveIdentity, ArchiveRun
from ..errors import AuditError

IDENTITY = "archive.json"
MANIFEST = "manifest.json"
FINISHED = "_finished"
STAGING = "_staging"


@dataclass(frozen=True)
class ArchiveFolder:
    """A folder that holds an archive or will hold one."""

    path: Path

    def run(self, number: int) -> Path:
        """The folder of a run."""
        return self.path / f"run={number}"

    def staging(self, number: int, lock_epoch: int) -> Path:
        """Where a run is written; two archivers never have the same epoch."""
        return self.path / STAGING / f"{number}-{lock_epoch}"

    def is_new(self) -> bool:
        """Whether it is absent or empty. Raises AuditError if it holds anything but an archive."""
        try:
            names = {entry.name for entry in self.path.iterdir()} if self.path.exists() else set()
        except OSError as error:
            raise AuditError(f"cannot read {self.path}: {error.strerror}") from error
        if IDENTITY in names:
            return False
        if names - {STAGING, IDENTITY + ".new"}:
            raise AuditError(f"{self.path} is neither empty nor an archive")
        return True

    def claim(self, identity: ArchiveIdentity, archive: UUID) -> None:
        """Make it the archive's."""
        known = {
            "archive_id": str(archive),
            "engine": identity.engine,
            "system_identifier": identity.system_identifier,
            "format": 1,
        }
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            _write(self.path / IDENTITY, json.dumps(known, indent=2).encode())
        except OSError as error:
            raise AuditError(f"cannot write to {self.path}: {error.strerror}") from error

    def archive_id(self) -> UUID:
        """Whose it is. Raises AuditError if it is not an archive."""
        try:
            return UUID(json.loads((self.path / IDENTITY).read_text())["archive_id"])
        except FileNotFoundError as error:
            raise AuditError(f"{self.path} is not an archive: it has no {IDENTITY}") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AuditError(f"{self.path / IDENTITY} cannot be read: {error}") from error

    def finished(self, identity: ArchiveIdentity, runs: Sequence[ArchiveRun]) -> list[ArchiveRun]:
        """The runs of this folder that the database knows as finished.

        Raises AuditError: another database's folder, one that ran ahead of a restored database, or one that lacks a
        run. Only the last manifest is compared here. A reader of a run compares that run's.
        """
        mine = self.archive_id()
        known = [run for run in runs if run.archive_id == mine]
        if not known and mine != identity.archive_id:
            raise AuditError(
                f"{self.path} is the archive {mine} of another database: this is engine {identity.engine},"
                f" archive {identity.archive_id or 'none'}"
            )
        last = max((run.run for run in known), default=0)
        ahead = sorted(number for number in self._numbers() if number > last and (self.run(number) / FINISHED).exists())
        if ahead:
            raise AuditError(
                f"{self.path} has run {ahead[0]}, which this database does not know: it was restored to before that"
                f" run."
                " Keep the folder as it is, and begin another archive in an empty one (--new)"
            )
        if absent := [run.run for run in known if not (self.run(run.run) / MANIFEST).is_file()]:
            raise AuditError(f"{self.path} lacks run {absent[0]} of the archive")
        if known:
            self.check_manifest(known[-1])
        return known

    def check_manifest(self, run: ArchiveRun) -> None:
        """Raise AuditError unless a run's manifest is there and the one that the database knows."""
        try:
            found = hash_of(self.run(run.run) / MANIFEST)
        except OSError as error:
            raise AuditError(f"{self.path} lacks run {run.run} of the archive: {error}") from error
        if found != run.manifest:
            raise AuditError(f"{self.run(run.run) / MANIFEST} is not the one that was written by run {run.run}")

    def damage(self, number: int, hashed: Container[str]) -> Iterator[str]:
        """What is wrong with a run's files by its manifest: absent, of another size, nobody's, or of another content.

        Contents are read only of the parts that ``hashed`` names.
        """
        root, files = self.run(number), self.manifest(number)["files"]
        for name, (size, digest) in files.items():
            yield from _file_damage(root / name, size, digest if name.partition("/")[0] in hashed else None)
        strangers = {str(path.relative_to(root)) for path in root.rglob("*.parquet")} - set(files)
        for name in sorted(strangers):
            yield f"{root / name} was not written by the run"

    def clean(self, finished: Sequence[ArchiveRun]) -> None:
        """Mark finished runs as such, and remove what no finished run wrote."""
        known = {run.run for run in finished}
        for run in finished:
            self.mark(run.run, run.manifest)
        shutil.rmtree(self.path / STAGING, ignore_errors=True)
        for number in self._numbers():
            if number not in known:
                shutil.rmtree(self.run(number))

    def seal(self, staging: Path, facts: dict[str, Any]) -> str:
        """Write the manifest of a staged run and force all of it to the disk. Returns the manifest's hash.

        Spark's own notes beside the files go: the manifest says more.
        """
        for path in [found for found in staging.rglob("*") if found.is_file() and found.suffix != ".parquet"]:
            path.unlink()
        files = {}
        for path in sorted(staging.rglob("*.parquet")):
            files[str(path.relative_to(staging))] = [path.stat().st_size, hash_of(path)]
            _sync(path)
        _write(staging / MANIFEST, json.dumps(facts | {"files": files}, indent=1, sort_keys=True).encode())
        for folder in [staging, *(path for path in staging.rglob("*") if path.is_dir())]:
            _sync(folder)
        return hash_of(staging / MANIFEST)

    def publish(self, staging: Path, number: int) -> None:
        """Give a sealed run its place, at once."""
        try:
            os.rename(staging, self.run(number))
        except OSError as error:
            raise AuditError(
                f"run {number} could not be put in its place: {error}; another archiver is at work"
            ) from error
        _sync(self.path)

    def mark(self, number: int, manifest: str) -> None:
        """Note that the database knows a run."""
        if not (self.run(number) / FINISHED).exists():
            _write(self.run(number) / FINISHED, manifest.encode())

    def manifest(self, number: int) -> dict[str, Any]:
        """What a run says that it holds."""
        found: dict[str, Any] = json.loads((self.run(number) / MANIFEST).read_text())
        return found

    def parquet(self, number: int, part: str) -> list[Path]:
        """A part's Parquet files, by the manifest."""
        names = (name for name in self.manifest(number)["files"] if name.startswith(f"{part}/"))
        return [self.run(number) / name for name in sorted(names) if name.endswith(".parquet")]

    def _numbers(self) -> list[int]:
        names = [entry.name for entry in self.path.iterdir() if entry.is_dir()]
        return sorted(int(name[4:]) for name in names if name.startswith("run=") and name[4:].isdecimal())


def hash_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file_damage(path: Path, size: int, digest: str | None) -> Iterator[str]:
    try:
        if path.stat().st_size != size:
            yield f"{path} has {path.stat().st_size} bytes instead of {size}"
        elif digest is not None and hash_of(path) != digest:
            yield f"{path} is not what was written"
    except OSError as error:
        yield f"{path} cannot be read: {error.strerror}"


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, and force it to the disk."""
    made = path.with_name(path.name + ".new")
    made.write_bytes(content)
    _sync(made)
    os.rename(made, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
