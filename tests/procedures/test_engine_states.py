"""Pausing, quiescing, stopping and resuming the engine as a whole, by what each lets through."""

from __future__ import annotations

import psycopg
import pytest
from stopped_engine_support import STATE, STOP, enter
from support import Connect, Db, column, one, refused


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


def test_quiesced_in_another_cluster_nobody_who_began_to_write_there_sends(db: Db, queue: str) -> None:
    """Restored from a dump, the engine has the number of a transaction that is yet to come here."""
    one(db, "select howdah.quiesce_engine()")
    db.execute("update howdah.engine set state_xid = state_xid + 1000000")
    with db.transaction():
        one(db, "select pg_current_xact_id()")
        refused(db, "HD040", "select howdah.send(%s, 'late'::text)", (queue,))
