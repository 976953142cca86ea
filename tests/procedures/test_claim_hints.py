"""Whatever the hints of a claim say, or become during a call, each message is received once."""

from __future__ import annotations

import pytest
from claims_support import HIGHER, ids, send
from psycopg import sql
from support import Connect, Db, column, one, wait_until
from thinned import grid


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.parametrize("head", [0, 1, 70, 99, 100, 101, 5000, 9_000_000_000, 2**63 - 1])
@pytest.mark.parametrize("search", [0, 2**20 * 99, 2**62])
def test_hints_may_say_anything(db: Db, head: int, search: int) -> None:
    sent = send(db, 50) + send(db, 50)
    ids(db, 30)
    db.execute(
        "select setval(d.head, %s), setval(d.search, %s) from howdah.destinations d where d.name = 'q'", (head, search)
    )
    got: list[int] = []
    for _ in range(70):
        got += ids(db, 1)
    assert sorted(got) == sent[30:]
    assert ids(db, 1) == []
    more = send(db, 200)
    assert [n for _ in range(4) for n in ids(db, 50)] == more


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("head", "search", "lane"),
    grid(
        [0, 1, 99, 101, 5000, 1_700_000_000_000_000, 9_000_000_000_000_000, 2**63 - 1],
        [0, 2**20 * 99, 2**62, 2**63 - 1],
        [", delivery_mode => 'non-persistent'", ", delay => '1 us'", HIGHER],
        every=7,
    ),
)
def test_hints_of_other_lanes_may_say_anything(db: Db, lane: str, head: int, search: int) -> None:
    sent = send(db, 50, lane) + send(db, 50, lane)
    ids(db, 30)
    db.execute("select setval(l.head, %s), setval(l.search, %s) from howdah.lanes l", (head, search))
    got: list[int] = []

    def drained() -> bool:
        got.extend(ids(db, 1))
        return len(got) >= 70

    wait_until(drained)
    assert sorted(got) == sent[30:]
    assert ids(db, 1) == []
    more = send(db, 200, lane)
    assert sorted(n for _ in range(4) for n in ids(db, 50)) == more


def test_no_message_is_held_twice_though_the_head_was_put_back_under_the_call(db: Db) -> None:
    """Whoever puts it back at that moment is played by the function that locks what was drawn."""
    one(db, "select cardinality(howdah.send_batch('q', array(select i::text from generate_series(1, 400) i)))")
    assert len(column(db, "select body from howdah.receive('q', 2)")) == 2
    db.execute("delete from howdah.msgs where seq between 20 and 80")
    source = one(db, "select prosrc from pg_proc where oid = 'howdah._lock_drawn'::regproc")
    db.execute(
        sql.SQL(
            "create or replace function howdah._lock_drawn(p_lane howdah.lanes, p_positions bigint[]) returns bigint[]"
            " language plpgsql as {}"
        ).format(
            sql.Literal(
                "declare v_locked bigint[]; begin"
                f" v_locked := ({source}); perform setval(p_lane.head, p_positions[1] - 1); return v_locked; end"
            )
        )
    )
    held = column(db, "select message_id from howdah.receive_locked('q', 100)")
    assert len(held) == len(set(held)) == 100


def test_no_message_is_held_twice_though_the_head_was_put_back_behind_what_the_search_found(
    db: Db, connect: Connect
) -> None:
    """Whoever puts it back at that moment is played by the search."""
    send(db, 30)
    with connect().transaction(force_rollback=True) as taking:
        assert len(column(taking.connection, "select body from howdah.receive('q', 20)")) == 20
    one(db, "select howdah._search_from(d.id, d.main_rank, 1) from howdah.destinations d where d.name = 'q'")
    arguments = "p_lane howdah.lanes, p_head bigint, p_want integer, p_deep boolean, p_tickets bigint default 0"
    db.execute("alter function howdah._search rename to _search_itself")
    db.execute(
        f"create function howdah._search({arguments}) returns bigint[] language plpgsql as $$"
        " declare v_found bigint[] := howdah._search_itself(p_lane, p_head, p_want, p_deep, p_tickets);"
        " begin perform setval(p_lane.head, 5); return v_found; end $$"
    )
    held = column(db, "select message_id from howdah.receive_locked('q', 30)")
    assert len(held) == len(set(held)) == 30


@pytest.mark.first_case
@pytest.mark.parametrize("call", ["receive('q', 100)", "lease('q', 100)"])
def test_a_batch_is_in_order_though_a_search_comes_due_in_the_middle_of_its_call(
    db: Db, connect: Connect, call: str
) -> None:
    """What had come back before is for the next call. The clock is played by a look that is due from the second on."""
    send(db, 300)
    with connect().transaction(force_rollback=True) as taking:
        assert column(taking.connection, "select message_id / 1000000 from howdah.receive('q')") == [1]
        assert len(column(db, "select body from howdah.receive('q', 40)")) == 40
    db.execute("delete from howdah.msgs where seq between 60 and 70")
    db.execute("create sequence looks")
    db.execute("grant usage on sequence looks to public")
    db.execute(
        "create or replace function howdah._is_due(p_search bigint, p_pace bigint) returns boolean"
        " language plpgsql as $$ begin return nextval('public.looks') > 1; end $$"
    )
    got = column(db, f"select message_id / 1000000 from howdah.{call}")
    assert len(got) > 80
    assert got == sorted(got)


def test_a_failed_message_that_comes_back_under_a_call_is_not_taken_without_its_failures(db: Db) -> None:
    """Whoever puts it back at that moment is played by a look that sees no failure."""
    db.execute("select howdah.alter_queue('q', '{\"redelivery_delay_ms\": 60000}')")
    number = send(db, 200)[4]
    db.execute("select howdah.record_failure('q', %s)", (number,))
    assert one(db, "select howdah.retry('q')") == 1
    db.execute(
        "create or replace function howdah._any_failed(p_lane howdah.lanes, p_positions bigint[]) returns boolean"
        " language sql as 'select false'"
    )
    taken: dict[int, int] = {}
    for _ in range(3):
        taken |= dict(db.execute("select message_id, delivery_count from howdah.receive('q', 100)").fetchall())
    assert taken[number] == 2
    assert len(taken) == 200
