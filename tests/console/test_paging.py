"""The link "More" of the pages of one table: every row once, and an end."""

from __future__ import annotations

import re

import pytest
from psycopg.types.json import Jsonb
from starlette.testclient import TestClient
from support import Db, column, deliver_and_fail, one

from howdah.console.pages import audits, listings, queues


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows a page."""
    monkeypatch.setattr(listings, "MOST", 3)
    monkeypatch.setattr(audits, "MOST", 3)


def pages(client: TestClient, path: str) -> list[list[list[str]]]:
    """The cells of each row of each page, from the first page on, without the boxes in which rows are chosen."""
    found: list[list[list[str]]] = []
    following: list[str] = [path]
    while following:
        assert len(found) < 20, "the pages have no end"
        page = client.get(following[0].replace("&amp;", "&")).text
        rows = re.findall(r"<tr>(.*?)</tr>", page.partition("<tbody>")[2], re.DOTALL)
        cells = [re.findall(r"<td[^>]*>(?!<input)(.*?)</td>", row, re.DOTALL) for row in rows]
        found.append([[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells])
        following = re.findall(r'<a href="([^"]+)" rel="next">', page)
    return found


@pytest.mark.first_case
@pytest.mark.parametrize("place", [None, "dead.bills"])
def test_every_dead_message_of_an_exception_queue_is_on_one_page(
    client: TestClient, db: Db, orders: int, place: str | None
) -> None:
    one(db, "select howdah.create_queue('dead.bills')")
    named = '{"max_failed_deliveries": 1, "exception_mode": "named", "exception_queue": "dead.bills"}'
    one(db, "select howdah.create_queue('bills', %s)", (named,))
    for queue in ("orders", "bills"):
        one(db, "select howdah.send_batch(%s, array['a', 'b', 'c', 'd', 'e', 'f'])", (queue,))
        for _ in range(6):
            deliver_and_fail(db, queue)
    dead = column(db, "select message_id::text from howdah.list_poison(%s)", (place,))
    found = pages(client, f"/dead?queue={place}" if place else "/dead")
    assert [len(page) for page in found[:2]] == [3, 3]
    assert len(dead) == 6
    assert [row[0] for page in found for row in page] == dead


def test_every_change_and_act_is_on_one_page(client: TestClient, db: Db, orders: int) -> None:
    with db.transaction():  # one time for several rows of both kinds
        for number in range(3):
            one(db, "select howdah.create_queue('more' || %s)", (number,))
            one(db, "select howdah.send_by_hand('orders', 'x', reason => 'to try')")
    one(db, "select howdah.send_by_hand('orders', 'x', reason => 'to try')")
    one(db, "select howdah.create_queue('last')")
    recorded = db.execute(
        "select change_id::text, kind, name, act from howdah.list_changes(max_changes => 1000)"
    ).fetchall()
    acts = [row for row in recorded if row[1] == "messages"]
    assert len(acts) == 4
    found = pages(client, "/changes")
    assert len(found) > 2
    shown = [(row[0], row[3], row[4], row[5]) for page in found for row in page]
    assert len(shown) == len(recorded)
    assert [row for row in shown if row[1] != "messages"] == [row for row in recorded if row[1] != "messages"]
    assert [row[1:] for row in shown if row[1] == "messages"] == [row[1:] for row in acts]


def test_the_next_page_begins_where_this_one_ends_and_forgets_where_it_began(
    client: TestClient, db: Db, orders: int
) -> None:
    for _ in range(6):
        one(db, "select howdah.send_by_hand('orders', 'x', reason => 'to try')")
    found = re.findall(r'<a href="([^"]+)" rel="next">', client.get("/changes?before_change=1&of_name=orders").text)
    assert "before_change" not in found[0]
    assert "before_act" in found[0]
    assert "of_name=orders" in found[0]


def test_a_place_that_is_no_time_or_number_is_the_beginning(client: TestClient, orders: int) -> None:
    first = pages(client, "/changes")[0]
    assert pages(client, "/changes?before_at=yesterday&before_change=x")[0] == first
    assert pages(client, "/changes?before_at=2026-01-01T00:00:00")[0] == first


def firsts(client: TestClient, path: str) -> list[str]:
    """The first cell of each row, of at least three pages, each of three rows but the last."""
    found = pages(client, path)
    assert len(found) > 2
    assert [len(page) for page in found[:-1]] == [3] * (len(found) - 1)
    assert 1 <= len(found[-1]) <= 3
    return [row[0] for page in found for row in page]


def test_a_full_last_page_leads_to_no_empty_one(client: TestClient, db: Db) -> None:
    one(db, "select count(howdah.create_topic('t' || n)) from generate_series(1, 6) n")
    assert [len(page) for page in pages(client, "/topics")] == [3, 3]


def test_every_topic_and_subscription_is_on_one_page(client: TestClient, db: Db) -> None:
    one(db, "select count(howdah.create_topic('t' || n)) from generate_series(1, 7) n")
    one(db, "select count(howdah.subscribe('t' || n, 'r' || n)) from generate_series(1, 7) n")
    one(db, "select count(howdah.subscribe('t1', 's' || n)) from generate_series(1, 7) n")
    assert firsts(client, "/topics") == [f"t{n}" for n in range(1, 8)]
    assert firsts(client, "/subscriptions") == column(db, "select subscription from howdah.list_subscriptions()")
    assert firsts(client, "/subscriptions?topic=t1") == ["t1::r1", *(f"t1::s{n}" for n in range(1, 8))]


def test_every_schedule_is_on_one_page_also_those_that_are_due_together_or_have_no_time(
    client: TestClient, db: Db, orders: int
) -> None:
    one(
        db,
        "select count(howdah.schedule('orders', 'x', period => '1 hour', name => 's' || n))"
        " from generate_series(1, 11) n",
    )
    db.execute("update howdah.schedules set next_at = case when id % 2 = 0 then howdah.now() end")
    shown = firsts(client, "/schedules")
    assert shown == column(db, "select schedule_id::text from howdah.list_schedules()")
    assert len(shown) == 11


def test_every_delayed_message_is_on_one_page_also_those_that_are_due_together(
    client: TestClient, db: Db, orders: int
) -> None:
    for priority in (9, 4, 0, 4):
        one(
            db,
            "select cardinality(howdah.send_batch('orders', array['a', 'b'], priorities => array[%s, %s]::int[],"
            " delay => '1 h'))",
            (priority, priority),
        )
    db.execute("update howdah.parked set due_at = howdah.now() + '2 h' where rank > 0")
    shown = firsts(client, "/delayed?queue=orders")
    assert shown == column(db, "select message_id::text from howdah.list_delayed('orders')")
    assert len(shown) == 8


def test_every_worker_is_on_one_page_also_those_of_one_name(client: TestClient, db: Db, orders: int) -> None:
    for number in range(8):
        one(db, "select howdah.register_worker('w', 'h', %s, 1, array['orders'])", (number,))
    db.execute("update howdah.workers set started_at = howdah.now()")
    found = pages(client, "/workers")
    assert [len(page) for page in found] == [3, 3, 2]
    assert [row[2] for page in found for row in page] == column(db, "select pid::text from howdah.list_workers()")


def test_every_instance_and_link_is_on_one_page(client: TestClient, db: Db, orders: int) -> None:
    for number in range(7):
        one(db, "select howdah.register_instance(%s, 'h', 1)", (f"i{number}",))
        one(db, "select howdah.create_queue(%s)", (f"source{number}",))
        one(
            db,
            "select howdah.create_link(%s, %s, 'there', dsn_env => 'HOWDAH_LINK_DSN')",
            (f"l{number}", f"source{number}"),
        )
    assert firsts(client, "/instances") == [f"i{number}" for number in range(7)]
    assert firsts(client, "/links") == [f"l{number}" for number in range(7)]


@pytest.mark.slow
def test_every_transformation_is_on_one_page_with_what_is_wrong_with_it(client: TestClient, db: Db) -> None:
    """None of the functions is there."""
    db.execute(
        "insert into howdah.transformations (name, function, function_owner, registered_at, registered_by)"
        " select 't' || n, 'shop.made', 'shop', howdah.now(), 'tom' from generate_series(0, 6) n"
    )
    assert firsts(client, "/transformations") == [f"t{number}" for number in range(7)]
    assert "there is no such function (howdah.message)" in client.get("/transformations").text


def test_every_audit_and_every_queue_that_one_judged_is_on_one_page(client: TestClient, db: Db) -> None:
    queues = [{"queue": f"q{number}", "verdict": "proved"} for number in range(7)]
    for _ in range(7):
        one(
            db,
            "select howdah.record_audit(howdah.now(), 0, 'none', howdah.now(), queues => %s, rules => '[]')",
            (Jsonb(queues),),
        )
    shown = firsts(client, "/audits")
    assert shown == column(db, "select run_id::text from howdah.list_audits(100)")
    assert firsts(client, f"/audit?id={shown[0]}") == [one["queue"] for one in queues]
    assert "Queues 1 to 3 of 7." in client.get(f"/audit?id={shown[0]}").text
    assert client.get(f"/audit?id={shown[0]}&from=99999999999").status_code == 200


def test_every_lease_and_consumer_of_all_queues_is_on_one_page(client: TestClient, db: Db, orders: int) -> None:
    for number in range(4):
        one(db, "select howdah.create_queue(%s)", (f"q{number}",))
        one(db, "select howdah.send_batch(%s, array['a', 'b', 'c'])", (f"q{number}",))
        for _ in range(2):
            one(db, "select count(*) from howdah.lease(%s, 1, '1 h')", (f"q{number}",))
        for _ in range(2):
            one(db, "select howdah.open_consumer(%s, exclusive => true)", (f"q{number}",))
    consumers = firsts(client, "/consumers")
    assert len(consumers) == 8
    assert consumers == column(db, "select consumer::text from howdah.list_consumers()")
    leases = firsts(client, "/leases")
    assert len(leases) == 8
    assert leases == column(db, "select lease::text from howdah.list_leases()")
    assert [row[0] for page in pages(client, "/leases?queue=q2") for row in page] == leases[4:6]


def test_a_list_that_has_no_pages_says_that_there_is_more(
    client: TestClient, db: Db, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "These are the first 3; there are more." in client.get("/storage").text
    for text in ("one", "two"):
        one(db, "select howdah.send('orders', 'x'::text)")
        deliver_and_fail(db, "orders", error_text=text)
    monkeypatch.setattr(queues, "MOST", 1)
    assert "These are the first 1; there are more. Narrow the list above." in client.get("/causes").text
    monkeypatch.setattr(queues, "MOST", 2)
    assert "there are more" not in client.get("/causes").text
    monkeypatch.setattr(listings, "MOST", 20)
    assert "there are more" not in client.get("/storage").text


def test_a_place_that_no_page_gave_is_the_beginning(client: TestClient, orders: int) -> None:
    for path in ("/workers?after_worker=x&after_start=y", "/delayed?queue=orders&after_priority=99999999999999"):
        assert client.get(path).status_code == 200, path
