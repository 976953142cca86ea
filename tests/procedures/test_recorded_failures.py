"""A recorded failure counts once and keeps every detail."""

import threading
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb
from support import (
    Clock,
    Connect,
    Db,
    all_refused,
    column,
    fail,
    one,
    receive,
    wait_until_blocked,
)


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, queue: str = "q", body: str = "x") -> int:
    number: int = one(db, "select howdah.send(%s, %s)", (queue, body))
    return number


@pytest.mark.behaviour("SSB-11")
def test_what_is_recorded_in_the_receiving_transaction_rolls_back_with_it(db: Db) -> None:
    sent = send(db)
    with db.transaction(force_rollback=True):
        receive(db)
        assert fail(db, sent)[2] == "gone"
        assert one(db, "select count(*) from howdah.poison_details") == 1
    assert one(db, "select count(*) from howdah.poison_details") == 0
    assert receive(db)[0].delivery_count == 1


@pytest.mark.behaviour("SSB-12")
@pytest.mark.behaviour("SSB-13")
@pytest.mark.behaviour("SSB-15")
def test_an_incident_recorded_after_the_rollback_keeps_every_detail(db: Db, clock: Clock) -> None:
    conversation = uuid4()
    sent = one(db, "select howdah.send('q', 'x', conversation_id => %s)", (conversation,))
    with db.transaction(force_rollback=True):
        receive(db)
    incident, attempt, outcome = fail(
        db,
        sent,
        error_text="no such flight",
        error_class="ValueError",
        sqlstate="22P02",
        traceback="line 1",
        duration_ms=12,
        worker="w1",
        details=Jsonb({"more": [1]}),
    )
    assert (attempt, outcome) == (1, "returned")
    row = db.execute(
        "select incident_id, message_id, conversation_id, error_text, error_class, sqlstate, traceback, duration_ms,"
        " worker, details, recorded_at, recorded_by = session_user, attempt, stage, outcome from howdah.poison_details"
    ).fetchall()
    assert row == [
        (incident, sent, conversation, "no such flight", "ValueError", "22P02", "line 1", 12, "w1", {"more": [1]},
         clock.now, True, 1, 0, "returned")
    ]  # fmt: skip
    assert one(db, "select is_identity from information_schema.columns where table_schema = 'howdah'"
                   " and table_name = 'poison_details' and column_name = 'incident_id'") == "YES"  # fmt: skip


@pytest.mark.behaviour("SSB-14")
def test_incidents_of_a_conversation_are_found_by_index(db: Db) -> None:
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
        " conversation_id, recorded_by) select n, now(), 1, 1, 0, 'returned', gen_random_uuid(), 'x'"
        " from generate_series(1, 5000) n"
    )
    db.execute("analyze howdah.poison_details")
    plan = column(db, "explain select * from howdah.poison_details where conversation_id = %s::uuid", (str(uuid4()),))
    assert "ix_poison_details_conversation" in "".join(plan)


def test_a_failure_recorded_again_with_its_key_counts_once(db: Db) -> None:
    sent, key = send(db), uuid4()
    first = fail(db, sent, failure_key=key)
    assert fail(db, sent, failure_key=key, error_text="again") == first
    assert fail(db, sent, failure_key=uuid4())[1] == 2
    assert one(db, "select count(*) from howdah.poison_details") == 2


def test_a_key_that_was_told_with_another_failure_hides_none(db: Db) -> None:
    """Of another message, and of the same message in another queue."""
    one(db, "select howdah.create_queue('mine')")
    sent, other, key = send(db), send(db, "mine"), uuid4()
    assert fail(db, other, queue="mine", failure_key=key)[1] == 1
    assert fail(db, sent, failure_key=key)[1] == 1
    assert fail(db, sent, failure_key=key)[1] == 2, "told again it counts again, for the key is taken"
    assert column(db, "select message_id from howdah.poison_details order by incident_id") == [other, sent, sent]
    key = uuid4()
    assert fail(db, sent, queue="mine", failure_key=key)[2] == "gone"
    assert fail(db, sent, failure_key=key)[1] == 3


def test_the_same_failure_from_two_sessions_at_once_counts_once_and_another_is_the_second(
    db: Db, connect: Connect
) -> None:
    sent, key = send(db), uuid4()
    for second_key, attempt in ((key, 1), (uuid4(), 2)):
        other = connect()
        got: list[int] = []

        def record(other: Db = other, second_key: object = second_key, got: list[int] = got) -> None:
            got.append(fail(other, sent, failure_key=second_key)[1])

        with db.transaction():
            assert fail(db, sent, failure_key=key)[1] == 1
            thread = threading.Thread(target=record)
            thread.start()
            wait_until_blocked(db, other)
        thread.join()
        assert got == [attempt]


def test_the_failure_of_a_message_that_is_gone_is_recorded_all_the_same(db: Db) -> None:
    sent = send(db)
    receive(db)
    assert fail(db, sent)[1:] == (1, "gone")
    assert fail(db, 999999)[1:] == (1, "gone")
    one(db, "select howdah.create_queue('other')")
    assert fail(db, send(db), queue="other")[2] == "gone"
    assert len(receive(db)) == 1


def test_a_recorded_message_is_not_given_out_before_the_recorder_commits(db: Db, connect: Connect) -> None:
    sent = send(db)
    consumer = connect()
    with db.transaction():
        assert fail(db, sent)[2] == "returned"
        assert receive(consumer) == []
    assert receive(consumer)[0].delivery_count == 2


def test_failures_of_a_batch_are_recorded_in_one_call(db: Db) -> None:
    ids = [send(db) for _ in range(3)]
    failures = Jsonb(
        [{"message_id": n, "error_text": f"e{n}", "delay_ms": 1000 * (n == ids[0])} for n in reversed(ids)]
    )
    rows = db.execute(
        "select message_id, attempt, outcome from howdah.record_failures('q', %s)", (failures,)
    ).fetchall()
    assert rows == [(ids[0], 1, "delayed"), (ids[1], 1, "returned"), (ids[2], 1, "returned")]
    assert column(db, "select error_text from howdah.incidents('q') order by message") == [f"e{n}" for n in ids]
    assert db.execute("select * from howdah.record_failures('q', '[]')").fetchall() == []


def test_bad_input_to_record_failure_is_refused(db: Db) -> None:
    sent = send(db)
    bad = ["duration_ms => -1", "details => '[1]'", "details => '7'", "priority => 10", "priority => -1", "stage => -1",
           "stage => 100000", "delay => '-1 s'", "delay => '1000 years'", "priority => -2147483648"]  # fmt: skip
    cases = [("HD005", f"select howdah.record_failure('q', {sent}, {argument})") for argument in bad]
    cases += [
        ("HD005", "select howdah.record_failure('q', null)"),
        ("HD001", f"select howdah.record_failure(null, {sent})"),
        ("HD001", f"select howdah.record_failure('none', {sent})"),
        ("22P02", f"select howdah.record_failure('q', {sent}, failure_key => 'x')"),
    ]
    for failures in (
        "null", "'7'", "'{}'", "'[null]'", "'[7]'", "'[{}]'", "'[{\"message_id\": null}]'",
        "'[{\"message_id\": \"x\"}]'", "'[{\"message_id\": 1.5}]'", "'[{\"message_id\": 1e30}]'",
        "'[{\"message_id\": 1, \"stage\": \"x\"}]'", "'[{\"message_id\": 1, \"failure_key\": \"x\"}]'",
        "'[{\"message_id\": 1, \"delay_ms\": -1}]'", "'[{\"message_id\": 1, \"delay_ms\": 1e30}]'",
        "'[{\"message_id\": 1}, {\"message_id\": 2, \"priority\": 99999}]'",
    ):  # fmt: skip
        cases.append(("HD005", f"select howdah.record_failures('q', {failures})"))
    cases.append(("HD001", "select howdah.record_failures('none', '[]')"))
    all_refused(db, cases)
