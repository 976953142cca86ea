"""Send an archived message again. Reads Parquet with pyarrow, without Spark and Java."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.dataset

from ...engine.admin.archives import Archives
from ...engine.calls.archives import ArchiveRun
from ..errors import AuditError
from .folder import ArchiveFolder, hash_of
from .parts import MESSAGES

_PROPERTIES = (
    *("content_type", "priority", "correlation_id", "reply_to", "message_type", "conversation_id"),
    "reliability",
)


def restore_message(archives: Archives, path: Path, message_id: int, queue: str, *, again: bool = False) -> int:
    """Send a dead message of the archive in ``path`` to a queue, in the name of the caller of ``archives``.

    Returns the new message's number. If it died more than once, the last copy is sent. Raises AuditError if the
    archive does not have it, BadArgument if it is still there or was restored before and ``again`` is not said.
    """
    folder = ArchiveFolder(path.expanduser().resolve())
    runs = folder.finished(archives.identity(), archives.runs())
    found = _newest(folder, runs, message_id)
    if found is None:
        raise AuditError(
            f"{folder.path} does not have message {message_id}: it has the dead messages of {len(runs)} runs"
        )
    run, row = found
    properties = {name: row[name] for name in _PROPERTIES}
    properties["headers"] = json.loads(row["headers"]) if row["headers"] else {}
    return archives.restore(
        queue, run.archive_id, run.run, message_id, row["body"], row["is_text"], properties, again=again
    )


def _newest(folder: ArchiveFolder, runs: list[ArchiveRun], message_id: int) -> tuple[ArchiveRun, dict[str, Any]] | None:
    """The row of a message in the last run that has it, at its latest stage."""
    for run in reversed(runs):
        files = folder.parquet(run.run, MESSAGES.name) if run.message_rows else []
        if not files:
            continue
        folder.check_manifest(run)
        rows: list[dict[str, Any]] = []
        for fragment in _dataset(files).get_fragments(filter=_is(message_id)):
            some = fragment.to_table(filter=_is(message_id)).to_pylist()
            if some:
                _check(folder, run.run, Path(fragment.path))
                rows += some
        if rows:
            return run, max(rows, key=lambda row: (row["stage"], row["dead_at"]))
    return None


def _dataset(files: list[Path]) -> Any:
    try:
        return pyarrow.dataset.dataset([str(path) for path in files], format="parquet")
    except (OSError, pyarrow.ArrowException) as error:
        raise AuditError(f"the archive cannot be read ({error}): see howdah archive verify") from error


def _is(message_id: int) -> Any:
    return pyarrow.dataset.field("message_id") == message_id


def _check(folder: ArchiveFolder, run: int, path: Path) -> None:
    """Refuse a file that is not what the run wrote."""
    _, digest = folder.manifest(run)["files"][str(path.relative_to(folder.run(run)))]
    if hash_of(path) != digest:
        raise AuditError(f"{path} is not what was written: see howdah archive verify")
