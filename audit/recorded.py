"""A recorded audit: it runs alone, continues from the last one, and its result is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Unpack

import psycopg

from ..engine.admin.audits import Audits
from ..engine.calls import Call
from ..engine.database.runner import run
from ..engine.errors import HowdahError
from .database import opened
from .errors import AuditError
from .job import AuditOptions, run_audit
from .result import AuditResult
from .since import Previous

HOLD_SECONDS = 60.0
RENEW_SECONDS = 20.0
UNREADABLE_MAX = 20
"""How many unreadable audits in a row end the search for another one."""
NO_AUDIT = 3
"""The exit code of the command line if no audit could be made."""


class AnotherAudit(AuditError):
    """Another auditor is auditing this database now."""


def by_errors(result: AuditResult) -> int:
    """Return an audit's exit code: 1 if not every message is accounted for."""
    return 0 if result.ok else 1


def run_recorded(
    dsn: str, holder: str, *, code_of: Callable[[AuditResult], int] = by_errors, **options: Unpack[AuditOptions]
) -> AuditResult:
    """As run_audit, for the role howdah_auditor. audit_runs keeps the result or the failure.

    code_of: the exit code that goes on record. holder: a name for people, one for each process. Raises AnotherAudit at
    once; LockLost if another auditor took over meanwhile, since this one had been out of touch for a minute.
    """
    audits = Audits(lambda call: _run(dsn, call))
    with _held(audits, holder) as epoch:
        started = datetime.now(UTC)
        try:
            previous, notes = _previous(audits)
            result = run_audit(dsn, previous=previous, notes=notes, **options)
        except BaseException as error:
            interrupted = not isinstance(error, Exception)
            if interrupted or isinstance(error, AuditError):
                reason = "interrupted" if interrupted else str(error)
                code = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 130
                with suppress(HowdahError, psycopg.Error):  # the database may be what failed
                    audits.record(
                        started,
                        code if interrupted else NO_AUDIT,
                        "failed",
                        reason=reason,
                        version=_version(),
                        epoch=epoch,
                    )
            raise
        audits.record(started, code_of(result), **as_run(result), version=_version(), epoch=epoch)
    return result


def severity(result: AuditResult) -> str:
    """Return the worst severity found: error, warning or none."""
    if not result.ok:
        return "error"
    return "warning" if any(rule.count for rule in result.rules if rule.severity == "warning") else "none"


def as_run(result: AuditResult) -> dict[str, Any]:
    """Return what audit_runs keeps of a result."""
    counts = {kind: sum(rule.count for rule in result.rules if rule.severity == kind) for kind in ("error", "warning")}
    return {
        "severity": severity(result),
        "taken_at": result.taken_at,
        "snapshot": result.snapshot,
        "errors": counts["error"],
        "warnings": counts["warning"],
        "rows_read": sum(result.rows.values()),
        "queues": [asdict(queue) for queue in result.queues],
        "rules": [asdict(rule) for rule in result.rules if not rule.passed],
        "output": None if result.output is None else str(result.output),
    }


def _previous(audits: Audits) -> tuple[Previous | None, tuple[str, ...]]:
    """Return the last readable recorded audit, to continue from, and a note for each unreadable one.

    One run that nobody can read must not end all later audits. Raises AuditError if the record cannot be read.
    """
    notes: list[str] = []
    before = None
    while len(notes) < UNREADABLE_MAX:
        try:
            run = audits.last(made=True, before=before)
        except psycopg.Error as error:
            raise AuditError(
                f"the audits on record cannot be read: {str(error).strip()}; see howdah.audit_runs"
            ) from error
        try:
            return Previous.of(run), tuple(notes)
        except (LookupError, TypeError, ValueError) as error:
            assert run is not None
            before = run["run_id"]
            why = str(error) or type(error).__name__
            notes.append(
                f"Audit {before} on record, by {run['recorded_by']}, cannot be read and is not counted on from: {why}."
            )
    return None, tuple(notes)


@contextmanager
def _held(audits: Audits, holder: str) -> Iterator[int]:
    """The right to audit, renewed in the background. ``record`` or the block's end gives it up."""
    hold = audits.hold(holder, HOLD_SECONDS)
    if hold.epoch is None:
        raise AnotherAudit(f"another audit is under way, by {hold.by}; it has the right until {hold.until:%H:%M:%S %Z}")
    done = threading.Event()

    def renew() -> None:
        while not done.wait(RENEW_SECONDS):
            with suppress(HowdahError, psycopg.Error):  # try again next time; recording tells whether it was too late
                audits.hold(holder, HOLD_SECONDS)

    renewing = threading.Thread(target=renew, name="howdah-audit-hold", daemon=True)
    renewing.start()
    try:
        yield hold.epoch
    finally:
        done.set()
        renewing.join()
        with suppress(HowdahError, psycopg.Error):
            audits.release(hold.epoch)


def _run(dsn: str, call: Call[Any]) -> Any:
    """Run a call on its own connection: an audit takes long, and a held connection would be cut."""
    with opened(dsn, "howdah audit record") as connection:
        return run(connection, call)


def _version() -> str | None:
    try:
        return version("howdah")
    except PackageNotFoundError:
        return None
