"""What handlers may do, and what becomes of their messages."""

from __future__ import annotations

import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work


@pytest.mark.behaviour("WAS-03")
def test_set_rollback_only_counts_as_a_failed_delivery(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"redelivery_delay_ms": 60000}')""")
    (message,) = jobs.send("only")
    start()
    wait_until(lambda: jobs.incidents(message) == ["RollbackOnly"])
    assert jobs.effects() == []
    assert jobs.left() == 1
    assert jobs.trace(message) == [1]
    wait_until(lambda: column(jobs.db, "select state from howdah.audit_messages") == ["parked"])


@pytest.mark.first_case
@pytest.mark.parametrize("body", [pytest.param("fail", marks=pytest.mark.slow), "fail-in-sql"])
def test_a_failure_counts_before_anybody_else_gets_the_message(jobs: Work, start: StartWorkers, body: str) -> None:
    """Even after a statement error, by which the server would let go of the whole transaction's messages."""
    jobs.db.execute(
        "create trigger gate before insert on howdah.poison_details for each statement execute function work.gate()"
    )
    jobs.send(body, "plain")
    start()
    with jobs.gate():
        wait_until(
            lambda: column(
                jobs.db, "select 1 from pg_stat_activity where query ~ 'record_failures' and wait_event = 'advisory'"
            )
        )
        assert column(jobs.db, "select message_id from howdah.receive_locked('work', 9)") == []
    jobs.wait_empty()
    assert jobs.trace(jobs.dead()[0]) == [1, 2, 3, 4, 5]


@pytest.mark.behaviour("SSB-13")
@pytest.mark.behaviour("SSB-15")
def test_an_incident_says_who_when_and_why(jobs: Work, start: StartWorkers) -> None:
    conversation = "01234567-89ab-cdef-0123-456789abcdef"
    one(jobs.db, "select howdah.send('work', 'fail', conversation_id => %s)", (conversation,))
    start()
    jobs.wait_empty()
    row = jobs.db.execute(
        "select incident_id > 0, conversation_id::text, queue_name, error_class, error_text, sqlstate, traceback,"
        " attempt, worker, duration_ms >= 0, recorded_at <= howdah.now() from howdah.incidents() where attempt = 1"
    ).fetchone()
    assert row is not None
    assert row[:6] == (True, conversation, "work", "ValueError", "cannot be handled\\0", None)
    assert 'raise ValueError("cannot be handled' in row[6]
    assert row[7] == 1
    assert ":test:" in row[8]
    assert row[9:] == (True, True)


WRONG = {
    "swallow": "RollbackOnly",
    "commit": "ProgrammingError",
    "sql-commit": "IllegalState",
    "hidden-commit": "IllegalState",
    "rollback-raise": "ValueError",
    "rollback-go-on": "RollbackOnly",
    "close": "RollbackOnly",
    "exit": "SystemExit",
    "strange": "Strange",
    "violate": "UniqueViolation",
    "record-itself": "ValueError",
}


@pytest.mark.first_case
@pytest.mark.behaviour("SSB-16")
@pytest.mark.behaviour("SSB-22")
@pytest.mark.parametrize("queue", ["work", pytest.param("single", marks=pytest.mark.slow)])
def test_whatever_handlers_do_wrong_is_one_incident_a_delivery_and_harms_no_other(
    jobs: Work, start: StartWorkers, queue: str
) -> None:
    """All in one batch, or in one each, among innocent messages."""
    one(jobs.db, """select howdah.alter_queue(%s, '{"max_failed_deliveries": 2}')""", (queue,))
    bodies = [body for wrong in WRONG for body in (wrong, "plain")]
    sent = jobs.send(*bodies, queue=queue)
    workers = start()
    jobs.wait_empty(queue)
    guilty = dict(zip(sent[::2], WRONG.values(), strict=True))
    assert {message: jobs.incidents(message) for message in guilty} == {
        message: [error_class] * 2 for message, error_class in guilty.items()
    }
    assert jobs.blamed() == set(guilty)
    assert jobs.dead() == sent[::2]
    assert jobs.effects() == sent[1::2]
    assert len(workers.pids) == 1
    assert workers.events("worker died") == workers.events("thread died") == []


@pytest.mark.slow
def test_the_statement_that_failed_is_in_the_incident_of_a_handler_that_overlooked_it(
    jobs: Work, start: StartWorkers
) -> None:
    jobs.send("swallow")
    start()
    jobs.wait_empty()
    assert set(column(jobs.db, "select sqlstate from howdah.incidents()")) == {"22012"}
    assert "select 1 / 0" in one(jobs.db, "select traceback from howdah.incidents() where attempt = 1")


@pytest.mark.behaviour("SSB-17")
def test_one_message_a_transaction_where_the_batch_is_one(jobs: Work, start: StartWorkers) -> None:
    sent = jobs.send(*["plain"] * 10, queue="single")
    start()
    jobs.wait_empty("single")
    assert jobs.effects() == sent
    assert one(jobs.db, "select count(distinct tx) from work.effects") == 10


@pytest.mark.behaviour("SSB-18")
def test_an_idle_worker_leaves_no_open_transaction_and_no_trace(jobs: Work, start: StartWorkers) -> None:
    workers = start()
    workers.wait_started()
    wait_until(lambda: one(jobs.db, "select count(*) from howdah.list_workers()") == 1)

    def idle() -> bool:
        states = column(
            jobs.db,
            "select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            " and application_name like %s",
            ("%:test:%/0",),
        )
        return states == ["idle"]

    wait_until(idle)
    assert one(jobs.db, "select count(*) from howdah.incidents()") == 0
    assert one(jobs.db, "select count(*) from howdah.audit_journal") == 0


@pytest.mark.behaviour("SSB-21")
def test_message_types_reach_their_handlers_and_an_unknown_one_ends_dead(jobs: Work, start: StartWorkers) -> None:
    order = one(jobs.db, "select howdah.send('work', 'o', message_type => 'order')")
    bill = one(jobs.db, "select howdah.send('work', 'b', message_type => 'bill')")
    unknown = one(jobs.db, "select howdah.send('work', 'x', message_type => 'letter')")
    none = one(jobs.db, "select howdah.send('work', 'y')")
    start("workapp:typed")
    jobs.wait_empty()
    rows = jobs.db.execute("select message_id, worker from work.effects order by 1").fetchall()
    assert rows == [(order, "order"), (bill, "bill")]
    assert jobs.dead() == [unknown, none]
    assert jobs.incidents(unknown) == jobs.incidents(none) == ["UnknownMessageType"] * 5
    text = one(jobs.db, "select error_text from howdah.incidents() where message = %s and attempt = 1", (unknown,))
    assert text == "no handler for message type 'letter' (Registered are: bill, order.)"


@pytest.mark.slow
def test_delays_between_redeliveries_and_of_messages_are_kept(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"redelivery_delay_ms": 400}')""")
    late = one(jobs.db, "select howdah.send('work', 'note', delay => '700 ms')")
    (again,) = jobs.send("fail-once")
    start()
    jobs.wait_empty()
    assert jobs.effects() == [late, again]
    assert jobs.trace(again) == [1, 2]
    assert set(jobs.trace(late)) == {1}
    assert column(jobs.db, "select outcome from howdah.incidents()") == ["delayed"]


@pytest.mark.slow
def test_a_missing_or_paused_queue_delays_no_other_and_is_taken_up_later(jobs: Work, start: StartWorkers) -> None:
    workers = start("workapp:several")
    wait_until(lambda: len(workers.events("cannot receive")) == 1)
    sent = jobs.send("plain")
    jobs.wait_empty()
    one(jobs.db, "select howdah.pause('work')")
    wait_until(lambda: len(workers.events("cannot receive")) == 2)
    one(jobs.db, "select howdah.create_queue('missing')")
    sent += jobs.send("plain", queue="missing")
    jobs.wait_empty("missing")
    one(jobs.db, "select howdah.resume('work')")
    sent += jobs.send("plain")
    jobs.wait_empty()
    assert jobs.effects() == sent
    assert [line["queue"] for line in workers.events("cannot receive")] == ["missing", "work"]


def test_in_strict_order_nothing_overtakes_a_message_that_fails(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, "select howdah.alter_queue('work', '{\"strict_order\": true, \"max_failed_deliveries\": 3}')")
    sent = jobs.send("fail", *["note"] * 5)
    start()
    jobs.wait_empty()
    handled = column(jobs.db, "select message_id from work.trace order by at")
    assert [message for number, message in enumerate(handled) if message not in handled[:number]] == sent
    assert handled[:3] == [sent[0]] * 3
    assert jobs.dead() == [sent[0]]


def test_a_handler_may_fork_a_process_and_terminate_it(jobs: Work, start: StartWorkers) -> None:
    workers = start()
    sent = jobs.send("fork", "plain")
    jobs.wait_empty()
    assert jobs.effects() == sent
    assert jobs.blamed() == set()
    assert len(workers.pids) == 1
    assert not workers.events("worker stopping")


@pytest.mark.slow
@pytest.mark.parametrize(("time_limit", "backout"), [(600, "recorded"), (None, "hardened")])
def test_a_process_that_a_handler_forks_by_hand_ends_with_the_handler_and_leaves_the_transaction_alone(
    jobs: Work, start: StartWorkers, time_limit: float | None, backout: str
) -> None:
    one(jobs.db, "select howdah.alter_queue('work', jsonb_build_object('backout_count', %s::text))", (backout,))
    sent = jobs.send("plain", "fork-exit", "fork-return", "fork-raise", "plain")
    workers = start(time_limit=time_limit)
    jobs.wait_empty()
    assert jobs.effects() == sent
    assert jobs.blamed() == set()
    assert len(workers.events("forked process failed")) == 1
