"""The archive: journal, incidents and dead messages as Parquet, each row once, verified before anything is dropped.

- ``parts`` says what is archived.
- ``source`` reads it from the database in one snapshot.
- ``folder`` keeps the files.
- ``lease`` lets one archiver work at a time.
- ``job`` writes a run.
- ``verify`` looks at finished runs again.
- ``restore`` sends an archived message anew.
- ``history`` lets an audit read archive and database together.
"""

from __future__ import annotations

from .job import STAGES, RunResult, run_archive
from .restore import restore_message
from .verify import Finding, verify_archive

__all__ = ["STAGES", "Finding", "RunResult", "restore_message", "run_archive", "verify_archive"]
