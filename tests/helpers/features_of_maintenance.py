"""Queues that come and go, clients of pgmq, archives, and all that runs in the background."""

from __future__ import annotations

import json

from feature_engine import Engine, feature
from psycopg.conninfo import make_conninfo

from howdah.migrations import add_facade


@feature
def dropped_queues(e: Engine) -> None:
    """A queue that goes with messages in it, and one that another sender had in hand."""
    e.queue("dropped")
    e.fail("dropped", e.send("dropped", 3)[0])
    sender = e.connect()
    e.rows("begin", db=sender)
    e.rows("select howdah.send('dropped', 'late')", db=sender)
    e.rows("select howdah.drop_queue('dropped', force => true)")
    e.rows("commit", db=sender)
    e.rows("select howdah.maintain_dropped()")
    e.queue("dropped")
    e.send("dropped")


@feature
def auto_creation(e: Engine) -> None:
    """A queue that created itself, ended, and came back under its number for a message that came late."""
    e.rows('select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    e.send("self.made", 2)
    e.receive("self.made", 2)
    old = e.connect()
    e.rows("begin isolation level repeatable read", db=old)
    e.rows("select count(*) from howdah.destinations", db=old)
    e.rows("select howdah.maintain_autocreated()")
    e.rows("update howdah.auto_destinations set seen_at = now() - interval '1 hour', looked_at = null")
    assert e.one("select howdah.maintain_autocreated()") == 1
    e.rows("select howdah.send('self.made', 'late')", db=old)
    e.rows("commit", db=old)
    e.rows("select howdah.maintain_dropped()")
    assert len(e.receive("self.made", 2)) == 1
    e.send("self.made")
    e.rows('select howdah.alter_engine(\'{"autocreate_queue": false, "autocreate_topic": false}\')')


@feature
def clients_of_pgmq(e: Engine) -> None:
    """A queue of the facade: read, hidden, settled by number, archived, moved."""
    add_facade(make_conninfo(e.db.info.dsn, password=e.db.info.password), "pgmq")
    e.rows("select pgmq.create('facade')")
    e.rows("select pgmq.send_batch('facade', array(select to_jsonb(n) from generate_series(1, 9) n))")
    e.rows("select pgmq.send('facade', to_jsonb(repeat('x', 20000)), '7', 60)")  # headers that are no object
    e.rows("select pgmq.read('facade', 3600, 4)")
    e.rows("select pgmq.delete('facade', 1), pgmq.archive('facade', 2), pgmq.delete('facade', 9)")
    e.rows("select pgmq.set_vt('facade', 3, 0), pgmq.pop('facade')")
    e.rows("delete from pgmq.q_facade where msg_id = 6")
    e.rows("select pgmq.bind_topic('a.*', 'facade'), pgmq.send_topic('a.b', '{}')")
    e.receive("facade", 2)
    e.queue("beside_facade")
    e.rows("select howdah.move_all('facade', 'beside_facade', 1)")
    e.rows("select pgmq.create('emptied'), pgmq.send('emptied', '1'), pgmq.read('emptied', 60, 1)")
    e.rows("select pgmq.purge_queue('emptied')")


@feature
def archives_and_audits(e: Engine) -> None:
    """A run of an archive that is on record, a message restored from it, an audit on record."""
    e.queue("archived")
    (message,) = e.send("archived")
    e.one("select howdah.acquire_lock('archive', 'another', 60)")
    assert e.one("select howdah.break_lock('archive') ->> 'holder'") == "another"
    epoch = e.one("select howdah.acquire_lock('archive', 'test', 60)")
    archive = e.one("select howdah.begin_archive(%s)", epoch)
    facts = {
        "journal": {"rows": 1, "checksum": "1"}, "incidents": {"rows": 0, "checksum": "0"},
        "messages": {"rows": 0, "checksum": "0"}, "journal_kept_from": None, "manifest": "abc", "path": "/archive",
        "started_at": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    place = e.one("select id from howdah.destinations where name = 'archived'")
    e.rows("select howdah.finish_archive_run(%s, %s, 1, pg_current_snapshot()::text, %s, %s, %s, %s, %s)",
           epoch, archive, json.dumps(facts), [message], [place], [place], [0])  # fmt: skip
    e.receive("archived")
    e.rows(
        "select howdah.restore_message('archived', %s, 1, %s, '\\x78', true, '{\"content_type\": \"text/plain\"}')",
        archive,
        message,
    )
    e.rows("select howdah.release_lock('archive', %s, 'test')", epoch)
    epoch = e.rows("select lock_epoch from howdah.hold_audit('test', 60)")[0][0]
    e.rows("select howdah.release_audit(%s)", epoch)
    e.rows("select count(*) from howdah.audit_digests()")


@feature
def maintenance(e: Engine) -> None:
    """All that runs in the background, and workers."""
    for verb in ("backlog", "consumers", "incidents", "journal", "schedules", "totals"):
        e.rows(f"select howdah.maintain_{verb}()")
    worker = e.one("select howdah.register_worker('w', 'here', 1, 1, array['plain'])")
    e.rows("select howdah.heartbeat(%s, '{\"plain\": 1}'), howdah.unregister_worker(%s)", worker, worker)
    e.rows("select howdah.maintain_workers()")
