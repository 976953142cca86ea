"""What a stream can no longer read is an error that names what to do, and is never skipped."""

from collections.abc import Iterator

import pytest
from support import Clock, Db, one

from howdah.engine.errors import ForeignOffset, JournalGone

from .journal_reader import journal
from .stream_readers import Stream, open_streams
from .traffic import send


@pytest.fixture
def queue(db: Db) -> str:
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    return "q"


@pytest.fixture
def stream(dsn: str) -> Iterator[Stream]:
    """Opens a reader of the test's database, with options."""
    yield from open_streams(dsn)


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
