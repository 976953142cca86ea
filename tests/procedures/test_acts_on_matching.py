"""An operator's act deals with all messages that match, in batches, for a reason and under his name."""

import json
from typing import Any

import pytest
from search_support import ids, send
from support import SYSTEM, Connect, Db, column, deliver_and_fail, fail, one, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


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
    results: list[tuple[Any, ...]] = []
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
    acts = db.execute(
        "select act, actor, reason, cardinality(message_ids) from howdah.list_acts(%s, max_acts => 2)", (source,)
    ).fetchall()
    user = one(db, "select current_user")
    assert acts == [(done, user, "why", 1), (done, user, "why", 2)]


def test_messages_in_other_hands_are_left_and_counted(db: Db, connect: Connect) -> None:
    one(db, "select howdah.send('q', 'leased', priority => 9)")
    one(db, "select count(*) from howdah.lease('q')")
    held, free = send(db), send(db)
    holder = connect()
    with holder.transaction():
        assert column(holder, "select message_id from howdah.receive('q')") == [held]
        done = db.execute("select done, passed, complete from howdah.act_on_matching('q', 'discard', '{}', 'why')")
        assert done.fetchall() == [(1, 2, True)]
        assert one(db, "select message_ids from howdah.list_acts('q')") == [free]
    assert one(db, "select count(*) from howdah.list_leases('q')") == 1


def test_dead_messages_are_replayed_by_their_cause_and_none_without_a_home(db: Db) -> None:
    one(db, """select howdah.create_queue('gone', '{"max_failed_deliveries": 1}')""")
    disk, other = send(db), send(db)
    lost = one(db, "select howdah.send('gone', 'x')")
    fail(db, disk, error_text="disk full")
    fail(db, other, error_text="no order")
    deliver_and_fail(db, "gone", error_text="disk full")
    one(db, "select howdah.drop_queue('gone')")
    cause = column(db, "select last_fingerprint from howdah.list_poison() where message_id = %s", (disk,))[0]
    filter = json.dumps({"cause": cause})
    assert one(db, "select matching from howdah.count_matching(%s, %s)", (SYSTEM, filter)) == 2
    done = db.execute("select done, passed from howdah.act_on_matching(%s, 'replay', %s, 'why')", (SYSTEM, filter))
    assert done.fetchall() == [(1, 1)]
    assert ids(db) == {disk}
    assert set(column(db, "select message_id from howdah.list_poison()")) == {other, lost}


@pytest.mark.parametrize(
    "wrong",
    [
        "'burn', '{}', 'why'", "'discard', '{}', ' '", "'discard', '{}', null", "'discard', '{}', 'why', 0",
        "'move', '{}', 'why'", "'discard', '{}', 'why', 5, '{\"target\": \"q\"}'", "'discard', '{}', 'why', 5, '[]'",
    ],
)  # fmt: skip
def test_an_act_without_a_reason_or_with_a_wrong_option_is_refused(db: Db, wrong: str) -> None:
    send(db)
    refused(db, "HD005", f"select howdah.act_on_matching('q', {wrong})")
    assert len(ids(db)) == 1
