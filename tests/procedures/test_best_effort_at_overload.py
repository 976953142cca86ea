"""When resources are short, best-effort messages go first and others stay."""

from __future__ import annotations

import psycopg
import pytest
from support import Connect, Db, column, one, receive, refused

from howdah.schema.destinations import LEVELS

BEST, *BETTER = LEVELS

SEND = "select howdah.send(%s, %s, reliability => %s)"

BATCH = "select howdah.send_batch('q', array_fill('x'::text, array[%s]), reliability => %s)"

STORED = "select reliability, count(*) from howdah.audit_messages where queue = 'q' group by reliability"

REASONS = "select reason, count(*) from howdah.audit_journal where event = 'discarded' and reliability = %s group by 1"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def alter(db: Db, options: str, queue: str = "q") -> None:
    one(db, "select howdah.alter_queue(%s, %s)", (queue, options))


def stored(db: Db) -> dict[str, int]:
    return dict(db.execute(STORED).fetchall())


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
