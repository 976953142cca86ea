"""Features of messages: how they are sent, wait, expire and are reported."""

from __future__ import annotations

import time

from feature_engine import Engine, feature


@feature
def policies_by_name(e: Engine) -> None:
    """All queues that follow have a full journal."""
    e.rows("select howdah.set_policy('>', '{\"journal_level\": \"full\"}')")
    e.rows("select howdah.set_policy('unused.>', '{}'), howdah.drop_policy('unused.>')")


@feature
def advisories_and_copies(e: Engine) -> None:
    """Reports to administrators, error replies and a log queue; some are received, some stay."""
    e.queue("log")
    e.queue("answers")
    e.queue(
        "told",
        max_failed_deliveries=1,
        notify_admin=True,
        notify_events=True,
        error_reply=True,
        log_queue="log",
        log_table=True,
    )
    for _ in range(3):
        message = e.one("select howdah.send('told', 'x', reply_to => 'answers', headers => '{\"a\": 1}')")
        assert e.fail("told", message) == "moved"
    assert len(e.receive("_SYSTEM.Advisory")) == len(e.receive("log")) == len(e.receive("answers")) == 1
    e.rows("select howdah.report_slow_consumer('told', '{\"seconds\": 3}')")
    e.queue("broken", disable_after=2)
    for message in e.send("broken", 2):
        e.fail("broken", message)
    e.rows("select howdah.resume('broken')")


@feature
def plain_messages(e: Engine) -> None:
    """Priorities, large bodies, JSON, bytes, batches, composite destinations, pauses, a rolled back transaction."""
    e.queue("plain")
    e.queue("second")
    e.rows(
        "select howdah.send('plain', 'x', priority => 9, headers => '{\"b\": [1, 2]}',"
        " correlation_id => 'c', message_type => 't')"
    )
    e.rows("select howdah.send('plain', '{\"a\": 1}'::jsonb), howdah.send('plain', '\\x00ff'::bytea, priority => 0)")
    e.rows(
        "select howdah.send('plain', repeat('large', 2000)), howdah.send('plain', repeat('large', 2000), priority => 7)"
    )
    e.rows("select howdah.send_batch('plain', array['a', repeat('b', 5000), 'c'], headers => array['{}',"
           " null, '{\"k\": 1}']::jsonb[],"
           " priorities => array[1, null, 8], correlation_ids => array['x', null, 'y'])")  # fmt: skip
    e.rows("select howdah.send('plain,queue://second', 'to both'), howdah.send_batch('plain,second', array['1', '2'])")
    e.rows("select howdah.pause('plain'), howdah.resume('plain')")
    e.rows("select howdah.browse('plain', selector => 'k = 1')")
    for action in (lambda: e.send("plain"), lambda: e.receive("plain", 5)):
        e.rows("begin")
        action()
        e.rows("rollback")
    assert len(e.receive("plain", 4)) == 4
    e.rows("select howdah.receive('plain', 1, selector => 'k = 1')")
    e.rows("select howdah.receive_correlated('plain', 'x')")
    e.rows("select howdah.receive_message('plain', %s)", e.send("plain")[0])
    e.rows("begin")
    (held,) = e.rows("select message_id, priority, position from howdah.receive_locked('second', 1)")
    e.rows("select howdah.consume_locked('second', %s, %s, %s)", *([value] for value in held))
    e.rows("commit")
    e.queue("other.a")
    e.send("other.a", 2)
    e.rows("select howdah.receive('other.*')")
    e.rows("select howdah.wait('second', null)")
    e.queue("emptied")
    e.send("emptied", 3)
    assert e.one("select howdah.purge_queue('emptied')") == 3


@feature
def copy_load(e: Engine) -> None:
    """Messages that came by COPY."""
    e.queue("loaded")
    e.rows("begin")
    e.rows("select howdah.begin_copy()")
    with e.db.cursor().copy(b"copy pg_temp.howdah_copy (body, headers, priority) from stdin") as copy:
        copy.write('1\t{"n": 1}\t3\n2\t\\N\t\\N\n')
    assert e.one("select howdah.send_copied('loaded')") == 2
    e.rows("commit")
    e.receive("loaded")


@feature
def expiry_and_delay(e: Engine) -> None:
    """Messages that expire, wait, are cancelled, and are deduplicated."""
    e.queue("short", default_time_to_live_ms=3600000)
    e.send("short")
    e.rows("select howdah.send('short', 'x', time_to_live => '1 millisecond', priority => 9)")
    e.queue("reclaimed")
    e.rows("select howdah.send('reclaimed', 'x', time_to_live => '1 millisecond')")
    time.sleep(0.01)
    assert len(e.receive("short", 2)) == 1
    e.rows("select howdah.maintain_expired()")
    e.queue("processed", process_expired=True)
    e.rows("select howdah.send('processed', 'x', time_to_live => '1 millisecond')")
    time.sleep(0.01)
    assert e.receive("processed") == []
    e.queue("waiting")
    ids = [
        e.one("select howdah.send('waiting', 'x', delay => %s::interval)", delay)
        for delay in ("1 hour", "2 hours", "1 ms", "3 hours")
    ]
    e.rows("select howdah.send('waiting', 'x', delay => howdah.delay_until(now() + interval '1 day'))")
    time.sleep(0.005)
    assert [row[0] for row in e.receive("waiting")] == [ids[2]]
    e.rows("select howdah.cancel_delayed('waiting', %s)", [ids[0]])
    e.rows(
        "select howdah.cancel_delayed_range('waiting', now() + interval '90 minutes', now() + interval '150 minutes')"
    )
    e.rows("select howdah.wake_due(now() - interval '1 minute')")
    e.queue("once")
    first = e.one("select howdah.send('once', 'x', deduplication_key => 'k')")
    assert e.one("select howdah.send('once', 'x', deduplication_key => 'k')") == first
    e.rows("select howdah.send_batch('once', array['a', 'b'], deduplication_keys => array['k', 'l'])")
    e.rows("select howdah.maintain_deduplications()")


@feature
def results(e: Engine) -> None:
    """What became of messages: one handled, one dead, one expired."""
    e.queue("kept", keep_results_ms=60_000, max_failed_deliveries=1)
    ids = e.send("kept", 2)
    e.one("select howdah.send('kept', 'x', time_to_live => '1 millisecond')")
    with e.db.transaction():
        assert [row[0] for row in e.receive("kept")] == [ids[0]]
        assert e.one("select howdah.keep_result('kept', %s, '1')", ids[0])
    e.rows("select howdah.record_failure('kept', %s, error_class => 'ValueError', error_text => 'x')", ids[1])
    assert [e.one("select howdah.keep_result_once('kept', -1, %s)", value) for value in "121"] == [True, False, True]
    e.rows("select howdah.maintain_results()")


@feature
def schedules(e: Engine) -> None:
    """Messages that the engine sends by the clock."""
    e.queue("clocked")
    ids = [e.one("select howdah.schedule('clocked', 'x', period => '1 hour', starts_at => now())") for _ in range(4)]
    e.rows("select howdah.schedule('clocked', 'x', cron => '0 3 * * *')")
    e.rows("select howdah.due_schedules()")
    assert e.one("select fired from howdah.fire_schedules()") == 4
    e.rows(
        "select howdah.pause_schedule(%s), howdah.resume_schedule(%s), howdah.cancel_schedule(%s)",
        ids[0],
        ids[0],
        ids[1],
    )
    e.rows("select howdah.fire_schedule(%s, 'to see it')", ids[2])
    e.rows("select howdah.cancel_schedules('clocked')")
    e.receive("clocked", 2)


@feature
def nonpersistent_messages(e: Engine) -> None:
    """Messages that a restart would lose, in queues of both kinds, dead and waiting ones among them."""
    e.queue("volatile", persistent=False, max_failed_deliveries=1)
    dead, *_ = e.send("volatile", 4)
    assert e.fail("volatile", dead) == "moved"
    e.rows("select howdah.send('volatile', 'x', delay => '1 hour')")
    e.queue("mixed", exception_mode="shared", max_failed_deliveries=1, process_non_persistent=True)
    dead = e.one("select howdah.send('mixed', 'x', delivery_mode => 'non-persistent', time_to_live => '1 hour')")
    e.rows("select howdah.send('mixed', 'x', delivery_mode => 'non-persistent'), howdah.send('mixed', 'y')")
    outcome = e.fail("mixed", dead)
    assert outcome == "moved", outcome
    e.rows(
        "select howdah.replay(%s, %s)",
        e.one("select queue from howdah.audit_messages where message_id = %s", dead),
        [dead],
    )
    e.receive("volatile", 2)
    e.receive("mixed", 2)
