"""Finding messages, showing them without what is private, following them, and dealing with all that match."""

import json
from typing import Any

import pytest
from support import SYSTEM, Connect, Db, column, deliver_and_fail, fail, one, refused

FIND = "select * from howdah.find_messages('q', %s, %s, %s)"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


def send(db: Db, body: Any = "x", **options: Any) -> int:
    """A message in q; a body that is no text is sent as JSON."""
    kind = "text" if isinstance(body, str) else "jsonb"
    named = "".join(f", {name} => %({name})s" for name in options)
    options = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in options.items()}
    value = body if kind == "text" else json.dumps(body)
    sent: int = one(db, f"select howdah.send('q', %(sent)s::{kind}{named})", {"sent": value, **options})
    return sent


def pages(db: Db, filter: dict[str, Any], rows: int = 1000) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """All messages that match, and the last row of each page."""
    found, ends, after = [], [], None
    while not ends or not ends[-1][11]:
        *page, end = db.execute(FIND, (json.dumps(filter), json.dumps(after) if after else None, rows)).fetchall()
        assert end[0] is None and len(page) <= rows
        found += page
        ends.append(end)
        after = end[9]
    return found, ends


def ids(db: Db, **filter: Any) -> set[int]:
    """The messages that match."""
    found = [row[0] for row in pages(db, filter)[0]]
    assert len(found) == len(set(found))
    return set(found)


def test_messages_are_found_by_selector_header_body_priority_group_and_time(db: Db) -> None:
    plain = send(db, "about apples", priority=2)
    headed = send(db, "about pears", headers={"region": "EU", "n": 3}, priority=7)
    grouped = send(db, {"fruit": "plum"}, headers={"JMSXGroupID": "g"})
    sent_at = one(db, "select sent_at::text from howdah.find_messages('q', '{\"body\": \"pears\"}') limit 1")
    assert ids(db) == {plain, headed, grouped}
    assert ids(db, selector="region = 'EU' and n > 2") == {headed}
    assert ids(db, header={"region": "EU", "n": "3"}) == {headed}
    assert ids(db, body="apples") == {plain}
    assert ids(db, body="plum") == ids(db, group="g") == {grouped}
    assert ids(db, min_priority=5) == {headed}
    assert ids(db, min_priority=4) == {headed, grouped}
    assert ids(db, sent_before=sent_at) | ids(db, sent_after=sent_at) == {plain, headed, grouped}
    assert ids(db, sent_after="2100-01-01T00:00:00Z") == set()


def test_states_are_told_and_filtered(db: Db) -> None:
    ready, delayed, parked = send(db), send(db, delay="1 hour"), send(db)
    leased = one(db, "select howdah.send('q', 'l', priority => 9)")
    one(db, "select howdah.park_messages('q', array[%s]::bigint[])", (parked,))
    one(db, "select count(*) from howdah.lease('q')")
    dead = send(db)
    assert fail(db, dead)[2] == "moved"
    for state, message in (("ready", ready), ("delayed", delayed), ("parked", parked), ("leased", leased)):
        assert ids(db, state=state) == {message}
        assert one(db, "select state from howdah.show_message('q', %s)", (message,)) == state
    assert ids(db) == {ready, delayed, parked, leased}
    found = "select message_id from howdah.find_messages(%s, '{\"state\": \"dead\", \"origin\": \"q\"}')"
    assert column(db, found, (SYSTEM,)) == [dead, None]
    assert one(db, "select state from howdah.show_message(%s, %s)", (SYSTEM, dead)) == "dead"


def test_a_messages_history_has_its_journal_its_incidents_and_its_acts(db: Db) -> None:
    one(db, "select howdah.alter_queue('q', '{\"journal_level\": \"full\", \"max_failed_deliveries\": 3}')")
    sent = send(db)
    fail(db, sent)
    one(db, "select howdah.discard('q', array[%s]::bigint[], 'enough')", (sent,))
    rows = db.execute("select * from howdah.message_history('q', %s)", (sent,)).fetchall()
    assert [row[1:3] for row in rows] == [
        ("journal", "sent"), ("incident", "returned"), ("journal", "discarded"), ("act", "discarded"), (None, None)
    ]
    assert rows[1][7]["error_class"] if False else rows[1][6]
    assert rows[3][5:7] == (one(db, "select current_user"), "enough")
    assert rows[-1][9] is True


@pytest.mark.parametrize("act", ["retry", "move", "park", "discard", "replay"])
def test_each_act_deals_with_all_that_match_in_batches_under_the_callers_name(db: Db, act: str) -> None:
    one(db, "select howdah.create_queue('aside')")
    source = SYSTEM if act == "replay" else "q"
    sent = [send(db, headers={"n": n}) for n in range(5)]
    if act == "replay":
        for message in sent:
            fail(db, message)
    if act == "retry":
        one(db, "select howdah.park_messages('q', %s::bigint[])", (sent,))
    options: dict[str, Any] = {"target": "aside"} if act == "move" else {}
    results = []
    while not results or not results[-1][3]:
        results.append(
            db.execute(
                "select * from howdah.act_on_matching(%s, %s, '{\"selector\": \"n < 3\"}', 'why', 2, %s)",
                (source, act, json.dumps(options)),
            ).fetchall()[0]
        )
        options["after"] = results[-1][4]
    assert [row[:2] for row in results] == [(2, 0), (1, 0)]
    done = {"retry": "retried", "move": "moved", "park": "parked", "discard": "discarded", "replay": "replayed"}[act]
    acts = db.execute("select act, actor, reason, cardinality(message_ids) from howdah.list_acts(%s, max_acts => 2)",
        (source,)).fetchall()
    user = one(db, "select current_user")
    assert acts == [(done, user, "why", 1), (done, user, "why", 2)]
