"""The history of a message has its journal, its incidents and its acts, and says whether it is complete."""

from collections.abc import Iterator

import pytest
from search_support import send
from support import Clock, Db, fail, one

DAY = 86400


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


def test_a_messages_history_has_its_journal_its_incidents_and_its_acts(db: Db) -> None:
    one(db, 'select howdah.alter_queue(\'q\', \'{"journal_level": "full", "max_failed_deliveries": 3}\')')
    sent = send(db)
    fail(db, sent)
    one(db, "select howdah.discard('q', array[%s]::bigint[], 'enough')", (sent,))
    rows = db.execute("select * from howdah.message_history('q', %s)", (sent,)).fetchall()
    assert [row[1:3] for row in rows] == [
        ("journal", "sent"),
        ("incident", "returned"),
        ("journal", "discarded"),
        ("act", "discarded"),
        (None, None),
    ]
    assert rows[1][7]["attempt"] == 1
    assert rows[3][5:7] == (one(db, "select current_user"), "enough")
    assert rows[-1][9] is True


@pytest.fixture
def gone(db: Db, clock: Clock) -> int:
    """The number of a message that was sent five days ago, consumed three days ago, and has no failure."""
    one(db, "select howdah.alter_queue('q', '{\"journal_level\": \"full\"}')")
    clock.advance(-5 * DAY)
    sent = send(db)
    clock.advance(2 * DAY)
    one(db, "select message_id from howdah.receive('q')")
    clock.advance(3 * DAY)
    send(db)
    return sent


def looking_at(db: Db, function: str, text: str, few: str) -> Iterator[None]:
    """A look at the record that ends early."""
    definition = one(db, "select pg_get_functiondef(%s::regproc)", (f"howdah.{function}",))
    assert text in definition
    db.execute(definition.replace(text, few))
    yield
    db.execute(definition)


@pytest.fixture
def few_records(db: Db) -> Iterator[None]:
    yield from looking_at(db, "_history_of_journal", ":= 200000;", ":= 2;")


@pytest.fixture
def few_acts(db: Db) -> Iterator[None]:
    yield from looking_at(db, "message_history", ":= 10000;", ":= 2;")


HISTORY = "select event, looked, complete from howdah.message_history('q', %s)"


def test_the_history_of_a_message_that_is_gone_is_found_however_old(db: Db, gone: int) -> None:
    assert db.execute(HISTORY, (gone,)).fetchall() == [
        ("sent", None, None),
        ("consumed", None, None),
        (None, 3, True),
    ]


def test_the_history_of_a_message_that_is_gone_says_when_older_records_were_not_looked_at(
    db: Db, gone: int, few_records: None
) -> None:
    rows = db.execute(HISTORY, (gone,)).fetchall()
    assert rows[-1] == (None, 2, False)
    assert len(rows) < 3


def test_a_history_is_not_complete_if_older_acts_were_not_looked_at(
    db: Db, gone: int, clock: Clock, few_acts: None
) -> None:
    kept = one(db, "select message_id from howdah.browse('q')")
    for _ in range(2):
        one(db, "select howdah.park_messages('q', array[%s]::bigint[])", (kept,))
        one(db, "select howdah.retry('q', array[%s]::bigint[])", (kept,))
    assert [db.execute(HISTORY, (number,)).fetchall()[-1][2] for number in (gone, kept)] == [False, False]
    # Acts from before it was sent cannot be of it.
    clock.advance(60)
    later = send(db)
    assert db.execute(HISTORY, (later,)).fetchall()[-1][2] is True
