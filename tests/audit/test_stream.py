"""The journal as a stream: each row once, whatever commits when, and batches of a bounded size."""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise

import psycopg
import pytest
from support import Db, one
from thinned import thinned

from .journal_reader import journal
from .stream_readers import Stream, open_streams
from .traffic import receive, send

SCHEDULES = 20


@pytest.fixture
def queue(db: Db) -> str:
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    return "q"


@pytest.fixture
def stream(dsn: str) -> Iterator[Stream]:
    """Opens a reader of the test's database, with options."""
    yield from open_streams(dsn)


def opened(dsn: str) -> Db:
    """A connection whose transaction stays open."""
    return psycopg.connect(dsn)


def test_a_transaction_open_across_two_batches_is_read_once_when_it_commits(
    dsn: str, stream: Stream, db: Db, queue: str
) -> None:
    mine = stream()
    with opened(dsn) as late:
        send(late, queue, 3)
        send(db, queue, 2)
        assert len(mine.batch() or ()) == 2
        send(db, queue, 1)
        assert len(mine.batch() or ()) == 1
        assert mine.batch() is None
        late.commit()
    assert len(mine.batch() or ()) == 3
    assert mine.batch() is None
    assert mine.rows == journal(db)


def test_what_is_rolled_back_is_never_read_and_ends_nothing(dsn: str, stream: Stream, db: Db, queue: str) -> None:
    mine = stream()
    with opened(dsn) as undone:
        send(undone, queue, 3)
        with undone.transaction(force_rollback=True):
            send(undone, queue, 1)
        send(db, queue, 2)
        mine.drain()
        undone.rollback()
        send(undone, queue, 4)
        with undone.transaction(force_rollback=True):
            send(undone, queue, 1)
        undone.commit()
    mine.drain()
    assert mine.rows == journal(db)
    assert sum(mine.rows.values()) == 6


def test_a_batch_has_whole_transactions_of_no_more_messages_than_allowed(stream: Stream, db: Db, queue: str) -> None:
    for count in (4, 4, 4, 25, 1, 1, 9):
        send(db, queue, count)
    mine = stream(maxRowsPerBatch=10)
    sizes = []
    while (batch := mine.batch()) is not None:
        sizes.append(len(batch))
        assert mine.between(*mine.offsets[-2:]) == batch, "the batch again, as after a crash"
    assert sizes == [8, 4, 25, 2, 9]
    assert mine.rows == journal(db)


def test_an_old_open_transaction_holds_no_batch_up_and_makes_none_larger(
    dsn: str, stream: Stream, db: Db, queue: str
) -> None:
    with opened(dsn) as old:
        send(old, queue, 2)
        mine = stream(maxRowsPerBatch=5)
        for _ in range(6):
            send(db, queue, 3)
        sizes = [len(mine.batch() or ()) for _ in range(6)]
        assert sizes == [3] * 6
        assert mine.batch() is None
        old.commit()
    assert len(mine.batch() or ()) == 2
    assert mine.rows == journal(db)


def test_available_now_ends_at_what_was_there_when_it_began(dsn: str, stream: Stream, db: Db, queue: str) -> None:
    mine = stream(maxRowsPerBatch=2)
    send(db, queue, 2)
    with opened(dsn) as late:
        send(late, queue, 2)
        mine.reader.prepareForTriggerAvailableNow()
        late.commit()
    send(db, queue, 2)
    mine.drain()
    assert sum(mine.rows.values()) == 2
    again = stream(maxRowsPerBatch=2)
    again.offset, again.rows = mine.offset, mine.rows
    again.drain()
    assert again.rows == journal(db)


@pytest.mark.first_case
@pytest.mark.parametrize("seed", thinned(range(SCHEDULES), 4))
def test_random_writers_with_late_commits_are_read_exactly(
    dsn: str, stream: Stream, db: Db, queue: str, seed: int
) -> None:
    chance = random.Random(seed)
    mine = stream(maxRowsPerBatch=chance.choice([1, 3, 10, 1000]), partitions=chance.choice([1, 3]))
    with ExitStack() as stack:
        writers = [stack.enter_context(opened(dsn)) for _ in range(5)]
        for _ in range(60):
            writer = chance.choice(writers)
            match chance.randrange(8):
                case 0 | 1 | 2:
                    send(writer, queue, chance.randrange(1, 6))
                case 3:
                    receive(writer, queue, chance.randrange(1, 4))
                case 4:
                    with writer.transaction(force_rollback=chance.random() < 0.5):
                        send(writer, queue, 1)
                case 5:
                    writer.commit()
                case 6:
                    writer.rollback() if chance.random() < 0.4 else writer.commit()
                case 7:
                    batch = mine.batch()
                    assert batch is None or mine.limit is None or within(batch, mine.limit)
        for writer in writers:
            writer.commit()
    mine.drain()
    assert mine.rows == journal(db), seed
    assert monotonic([offset["snapshot"] for offset in mine.offsets])


def within(batch: list[tuple[int, str, int]], limit: int) -> bool:
    """Whether a batch keeps the limit, or is one transaction (and what has nothing to be read)."""
    return len(batch) <= limit or len({xid for _, _, xid in batch}) == 1


def seen(snapshot: str) -> tuple[int, set[int]]:
    """A snapshot's end, and what is open below it."""
    _, end, still_open = snapshot.split(":")
    return int(end), {int(xid) for xid in still_open.split(",") if xid}


def monotonic(snapshots: list[str]) -> bool:
    """Whether each snapshot sees all that the one before saw."""
    for (earlier_end, earlier_open), (end, still_open) in pairwise(map(seen, snapshots)):
        if end < earlier_end or {xid for xid in still_open if xid < earlier_end} - earlier_open:
            return False
    return True


def test_latest_and_a_snapshot_are_places_to_begin(stream: Stream, db: Db, queue: str) -> None:
    send(db, queue, 3)
    place: str = one(db, "select howdah.journal_offset() ->> 'snapshot'")
    send(db, queue, 2)
    latest, given = stream(startingOffsets="latest"), stream(startingOffsets=place)
    send(db, queue, 1)
    assert len(latest.batch() or ()) == 1
    assert len(given.batch() or ()) == 3


def test_only_rows_of_the_queues_asked_for_and_of_moves_into_them_are_read(stream: Stream, db: Db, queue: str) -> None:
    db.execute("select howdah.create_queue('other', '{\"journal_level\": \"full\"}')")
    mine = stream(queues="other, none", maxRowsPerBatch=2)
    send(db, queue, 30)
    (message,) = send(db, "other", 1)
    moved = send(db, queue, 2)
    db.execute("select howdah.move_messages('q', %s, 'other')", [moved])
    mine.drain()
    assert {row[:2] for row in mine.rows} == {(message, "sent"), *((number, "moved") for number in moved)}
    send(db, queue, 1)
    assert mine.batch() == [], "nothing for it, and yet it goes on"


def test_every_column_is_what_the_view_has(stream: Stream, db: Db, queue: str) -> None:
    (number,) = send(db, queue, 1)
    db.execute("select howdah.discard(%s, %s, 'no use')", [queue, [number]])
    db.execute('select howdah.alter_queue(%s, \'{"message_groups": "transaction"}\')', [queue])
    grouped = one(
        db, "select howdah.send(%s, 'x', time_to_live => '1 hour', headers => '{\"JMSXGroupID\": \"g\"}')", [queue]
    )
    assert receive(db, queue) == [grouped]
    mine = stream(partitions=1)
    (partition,) = mine.reader.partitions(mine.offset, one(db, "select howdah.journal_offset()"))
    (records,) = mine.reader.read(partition)
    names = ", ".join(records.schema.names)
    view = db.execute("select * from howdah.audit_journal where false").description
    assert {column.name for column in view or ()} - set(records.schema.names) == {"place", "word"}
    assert all(any(row[name] is not None for row in records.to_pylist())
               for name in ("oldest_sent_at", "expires_at", "group_id", "priority", "settled_xid",
                            "digest"))  # fmt: skip
    assert [tuple(row.values()) for row in records.to_pylist()] == db.execute(
        f"select {names} from howdah.audit_journal order by xid".encode()
    ).fetchall()


def test_folded_rows_are_calls(stream: Stream, db: Db, queue: str) -> None:
    numbers = send(db, queue, 3)
    mine = stream(folded=True)
    (partition,) = mine.reader.partitions(mine.offset, one(db, "select howdah.journal_offset()"))
    (records,) = mine.reader.read(partition)
    assert records.to_pylist()[0]["message_ids"] == numbers


def test_a_broken_connection_between_two_batches_is_replaced(stream: Stream, db: Db, queue: str) -> None:
    mine = stream()
    send(db, queue, 1)
    mine.drain()
    db.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah journal'"
        " and datname = current_database()"
    )
    send(db, queue, 1)
    mine.drain()
    assert mine.rows == journal(db)
