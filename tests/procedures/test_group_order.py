"""Messages of a group come in order, whatever others look at, receive or give back meanwhile."""

from __future__ import annotations

import pytest
from consumers_support import open_consumer
from groups_support import send, take
from policy_support import Create
from psycopg import sql
from support import Connect, Db, column, one

QUEUE = "select d.id from howdah.destinations d where d.name = 'q'"


@pytest.fixture
def grouped(create: Create) -> None:
    create("q", message_groups="transaction")


@pytest.mark.slow
def test_what_is_sent_to_a_group_in_one_transaction_comes_in_its_order_though_others_were_received_between(
    db: Db, grouped: None, connect: Connect
) -> None:
    sender = connect()
    with sender.transaction():
        send(sender, "a1")
        for _ in range(200):
            send(db, *(f"{name}1" for name in "bcdefghijk"))
            assert len(take(db, 10)) == 10
        send(sender, "a2")
    assert take(db, 1) == ["a1"]
    assert take(db, 1) == ["a2"]


def test_a_receive_ends_though_others_consume_all_that_it_saw_of_the_groups_it_got(db: Db, grouped: None) -> None:
    """Others are played by what locks the messages of a page: the first times it finds them gone."""
    groups = [str(number) for number in range(200)] * 2
    one(
        db,
        "select cardinality(howdah.send_batch('q', array_agg(g),"
        " headers => array_agg(jsonb_build_object('JMSXGroupID', g))))"
        " from unnest(%s::text[]) g",
        (groups,),
    )
    one(db, "select nextval(d.failing) from howdah.destinations d where d.name = 'q'")  # not the fast path
    source = one(db, "select prosrc from pg_proc where oid = 'howdah._walk_lock'::regproc")
    db.execute("create sequence seen")
    db.execute("grant usage on sequence seen to public")
    beaten = """
        if nextval('public.seen') <= 8 then
            delete from howdah.msgs m where m.destination_id = p_lane.destination_id and m.seq = any (p_keys);
            return '{}';
        end if;
    """
    db.execute(
        sql.SQL(
            "create or replace function howdah._walk_lock(p_lane howdah.lanes, p_keys bigint[],"
            " p_want integer, p_now timestamptz)"
            " returns bigint[] language plpgsql volatile as {}"
        ).format(sql.Literal(source.replace("begin", f"begin {beaten}", 1)))
    )
    db.execute("set statement_timeout = '30s'")
    # One receive in thirty takes the slow path, which locks the messages of a page: the one that random() sends there.
    for seed in range(1000):
        one(db, "select setseed(%s)", (seed / 1000,))
        if one(db, "select random()") >= 0.97:
            one(db, "select setseed(%s)", (seed / 1000,))
            break
    got = take(db, 10)
    assert one(db, "select last_value from seen") > 1
    assert len(got) in range(1, 11)
    assert len(set(got)) == len(got)
    one(db, "select setval('seen', 100)")
    left = column(db, "select body from howdah.browse('q', 1000)")
    assert [message for _ in range(60) for message in take(db, 10)] == left, "what is left comes in order"


@pytest.mark.first_case
@pytest.mark.parametrize("groups", ["transaction", "sticky"])
@pytest.mark.parametrize("given_back", ["release('q', %s)", "nack('q', %s)", "retry('q', array[%s])"])
def test_a_message_given_back_comes_before_those_of_its_group_though_others_looked_before_the_commit(
    db: Db, create: Create, connect: Connect, given_back: str, groups: str
) -> None:
    create("q", message_groups=groups)
    consumer = open_consumer(db) if groups == "sticky" else None
    other = connect()
    (first,) = send(db, "a1")
    send(db, *(f"{chr(98 + i % 20)}{i}" for i in range(40)))
    send(db, "a2")
    if "retry" in given_back:
        one(db, "select outcome from howdah.record_failure('q', %s, 'bad', delay => '1 hour')", (first,))
        number = first
    else:
        number = one(db, "select lease from howdah.lease('q', 1, '1 hour', consumer => %s)", (consumer,))
    for _ in range(20):
        take(other, 10, consumer)
    with db.transaction():
        db.execute(f"select howdah.{given_back}", (number,))
        for _ in range(20):
            assert take(other, 10, consumer) == []
    got: list[str] = []
    for _ in range(20):
        got += take(other, 1, consumer)
    assert got == ["a1", "a2"]


@pytest.mark.parametrize(
    ("tail", "position"),
    [(1000, 1000), (1000, 1), (2**31 + 5, 2**31 - 1), (2**31 + 5, 2**31 + 5), (2**33 + 7, 2**33 - 9)],
)
def test_a_mark_tells_its_position_from_the_lower_half_of_it(db: Db, grouped: None, tail: int, position: int) -> None:
    positions = one(db, "select positions::text from howdah.destinations where name = 'q'")
    db.execute("select setval(%s, %s)", (positions, tail))
    mark = (position & 2147483647) << 32 | 77
    assert one(db, "select howdah._mark_position(%s, %s::regclass)", (mark, positions)) == position


def test_a_message_is_given_back_though_another_session_marks_a_position_drawn_since(db: Db, grouped: None) -> None:
    """A mark may hold a later position than the last one that this transaction has seen."""
    send(db, "a1", "a2")
    lease = one(db, "select lease from howdah.lease('q', 1)")
    mark = f"howdah.mark_{one(db, QUEUE)}"
    xid = one(db, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    db.execute("select setval(%s, %s)", (mark, 7 << 32 | xid + 1000))
    one(db, "select howdah.release('q', %s)", (lease,))
    db.execute("select setval(%s, %s)", (mark, 7 << 32 | xid))
    assert take(db) == ["a1", "a2"]
