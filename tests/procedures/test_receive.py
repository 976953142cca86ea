"""receive: COMMIT consumes, ROLLBACK puts back, and no two sessions get one message."""

import threading

import psycopg
import pytest
from support import Clock, Connect, Db, all_refused, column, fail, one, receive, refused, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, *bodies: str) -> list[int]:
    ids: list[int] = one(db, "select howdah.send_batch('q', %s::text[])", (list(bodies),))
    return ids


@pytest.mark.behaviour("SSB-18")
def test_an_empty_queue_gives_no_row_and_leaves_nothing_behind(db: Db) -> None:
    assert receive(db) == []
    assert db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    assert one(db, "select count(*) from howdah.journal") == 0
    assert one(db, "select count(*) from howdah.poison_details") == 0


@pytest.mark.behaviour("WAS-02")
@pytest.mark.behaviour("SSB-02")
def test_rollback_puts_a_message_back_in_its_place_for_everybody_at_once(db: Db, connect: Connect) -> None:
    ids = send(db, "a", "b")
    other = connect()
    with db.transaction(force_rollback=True):
        (first,) = receive(db)
        assert [m.message_id for m in receive(other, n=9, verb="browse")] == ids
    (again,) = receive(other)
    assert (again.message_id, again.body) == (first.message_id, "a") == (ids[0], "a")


@pytest.mark.behaviour("IMQ-21")
def test_commit_removes_the_message_from_every_table(db: Db) -> None:
    send(db, "a")
    one(db, "select howdah.send('q', 'b', delivery_mode => 'non-persistent')")
    with db.transaction():
        assert len(receive(db, n=2)) == 2
    assert one(db, "select count(*) from howdah.audit_messages") == 0
    assert receive(db) == []
    assert column(db, "select event from howdah.audit_journal") == ["consumed", "consumed"]


@pytest.mark.behaviour("SSB-01")
@pytest.mark.parametrize("end", ["commit", "rollback", "terminate"])
def test_the_message_and_the_business_row_commit_together_or_not_at_all(db: Db, connect: Connect, end: str) -> None:
    db.execute("create table business (id bigint)")
    (sent,) = send(db, "a")
    consumer = connect()
    consumer.execute("begin")
    assert len(receive(consumer)) == 1
    consumer.execute("insert into business values (%s)", (sent,))
    if end == "terminate":
        one(db, "select pg_terminate_backend(%s, 10000)", (consumer.info.backend_pid,))
    else:
        consumer.execute(end.encode())
    done = end == "commit"
    assert column(db, "select id from business") == [sent] * done
    assert [m.message_id for m in receive(db)] == [sent] * (not done)


@pytest.mark.behaviour("AMQ-19")
def test_a_message_goes_to_one_of_two_sessions_and_the_other_passes_it_by(db: Db, connect: Connect) -> None:
    ids = send(db, "a", "b", "c")
    other = connect()
    with db.transaction(), other.transaction():
        assert [m.message_id for m in receive(db)] == ids[:1]
        assert [m.message_id for m in receive(other, n=9)] == ids[1:]
        assert receive(db) == []


@pytest.mark.behaviour("IMQ-123")
def test_without_a_consumer_a_message_stays(db: Db) -> None:
    ids = send(db, "a", "b")
    for job in ("totals", "backlog", "dropped", "journal", "workers"):
        one(db, f"select howdah.maintain_{job}()")
    assert column(db, "select message_id from howdah.msgs order by 1") == ids


@pytest.mark.behaviour("AMQ-45")
@pytest.mark.behaviour("IMQ-128")
def test_a_message_is_removed_only_by_the_commit_of_its_receiver(db: Db, connect: Connect) -> None:
    (sent,) = send(db, "a")
    consumer = connect()
    consumer.execute("begin")
    assert len(receive(consumer)) == 1
    assert column(db, "select message_id from howdah.msgs") == [sent]
    consumer.close()
    wait_until(lambda: receive(db))
    assert column(db, "select message_id from howdah.msgs") == []


@pytest.mark.behaviour("IMQ-20")
def test_order_is_by_priority_and_then_by_arrival(db: Db) -> None:
    for body, priority in [("a", 4), ("b", 9), ("c", 4), ("d", 0), ("e", 9)]:
        one(db, "select howdah.send('q', %s, priority => %s)", (body, priority))
    assert [m.body for m in receive(db)] == ["b"]
    assert [m.body for m in receive(db, n=9)] == ["e", "a", "c", "d"]


def test_one_call_mixes_priorities_of_parked_ready_and_non_persistent_messages(db: Db, clock: Clock) -> None:
    for priority in (1, 5):
        for mode in ("persistent", "non-persistent"):
            for delay in ("0", "1 s"):
                one(db, "select howdah.send('q', 'x', priority => %s, delivery_mode => %s, delay => %s)",
                    (priority, mode, delay))  # fmt: skip
    clock.advance(1)
    got = receive(db, n=100)
    assert [m.priority for m in got] == [5] * 4 + [1] * 4
    assert len({m.message_id for m in got}) == 8


def test_rollback_to_a_savepoint_gives_back_what_was_received_after_it(db: Db, connect: Connect) -> None:
    ids = send(db, "a", "b")
    other = connect()
    with db.transaction():
        assert [m.message_id for m in receive(db)] == ids[:1]
        with db.transaction(force_rollback=True):
            assert [m.message_id for m in receive(db)] == ids[1:]
        assert [m.message_id for m in receive(other, n=9)] == ids[1:]
    assert receive(db) == []


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_snapshot_from_before_another_consumption_gives_an_error_or_another_message_never_the_same_one(
    db: Db, connect: Connect, level: str
) -> None:
    ids = send(db, "a", "b")
    old = connect()
    old.execute("begin")
    old.execute(f"set transaction isolation level {level}".encode())
    one(old, "select count(*) from howdah.msgs")
    assert [m.message_id for m in receive(db)] == ids[:1]
    try:
        assert [m.message_id for m in receive(old)] == ids[1:]
        old.execute("commit")
    except psycopg.errors.SerializationFailure:
        old.execute("rollback")
        assert [m.message_id for m in receive(old)] == ids[1:]
    assert receive(db) == []


def test_a_receivers_own_uncommitted_message_is_received_in_the_same_transaction(db: Db) -> None:
    with db.transaction():
        ids = send(db, "a")
        assert [m.message_id for m in receive(db)] == ids
    assert receive(db) == []


def test_eight_sessions_share_a_backlog_without_loss_or_doubles_though_every_third_rolls_back(
    db: Db, connect: Connect
) -> None:
    ids = one(db, "select howdah.send_batch('q', array(select 'x' from generate_series(1, 1000)))")
    got: list[int] = []

    def consume(number: int, session: Db) -> None:
        turn = number
        while True:
            turn += 1
            with session.transaction(force_rollback=turn % 3 == 0):
                batch = receive(session, n=7)
            if turn % 3 == 0:
                continue
            got.extend(m.message_id for m in batch)
            if not batch and one(session, "select not exists (select from howdah.msgs)"):
                return

    threads = [threading.Thread(target=consume, args=(n, connect())) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == ids
    assert sorted(column(db, "select message_id from howdah.audit_journal where event = 'consumed'")) == ids


def test_an_expired_message_is_discarded_and_the_next_one_given(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'old', time_to_live => '1 s')")
    one(db, "select howdah.send('q', 'old too', time_to_live => '1 s', delivery_mode => 'non-persistent')")
    one(db, "select howdah.send('q', 'new')")
    clock.advance(1)
    with db.transaction(force_rollback=True):
        assert [m.body for m in receive(db, n=9)] == ["new"]
    assert [m.body for m in receive(db)] == ["new"]
    assert sorted(column(db, "select event from howdah.audit_journal")) == ["consumed", "expired", "expired"]


def test_a_thousand_expired_messages_before_a_live_one_do_not_hide_it(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send_batch('q', array(select 'x' from generate_series(1, 1000)), time_to_live => '1 s')")
    one(db, "select howdah.send('q', 'new')")
    clock.advance(2)
    assert [m.body for m in receive(db)] == ["new"]
    assert one(db, "select count(*) from howdah.audit_messages") == 0


@pytest.mark.behaviour("IMQ-28")
def test_the_redelivered_flag_is_set_from_the_second_delivery_on(db: Db) -> None:
    (sent,) = send(db, "a")
    seen = []
    for _ in range(3):
        with db.transaction(force_rollback=True):
            seen += [(m.redelivered, m.delivery_count) for m in receive(db)]
        fail(db, sent)
    assert seen == [(False, 1), (True, 2), (True, 3)]


@pytest.mark.behaviour("IMQ-17")
def test_records_of_the_engine_are_never_received(db: Db) -> None:
    (sent,) = send(db, "a")
    fail(db, sent)
    one(db, "select howdah.acquire_lock('l', 'me')")
    one(db, "select howdah.register_worker('w', 'h', 1, 1, array['q'])")
    one(db, "select howdah.pause('q')")
    one(db, "select howdah.resume('q')")
    assert [m.message_id for m in receive(db, n=100)] == [sent]


def test_the_queue_is_checked_at_each_call(db: Db, connect: Connect) -> None:
    send(db, "a")
    consumer = connect("howdah_consumer")
    with consumer.transaction(force_rollback=True):
        assert len(receive(consumer)) == 1
    db.execute("delete from howdah.destination_grants where verb = 'receive'")
    for verb in ("receive", "receive_locked"):
        assert "howdah_consumer" in str(refused(consumer, "HD010", f"select howdah.{verb}('q')").message_primary)
    refused(consumer, "HD010", "select howdah.record_failure('q', 1)")


@pytest.mark.parametrize("verb", ["receive", "receive_locked"])
def test_bad_input_is_refused(db: Db, verb: str) -> None:
    send(db, "a")
    all_refused(
        db,
        [("HD005", f"select howdah.{verb}('q', {n})") for n in ("null", "0", "-1", "10001", "2147483647")]
        + [("HD001", f"select howdah.{verb}({name})") for name in ("'none'", "null", "''", "'a;b'", "repeat('x', 300)")]
        + [("22P02", f"select howdah.{verb}('q', 'many')"), ("42883", f"select howdah.{verb}('q', 1::bigint)")],
    )


@pytest.mark.behaviour("IMQ-49")
def test_a_prepared_transaction_keeps_its_messages_until_it_ends(db: Db) -> None:
    if one(db, "select current_setting('max_prepared_transactions')::int") == 0:
        pytest.skip("max_prepared_transactions is 0 on this server")
    ids = send(db, "a", "b")
    for end, left in (("rollback", ids), ("commit", ids[1:])):
        name = f"{db.info.dbname}_{end}"
        db.execute("begin")
        assert [m.message_id for m in receive(db)] == ids[:1]
        one(db, "select howdah.send('q', 'sent by it', delay => '1 hour')")
        db.execute(f"prepare transaction '{name}'".encode())
        try:
            with db.transaction(force_rollback=True):
                assert [m.message_id for m in receive(db, n=9)] == ids[1:]
        finally:
            db.execute(f"{end} prepared '{name}'".encode())
        assert [m.message_id for m in receive(db, n=9, verb="browse")] == left
    assert one(db, "select count(*) from howdah.parked") == 1


@pytest.mark.first_case
@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("options", ["{}", '{"message_groups": "transaction"}', '{"keep_bodies_ms": 86400000}'])
def test_hold_null_consumes_as_false_does(db: Db, options: str, large: bool) -> None:
    one(db, "select howdah.create_queue('held', %s)", (options,))
    body = "x" * (3000 if large else 3)
    one(db, "select howdah.send('held', %s)", (body,))
    with db.transaction(force_rollback=True):
        assert column(db, "select body from howdah.receive('held', 1, null)") == [body]
    assert column(db, "select body from howdah.receive('held', 1, null)") == [body]
    assert column(db, "select body from howdah.receive('held')") == []
    assert one(db, "select count(*) from howdah.bodies") == 0
    assert one(db, "select count(*) from howdah.journal where event = 'consumed'") == 1
