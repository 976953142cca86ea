"""The way from a cause of failure to its dead messages, wherever they lie."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from console_forms import submit
from starlette.testclient import TestClient
from support import SYSTEM, Db, column, deliver_and_fail, one

from howdah.console.pages import dead, listings, queues

ERROR = {"error_class": "Timeout", "error_text": "gone"}


def dead_of(client: TestClient, path: str) -> str:
    """The page that the only cause of a page of failures leads to."""
    (link,) = re.findall(r'href="(/dead\?[^"]*fingerprint=[^"]*)"', client.get(path).text)
    page: str = client.get(html.unescape(link)).text
    return page


def acts_of(page: str, act: str) -> list[tuple[str, str]]:
    """Queue and filter of each link to an act."""
    addresses = re.findall(rf'href="(/act\?act={act}&[^"]*)"', page)
    found = [parse_qs(urlsplit(html.unescape(address)).query) for address in addresses]
    return [(given["queue"][0], given["filter"][0]) for given in found]


def cells(page: str) -> list[list[str]]:
    """The texts of the table's rows."""
    rows = re.findall(r"<tr>(.*?)</tr>", page.partition("<tbody>")[2], re.DOTALL)
    return [re.findall(r"<bdi>(.*?)</bdi>", row, re.DOTALL) for row in rows]


@pytest.fixture
def twice(db: Db) -> int:
    """The number of a message that is dead after two failures. The newest failure is that of one that still lives."""
    one(db, "select howdah.create_queue('bills', '{\"max_failed_deliveries\": 2}')")
    number: int = one(db, "select howdah.send('bills', 'dies'::text)")
    for _ in range(2):
        deliver_and_fail(db, "bills", **ERROR)
    one(db, "select howdah.send('bills', 'lives'::text)")
    deliver_and_fail(db, "bills", **ERROR)
    return number


@pytest.fixture
def elsewhere(db: Db, twice: int) -> int:
    """The number of a message dead of the same cause, in another exception queue."""
    one(db, "select howdah.create_queue('tax.dead')")
    named = {"max_failed_deliveries": 1, "exception_mode": "named", "exception_queue": "tax.dead"}
    one(db, "select howdah.create_queue('tax', %s)", (json.dumps(named),))
    number: int = one(db, "select howdah.send('tax', 'x'::text)")
    deliver_and_fail(db, "tax", **ERROR)
    return number


def test_the_next_page_of_a_cause_is_of_the_same_exception_queue(
    client: TestClient, db: Db, twice: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver_and_fail(db, "bills", **ERROR)
    monkeypatch.setattr(listings, "MOST", 1)
    page = dead_of(client, "/causes")
    assert [row[0] for row in cells(page)] == [str(twice)]
    (following,) = re.findall(r'<a href="([^"]+)" rel="next">', page)
    assert parse_qs(urlsplit(html.unescape(following)).query)["queue"] == [SYSTEM]
    all_dead = column(db, "select message_id::text from howdah.list_poison()")
    assert [row[0] for row in cells(client.get(html.unescape(following)).text)] == all_dead[1:]
    assert len(all_dead) == 2


@pytest.mark.first_case
@pytest.mark.parametrize("path", ["/", "/causes"])
def test_a_cause_leads_to_its_dead_though_the_newest_failure_is_of_a_message_that_lives(
    client: TestClient, twice: int, path: str
) -> None:
    page = dead_of(client, path)
    assert [row[:3] for row in cells(page)] == [[str(twice), SYSTEM, "bills"]]
    assert [queue for queue, _ in acts_of(page, "replay")] == [SYSTEM]


def test_a_cause_whose_dead_lie_in_two_exception_queues_leads_to_both(
    client: TestClient, twice: int, elsewhere: int
) -> None:
    page = dead_of(client, "/causes")
    links = [html.unescape(link) for link in re.findall(r'href="(/dead\?[^"]*queue=[^"]*)"', page)]
    found = {parse_qs(urlsplit(link).query)["queue"][0]: cells(client.get(link).text) for link in links}
    assert {queue: [row[0] for row in rows] for queue, rows in found.items()} == {
        SYSTEM: [str(twice)],
        "tax.dead": [str(elsewhere)],
    }
    assert "Dead now" in page
    assert {row[0]: row[1] for row in cells(page)} == {SYSTEM: "1", "tax.dead": "1"}


def test_each_exception_queue_of_a_cause_has_its_acts(client: TestClient, db: Db, twice: int, elsewhere: int) -> None:
    page = dead_of(client, "/causes")
    for act in ("replay", "discard"):
        assert {queue for queue, _ in acts_of(page, act)} == {SYSTEM, "tax.dead"}
    (filter_,) = {filter_ for _, filter_ in acts_of(page, "replay")}
    assert "1 done" in submit(client, act="replay", queue="tax.dead", filter=filter_, reason="well again")
    assert column(db, "select message_id from howdah.browse('tax')") == [elsewhere]
    # One is left, so the cause leads to its messages at once.
    assert [row[0] for row in cells(dead_of(client, "/causes"))] == [str(twice)]


def test_the_other_filters_go_along_to_the_exception_queue(client: TestClient, twice: int, elsewhere: int) -> None:
    page = dead_of(client, "/causes")
    cause = cells(page)[0][2]
    page = client.get("/dead", params={"fingerprint": cause, "error_class": "Timeout"}).text
    assert page.count("error_class=Timeout") == 2


def test_a_cause_of_which_nothing_is_dead_says_so(client: TestClient, db: Db, twice: int) -> None:
    one(db, "select howdah.discard(%s, array[%s]::bigint[], 'done')", (SYSTEM, twice))
    assert "No message that you may browse is dead of this cause now" in dead_of(client, "/causes")


def test_who_only_browses_sees_the_exception_queues_and_is_offered_no_act(client: TestClient, elsewhere: int) -> None:
    client.headers["x-test-person"] = "browser"
    page = dead_of(client, "/causes")
    assert {row[0] for row in cells(page)} == {SYSTEM, "tax.dead"}
    assert "/act?" not in page


def test_a_cause_on_the_page_of_one_queue_leads_to_the_dead_of_that_queue_alone(
    client: TestClient, db: Db, twice: int, elsewhere: int
) -> None:
    page = dead_of(client, "/causes?queue=tax")
    assert [row[:3] for row in cells(page)] == [[str(elsewhere), "tax.dead", "tax"]]
    assert "origin=bills" in client.get("/causes?queue=bills").text
    for act in ("replay", "discard"):
        (given,) = {filter_ for _, filter_ in acts_of(page, act)}
        assert json.loads(given)["origin"] == "tax"
    one(db, "select howdah.move_messages('tax.dead', array[%s]::bigint[], %s)", (elsewhere, SYSTEM))
    assert column(db, "select message_id from howdah.list_poison()") == [twice, elsewhere]
    assert [row[0] for row in cells(dead_of(client, "/causes?queue=bills"))] == [str(twice)]


@pytest.mark.first_case
@pytest.mark.parametrize(("path", "name"), [("/", "FEW_FAILURES"), ("/causes", "FAILURES")])
def test_a_page_says_how_far_back_it_looked_for_causes_if_that_is_not_all(
    client: TestClient, twice: int, monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    assert "Of the last" not in client.get(path).text
    monkeypatch.setattr(queues, name, 2)
    page = client.get(path).text
    assert re.search(r"Of the last 2 failures, since <time [^>]*>[^<]*</time>, not all", page)
    (further,) = re.findall(r'<a href="([^"]*)">Look further back', page)
    assert "Of the last" not in client.get(html.unescape(further) if path == "/causes" else "/causes").text


def test_a_cause_among_many_dead_is_sought_among_the_last_of_them_and_the_page_says_so(
    client: TestClient, db: Db, twice: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver_and_fail(db, "bills", **ERROR)
    later = column(db, "select message_id from howdah.list_poison()")[1]
    assert "were looked at" not in dead_of(client, "/causes")
    monkeypatch.setattr(dead, "LOOKED", 1)
    page = dead_of(client, "/causes")
    assert [row[0] for row in cells(page)] == [str(later)]
    assert "Only the last 1 dead messages were looked at" in page
    (older,) = re.findall(r'<a href="([^"]*)">Look at all', page)
    page = client.get(html.unescape(older)).text
    assert [row[0] for row in cells(page)] == [str(twice), str(later)]
    assert "were looked at" not in page


def test_the_places_of_a_cause_say_so_if_not_all_dead_were_looked_at(
    client: TestClient, twice: int, elsewhere: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "were looked at" not in dead_of(client, "/causes")
    monkeypatch.setattr(dead, "LOOKED", 2)
    assert "Only the last 2 dead messages were looked at" in dead_of(client, "/causes")
