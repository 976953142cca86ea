"""A reader of the log gets each committed event once, if it may see it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from policy_support import Create, outcomes, send
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, one

READ = "select howdah.read_log('shop')"


def say(db: Db, text: str, level: str = "INFO") -> None:
    db.execute("select howdah.log(%s, %s)", (level, text))


def texts(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["text"] for entry in entries]


def since(db: Db, position: Any, most: int = 1000) -> tuple[Any, list[str], bool]:
    """The next position, the texts read, and whether there is more."""
    row = db.execute("select * from howdah.log_since(%s, %s)", (Jsonb(position) if position else None, most)).fetchone()
    assert row is not None
    return row[0], texts(row[1]), row[2]


def test_a_rolled_back_event_is_not_logged(db: Db) -> None:
    one(db, READ)
    with db.transaction(force_rollback=True):
        say(db, "never")
    say(db, "always")
    assert texts(one(db, READ)) == ["always"]


def test_a_reader_gets_what_is_committed_late_and_waits_for_no_open_transaction(db: Db, connect: Connect) -> None:
    late, other = connect(), connect()
    one(db, READ)
    with late.transaction():
        say(late, "first, committed last")
        with other.transaction():
            say(other, "second")
        assert texts(one(db, READ)) == ["second"]
        say(db, "third")
        assert texts(one(db, READ)) == ["third"]
    assert texts(one(db, READ)) == ["first, committed last"]
    assert one(db, READ) == []


def test_a_reader_goes_on_where_its_last_committed_call_ended(db: Db, connect: Connect) -> None:
    one(db, READ)
    say(db, "a")
    with db.transaction(force_rollback=True):
        assert texts(one(db, READ)) == ["a"]
    again = connect()
    assert texts(one(again, READ)) == ["a"]
    assert one(again, READ) == one(db, READ) == []


def test_of_two_that_read_under_one_name_one_gets_an_event(db: Db, connect: Connect) -> None:
    other = connect()
    one(db, READ)
    say(db, "a")
    with db.transaction():
        assert texts(one(db, READ)) == ["a"]
        one(other, "select set_config('lock_timeout', '100ms', false)")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            one(other, READ)
    assert one(other, READ) == []


def test_a_new_reader_begins_now_and_each_has_a_place_of_its_own(db: Db) -> None:
    say(db, "before")
    assert one(db, READ) == []
    say(db, "after")
    assert one(db, "select howdah.read_log('other')") == []
    assert texts(one(db, READ)) == ["after"]


def test_pages_show_each_event_once_though_others_are_written_meanwhile(db: Db) -> None:
    position, found, _ = since(db, None)
    for number in range(5):
        say(db, str(number))
    read = []
    more = True
    while more:
        position, found, more = since(db, position, 2)
        read += found
        say(db, f"later {len(read)}")
    assert read == ["0", "1", "2", "3", "4"]
    assert since(db, position)[1] == ["later 2", "later 4", "later 5"]


def test_a_place_of_another_cluster_is_now(db: Db) -> None:
    position, _, _ = since(db, {"since": "900000000000:900000000001:"})
    say(db, "a")
    assert since(db, position)[1] == ["a"]


def test_administrators_and_auditors_see_all_and_others_what_they_may_receive_or_browse(
    db: Db, create: Create, connect: Connect
) -> None:
    create(max_failed_deliveries=1)
    create("other", max_failed_deliveries=1)
    db.execute("create role only_other")
    try:
        db.execute("grant howdah_producer to only_other")
        db.execute("grant execute on function howdah.log_since, howdah.list_log to only_other")
        one(db, "select howdah.grant_queue('other', 'receive', 'only_other')")
        readers = {name: connect(name) for name in ("howdah_admin", "howdah_auditor", "only_other")}
        positions = {name: since(reader, None)[0] for name, reader in readers.items()}
        for queue in ("q", "other"):
            send(db, queue)
            outcomes(db, 1, queue)
        say(db, "by the owner")
        say(readers["only_other"], "my own")
        one(db, "select howdah.pause_engine()")
        all_texts = ["message reached its limit"] * 2 + ["by the owner", "my own", "engine paused"]
        for name, seen in (
            ("howdah_admin", all_texts),
            ("howdah_auditor", all_texts),
            ("only_other", ["message reached its limit", "my own", "engine paused"]),
        ):
            assert since(readers[name], positions[name])[1] == seen
            listed = readers[name].execute("select text, destination, logged_event from howdah.list_log()").fetchall()
            assert [row[0] for row in reversed(listed) if row[2] != "CONFIG_CHANGED"] == seen
        assert {row[1] for row in listed} == {"other", None}
    finally:
        db.execute("drop owned by only_other; drop role only_other")


def test_a_producer_reads_no_log(connect: Connect) -> None:
    producer = connect("howdah_producer")
    for statement in ("select howdah.list_log()", "select howdah.log_since()", READ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            producer.execute(statement.encode())


def test_old_events_and_readers_are_deleted(db: Db, clock: Clock) -> None:
    one(db, "select howdah.alter_engine('{\"log_retention_days\": 2}')")
    one(db, READ)
    say(db, "old")
    clock.advance(86400 * 1.5)
    say(db, "young")
    assert one(db, "select howdah.maintain_log()") == 0
    clock.advance(86400)
    assert one(db, "select howdah.maintain_log()") == 1
    assert one(db, "select array_agg(text) from howdah.list_log(event => 'log')") == ["young"]
    assert one(db, "select count(*) from howdah.log_readers") == 0


def test_an_idle_reader_writes_nothing(db: Db) -> None:
    one(db, READ)
    before = one(db, "select xmin::text from howdah.log_readers")
    for _ in range(3):
        one(db, READ)
    assert one(db, "select xmin::text from howdah.log_readers") == before
