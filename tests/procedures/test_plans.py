"""How a receive finds its messages, by PostgreSQL's own counters of the calling transaction."""

import psycopg
import pytest
from support import Clock, Connect, Db, column, counting, fail, measured, one, receive
from topics_support import publish, subscribe, topic

LARGE = 100_000
TABLES = ("msgs", "msgs_nonpersistent", "parked", "poison_details")


def sequential(db: Db) -> dict[str, int]:
    """Rows that the open transaction has read by sequential scans of the hot tables."""
    rows = db.execute(
        "select relname::text, seq_tup_read from pg_stat_xact_user_tables where schemaname = 'howdah'"
        " and relname = any (%s) and seq_tup_read > 0",
        (list(TABLES),),
    ).fetchall()
    return dict(rows)


def fill(db: Db, extra: str = "") -> None:
    one(db, f"select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, {LARGE})){extra}))")


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ["receive", "receive_locked", "browse"])
@pytest.mark.parametrize("analyzed", [True, False])
def test_a_call_reads_a_long_queue_by_its_key_though_its_plan_was_made_when_the_queue_was_empty(
    db: Db, verb: str, analyzed: bool
) -> None:
    one(db, "select howdah.create_queue('q')")
    db.execute("vacuum analyze howdah.msgs")
    for _ in range(8):
        receive(db, verb=verb)
    fill(db)
    if analyzed:
        db.execute("analyze howdah.msgs")
    for count in (1, 100):
        with counting(db):
            assert len(receive(db, n=count, verb=verb)) == count
            assert sequential(db) == {}


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-55")
def test_a_receive_from_one_of_ten_thousand_queues_reads_its_own_messages_by_their_key(db: Db, dsn: str) -> None:
    for first in range(0, 10_000, 500):
        one(
            db,
            "select count(howdah.create_queue('many.' || n)) from generate_series(%s::int, %s) n",
            (first, first + 499),
        )
    one(
        db,
        "select count(howdah.send_batch('many.' || n, array(select 'x' from generate_series(1, 10))))"
        " from generate_series(0, 9999) n",
    )
    db.execute("vacuum analyze howdah.msgs")
    pages = one(db, "select pg_relation_size('howdah.msgs') / current_setting('block_size')::int")
    assert pages > 1000
    # New, for the one that made them all remembers each.
    with psycopg.connect(dsn, autocommit=True) as consumer:
        for number in (1, 2, 3):
            assert len(receive(consumer, f"many.{number}", 10)) == 10
        for number in (17, 5000, 9999):
            with counting(consumer):
                read = measured(consumer, f"select * from howdah.receive('many.{number}', 10)")
                assert read["Actual Rows"] == 10
                assert sequential(consumer) == {}
                assert read["Buffers"] < 200, "of which its ten messages are a few"


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("analyzed", [True, False])
def test_a_queue_with_parked_and_non_persistent_messages_is_read_by_keys_too(
    db: Db, clock: Clock, analyzed: bool
) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x', delay => '1 s')")
    one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
    clock.advance(1)
    db.execute("vacuum analyze howdah.msgs, howdah.msgs_nonpersistent, howdah.parked, howdah.poison_details")
    for _ in range(8):
        receive(db)
    fill(db, ", delay => '1 hour'")
    fill(db, ", delivery_mode => 'non-persistent'")
    if analyzed:
        db.execute("analyze howdah.msgs, howdah.msgs_nonpersistent, howdah.parked, howdah.poison_details")
    with counting(db):
        assert len(receive(db, n=10)) == 10
        assert sequential(db) == {}
    clock.advance(3600)
    with counting(db):
        assert len(receive(db, n=10)) == 10
        assert sequential(db) == {}


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_a_receive_of_what_was_set_aside_reads_and_locks_no_more_than_it_takes(
    db: Db, clock: Clock, connect: Connect, shared: bool
) -> None:
    topic(db)
    name = subscribe(db, shared=shared)
    (number,) = publish(db, "x")
    fail(db, number, name, delay="1 h")
    position = one(db, "select seq from howdah.parked")
    waiting = (
        "insert into howdah.parked select (jsonb_populate_record(p, jsonb_build_object('message_id',"
        " p.message_id + n * 1000000::bigint, 'seq', p.seq + n, 'rank', n % 3,"
        " 'due_at', p.due_at + n * interval '1 ms'))).* from howdah.parked p cross join generate_series(1, 10000) n"
    )
    db.execute(waiting.encode())
    db.execute("vacuum analyze howdah.parked")
    call = f"select * from howdah.receive('{name}', 10)"
    measured(db, call)
    assert measured(db, call)["Buffers"] < 150, "nothing is due, and the plans are made"
    clock.advance(3700)
    measured(db, call)
    with counting(db):
        read = measured(db, call)
        assert (read["Actual Rows"], sequential(db)) == (10, {})
        assert read["Buffers"] < 500
        if shared:
            found = connect().execute(f"select min(priority), min(position) - {position} from howdah.receive('{name}')")
            assert found.fetchone() == (9, 63), "of the highest priority, each third: the next after twice ten"


def published(db: Db) -> int:
    """Rows of topic messages that the open transaction has read."""
    number: int = one(
        db,
        "select sum(seq_tup_read + idx_tup_fetch) from pg_stat_xact_user_tables where relname ~ '^topic_(msgs|nonp)'",
    )
    return number


@pytest.mark.parametrize("named", ["array[min(message_id)]", "array[min(message_id), max(message_id)]"])
def test_an_acknowledgement_reads_a_page_of_what_else_is_leased_not_all_of_it(db: Db, named: str) -> None:
    topic(db)
    name = subscribe(db)
    one(db, "select howdah.send_batch('t', array(select 'x' from generate_series(1, 3000)))")
    number, ids = db.execute(
        f"select min(lease), {named} from howdah.lease(%s, 3000, '1 h')".encode(), (name,)
    ).fetchall()[0]
    db.execute("vacuum analyze howdah.acked")
    with counting(db):
        assert one(db, "select howdah.ack(%s, %s, %s)", (name, number, ids)) == len(ids)
        read = one(
            db,
            "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables where relid = 'howdah.acked'::regclass",
        )
        assert read < 1500
    assert one(db, "select behind from howdah.list_subscriptions('t')") == 2999, "up to what is leased"


def test_leases_that_ended_together_are_found_on_one_way_through_the_topic(db: Db, clock: Clock) -> None:
    topic(db)
    name = subscribe(db)
    sent = one(db, "select howdah.send_batch('t', array(select 'x' from generate_series(1, 300)))")
    leased = column(db, "select message_id from howdah.lease(%s, 300, '1 s')", (name,))
    assert leased == sent
    clock.advance(2)
    with counting(db):
        assert receive(db, name)[0].delivery_count == 2
        assert published(db) < 5000
    assert column(db, "select message_id from howdah.poison_details order by 1") == sent


def test_a_failure_is_recorded_by_keys(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    for _ in range(8):
        fail(db, one(db, "select howdah.send('q', 'x')"))
    fill(db)
    (message,) = receive(db, verb="browse")
    with counting(db):
        assert fail(db, message.message_id, priority=message.priority, position=message.position)[2] == "returned"
        assert sequential(db) == {}


NAMED = {
    "move": "howdah.move_messages('q', %s, 'other')",
    "park": "howdah.park_messages('q', %s)",
    "retry": "howdah.retry('q', %s)",
    "discard": "howdah.discard('q', %s, 'old')",
    "replay": "howdah.replay('q', %s, 'other')",
}
LYING = (
    "select count(*) from (select message_id from howdah.msgs union all select message_id from howdah.parked"
    " union all select message_id from howdah.msgs_nonpersistent) m where message_id = any (%s)"
)


@pytest.mark.first_case
@pytest.mark.parametrize("analyzed", [True, False])
def test_acts_on_named_messages_of_a_long_queue_find_them_by_their_keys(db: Db, analyzed: bool) -> None:
    """Wherever they lie: ready with any priority, parked, non-persistent, moved there or dead."""
    for queue in ("q", "other"):
        one(db, f"select howdah.create_queue('{queue}')")
    one(db, "select howdah._sweep_lost()")  # once after each start
    fill(db)
    for act, call in NAMED.items():
        ids = [one(db, f"select howdah.send('q', 'x', priority => {priority})") for priority in (0, 9)]
        ids.append(one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')"))
        ids.append(one(db, "select howdah.send('other', 'x')"))
        one(db, "select howdah.move_messages('other', %s, 'q')", (ids[-1:],))
        one(db, "select howdah.park_messages('q', %s)", (ids if act == "retry" else ids[:1],))
        if analyzed:
            db.execute("analyze howdah.msgs, howdah.parked, howdah.msgs_nonpersistent, howdah.moved")
        with counting(db):
            assert measured(db, f"select {call}", (ids,))["Buffers"] < 2000, act
            assert sequential(db) == {}, act
        assert one(db, LYING, (ids,)) == (0 if act == "discard" else 4), act
