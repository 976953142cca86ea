"""A best-effort message whose send fails is lost alone, and the transaction commits."""

from __future__ import annotations

import psycopg
import pytest
from support import Connect, Db, column, one, receive, refused
from topics_support import subscribe, topic

from howdah.schema.destinations import LEVELS

BEST, *BETTER = LEVELS

SEND = "select howdah.send(%s, %s, reliability => %s)"

DISCARDED = (
    "select queue, cardinality(message_ids), reason, reliability from howdah.audit_journal_calls"
    " where event = 'discarded' order by xid"
)

STORED = "select reliability, count(*) from howdah.audit_messages where queue = 'q' group by reliability"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def alter(db: Db, options: str, queue: str = "q") -> None:
    one(db, "select howdah.alter_queue(%s, %s)", (queue, options))


def forbid(db: Db) -> None:
    """Make the storing of a body "bad" fail, wherever it goes."""
    db.execute(
        "create function public.no_bad() returns trigger language plpgsql as $$ begin"
        " if new.body = 'bad' then raise 'no bad message' using errcode = '23514'; end if; return new; end $$"
    )
    for table in ("msgs", "msgs_nonpersistent", "parked", "topic_nonpersistent_0"):
        db.execute(
            f"create trigger no_bad before insert on howdah.{table} for each row execute function public.no_bad()"
        )


def stored(db: Db) -> dict[str, int]:
    return dict(db.execute(STORED).fetchall())


@pytest.mark.behaviour("SIB-17")
@pytest.mark.behaviour("SIB-26")
def test_a_best_effort_message_that_cannot_be_stored_is_lost_and_the_others_commit(db: Db) -> None:
    forbid(db)
    with db.transaction():
        for level in LEVELS:
            one(db, SEND, ("q", "good", level))
        lost = one(db, SEND, ("q", "bad", BEST))
        one(db, SEND, ("q", "after", BETTER[0]))
    assert stored(db) == {**dict.fromkeys(LEVELS, 1), BETTER[0]: 2}
    assert db.execute(DISCARDED).fetchall() == [("q", 1, "NOT_STORED: 23514 no bad message", BEST)]
    assert column(db, "select message_id from howdah.audit_journal where event = 'discarded'") == [lost]
    assert one(db, "select discarded from howdah.queue_stats('q')") == 1


def test_a_best_effort_message_by_hand_that_cannot_be_stored_has_the_number_that_the_journal_has(db: Db) -> None:
    forbid(db)
    alter(db, f'{{"default_reliability": "{BEST}"}}')
    lost = one(db, "select howdah.send_by_hand('q', 'bad')")
    assert column(db, "select message_id from howdah.audit_journal where event = 'discarded'") == [lost]


def fail(db: Db, level: str) -> None:
    """Receive and send in one transaction, which the last send fails."""
    with db.transaction():
        receive(db)
        for other in LEVELS:
            one(db, SEND, ("q", "good", other))
        one(db, SEND, ("q", "bad", level))


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-17")
@pytest.mark.behaviour("SIB-28")
@pytest.mark.parametrize("level", BETTER)
def test_a_message_of_any_other_level_that_cannot_be_stored_takes_the_transaction_with_it(db: Db, level: str) -> None:
    """Both halves: what was received comes back as well."""
    forbid(db)
    received = one(db, SEND, ("q", "first", level))
    with pytest.raises(psycopg.errors.CheckViolation):
        fail(db, level)
    assert stored(db) == {level: 1}
    assert [m.message_id for m in receive(db)] == [received]


@pytest.mark.behaviour("SIB-27")
def test_a_rollback_undoes_the_messages_of_all_levels(db: Db) -> None:
    topic(db)
    name = subscribe(db, "reader")
    with db.transaction(force_rollback=True):
        for level in LEVELS:
            one(db, SEND, ("q", "x", level))
            one(db, SEND, ("t", "x", level))
    assert stored(db) == {}
    assert receive(db, name, 9) == []


def test_a_rollback_returns_a_best_effort_message_to_its_queue(db: Db) -> None:
    sent = one(db, SEND, ("q", "x", BEST))
    with db.transaction(force_rollback=True):
        assert [m.message_id for m in receive(db)] == [sent]
    assert [m.message_id for m in receive(db)] == [sent]


def test_of_a_batch_only_the_message_to_blame_is_lost(db: Db) -> None:
    forbid(db)
    bodies = ["a", "b", "bad", "c", "bad"]
    ids = one(db, "select howdah.send_batch('q', %s::text[], reliability => %s)", (bodies, BEST))
    got = {m.message_id: m.body for m in receive(db, "q", 9)}
    assert [got.get(number) for number in ids] == ["a", "b", None, "c", None]
    refused(db, "23514", "select howdah.send_batch('q', %s::text[], reliability => %s)", (bodies, BETTER[0]))


def test_every_way_to_send_swallows_the_loss(db: Db) -> None:
    forbid(db)
    topic(db)
    subscribe(db, "reader")
    one(db, SEND, ("t", "bad", BEST))
    one(db, "select howdah.send('q', 'bad', delay => '1 hour', reliability => %s)", (BEST,))
    one(db, "select howdah.send('q', 'bad', deduplication_key => 'k', reliability => %s)", (BEST,))
    one(db, "select howdah.send('q', 'good', deduplication_key => 'k', reliability => %s)", (BEST,))
    one(db, "select howdah.send('q,t', 'bad', reliability => %s)", (BEST,))
    one(db, "select howdah.respond('q', 'bad', reliability => %s)", (BEST,))
    with db.transaction():
        db.execute("select howdah.begin_copy()")
        with db.cursor().copy("copy pg_temp.howdah_copy (body) from stdin") as copy:
            copy.write_row(("bad",))
            copy.write_row(("good",))
        assert one(db, "select howdah.send_copied('q', reliability => %s)", (BEST,)) == 2
    one(db, "select howdah.schedule('q', 'bad', period => '1 ms', repeat => 0, reliability => %s)", (BEST,))
    one(db, "select pg_sleep(0.002)")
    assert one(db, "select fired from howdah.fire_schedules()") == 1
    assert one(db, "select count(*) from howdah.schedule_runs where message_id is not null") == 1
    assert [m.body for m in receive(db, "q", 9)] == ["good", "good"]
    lost = column(db, "select queue from howdah.audit_journal where event = 'discarded'")
    assert sorted(lost) == [*["q"] * 6, *["t"] * 2]


def test_a_wrong_argument_or_a_missing_right_is_raised(db: Db, connect: Connect) -> None:
    refused(db, "HD001", SEND, ("nowhere", "x", BEST))
    refused(db, "HD005", SEND, ("q", None, BEST))
    refused(db, "HD006", "select howdah.send('q', 'x', priority => 10, reliability => %s)", (BEST,))
    refused(connect("howdah_consumer"), "42501", SEND, ("q", "x", BEST))
    alter(db, '{"max_message_bytes": 1}')
    refused(db, "HD007", SEND, ("q", "xx", BEST))
    refused(db, "HD007", "select howdah.send_batch('q', array['xx'], reliability => %s)", (BEST,))
    one(db, "select howdah.pause('q')")
    refused(db, "HD008", SEND, ("q", "x", BEST))


def test_a_cancelled_send_is_raised(db: Db) -> None:
    alter(db, '{"message_limit": 1, "limit_behaviour": "block"}')
    one(db, SEND, ("q", "x", BETTER[0]))
    db.execute("set statement_timeout = '200ms'")
    refused(db, "57014", SEND, ("q", "x", BEST))


@pytest.mark.first_case
@pytest.mark.parametrize("way", ["single", "batch"])
def test_with_a_full_journal_the_lost_message_was_sent_as_well(db: Db, way: str) -> None:
    forbid(db)
    alter(db, '{"journal_level": "full"}')
    if way == "single":
        one(db, SEND, ("q", "bad", BEST))
    else:
        one(db, "select howdah.send_batch('q', array['bad'], reliability => %s)", (BEST,))
    rows = db.execute(
        "select event, reliability, digest is not null, message_id from howdah.audit_journal order by event"
    ).fetchall()
    assert [row[:3] for row in rows] == [("discarded", BEST, False), ("sent", BEST, True)]
    assert rows[0][3] == rows[1][3]


@pytest.mark.parametrize("option", [None, "EXPRESS_NONPERSISTENT", "ASSURED_PERSISTENT"])
def test_levels_up_to_exception_discard_reliability_are_discarded_at_their_limit(db: Db, option: str | None) -> None:
    alter(db, '{"max_failed_deliveries": 1}')
    if option:
        alter(db, f'{{"exception_discard_reliability": "{option}"}}')
    highest = LEVELS.index(option or BEST)
    for level in LEVELS:
        sent = one(db, SEND, ("q", "x", level))
        one(db, "select howdah.record_failure('q', %s, 'E', 'x')", (sent,))
    receive(db)
    dead = column(db, "select reliability from howdah.audit_messages")
    assert sorted(dead) == sorted(LEVELS[highest + 1 :])
    gone = column(db, "select reliability from howdah.audit_journal where event = 'discarded'")
    assert sorted(gone) == sorted(LEVELS[: highest + 1])
