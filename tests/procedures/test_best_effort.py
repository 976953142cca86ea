"""Best-effort messages: a failed send loses one alone, and they go first when resources are short."""

from __future__ import annotations

import psycopg
import pytest
from support import Connect, Db, column, one, receive, refused
from topics_support import subscribe, topic

from howdah.schema.destinations import LEVELS

BEST, *BETTER = LEVELS
SEND = "select howdah.send(%s, %s, reliability => %s)"
BATCH = "select howdah.send_batch('q', array_fill('x'::text, array[%s]), reliability => %s)"
DISCARDED = (
    "select queue, cardinality(message_ids), reason, reliability from howdah.audit_journal_calls"
    " where event = 'discarded' order by xid"
)
STORED = "select reliability, count(*) from howdah.audit_messages where queue = 'q' group by reliability"
REASONS = "select reason, count(*) from howdah.audit_journal where event = 'discarded' and reliability = %s group by 1"


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


def is_taken(db: Db, level: str) -> bool:
    """Whether the full queue takes a message. Of best effort it does not say so."""
    try:
        one(db, SEND, ("q", "x", level))
    except psycopg.Error as error:
        if error.sqlstate != "HD018" or level == BEST:
            raise
        return False
    return True


@pytest.mark.behaviour("SIB-19")
def test_at_overload_only_the_best_effort_messages_shrink(db: Db) -> None:
    alter(db, '{"message_limit": 500}')
    for level in LEVELS:
        one(db, BATCH, (100, level))
    kept = 0
    for number in range(1000):
        level = LEVELS[number % 5]
        kept += is_taken(db, level) and level != BEST
    left = stored(db)
    assert BEST not in left
    assert kept == 100
    assert sum(left.values()) == 500
    assert left == dict.fromkeys(BETTER, 125)
    reasons: dict[str, int] = dict(db.execute(REASONS, (BEST,)).fetchall())
    assert reasons["RESOURCES"] == 100
    assert sum(reasons.values()) == 100 + 200
    assert (
        one(db, "select count(*) from howdah.audit_journal where event = 'discarded' and reliability <> %s", (BEST,))
        == 0
    )


@pytest.mark.slow
@pytest.mark.behaviour("SIB-19")
@pytest.mark.parametrize("behaviour", ["reject", "block"])
def test_ten_thousand_sends_at_overload_discard_best_effort_alone(db: Db, behaviour: str) -> None:
    alter(db, f'{{"message_limit": 2000, "limit_behaviour": "{behaviour}", "send_timeout_ms": 1}}')
    for level in LEVELS:
        one(db, BATCH, (400, level))
    for number in range(10_000):
        is_taken(db, LEVELS[number % 5])
    left = stored(db)
    assert BEST not in left
    assert left == dict.fromkeys(BETTER, 500)


@pytest.mark.parametrize("limit", ["message_limit", "byte_limit"])
@pytest.mark.parametrize("place", ["ready", "parked"])
def test_a_full_queue_makes_room_out_of_best_effort_messages(db: Db, limit: str, place: str) -> None:
    alter(db, f'{{"{limit}": 4}}')
    delay = None if place == "ready" else "1 hour"
    for number in range(4):
        one(db, "select howdah.send('q', %s, delay => %s, reliability => %s)", (str(number), delay, BEST))
    one(db, SEND, ("q", "x", BETTER[-1]))
    assert stored(db) == {BEST: 3, BETTER[-1]: 1}
    one(db, BATCH, (3, BETTER[0]))
    assert stored(db) == {BETTER[0]: 3, BETTER[-1]: 1}
    refused(db, "HD018", SEND, ("q", "x", BETTER[-1]))
    one(db, SEND, ("q", "x", BEST))
    assert stored(db) == {BETTER[0]: 3, BETTER[-1]: 1}


@pytest.mark.parametrize("behaviour", ["remove_oldest", "remove_lowest_priority"])
def test_a_queue_that_removes_messages_removes_best_effort_first_and_no_other_for_one(db: Db, behaviour: str) -> None:
    alter(db, f'{{"message_limit": 3, "limit_behaviour": "{behaviour}"}}')
    one(db, SEND, ("q", "oldest", BETTER[-1]))
    one(db, SEND, ("q", "a", BEST))
    one(db, SEND, ("q", "b", BEST))
    one(db, SEND, ("q", "c", BEST))
    assert sorted(column(db, "select body from howdah.browse('q')")) == ["b", "c", "oldest"]
    one(db, BATCH, (2, BETTER[0]))
    assert stored(db) == {BETTER[0]: 2, BETTER[-1]: 1}
    one(db, SEND, ("q", "late", BEST))
    assert stored(db) == {BETTER[0]: 2, BETTER[-1]: 1}
    one(db, SEND, ("q", "new", BETTER[0]))
    assert sum(stored(db).values()) == 3


@pytest.mark.behaviour("SIB-01")
@pytest.mark.behaviour("SIB-02")
def test_in_red_best_effort_goes_silently_and_express_is_refused_and_kept(db: Db) -> None:
    one(db, "select howdah.create_queue('r')")
    one(db, "select howdah.alter_engine('{\"max_count\": 100}')")
    one(db, BATCH, (60, BETTER[0]))
    one(db, "select howdah.send_batch('r', array_fill('x'::text, array[30]), reliability => %s)", (BEST,))
    assert one(db, "select state from howdah.resource_state()") == "red"
    one(db, SEND, ("r", "dropped", BEST))
    assert one(db, "select count(*) from howdah.audit_messages where queue = 'r'") == 30
    one(db, BATCH, (29, BETTER[0]))
    assert one(db, "select count(*) from howdah.audit_messages where queue = 'r'") == 0
    assert stored(db) == {BETTER[0]: 89}
    one(db, SEND, ("q", "x", BETTER[0]))
    refused(db, "HD027", SEND, ("q", "x", BETTER[0]))
    refused(db, "HD027", SEND, ("q", "x", BETTER[-1]))
    one(db, SEND, ("r", "dropped", BEST))
    assert stored(db) == {BETTER[0]: 90}
    reasons = db.execute(
        "select reason, count(*) from howdah.audit_journal where event = 'discarded' and queue = 'r' group by 1"
    ).fetchall()
    assert dict(reasons) == {"RESOURCES": 30, "NOT_STORED: HD027 the engine is full": 2}


def test_a_message_in_a_transactions_hands_is_not_discarded(db: Db, connect: Connect) -> None:
    alter(db, '{"message_limit": 2}')
    one(db, BATCH, (2, BEST))
    other = connect()
    with other.transaction():
        assert len(receive(other)) == 1
        one(db, SEND, ("q", "x", BETTER[0]))
        refused(db, "HD018", SEND, ("q", "x", BETTER[0]))
    assert stored(db) == {BETTER[0]: 1}


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
