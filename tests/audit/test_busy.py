"""An audit of a queue that eight workers consume from at full speed, while a ninth holds one message."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from support import Db, one, wait_until
from workers_support import APPS, TABLES, Work, running

from howdah.audit import pace, ranges

from .conftest import Audit

WORKERS = 8
BATCH = 500


def feed(dsn: str) -> int:
    """Keep some thousands in the queue until an audit has read what it reads; the number sent."""
    sent, begun = 0, False
    with psycopg.connect(dsn, autocommit=True) as sender:
        while True:
            reading = one(sender, "select count(*) from pg_stat_activity where application_name = 'howdah audit'") > 0
            if begun and not reading:
                return sent
            begun = reading
            if one(sender, "select live from howdah.queue_stats('work')") < 10 * BATCH:
                sender.execute("select howdah.send_batch('work', array_fill('plain'::text, array[%s]))", (BATCH,))
                sent += BATCH
            else:
                time.sleep(0.01)


@pytest.mark.slow
def test_an_audit_beside_eight_workers_at_full_speed_balances_to_the_message(
    dsn: str, db: Db, audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is to balance does not depend on how long the audit rests for the workers' sake.
    monkeypatch.setattr(pace, "REST", 0.1)
    monkeypatch.setattr(ranges, "REST", 0.1)
    monkeypatch.syspath_prepend(str(APPS))
    monkeypatch.setenv("PYTHONPATH", str(APPS), prepend=os.pathsep)
    db.execute(TABLES)
    db.execute("select howdah.alter_queue('work', '{\"journal_level\": \"full\"}')")
    work = Work(db, dsn)
    with running(tmp_path / "log") as start, ThreadPoolExecutor(1) as pool:
        workers = start(dsn, processes=WORKERS + 1)
        workers.wait_started(WORKERS + 1)
        with work.gate():
            (held,) = work.send("gate-python")
            work.wait_in_handler(held)
            feeding = pool.submit(feed, dsn)
            wait_until(lambda: one(db, "select count(*) from work.effects") > BATCH)
            amid = audit(rows=False)
            sent = 1 + feeding.result() + len(work.send(*["plain"] * BATCH))
        work.wait_empty()
    after = audit()
    for result in (amid, after):
        assert result.ok, result.rules
        assert result.queue("work").verdict == "proved"
    seen = amid.queue("work")
    assert 0 < seen.consumed < seen.sent < sent
    assert seen.sent == seen.consumed + seen.live
    assert (after.queue("work").sent, after.queue("work").consumed) == (sent, sent)
