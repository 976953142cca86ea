"""Pausing, quiescing, stopping and resuming the engine as a whole, by what each lets through."""

from __future__ import annotations

import psycopg
import pytest
from support import Connect, Db, column, one, refused

STATE = "select state from howdah.engine_state()"
STOP = "select state from howdah.stop_engine(interval '%s seconds')"


def stopped(db: Db, seconds: float = 10) -> str:
    """The state after the call that quiesces, and the call that stops."""
    one(db, STOP % 0)
    return str(one(db, STOP % seconds))


@pytest.fixture
def queue(db: Db) -> str:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'a'::text)")
    return "q"


NEW_WORK = (
    "select howdah.send('q', 'x'::text)",
    "select howdah.send('q', repeat('x', 9000))",
    "select howdah.send('q', 'x'::text, delivery_mode => 'non-persistent')",
    "select howdah.send_batch('q', array['x'])",
    "select howdah.send('t', 'x'::text)",
    "select howdah.send('q,t', 'x'::text)",
    "select howdah.receive('q')",
    "select howdah.receive('q', 9)",
    "select howdah.receive_locked('q')",
    "select howdah.lease('q')",
    "select howdah.receive('t::s')",
    "select howdah.lease('t::s')",
)


@pytest.mark.parametrize("state", ["paused", "quiesced", "stopped"])
def test_nothing_is_sent_or_received_until_the_engine_is_resumed(db: Db, queue: str, state: str) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', 'a'::text)")
    enter(db, state)
    assert one(db, STATE) == state
    for statement in NEW_WORK:
        said = refused(db, "HD040", statement)
        assert said.message_primary == f"the engine is {state}"
        assert "resume_engine" in str(said.message_hint)
    assert one(db, "select howdah.resume_engine()") is True
    assert one(db, STATE) == "running"
    for statement in NEW_WORK:
        db.execute(statement.encode())


def enter(db: Db, state: str) -> None:
    """Put the engine into a state by its own verb."""
    if state == "stopped":
        assert stopped(db) == "stopped"
    else:
        verb = {"paused": "pause", "quiesced": "quiesce"}[state]
        assert one(db, f"select howdah.{verb}_engine()") is True


def test_queues_that_were_paused_by_themselves_stay_so_and_new_ones_follow_the_engine(db: Db) -> None:
    for name in ("sends", "receives", "open"):
        one(db, "select howdah.create_queue(%s)", (name,))
    one(db, "select howdah.pause('sends', receiving => false)")
    one(db, "select howdah.pause_engine()")
    one(db, "select howdah.pause('receives', sending => false)")
    one(db, "select howdah.create_queue('young')")
    one(db, "select howdah.pause('open')")
    one(db, "select howdah.resume('open')")
    refused(db, "HD040", "select howdah.send('young', 'x'::text)")
    refused(db, "HD040", "select howdah.send('open', 'x'::text)")
    one(db, "select howdah.resume_engine()")
    refused(db, "HD008", "select howdah.send('sends', 'x'::text)")
    refused(db, "HD009", "select howdah.receive('receives')")
    for statement in ("receive('sends')", "send('receives', 'x'::text)", "send('young', 'x'::text)", "receive('open')"):
        db.execute(f"select howdah.{statement}".encode())


def test_a_second_call_changes_nothing_and_says_so(db: Db) -> None:
    assert one(db, "select howdah.resume_engine()") is False
    for verb in ("pause", "quiesce"):
        assert [one(db, f"select howdah.{verb}_engine()") for _ in range(2)] == [True, False]
    assert one(db, "select howdah.pause_engine()") is False, "that would be less than quiesced"
    assert one(db, STATE) == "quiesced"
    assert [one(db, STOP % 10) for _ in range(2)] == ["stopped", "stopped"]
    assert one(db, "select howdah.quiesce_engine()") is False
    assert [one(db, "select howdah.resume_engine()") for _ in range(2)] == [True, False]
    acts = "select act from howdah.list_acts() where queue_name is null order by act_id"
    assert column(db, acts) == ["paused", "quiesced", "stopped", "resumed"]


def test_each_change_is_an_act_with_who_and_why(db: Db, connect: Connect) -> None:
    admin = connect("howdah_admin")
    one(admin, "select howdah.pause_engine('the disk is full')")
    said = "select act, actor, reason, message_ids, queue_name from howdah.list_acts()"
    assert admin.execute(said.encode()).fetchall() == [("paused", "howdah_admin", "the disk is full", [], None)]
    assert one(db, "select changed_by from howdah.engine_state()") == "howdah_admin"
    one(db, "select howdah.create_queue('q')")
    assert column(db, "select act from howdah.list_acts('q')") == []
    assert column(db, "select act from howdah.audit_acts") == []


@pytest.mark.parametrize("role", ["howdah_producer", "howdah_consumer", "howdah_browser", "howdah_auditor"])
def test_only_administrators_change_the_state_and_everybody_reads_it(connect: Connect, role: str) -> None:
    db = connect(role)
    for call in ("pause_engine()", "quiesce_engine()", "stop_engine()", "resume_engine()"):
        refused(db, "42501", f"select howdah.{call}")
    assert one(db, STATE) == "running"


def test_an_older_snapshot_does_not_change_the_state(db: Db, connect: Connect) -> None:
    with connect() as old:
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        for call in ("pause_engine()", "quiesce_engine()", "stop_engine()"):
            assert "READ COMMITTED" in str(refused(old, "HD005", f"select howdah.{call}").message_primary)
        one(db, "select howdah.quiesce_engine()")
        for call in ("stop_engine()", "resume_engine()"):
            assert "READ COMMITTED" in str(refused(old, "HD005", f"select howdah.{call}").message_primary)
    assert one(db, STATE) == "quiesced"


@pytest.mark.parametrize("timeout", ["null", "interval '-1 second'", "interval '2 days'"])
def test_a_timeout_out_of_bounds_is_refused(db: Db, timeout: str) -> None:
    refused(db, "HD005", f"select howdah.stop_engine({timeout})")
    assert one(db, STATE) == "running"


def test_no_consumer_subscription_or_temporary_queue_begins_while_quiesced(db: Db, queue: str) -> None:
    one(db, "select howdah.create_topic('t')")
    calls = ("open_consumer('q')", "subscribe('t', 's')", "create_temporary_queue()")
    one(db, "select howdah.pause_engine()")
    for call in calls:
        one(db, f"select howdah.{call}")
    one(db, "select howdah.quiesce_engine()")
    for call in ("open_consumer('q')", "subscribe('t', 'other')", "create_temporary_queue()"):
        refused(db, "HD040", f"select howdah.{call}")


def test_a_temporary_queue_follows_the_engine_when_its_number_is_used_again(db: Db, connect: Connect) -> None:
    with connect() as other:
        one(other, "select howdah.create_temporary_queue()")
        one(other, "select howdah.close_connection()")
    one(db, "select howdah.pause_engine()")
    name = one(db, "select howdah.create_temporary_queue()")
    refused(db, "HD040", "select howdah.send(%s, 'x'::text)", (name,))
    one(db, "select howdah.resume_engine()")
    one(db, "select howdah.send(%s, 'x'::text)", (name,))
    assert one(db, "select count(*) from howdah.temporary_queues") == 1


def test_a_paused_engine_lets_open_transactions_commit_and_leases_end(db: Db, queue: str, connect: Connect) -> None:
    one(db, "select howdah.send_batch('q', array['b', 'c'])")
    lease = one(db, "select lease from howdah.lease('q')")
    worker = connect()
    worker.autocommit = False
    assert one(worker, "select body from howdah.receive('q')") == "b"
    one(db, "select howdah.pause_engine()")
    with pytest.raises(psycopg.OperationalError, match="the engine is paused"), worker.transaction():
        worker.execute("select howdah.send('q', 'answer'::text)")
    worker.commit()
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == 1
    one(db, "select howdah.resume_engine()")
    assert column(db, "select body from howdah.receive('q', 9)") == ["c"]


def test_a_quiesced_engine_lets_a_transaction_that_began_to_write_send_and_commit(
    db: Db, queue: str, connect: Connect
) -> None:
    worker = connect()
    worker.autocommit = False
    assert one(worker, "select body from howdah.receive('q')") == "a"
    one(db, "select howdah.quiesce_engine()")
    assert one(db, STATE) == "quiescing"
    one(worker, "select howdah.send('q', 'answer'::text)")
    one(worker, "select howdah.send_batch('q', array['more'])")
    with pytest.raises(psycopg.OperationalError, match="the engine is quiesced"), worker.transaction():
        worker.execute("select howdah.receive('q')")
    worker.commit()
    assert one(db, STATE) == "quiesced"
    one(db, "select howdah.resume_engine()")
    assert column(db, "select body from howdah.receive('q', 9)") == ["answer", "more"]


def test_a_quiesced_engine_lets_leases_and_failures_end(db: Db, queue: str) -> None:
    one(db, "select howdah.send_batch('q', array['b', 'c', 'd'])")
    leases = [one(db, "select lease from howdah.lease('q')") for _ in range(4)]
    one(db, "select howdah.quiesce_engine()")
    assert one(db, "select leases from howdah.engine_state()") == 4
    one(db, "select howdah.extend('q', %s, interval '1 hour')", (leases[0],))
    assert one(db, "select howdah.ack('q', %s)", (leases[0],)) == 1
    one(db, "select howdah.nack('q', %s, error_text => 'on purpose')", (leases[1],))
    one(db, "select howdah.release('q', %s)", (leases[2],))
    assert one(db, STATE) == "quiescing"
    failed = one(db, "select message_id from howdah.browse('q') where body = 'c'")
    one(db, "select howdah.record_failure('q', %s, 'on purpose')", (failed,))
    one(db, "select howdah.release('q', %s)", (leases[3],))
    assert one(db, STATE) == "quiesced"


def test_a_schedule_does_not_fire_until_the_engine_is_resumed_and_has_not_failed(db: Db, queue: str) -> None:
    one(db, "select howdah.schedule('q', 'tick'::text, period => interval '1 second')")
    due = "update howdah.schedules set next_at = now() - interval '1 second', due_at = now() - interval '1 second'"
    db.execute(due.encode())
    for verb in ("pause", "quiesce"):
        one(db, f"select howdah.{verb}_engine()")
        assert one(db, "select fired from howdah.fire_schedules()") == 0
    one(db, "select howdah.resume_engine()")
    assert one(db, "select last_error from howdah.schedules") is None
    assert one(db, "select fired from howdah.fire_schedules()") == 1


def test_a_stop_waits_for_open_transactions_and_names_their_processes(db: Db, queue: str, connect: Connect) -> None:
    worker, reader = connect(), connect()
    worker.autocommit = reader.autocommit = False
    one(worker, "select howdah.send('q', 'x'::text)")
    reader.execute("set transaction isolation level repeatable read")
    one(reader, "select 1")
    pids = {worker.info.backend_pid, reader.info.backend_pid}
    assert stopped(db, 0.1) == "quiescing"
    row = db.execute(b"select state, transactions, pids from howdah.stop_engine(interval '0')").fetchone()
    assert row is not None
    assert (row[0], row[1], set(row[2])) == ("quiescing", 2, pids)
    worker.commit()
    assert one(db, "select pids from howdah.stop_engine(interval '0.1 seconds')") == [reader.info.backend_pid]
    one(reader, "select howdah.send('q', 'it still sees the engine running'::text)")
    reader.commit()
    assert one(db, STOP % 10) == "stopped"
    one(db, "select howdah.resume_engine()")
    assert len(column(db, "select body from howdah.receive('q', 9)")) == 3


def test_a_stop_waits_for_a_prepared_transaction(db: Db, queue: str, connect: Connect) -> None:
    worker = connect()
    worker.autocommit = False
    worker.execute("select howdah.send('q', 'x'::text, notify => false)")
    worker.execute("prepare transaction 'howdah:stopping'")
    try:
        assert stopped(db, 0.1) == "quiescing"
        assert db.execute(b"select transactions, pids from howdah.engine_state()").fetchone() == (1, [])
    finally:
        db.execute("commit prepared 'howdah:stopping'")
    assert one(db, STOP % 10) == "stopped"


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["ready", "parked", "subscription"])
def test_a_stop_waits_for_leases(db: Db, queue: str, kind: str) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', 'x'::text)")
    one(db, "select howdah.create_queue('n')")
    one(db, "select howdah.send('n', 'x'::text, delivery_mode => 'non-persistent')")
    name = {"ready": "q", "parked": "n", "subscription": "t::s"}[kind]
    lease = one(db, "select lease from howdah.lease(%s)", (name,))
    assert stopped(db, 0.1) == "quiescing"
    assert db.execute(b"select transactions, leases from howdah.engine_state()").fetchone() == (0, 1)
    one(db, "select howdah.ack(%s, %s)", (name, lease))
    assert one(db, STOP % 10) == "stopped"


def test_a_stop_does_not_wait_for_sessions_that_do_nothing_with_it(db: Db, queue: str, connect: Connect) -> None:
    idle = connect()
    idle.autocommit = False
    one(idle, "select 1")
    assert stopped(db, 10) == "stopped"
    refused(idle, "HD040", "select howdah.send('q', 'x'::text)")


def test_a_stop_begun_in_one_transaction_only_quiesces(db: Db) -> None:
    with db.transaction():
        assert [one(db, STOP % 1) for _ in range(2)] == ["quiescing", "quiescing"]
    assert one(db, STATE) == "quiesced"
    assert one(db, STOP % 1) == "stopped"


def test_a_resume_overtakes_a_stop_that_still_waits(db: Db, queue: str, connect: Connect) -> None:
    worker, other = connect(), connect()
    worker.autocommit = False
    one(worker, "select howdah.receive('q')")
    assert stopped(db, 0.1) == "quiescing"
    one(other, "select howdah.resume_engine()")
    worker.rollback()
    assert one(db, STATE) == "running"
    assert one(db, STOP % 0) == "quiescing", "it begins anew"


def test_the_commit_of_a_stop_is_synchronous_whatever_the_session_says(db: Db) -> None:
    db.execute("set synchronous_commit = off")
    one(db, STOP % 0)
    with db.transaction():
        one(db, STOP % 10)
        assert one(db, "show synchronous_commit") == "on"
    assert one(db, "show synchronous_commit") == "off"


KEPT = "select array_agg(body order by body) from howdah.receive(%s, 9)"


def everywhere(db: Db) -> None:
    """Persistent and non-persistent messages in each place where messages lie."""
    for name in ("q", "memory", "leased", "late"):
        one(db, "select howdah.create_queue(%s, %s)", (name, '{"journal_level": "full"}'))
    one(db, "select howdah.create_topic('t')")
    for name in ("s", "failing"):
        one(db, "select howdah.subscribe('t', %s, options => '{\"redelivery_delay_ms\": 3600000}')", (name,))
    one(db, "select howdah.subscribe('t', 'shared', shared => true)")
    published = []
    for mode in ("persistent", "non-persistent"):
        for name in ("q", "memory", "leased"):
            one(db, "select howdah.send(%s, %s, delivery_mode => %s)", (name, mode, mode))
        published.append(one(db, "select howdah.send('t', %s, delivery_mode => %s)", (mode, mode)))
        one(db, "select howdah.send('late', %s, delivery_mode => %s, delay => interval '1 hour')", (mode, mode))
    one(db, "select howdah.alter_queue('memory', '{\"persistent\": false}')")
    one(db, "select howdah.send('memory', 'in memory'::text)")
    for message_id in published:
        one(db, "select outcome from howdah.record_failure('t::failing', %s, 'on purpose')", (message_id,))


@pytest.mark.slow
def test_a_resume_after_a_stop_discards_non_persistent_messages_wherever_they_lie_and_nothing_else(db: Db) -> None:
    everywhere(db)
    db.execute(b"select howdah.lease('leased', 9, interval '1 second')")
    assert stopped(db) == "stopped"
    assert one(db, "select howdah.resume_engine()") is True
    assert one(db, "select count(*) from howdah.audit_messages where nonpersistent") == 0
    for name in ("q", "memory", "leased", "t::s", "t::shared"):
        assert one(db, KEPT, (name,)) == ["persistent"], name
    waiting = "select queue, state from howdah.audit_messages where queue in ('late', 't::failing') order by queue"
    assert db.execute(waiting.encode()).fetchall() == [("late", "parked"), ("t::failing", "parked")]
    lost = "select queue, count(*) from howdah.audit_journal where event = 'lost' group by queue order by queue"
    assert db.execute(lost.encode()).fetchall() == [
        ("late", 1),
        ("leased", 1),
        ("memory", 2),
        ("q", 1),
        ("t::failing", 1),
        ("t::s", 1),
        ("t::shared", 1),
    ]
    assert set(column(db, "select reason from howdah.audit_journal where event = 'lost'")) == {"engine stopped"}


def test_what_is_sent_after_the_resume_is_not_lost_by_it(db: Db, queue: str) -> None:
    for _ in range(2):
        one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
        assert stopped(db) == "stopped"
        one(db, "select howdah.resume_engine()")
    one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
    assert one(db, "select howdah.resume_engine()") is False
    assert sorted(column(db, "select body from howdah.receive('q', 9)")) == ["a", "n"]
    assert one(db, "select count(*) from howdah.audit_journal where event = 'lost'") == 2


def test_a_resume_that_is_rolled_back_has_discarded_nothing(db: Db, queue: str) -> None:
    one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
    assert stopped(db) == "stopped"
    with db.transaction(force_rollback=True):
        one(db, "select howdah.resume_engine()")
    assert one(db, STATE) == "stopped"
    assert one(db, "select count(*) from howdah.audit_messages") == 2
    one(db, "select howdah.resume_engine()")
    assert one(db, "select count(*) from howdah.audit_messages") == 1


@pytest.mark.parametrize("state", ["paused", "quiesced"])
def test_a_resume_without_a_stop_discards_nothing(db: Db, queue: str, state: str) -> None:
    one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
    enter(db, state)
    one(db, "select howdah.resume_engine()")
    assert sorted(column(db, "select body from howdah.receive('q', 9)")) == ["a", "n"]


def test_reports_of_failures_under_way_still_go_out(db: Db) -> None:
    one(db, "select howdah.create_queue('log')")
    one(db, 'select howdah.create_queue(\'q\', \'{"max_failed_deliveries": 1, "log_queue": "log"}\')')
    one(db, "select howdah.send('q', 'x'::text)")
    lease = one(db, "select lease from howdah.lease('q')")
    one(db, "select howdah.quiesce_engine()")
    one(db, "select howdah.nack('q', %s, error_text => 'on purpose')", (lease,))
    one(db, "select howdah.resume_engine()")
    assert column(db, "select body from howdah.receive('log')") == ["x"]


def test_the_check_of_the_server_says_that_the_engine_does_not_run(db: Db) -> None:
    said = "select value from howdah.check_server() where setting = 'engine'"
    assert column(db, said) == []
    one(db, "select howdah.pause_engine()")
    assert column(db, said) == ["paused"]


def unread(db: Db) -> dict[str, int]:
    """Publish to subscriptions that read, choose and leave unread. How many non-persistent ones each has not read."""
    one(db, "select howdah.create_topic('t')")
    for name in ("none", "first"):
        one(db, "select howdah.subscribe('t', %s)", (name,))
    one(db, "select howdah.subscribe('t', 'some', selector => 'n > 1', shared => true)")
    one(db, "select howdah.subscribe('t', 'silent', options => '{\"journal_level\": \"off\"}')")
    for n in (1, 2, 3):
        one(
            db,
            "select howdah.send('t', %s, headers => jsonb_build_object('n', %s::int), delivery_mode => %s)",
            (str(n), n, "non-persistent"),
        )
        one(db, "select howdah.send('t', 'stays'::text)")
    one(db, "select body from howdah.receive('t::first')")
    return {"t::none": 3, "t::first": 2, "t::some": 2}


def test_what_a_stop_loses_of_a_topic_unread_is_in_the_journal_for_each_that_would_have_got_it(db: Db) -> None:
    wanted = unread(db)
    lost = "select queue, count(*) from howdah.audit_journal where event = 'lost' group by queue"
    assert stopped(db) == "stopped"
    one(db, "select howdah.resume_engine()")
    assert dict(db.execute(lost.encode()).fetchall()) == wanted
    assert column(db, "select distinct reason from howdah.audit_journal where event = 'lost'") == ["engine stopped"]
    assert column(db, "select body from howdah.receive('t::none', 9)") == ["stays"] * 3
    assert stopped(db) == "stopped"
    one(db, "select howdah.resume_engine()")
    assert dict(db.execute(lost.encode()).fetchall()) == wanted


def test_what_a_restart_loses_of_a_topic_unread_is_in_the_journal_once(db: Db, queue: str) -> None:
    wanted = unread(db)
    lost = "select queue, count(*) from howdah.audit_journal where event = 'lost' group by queue"
    for _ in range(2):
        # As if the server had been started since.
        for table in ("engine", "topic_nonpersistent_0", "topic_nonpersistent_1", "topic_nonpersistent_2"):
            db.execute(f"update howdah.{table} set boot = boot - interval '1 hour'".encode())
        one(db, "select howdah.purge_queue(%s)", (queue,))
        assert dict(db.execute(lost.encode()).fetchall()) == wanted
    assert column(db, "select body from howdah.receive('t::none', 9)") == ["stays"] * 3


def test_quiesced_in_another_cluster_nobody_who_began_to_write_there_sends(db: Db, queue: str) -> None:
    """Restored from a dump, the engine has the number of a transaction that is yet to come here."""
    one(db, "select howdah.quiesce_engine()")
    db.execute("update howdah.engine set state_xid = state_xid + 1000000")
    with db.transaction():
        one(db, "select pg_current_xact_id()")
        refused(db, "HD040", "select howdah.send(%s, 'late'::text)", (queue,))
