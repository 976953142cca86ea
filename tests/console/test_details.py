"""One queue's options, one audit's page, and the traces of a message."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from console_people import as_named
from psycopg.types.json import Jsonb
from starlette.testclient import TestClient
from support import Clock, Db, deliver_and_fail, one

from howdah.console import Host, app
from howdah.text.subjects import SUBJECTS

TRACE, FAILED = "0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"
EVIL = "<script>alert(1)</script>"


def test_options_are_shown_by_group_and_what_is_not_the_default_is_marked(client: TestClient, db: Db) -> None:
    one(db, "select howdah.create_queue('orders', '{\"max_failed_deliveries\": 3}')")
    page = re.sub(r"</?bdi>", "", client.get("/queue?name=orders").text)
    titles = re.findall(r"<h3>(.*?)</h3>", page)
    assert [title for title in titles if title != "Others"] == list(SUBJECTS)
    marked = re.findall(r"<td>(\w+)</td>\s*<td[^>]*>[^<]*</td>\s*<td[^>]*>[^<]*</td>\s*<td>changed</td>", page)
    assert marked == ["max_failed_deliveries"]


def rows_under(page: str, title: str) -> list[list[str]]:
    """The texts of the table that has a title."""
    table = page.partition(f"<h2>{title}</h2>")[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    return [re.findall(r"<bdi>(.*?)</bdi>|<time[^>]*>(?:.*?)</time>", row, re.DOTALL) for row in rows]


def test_the_page_of_a_queue_shows_how_long_messages_waited(client: TestClient, db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('orders')")
    assert "How long it took" not in client.get("/queue?name=orders").text
    one(db, "select howdah.maintain_totals()")
    for seconds in (1, 40):
        one(db, "select howdah.send('orders', 'x'::text)")
        clock.advance(seconds)
        one(db, "select message_id from howdah.receive('orders')")
    clock.advance(60)
    one(db, "select howdah.maintain_totals()")
    ((kind, *cells),) = rows_under(client.get("/queue?name=orders").text, "How long it took")
    assert kind == "wait"
    assert cells[:5] == ["2", "20 s", "1 s", "1 min 0 s", "1 min 0 s"]


def test_the_page_of_a_queue_shows_its_limits_of_handlers_and_how_far_they_are_used(client: TestClient, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    assert "<h2>Limits of handlers</h2>" not in client.get("/queue?name=orders").text
    one(db, 'select howdah.alter_queue(\'orders\', \'{"max_concurrent": 2, "rate_limit": "1/1h"}\')')
    one(db, "select howdah.send('orders', 'x'::text)")
    one(db, "select lease from howdah.lease('orders', 1, '1 minute')")
    ((most, in_hand, leased, rate, room, *_),) = rows_under(client.get("/queue?name=orders").text, "Limits of handlers")
    assert (most, in_hand, leased, rate) == ("2", "0", "1", "1/1h")
    assert room.startswith("59 min")


def test_the_page_of_a_queue_shows_its_groups_and_says_how_far_it_looked(client: TestClient, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    assert "<h2>Groups</h2>" not in client.get("/queue?name=orders").text
    for group in ("ann", "bob", "ann"):
        one(db, "select howdah.send('orders', 'x'::text, headers => %s)", (Jsonb({"JMSXGroupID": group}),))
    page = client.get("/queue?name=orders").text
    assert [row[:2] for row in rows_under(page, "Groups")] == [["ann", "2"], ["bob", "1"]]
    assert "Looked at 3 messages, all that are here" in page
    for number in range(20):
        one(db, "select howdah.send('orders', 'x'::text, headers => %s)", (Jsonb({"JMSXGroupID": f"g{number}"}),))
    page = client.get("/queue?name=orders").text
    assert len(rows_under(page, "Groups")) == 20
    assert "There are more groups" in page


def test_the_page_of_a_queue_shows_the_selectors_that_choose_among_its_messages(client: TestClient, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    assert "<h2>Selectors</h2>" not in client.get("/queue?name=orders").text
    one(db, "select howdah.send('orders', 'x'::text, headers => '{\"shop\": \"north\"}')")
    one(db, "select count(*) from howdah.receive('orders', selector => %s)", ("shop = 'south'",))
    rows = rows_under(client.get("/queue?name=orders").text, "Selectors")
    assert [row[0] for row in rows] == ["receive"]
    assert rows[0][2] == "shop = &#39;south&#39;"


def test_queues_show_how_many_of_their_deliveries_failed(client: TestClient, db: Db, clock: Clock) -> None:
    for name in ("orders", "bills"):
        one(db, "select howdah.create_queue(%s)", (name,))
    one(db, "select howdah.send('bills', 'x'::text)")
    for _ in range(3):
        deliver_and_fail(db, "bills")
    clock.advance(60)
    one(db, "select howdah.maintain_totals()")
    for path in ("/", "/queues"):
        page = client.get(path).text
        failed = {
            queue: re.findall(r'data-figure="failed"[^>]*><bdi>(.*?)</bdi>', row)
            for queue, row in re.findall(r'<tr data-queue="(\w+)">(.*?)</tr>', page, re.DOTALL)
        }
        assert (failed["bills"], failed["orders"]) == (["3"], ["0"])
    assert '<dd data-total="failed">3</dd>' in client.get("/").text
    assert '<dd data-figure="failed"><bdi>3</bdi></dd>' in client.get("/queue?name=bills").text


@pytest.fixture
def two_records(db: Db, orders: int) -> Iterator[int]:
    """The number of a message with a history, where a look at the journal ends after two records."""
    one(db, "select howdah.alter_queue('orders', '{\"journal_level\": \"full\"}')")
    number: int = one(db, "select howdah.send('orders', 'x'::text)")
    one(db, "select howdah.send_batch('orders', array['later'])")
    one(db, "select howdah.send_batch('orders', array['last'])")
    definition = one(db, "select pg_get_functiondef('howdah._history_of_journal'::regproc)")
    assert ":= 200000;" in definition
    db.execute(definition.replace(":= 200000;", ":= 2;"))
    yield number
    db.execute(definition)


def test_a_message_says_how_far_its_history_looked_if_that_is_not_all(client: TestClient, two_records: int) -> None:
    page = client.get(f"/message?queue=orders&id={two_records}").text
    assert "Looked at 2 records of the journal and the last 10,000 acts, not all" in page


def test_a_message_whose_whole_journal_was_looked_at_says_nothing_of_it(client: TestClient, orders: int) -> None:
    assert "records of the journal" not in client.get(f"/message?queue=orders&id={orders}").text


def recorded(db: Db, verdict: str) -> int:
    number: int = one(
        db,
        "select howdah.record_audit(howdah.now(), 1, 'error', howdah.now(), errors => 2, queues => %s, rules => %s)",
        (
            Jsonb([{"queue": "orders", "verdict": verdict, "live": 5, "parked": 0, "dead": 1}]),
            Jsonb([{"name": "lost", "severity": "error", "count": 2, "queues": ["orders", verdict]}]),
        ),
    )
    return number


def test_each_audit_has_a_page_with_its_verdicts_and_broken_rules_that_does_nothing(
    client: TestClient, db: Db, orders: int
) -> None:
    first, second = recorded(db, EVIL), recorded(db, "proved")
    assert f'href="/audit?id={first}"' in client.get("/audits").text
    page = client.get(f"/audit?id={first}").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "lost" in page
    assert "proved" not in page
    assert "proved" in client.get(f"/audit?id={second}").text
    for wrong in ("", "0", "-1", str(second + 1), "9223372036854775807", "x"):
        assert client.get(f"/audit?id={wrong}").status_code == 404, wrong


def test_who_only_browses_sees_an_audits_verdict_and_not_its_queues(client: TestClient, db: Db, orders: int) -> None:
    number = recorded(db, "not balanced")
    page = client.get(f"/audit?id={number}", headers={"x-test-person": "browser"})
    assert page.status_code == 200
    assert "for administrators and auditors" in page.text
    assert client.get(f"/audit?id={number}", headers={"x-test-person": "nobody"}).status_code == 403


@pytest.fixture
def traced(db: Db) -> str:
    """The page of a message whose sender and whose failure name a trace."""
    one(db, "select howdah.create_queue('orders')")
    header = f'{{"traceparent": "00-{TRACE}-b7ad6b7169203331-01"}}'
    number = one(db, "select howdah.send('orders', 'tea', headers => %s)", (header,))
    failure = {"message_id": number, "delivery_count": 1, "error_class": "E", "details": {"trace_id": FAILED}}
    one(db, "select count(*) from howdah.record_failures('orders', %s)", (Jsonb([failure]),))
    return f"/message?queue=orders&id={number}"


def test_a_messages_traces_lead_to_where_traces_are_kept(login_dsn: str, traced: str) -> None:
    console = app(login_dsn, Host(as_named), trace_url="https://traces.example/t/{trace_id}?from=howdah")
    with TestClient(console, headers={"x-test-person": "operator"}) as browser:
        page = browser.get(traced).text
    for trace in (TRACE, FAILED):
        assert f'<a href="https://traces.example/t/{trace}?from=howdah" rel="noreferrer">{trace}</a>' in page


def test_without_an_address_traces_are_text(client: TestClient, traced: str) -> None:
    page = client.get(traced).text
    for trace in (TRACE, FAILED):
        assert f"<code>{trace}</code>" in page
    assert "https:" not in page


def test_what_only_looks_like_a_trace_leads_nowhere(login_dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    number = one(
        db, "select howdah.send('orders', 'tea', headers => %s)", (Jsonb({"traceparent": f'00-{EVIL}"-0-01'}),)
    )
    failure = {"message_id": number, "delivery_count": 1, "error_class": "E", "details": {"trace_id": f'"{EVIL}'}}
    one(db, "select count(*) from howdah.record_failures('orders', %s)", (Jsonb([failure]),))
    console = app(login_dsn, Host(as_named), trace_url="https://traces.example/{trace_id}")
    with TestClient(console, headers={"x-test-person": "operator"}) as browser:
        page = browser.get(f"/message?queue=orders&id={number}").text
    assert "traces.example" not in page
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    "address", ["", "javascript:{trace_id}", "https://x.example/", "https://{trace_id}/", "/{trace_id}"]
)
def test_an_address_of_traces_that_is_none_is_refused(login_dsn: str, address: str) -> None:
    with pytest.raises(ValueError, match="trace"):
        app(login_dsn, trace_url=address)


def test_the_page_of_transactions_shows_who_holds_vacuum_back(client: TestClient, db: Db, orders: int) -> None:
    page = client.get("/transactions")
    assert page.status_code == 200
    with db.transaction():
        one(db, "select howdah.send('orders', 'x'::text)")
        page = client.get("/transactions")
        assert f"<bdi>{db.info.backend_pid}</bdi>" in page.text
        assert "grant pg_read_all_stats to" in page.text
        auditor = client.get("/transactions", headers={"x-test-person": "auditor"})
        assert f"<bdi>{db.info.backend_pid}</bdi>" in auditor.text
