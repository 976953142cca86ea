"""Receiving from all queues that match a wildcard."""

from __future__ import annotations

import pytest
from policy_support import Create
from support import Connect, Db, all_refused, column, one, refused


@pytest.fixture(autouse=True)
def queues(create: Create) -> None:
    for name in ("JOBS", "JOBS.print", "JOBS.print.big", "JOBS.mail", "OTHER.mail"):
        create(name)


def send(db: Db, *names: str) -> None:
    for name in names:
        one(db, "select howdah.send(%s, %s)", (name, name))


def take(db: Db, pattern: str, n: int = 10, selector: str | None = None) -> set[tuple[str, str]]:
    rows = db.execute(
        "select queue, body from howdah.receive(%s, %s, selector => %s)", (pattern, n, selector)
    ).fetchall()
    assert len(set(rows)) == len(rows)
    return set(rows)


@pytest.mark.behaviour("AMQ-20")
def test_a_consumer_of_a_wildcard_gets_what_lies_in_all_queues_that_match(db: Db) -> None:
    everything = ("JOBS", "JOBS.print", "JOBS.print.big", "JOBS.mail", "OTHER.mail")
    send(db, *everything)
    assert take(db, "JOBS.*") == {("JOBS.print", "JOBS.print"), ("JOBS.mail", "JOBS.mail")}
    assert {queue for queue, _ in take(db, "*.mail")} == {"OTHER.mail"}
    assert {queue for queue, _ in take(db, "JOBS.>")} == {"JOBS", "JOBS.print.big"}
    assert take(db, ">") == set()
    send(db, *everything)
    family = everything[:4]
    assert take(db, "JOBS.>") == {(queue, queue) for queue in family}, "all of the family at once, at any depth"
    assert take(db, ">") == {("OTHER.mail", "OTHER.mail")}


def test_a_queue_made_later_is_found(db: Db, create: Create) -> None:
    assert take(db, "JOBS.>") == set()
    create("JOBS.scan")
    send(db, "JOBS.scan")
    assert take(db, "JOBS.>") == {("JOBS.scan", "JOBS.scan")}


def test_no_more_than_asked_for_are_taken_and_a_rollback_gives_all_back(db: Db) -> None:
    send(db, "JOBS.print", "JOBS.mail", "JOBS.print")
    with db.transaction(force_rollback=True):
        assert len(column(db, "select body from howdah.receive('JOBS.*', 2)")) == 2
    assert len(column(db, "select body from howdah.receive('JOBS.*', 9)")) == 3


def test_a_selector_selects_in_all_of_them(db: Db) -> None:
    for name, price in (("JOBS.print", 1), ("JOBS.mail", 2)):
        one(db, "select howdah.send(%s, 'x', headers => jsonb_build_object('price', %s::integer))", (name, price))
    assert take(db, "JOBS.*", selector="price > 1") == {("JOBS.mail", "x")}


def test_queues_that_are_paused_or_need_a_consumer_are_passed_by(db: Db, create: Create) -> None:
    create("JOBS.single", delivery_policy="single")
    send(db, "JOBS.print", "JOBS.mail", "JOBS.single")
    one(db, "select howdah.pause('JOBS.mail')")
    assert {queue for queue, _ in take(db, "JOBS.*")} == {"JOBS.print"}


def test_only_queues_that_the_caller_may_receive_from_are_looked_at(db: Db, connect: Connect) -> None:
    consumer = connect("howdah_consumer")
    send(db, "JOBS.print", "JOBS.mail")
    db.execute(
        "delete from howdah.destination_grants g using howdah.destinations d where d.id = g.destination_id"
        " and d.name = 'JOBS.mail' and g.verb = 'receive'"
    )
    assert {queue for queue, _ in take(consumer, "JOBS.*")} == {"JOBS.print"}
    db.execute("delete from howdah.destination_grants where verb = 'receive'")
    refused(consumer, "HD010", "select howdah.receive('JOBS.*')")


def test_what_is_no_wildcard_or_matches_nothing_is_refused(db: Db) -> None:
    all_refused(
        db,
        [
            ("HD001", "select howdah.receive('NONE.>')"),
            ("HD003", "select howdah.receive('JOBS.pr*')"),
            ("HD003", "select howdah.receive('JOBS.>.x')"),
            ("HD005", "select howdah.receive('JOBS.>', 0)"),
            ("HD001", "select howdah.lease('NONE.>')"),
            ("HD001", "select howdah.receive('NONE.>:c:dropped')"),
        ],
    )


def test_a_busy_queue_does_not_starve_the_others(db: Db) -> None:
    send(db, *["JOBS.print"] * 40, *["JOBS.mail"] * 40)
    got = [one(db, "select queue from howdah.receive('JOBS.*')") for _ in range(40)]
    assert {"JOBS.print", "JOBS.mail"} == set(got)


@pytest.mark.parametrize("selector", [None, "JMSPriority < 10"])
def test_a_lease_by_a_wildcard_has_messages_of_one_queue_that_is_told(db: Db, selector: str | None) -> None:
    send(db, "JOBS.print", "JOBS.print", "JOBS.mail", "OTHER.mail")
    seen = []
    call = "select lease, queue_name, body from howdah.lease('JOBS.*', 10, selector => %s)"
    for _ in range(2):
        rows = db.execute(call, (selector,)).fetchall()
        ((lease, queue),) = {(row[0], row[1]) for row in rows}
        assert {row[2] for row in rows} == {queue}
        seen.append((queue, len(rows)))
        assert one(db, "select howdah.ack(%s, %s)", (queue, lease)) == len(rows)
    assert sorted(seen) == [("JOBS.mail", 1), ("JOBS.print", 2)]
    assert db.execute(call, (selector,)).fetchall() == []
    assert one(db, "select count(*) from howdah.receive('>', 9)") == 1


def test_a_wrong_wildcard_leases_nothing(db: Db, connect: Connect) -> None:
    send(db, "JOBS.print")
    all_refused(
        db,
        [
            ("HD001", "select howdah.lease('NONE.*')"),
            ("HD003", "select howdah.lease('JOBS.p*')"),
            ("HD005", "select howdah.lease('JOBS.*', 0)"),
            ("HD005", "select howdah.lease('JOBS.*', 1, interval '0')"),
            ("HD023", "select howdah.lease('JOBS.*', selector => 'a =')"),
        ],
    )
    refused(connect("howdah_producer"), "42501", "select howdah.lease('JOBS.*')")
