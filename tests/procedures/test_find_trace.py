"""Messages and failures of a trace are found in all queues that the caller may browse."""

import json
from typing import Any

import pytest
from psycopg.types.json import Jsonb
from search_support import FIND, ids, send
from support import Connect, Db, deliver_and_fail, one, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACED = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


def traced(db: Db, rows: int) -> tuple[list[tuple[Any, ...]], int]:
    """What names the trace, in pages of so many rows, and how many messages were looked at."""
    found: list[tuple[Any, ...]] = []
    looked, after = 0, None
    while True:
        *page, end = db.execute(
            "select message_id, queue_name, state, source, cursor, looked, complete"
            " from howdah.find_trace(%s, %s::jsonb, %s)",
            (TRACE, json.dumps(after) if after else None, rows),
        ).fetchall()
        assert len(page) <= 2 * rows
        found += [row[:4] for row in page]
        looked += end[5]
        after = end[4]
        if end[6]:
            assert after is None
            return found, looked


def test_messages_of_a_trace_are_found_in_all_queues_page_by_page(db: Db) -> None:
    one(db, "select howdah.create_queue('second')")
    one(db, "select howdah.create_queue('empty')")
    first = send(db, headers=TRACED)
    send(db)
    late = send(db, headers=TRACED, delay="1 h")
    leased = one(db, "select message_id from howdah.lease('q', 1, '1 h')")
    there = one(db, "select howdah.send('second', 'x', headers => %s)", (json.dumps(TRACED),))
    expected = {
        (first, "q", "leased", "header"),
        (late, "q", "delayed", "header"),
        (there, "second", "ready", "header"),
    }
    assert leased == first
    for rows in (1, 2, 3, 50):
        found, looked = traced(db, rows)
        assert set(found) == expected, rows
        assert len(found) == 3
        assert looked == 4
    assert ids(db, trace=TRACE) == {first, late}


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 50])
def test_a_page_of_a_trace_counts_failures_and_messages_together(db: Db, rows: int) -> None:
    failed = send(db)
    deliver_and_fail(db, details=Jsonb({"trace_id": TRACE}))
    sent = {send(db, headers=TRACED) for _ in range(2)}
    found, after, complete = [], None, False
    while not complete:
        *page, (*_, after, complete) = db.execute(
            "select message_id, source, cursor, complete from howdah.find_trace(%s, %s::jsonb, %s)",
            (TRACE, json.dumps(after) if after else None, rows),
        ).fetchall()
        assert len(page) <= rows
        found += [row[:2] for row in page]
    assert sorted(found) == sorted([(failed, "failure"), *((number, "header") for number in sent)])


def test_a_trace_is_found_only_where_the_caller_may_browse(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('secret')")
    here = send(db, headers=TRACED)
    hidden = one(db, "select howdah.send('secret', 'x', headers => %s)", (json.dumps(TRACED),))
    one(
        db,
        "select howdah.record_failure('secret', %s, 'E', 'x', details => %s)",
        (hidden, f'{{"trace_id": "{TRACE}"}}'),
    )
    reader = connect("howdah_browser")
    one(db, "select howdah.revoke_queue('secret', 'browse', 'howdah_browser')")
    assert [row[0] for row in traced(reader, 50)[0]] == [here]
    assert {row[0] for row in traced(db, 50)[0]} == {here, hidden}


@pytest.mark.parametrize("wrong", ["", "x", TRACE[:-1], TRACE + "0", None])
def test_what_is_no_trace_is_refused(db: Db, wrong: str | None) -> None:
    refused(db, "HD005", "select * from howdah.find_trace(%s)", (wrong,))
    if wrong is not None:
        refused(db, "HD005", FIND, (json.dumps({"trace": wrong}), None, 1))


@pytest.mark.parametrize("cursor", ['"x"', "[]", '{"queue": "x"}', '{"queue": 1, "place": 9}', '{"place": 1}'])
def test_a_cursor_that_no_search_for_a_trace_gave_is_refused(db: Db, cursor: str) -> None:
    refused(db, "HD005", "select * from howdah.find_trace(%s, %s::jsonb)", (TRACE, cursor))
