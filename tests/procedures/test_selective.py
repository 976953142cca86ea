"""Receiving by selector: what is selected, what stays, and where a selective consumer goes on looking."""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, all_refused, column, measured, one


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create()


def send(db: Db, *prices: int, queue: str = "q", **options: Any) -> None:
    names = "".join(f", {name} => %s" for name in options)
    for price in prices:
        one(
            db,
            f"select howdah.send(%s, %s, headers => %s{names})",
            (queue, str(price), Jsonb({"price": price}), *options.values()),
        )


def take(db: Db, selector: str | None, n: int = 10, queue: str = "q") -> list[str]:
    return column(db, "select body from howdah.receive(%s, %s, selector => %s)", (queue, n, selector))


@pytest.mark.behaviour("IMQ-124")
def test_only_what_the_selector_selects_is_received_and_the_rest_stays_in_order(db: Db) -> None:
    send(db, 1, 200, 3, 400)
    assert take(db, "price > 100") == ["200", "400"]
    assert take(db, "price > 100") == []
    assert take(db, None) == ["1", "3"]


def test_an_empty_selector_selects_everything(db: Db) -> None:
    send(db, 1, 2)
    assert take(db, "  ") == ["1", "2"]


def test_a_wrong_selector_is_refused_before_anything_is_taken(db: Db) -> None:
    send(db, 1)
    all_refused(
        db,
        [
            ("HD023", "select howdah.receive('q', selector => 'price >')"),
            ("HD023", "select howdah.receive('>', selector => 'price >')"),
            ("HD023", "select howdah.lease('q', selector => 'price >')"),
            ("HD023", "select howdah.receive_locked('q', selector => 'price = ''x'' OR')"),
        ],
    )
    assert take(db, None) == ["1"]


def test_a_header_of_another_type_breaks_nobodys_selector(db: Db) -> None:
    one(db, """select howdah.send('q', 'text', headers => '{"price": "''; drop table howdah.msgs; --"}')""")
    send(db, 7)
    assert take(db, "price > 5") == ["7"]
    assert take(db, "price = '''; drop table howdah.msgs; --'") == ["text"]


def test_a_rolled_back_selective_receive_gives_everything_back_to_its_place(db: Db, connect: Connect) -> None:
    send(db, 5, 6, 7)
    other = connect()
    with other.transaction(force_rollback=True):
        assert take(other, "price > 5") == ["6", "7"]
        assert take(db, "price > 5") == [], "another transaction has them"
        assert take(db, "price > 0") == ["5"]
    assert take(db, "price > 0") == ["6", "7"]


def test_priorities_delayed_and_non_persistent_messages_are_selected_too(db: Db, clock: Clock) -> None:
    send(db, 1, 11, priority=2)
    send(db, 2, 12, priority=7)
    send(db, 3, 13, delivery_mode="non-persistent")
    send(db, 4, 14, delay="10 seconds")
    assert take(db, "price > 10") == ["12", "13", "11"]
    clock.advance(11)
    assert take(db, "price > 10") == ["14"]
    assert take(db, "JMSDeliveryMode = 'NON_PERSISTENT'") == ["3"]
    assert take(db, "JMSPriority = 7") == ["2"]
    assert take(db, None) == ["4", "1"]


def test_an_expired_message_is_not_given_to_whoever_selects_it(db: Db, clock: Clock) -> None:
    send(db, 1, time_to_live="1 second")
    clock.advance(2)
    assert take(db, "price = 1") == []
    assert column(db, "select event from howdah.journal") == ["expired"]


def test_a_selected_message_at_its_limit_is_disposed_of_and_the_next_one_given(db: Db, create: Create) -> None:
    create("limited", max_failed_deliveries=1, decided_at="receive")
    send(db, 50, 60, queue="limited")
    first = one(db, "select message_id from howdah.browse('limited', 1)")
    one(db, "select r from howdah.record_failure('limited', %s, 'bad') r", (first,))
    assert take(db, "price > 10", 1, queue="limited") == ["60"]
    assert column(db, "select event from howdah.journal order by event") == ["consumed", "moved"]


def test_a_selective_lease_holds_what_was_selected(db: Db) -> None:
    send(db, 1, 2, 3)
    leased = db.execute("select lease, body from howdah.lease('q', 9, selector => 'price >= 2')").fetchall()
    assert [body for _, body in leased] == ["2", "3"]
    assert one(db, "select howdah.ack('q', %s)", (leased[0][0],)) == 2
    assert take(db, None) == ["1"]


def test_a_compiled_selector_is_kept_for_its_queue_and_forgotten_when_nobody_used_it_for_a_day(
    db: Db, clock: Clock
) -> None:
    send(db, 1)
    take(db, "price > 5")
    take(db, "price > 5")
    assert column(db, "select selector from howdah.selections") == ["price > 5"]
    clock.advance(23 * 3600)
    take(db, "price > 5")
    clock.advance(23 * 3600)
    one(db, "select howdah.maintain_consumers()")
    assert column(db, "select selector from howdah.selections") == ["price > 5"], "it was used within a day"
    clock.advance(2 * 3600)
    assert one(db, "select howdah.maintain_consumers()") == 1
    assert column(db, "select selector from howdah.selections") == []
    assert take(db, "price = 1") == ["1"]


@pytest.fixture
def many(db: Db) -> None:
    """70,000 messages, one in three thousand of which is worth something.

    The selector has gone through them once.
    """
    one(
        db,
        "select cardinality(howdah.send_batch('q', array_agg(i::text order by i),"
        " headers => array_agg(jsonb_build_object('price', i % 3000) order by i))) from generate_series(1, 70000) i",
    )
    assert take(db, "price = 999", 3) == ["999", "3999", "6999"]


def test_a_selective_consumer_does_not_walk_again_over_what_it_passed(db: Db, many: None) -> None:
    assert one(db, "select head is not null from howdah.selections") is True, "the first walk was dear enough"
    for _ in range(9):
        assert len(take(db, "price = 999", 2)) > 0  # from the second walk on it remembers
    steady = min(measured(db, "select howdah.receive('q', 1, selector => 'price = 999')")["Buffers"] for _ in range(2))
    db.execute("delete from howdah.selections")
    assert measured(db, "select howdah.receive('q', 1, selector => 'price = 999')")["Buffers"] > 2 * steady


@pytest.mark.slow
def test_what_comes_late_behind_where_a_selective_consumer_looks_is_found(db: Db, many: None, connect: Connect) -> None:
    late = connect()
    late.execute("begin")
    send(late, 999)
    one(
        db,
        (
            "select cardinality(howdah.send_batch('q', array_agg('x'::text), headers => array_agg('{\"price\":"
            " 1}'::jsonb))) from generate_series(1, 9000) i"
        ),
    )
    while take(db, "price = 999", 7):
        pass
    assert one(db, "select pg_sequence_last_value(head) from howdah.selections") > 20000, "it has gone past"
    late.execute("commit")
    found: list[str] = []
    for _ in range(200):
        found += take(db, "price = 999")
        if found:
            break
    assert found == ["999"]


@pytest.mark.slow
def test_a_selective_receive_reads_on_from_where_it_was_and_no_further_than_it_has_to(db: Db) -> None:
    """One message in 1,000 of 60,000.

    What it reads is about 1,000 rows for each, and for none what a search may in 2 ms.
    """
    one(
        db,
        "select cardinality(howdah.send_batch('q', array_agg('x'::text),"
        " headers => array_agg(jsonb_build_object('n', g) order by g)))"
        " from generate_series(1, 60000) g",
    )

    def read(selector: str) -> tuple[int, int]:
        with db.transaction():
            counted = "select pg_stat_get_xact_tuples_returned('howdah.pk_msgs'::regclass)"
            before = one(db, counted)
            found = one(db, "select count(*) from howdah.receive('q', 1, selector => %s)", (selector,))
            return found, one(db, counted) - before

    for selector, found, at_most in (("n / 1000 * 1000 = n", 1, 9_000), ("n < 0", 0, 40_000)):
        for _ in range(2):
            read(selector)  # the first looks make its hint
        looks = [read(selector) for _ in range(5)]
        assert {count for count, _ in looks} == {found}
        assert sorted(rows for _, rows in looks)[2] < at_most


def test_the_first_look_of_a_selector_is_the_only_one_that_walks_over_all(db: Db, many: None, connect: Connect) -> None:
    noted = "select coalesce(pg_sequence_last_value(head), 0) from howdah.selections where selector = %s"
    for selector in ("price < 0", "price < -1"):
        other = connect()
        assert take(other, selector) == []
        assert one(db, noted, (selector,)) > 69_000
        counted = "select pg_stat_get_xact_tuples_returned('howdah.pk_msgs'::regclass)"
        with other.transaction():
            before = one(other, counted)
            assert take(other, selector) == []
            assert one(other, counted) - before < 40_000, "what a search may read in 2 ms"


@pytest.mark.slow
def test_a_transaction_that_took_messages_does_not_note_that_there_are_none(
    db: Db, many: None, connect: Connect
) -> None:
    other = connect()
    with other.transaction(force_rollback=True):
        assert len(take(other, "price = 998", 100)) == 24
        assert take(other, "price = 998 OR price < 0") == []
    assert len(take(db, "price = 998 OR price < 0", 100)) == 24
    with other.transaction():
        assert len(take(other, "price = 1", 100)) == 24
        assert take(other, "price = 1 OR price < -1") == []
    assert (
        one(db, "select coalesce(max(pg_sequence_last_value(head)), 0) from howdah.selections where selector ~ '-1'")
        == 0
    )
