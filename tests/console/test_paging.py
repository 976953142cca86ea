"""The link "More" of the pages of one table: every row once, and an end."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from support import Db, column, deliver_and_fail, one

from howdah.console.pages import listings


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows a page."""
    monkeypatch.setattr(listings, "MOST", 3)


def pages(client: TestClient, path: str) -> list[list[list[str]]]:
    """The cells of each row of each page, from the first page on."""
    found: list[list[list[str]]] = []
    following: list[str] = [path]
    while following:
        assert len(found) < 20, "the pages have no end"
        page = client.get(following[0].replace("&amp;", "&")).text
        rows = re.findall(r"<tr>(.*?)</tr>", page.partition("<tbody>")[2], re.DOTALL)
        cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
        found.append([[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells])
        following = re.findall(r'<a href="([^"]+)" rel="next">', page)
    return found


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
