"""The journal as a stream: each row once, whatever commits when; batches of a bounded size; loss is an error."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from support import Clock, Connect, Db, one
from thinned import thinned

from howdah.audit import AuditError
from howdah.audit.stream import HowdahJournal
from howdah.engine.errors import ForeignOffset, JournalGone

from .journal_reader import Reader, journal
from .traffic import receive, send

SCHEDULES = 20


@pytest.fixture
def queue(db: Db) -> str:
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    return "q"


Stream = Callable[..., Reader]


@pytest.fixture
def stream(dsn: str) -> Iterator[Stream]:
    """Opens a reader of the test's database, with options."""
    readers = []

    def open_one(**more: Any) -> Reader:
        readers.append(Reader(dsn, **more))
        return readers[-1]

    yield open_one
    for reader in readers:
        reader.reader.stop()


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


def drop_the_past(db: Db, clock: Clock) -> None:
    """Let retention drop what has been written until now."""
    clock.advance(100 * 86400)
    db.execute("select howdah.maintain_journal()")


def in_a_week_of_its_own(db: Db) -> None:
    """Partitions for the weeks around now, which the tests' databases have only two of."""
    db.execute("select howdah.maintain_journal()")


def test_rows_that_retention_dropped_unread_are_an_error_that_can_be_waived(
    stream: Stream, db: Db, queue: str, clock: Clock
) -> None:
    in_a_week_of_its_own(db)
    send(db, queue, 3)
    behind, waived, done = stream(), stream(failOnDataLoss=False), stream()
    done.drain()
    drop_the_past(db, clock)
    assert journal(db) == {}
    send(db, queue, 2)
    with pytest.raises(JournalGone, match="failOnDataLoss=false"):
        behind.batch()
    assert len(waived.batch() or ()) == 2
    assert len(done.batch() or ()) == 2
    strict = stream()
    strict.offset = waived.offset
    assert strict.batch() is None, "what was waived is not held against it forever"
    assert len(stream().batch() or ()) == 2, "who begins at the earliest has lost nothing"


def test_rows_dropped_between_planning_and_reading_are_an_error(
    stream: Stream, db: Db, queue: str, clock: Clock
) -> None:
    in_a_week_of_its_own(db)
    send(db, queue, 3)
    mine = stream()
    partitions = mine.reader.partitions(mine.offset, one(db, "select howdah.journal_offset()"))
    drop_the_past(db, clock)
    with pytest.raises(JournalGone):
        [*mine.reader.read(partitions[0])]


def test_retention_waits_for_a_reader_and_drops_next_time(stream: Stream, db: Db, queue: str, clock: Clock) -> None:
    in_a_week_of_its_own(db)
    send(db, queue, 3)
    mine = stream()
    partitions = mine.reader.partitions(mine.offset, one(db, "select howdah.journal_offset()"))
    reading = mine.reader.read(partitions[0])
    assert next(reading).num_rows == 3
    drop_the_past(db, clock)
    assert one(db, "select journal_dropped_xid from howdah.engine") == 0
    assert [*reading] == []
    db.execute("select howdah.maintain_journal()")
    assert one(db, "select journal_dropped_xid > 0 from howdah.engine")


def test_an_offset_of_another_cluster_or_of_the_future_is_refused(stream: Stream, db: Db, queue: str) -> None:
    mine = stream()
    send(db, queue, 1)
    mine.offset = mine.offset | {"system": "1"}
    with pytest.raises(ForeignOffset, match="another cluster"):
        mine.batch()
    ahead = stream()
    ahead.offset = ahead.offset | {"snapshot": "9000000:9000000:"}
    with pytest.raises(ForeignOffset, match="set back"):
        ahead.batch()


def test_the_auditor_reads_and_others_do_not(dsn: str, db: Db, queue: str, connect: Connect) -> None:
    send(db, queue, 1)
    auditor = connect("howdah_auditor")
    offset = one(auditor, "select howdah.next_journal_offset(howdah.journal_offset('earliest'))")
    assert offset["snapshot"] != "1:1:"
    assert one(auditor, "select count(*) from howdah.audit_journal_calls") == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect("howdah_producer").execute("select howdah.journal_offset()")


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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"maxRows": "5"}, "unknown option 'maxRows'"),
        ({"partitions": "0"}, "partitions must be a number"),
        ({"maxRowsPerBatch": "many"}, "maxRowsPerBatch must be a number"),
        ({"folded": "perhaps"}, "folded must be true or false"),
    ],
)
def test_wrong_options_are_named(given: dict[str, str], said: str) -> None:
    with pytest.raises(AuditError, match=said):
        HowdahJournal({"dsn": "host=localhost", **given})


def test_a_password_does_not_go_into_the_dsn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOWDAH_DSN", raising=False)
    with pytest.raises(AuditError, match="name the database"):
        HowdahJournal({})
    with pytest.raises(AuditError, match="would show in Spark's plans"):
        HowdahJournal({"dsn": "postgresql://me:secret@localhost/db"})
    monkeypatch.setenv("HOWDAH_DSN", "postgresql://me:secret@localhost/db")
    assert "secret" not in repr(HowdahJournal({})._options)
    assert conninfo_to_dict(HowdahJournal({})._options.dsn)["password"] == "secret"


def test_a_place_that_is_none_is_refused(stream: Stream) -> None:
    with pytest.raises(Exception, match="is no place in the journal"):
        stream(startingOffsets="yesterday")
