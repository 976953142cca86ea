"""What is wrong in a database is found, named and counted."""

import pytest
from psycopg.types.json import Jsonb
from support import Db, one

from howdah.cli.audit import code_of

from .conftest import Audit
from .traffic import fail, live_through_everything, receive, send


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    """A lived-in full-journal queue, and another of the default level, among which the fault must be found."""
    live_through_everything(db, "q", "full")
    live_through_everything(db, "other", "exits")


def found(audit: Audit) -> dict[str, tuple[int, ...]]:
    """The samples of each broken error rule; the audit must have failed, and through no other queue than q."""
    result = audit()
    assert not result.ok
    assert {level: code_of(result, level) for level in ("error", "warning", "never")} == {
        "error": 1,
        "warning": 1,
        "never": 0,
    }
    assert not result.queue("q").balanced
    assert all(queue.balanced for queue in result.queues if queue.queue not in ("q", "q.dead"))
    return {rule.name: rule.samples for rule in result.rules if rule.count and rule.severity == "error"}


def test_a_deleted_message_is_missing(audit: Audit, db: Db) -> None:
    (message,) = send(db, "q", 1)
    db.execute("delete from howdah.msgs where message_id = %s", [message])

    assert found(audit) == {"missing": (message,), "identity": (message,), "last_hour": ()}


def test_a_message_consumed_twice_is_found_though_another_one_is_missing(audit: Audit, db: Db) -> None:
    gone, *_ = send(db, "q", 3)
    db.execute("delete from howdah.msgs where message_id = %s", [gone])
    (consumed,) = receive(db, "q")
    db.execute(
        "insert into howdah.journal (at, destination_id, event, message_ids)"
        " select clock_timestamp(), d.id, 'consumed', %s"
        " from howdah.destinations d where d.name = 'q'",
        [[consumed]],
    )

    assert found(audit) == {"missing": (gone,), "consumed_twice": (consumed,)}


def test_a_message_that_nobody_sent_is_found(audit: Audit, db: Db) -> None:
    forged = one(
        db,
        "insert into howdah.msgs (seq, message_id, sent_at, destination_id, rank, is_text, content_type, body)"
        " select 900000, 900000, clock_timestamp(), d.id, 5, true, 'text/plain', 'x' from howdah.destinations d"
        " where d.name = 'q' returning message_id",
    )

    assert found(audit) == {"from_nowhere": (forged,), "identity": (forged,), "last_hour": ()}


def test_a_consumed_message_that_is_put_back_is_found(audit: Audit, db: Db) -> None:
    (message,) = send(db, "q", 1, priorities=[9])
    db.execute("create table saved as select * from howdah.msgs where message_id = %s", [message])
    assert receive(db, "q") == [message]
    db.execute("insert into howdah.msgs select * from saved")

    assert found(audit) == {"consumed_twice": (message,), "identity": (message,), "last_hour": ()}


def test_dead_messages_whose_incidents_were_deleted_are_found(audit: Audit, db: Db) -> None:
    db.execute("select howdah.alter_queue('q', '{\"redelivery_delay_ms\": 0}')")
    first, last, untouched, rejected, innocent = send(db, "q", 5)
    for message in (rejected, innocent):
        db.execute("select howdah.record_failure('q', %s, reject => true)", [message])
    # Rejected while somebody had it, and disposed of by the next receive.
    db.execute("update howdah.poison_details set outcome = 'held' where message_id = %s", [innocent])
    db.execute("delete from howdah.poison_details where message_id = %s", [rejected])
    for message in (first, last, untouched):
        assert fail(db, "q", message, 2) == "moved"
    for message, attempt in ((first, 1), (last, 2)):
        db.execute("delete from howdah.poison_details where message_id = %s and attempt = %s", [message, attempt])
    result = audit()

    assert not result.ok
    assert result.rule("dead_without_incidents").samples == (first, last, rejected)
    assert result.rule("dead_without_incidents").queues == ("q.dead",)


def test_faults_are_found_without_a_full_journal(audit: Audit, db: Db) -> None:
    message, copied = send(db, "other", 2, priorities=[9, 9])
    db.execute("create table saved as select * from howdah.msgs where message_id = %s", [message])
    assert receive(db, "other", 1) == [message]
    db.execute("insert into howdah.msgs select * from saved")
    db.execute(
        "insert into howdah.parked select m.*, clock_timestamp(), 'delay', null"
        " from howdah.msgs m where message_id = %s",
        [copied],
    )
    result = audit()

    assert not result.ok
    assert result.rule("consumed_twice").samples == (message, copied)
    assert result.queue("q").balanced


def test_failures_within_the_limit_of_their_time_accuse_nobody(audit: Audit, db: Db) -> None:
    """Whatever the limit is later, and whatever retention has left of what did not count."""
    db.execute("select howdah.create_queue('lowered', '{\"max_failed_deliveries\": 9}')")
    (message,) = send(db, "lowered", 1)
    assert fail(db, "lowered", message, 4) == "returned"
    one(db, "select howdah.alter_queue('lowered', '{\"max_failed_deliveries\": 3}')")
    db.execute("select howdah.create_queue('leased', '{\"max_failed_deliveries\": 5}')")
    (leased,) = send(db, "leased", 1)
    assert fail(db, "leased", leased, 4) == "returned"
    db.execute("update howdah.poison_details set attempt = attempt + 3 where message_id = %s", [leased])
    db.execute("update howdah.destinations set created_at = created_at - interval '400 days' where name = 'leased'")
    result = audit()

    assert not result.rule("retried_at_limit").count
    assert result.rule("incidents_over_limit").samples == (message,)
    assert code_of(result, "error") == 0


def test_leases_that_ran_out_count_as_their_queue_counted_them(audit: Audit, db: Db) -> None:
    """Whatever the failure is called: who records it may call it anything."""
    db.execute("select howdah.create_queue('short', '{\"max_failed_deliveries\": 2}')")
    (sound,) = send(db, "short", 1)
    for _ in range(2):
        assert one(db, "select message_id from howdah.lease('short', 1, '1 millisecond')") == sound
        db.execute("select pg_sleep(0.002)")
    assert db.execute("select howdah.lease('short', 1)").fetchall() == []
    db.execute("select howdah.create_queue('leases', '{\"max_failed_deliveries\": 9}')")
    ran_out, ahead = send(db, "leases", 2)
    for message in (ran_out, ahead) * 4:
        one(db, "select outcome from howdah.record_failure('leases', %s, 'no', 'LeaseExpired')", [message])
    db.execute("update howdah.poison_details set uncounted = message_id = %s", [ahead])
    one(db, "select howdah.alter_queue('leases', '{\"max_failed_deliveries\": 3}')")
    result = audit()

    assert result.rule("incidents_over_limit").samples == (ran_out,)
    assert code_of(result, "error") == 0


def test_incidents_beyond_reason_are_warned_of(audit: Audit, db: Db) -> None:
    db.execute("select howdah.create_queue('strict', '{\"journal_level\": \"full\"}')")
    (message,) = send(db, "strict", 1)
    fail(db, "strict", 987654321)
    fail(db, "strict", message, 4)
    db.execute("update howdah.destinations set max_failed_deliveries = 3, dispose_at = 3 where name = 'strict'")
    result = audit()

    assert result.ok
    assert (code_of(result, "error"), code_of(result, "warning")) == (0, 6)
    assert result.rule("unknown_message").samples == (987654321,)
    assert result.rule("incidents_over_limit").samples == (message,)


def test_more_failures_than_the_limit_and_all_sessions_explain_are_an_error(audit: Audit, db: Db) -> None:
    """As if no receive looked at the limit.

    Not a fault: a limit that was lowered since, and as many readers as there can be.
    """
    for name, limit in (("spinning", 2), ("lowered", 900)):
        options = Jsonb({"max_failed_deliveries": limit, "decided_at": "receive"})
        one(db, "select howdah.create_queue(%s, %s)", [name, options])
    spinning, innocent = send(db, "spinning", 2)
    (lowered,) = send(db, "lowered", 1)
    sessions = int(one(db, "select current_setting('max_connections')"))
    for name, message, count in (("spinning", spinning, 3), ("spinning", innocent, 2), ("lowered", lowered, 9)):
        assert fail(db, name, message, sessions + count) == "returned"
    one(db, "select howdah.alter_queue('lowered', '{\"max_failed_deliveries\": 3}')")
    result = audit()

    rule = result.rule("failures_beyond_readers")
    assert (rule.count, rule.samples, rule.queues) == (1, (spinning,), ("spinning",))
    assert f"{sessions + 3} failures in stage 0, the limit is 2" in rule.rows[0].seen
    assert result.rule("incidents_over_limit").samples == (spinning, lowered, innocent)
    assert code_of(result, "error") == 1
