"""Calls go by keys though the planner has statistics of a time when the queue was empty."""

import json

import pytest
from support import Clock, Db, column, counting, one, rows_read

LEASED = "select min(lease), array_agg(message_id) from howdah.lease('q', 20, '1 h')"
HELD = "select array_agg(message_id), array_agg(priority), array_agg(position) from howdah.receive_locked('q', 20)"
FAILED = (
    "select jsonb_agg(jsonb_build_object('message_id', message_id, 'priority', priority, 'position', position,"
    " 'error_text', 'x'))::text from howdah.receive_locked('q', 20)"
)
READY = "select array_agg(message_id) from howdah.browse('q', 20)"
PARKED = f"select ids from ({READY}) f(ids) where howdah.park_messages('q', ids) = 20"
DELAYED = "select array_agg(message_id) from howdah.list_delayed('q', 20)"
SETTLING = {
    "select howdah.consume_locked('q', %s, %s, %s)": HELD,
    "select count(*) from howdah.settle_failures('q', %s, %s, %s)": HELD,
    "select count(*) from howdah.record_failures('q', %s, true)": FAILED,
    "select count(*) from howdah.record_failures('q', %s)": FAILED.replace("receive_locked", "browse"),
    "select howdah.ack('q', %s, %s)": LEASED,
    "select count(*) from howdah.nack('q', %s, %s)": LEASED,
    "select count(*) from howdah.nack('q', %s)": LEASED.replace(", array_agg(message_id)", ""),
    "select howdah.release('q', %s)": LEASED.replace(", array_agg(message_id)", ""),
    "select howdah.extend('q', %s, message_ids => %s)": LEASED,
    "select howdah.extend('q', %s)": LEASED.replace(", array_agg(message_id)", ""),
    "select count(*) from howdah.lease('q', 20, '1 h', 'JMSPriority = 4')": "select",
    "select howdah.move_messages('q', %s, 'long')": READY,
    "select howdah.park_messages('q', %s)": READY,
    "select howdah.discard('q', %s, 'old')": READY,
    "select howdah.replay('q', %s, 'long')": READY,
    "select howdah.retry('q', %s)": PARKED,
    "select howdah.discard('q', %s, 'late')": PARKED,
    "select howdah.cancel_delayed('q', %s)": DELAYED,
}


@pytest.mark.first_case
@pytest.mark.parametrize("call", SETTLING)
def test_a_batch_is_settled_by_its_keys_though_the_queue_was_empty_when_the_tables_were_analyzed(
    db: Db, call: str
) -> None:
    """A drained queue beside a long one: the planner then takes every join with the queue for a join with no row."""
    for queue in ("long", "q"):
        one(db, f"select howdah.create_queue('{queue}', '{{\"max_failed_deliveries\": 90}}')")
        for kind in ("", ", delivery_mode => 'non-persistent'", ", delay => '10 h'"):
            bodies = "array(select 'x' from generate_series(1, 2000))"
            one(db, f"select cardinality(howdah.send_batch('{queue}', {bodies}{kind}))")
        one(db, f"select count(*) from howdah.lease('{queue}', 500, '1 h')")
        numbers = column(db, f"select message_id from howdah.browse('{queue}', 300)")
        assert one(db, "select count(*) from howdah.record_failures(%s, %s)", (queue, failing(numbers))) == 300
        if queue == "long":
            db.execute("vacuum analyze")
    for _ in range(7):  # the last with the plan that the session keeps
        with counting(db):
            (given,) = db.execute(SETTLING[call].encode()).fetchall()
            before = rows_read(db)
            assert one(db, call, given) is not None
            assert {name: rows for name, rows in rows_read(db).items() if rows - before[name] > 1000} == {}


@pytest.mark.parametrize("kind", ["delivery_mode => 'non-persistent'", "delay => '1 s'"])
def test_a_selector_takes_what_it_found_by_key(db: Db, clock: Clock, kind: str) -> None:
    """PostgreSQL before 17 reads a whole lane to have it in order, if only the list of positions says which."""
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah._sweep_lost()")  # once after each start
    one(db, f"select cardinality(howdah.send_batch('q', array_fill('x'::text, array[3000]), {kind}))")
    clock.advance(2)
    for _ in range(7):  # the last with the plan that the session keeps
        with counting(db):
            assert one(db, "select count(*) from howdah.receive('q', 20, selector => 'JMSPriority = 4')") == 20
            assert {name: rows for name, rows in rows_read(db).items() if rows > 1000} == {}


def test_the_first_and_the_last_of_what_waits_are_found_without_the_others(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    sent = one(db, "select howdah.send_batch('q', array_fill('x'::text, array[3000]), delay => '1 h')")
    for _ in range(7):  # the last with the plan that the session keeps
        with counting(db):
            assert one(db, "select howdah.cancel_delayed('q', %s)", ([sent.pop(0), sent.pop()],)) == 2
            assert rows_read(db)["parked"] < 100


def failing(numbers: list[int]) -> str:
    return json.dumps([{"message_id": number, "error_text": "x"} for number in numbers])
