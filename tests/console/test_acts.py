"""What an operator does from the console, and what an attacker cannot."""

from __future__ import annotations

import json
import re

import pytest
from console_forms import submit
from console_people import as_named
from starlette.testclient import TestClient
from support import Db, column, deliver_and_fail, one

from howdah.console import Host, acts, app


def test_a_message_is_sent_and_a_queue_paused_and_resumed_with_the_reason_on_record(
    client: TestClient, db: Db, orders: int
) -> None:
    assert "1 done" in submit(client, act="send", queue="orders", body="hello", headers='{"a": "b"}', reason="to try")
    assert one(db, "select count(*)::int from howdah.browse('orders') where body = 'hello'") == 1
    assert db.execute("select act, actor, queue_name, reason from howdah.list_acts()").fetchall() == [
        ("sent", "console_operator", "orders", "to try (operator@example.org)")
    ]
    submit(client, act="pause", queue="orders", reason="too fast")
    assert one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")
    submit(client, act="resume", queue="orders", reason="well again")
    assert not one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")
    changes = db.execute(
        "select actor, reason from howdah.list_changes('queue', 'orders') order by change_id"
    ).fetchall()
    assert ("console_operator", "too fast (operator@example.org)") in changes


def test_dead_messages_are_replayed_by_cause_in_batches_under_the_operators_name(
    client: TestClient, db: Db, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acts, "BATCH", 2)
    one(db, "select howdah.send_batch('orders', array['a','b','c','d'])")
    for number in range(5):
        deliver_and_fail(db, "orders", error_class="Timeout" if number else "Other", error_text="gone")
    queue, cause = db.execute(
        "select exception_queue, last_fingerprint from howdah.list_poison(error_class => 'Timeout') limit 1"
    ).fetchone() or ("", "")
    filter_ = json.dumps({"state": "dead", "cause": cause})
    form = client.get("/act", params={"act": "replay", "queue": queue, "filter": filter_})
    assert "all that match: 4 messages" in form.text
    page = submit(client, act="replay", queue=queue, filter=filter_, reason="the shop is back")
    assert "2 done so far" in page
    batches = 1
    while "data-continue" in page:
        assert batches < 9
        given = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        page = client.post("/act", data={name: value.replace("&#34;", '"') for name, value in given.items()}).text
        batches += 1
    assert "4 done" in page
    assert column(db, "select body from howdah.browse('orders') order by body") == ["a", "b", "c", "d"]
    acts_made = db.execute("select distinct actor, reason from howdah.list_acts()").fetchall()
    assert acts_made == [("console_operator", "the shop is back (operator@example.org)")]


def test_what_destroys_needs_the_queues_name(client: TestClient, db: Db, orders: int) -> None:
    assert "not written as it is" in submit(client, act="purge", queue="orders", reason="old", typed="order")
    assert one(db, "select count(*)::int from howdah.browse('orders')") == 1
    assert "1 done" in submit(client, act="purge", queue="orders", reason="old", typed="orders")
    assert one(db, "select count(*)::int from howdah.browse('orders')") == 0


def test_an_act_without_a_reason_is_not_done(client: TestClient, db: Db, orders: int) -> None:
    assert "the form lacks" in submit(client, act="park", queue="orders", id=str(orders), reason=" ")
    assert one(db, "select count(*)::int from howdah.browse('orders')") == 1


def test_one_message_is_parked_retried_moved_and_discarded(client: TestClient, db: Db, orders: int) -> None:
    one(db, "select howdah.create_queue('other')")
    id_ = str(orders)
    submit(client, act="park", queue="orders", id=id_, reason="1")
    submit(client, act="retry", queue="orders", id=id_, reason="2")
    submit(client, act="move", queue="orders", id=id_, other="other", reason="3")
    assert one(db, "select count(*)::int from howdah.browse('other')") == 1
    assert "1 done" in submit(client, act="discard", queue="other", id=id_, typed="other", reason="4")
    assert one(db, "select count(*)::int from howdah.browse('other')") == 0
    done = column(db, "select act from howdah.list_acts() order by act_id")
    assert done == ["parked", "retried", "moved", "discarded"]


@pytest.mark.parametrize("person", ["auditor", "browser", "nobody"])
def test_roles_without_the_right_do_nothing(client: TestClient, db: Db, orders: int, person: str) -> None:
    for act in ("pause", "purge"):
        submit(client, person, act=act, queue="orders", reason="r", typed="orders")
    submit(client, person, act="discard", queue="orders", id=str(orders), reason="r", typed="orders")
    assert one(db, "select count(*)::int from howdah.browse('orders')") == 1
    assert not one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")


def test_a_form_of_another_site_or_person_is_refused(client: TestClient, db: Db, orders: int) -> None:
    fields = {"act": "pause", "queue": "orders", "reason": "r"}
    assert client.post("/act", data=fields).status_code == 403
    page = client.get("/act?act=pause&queue=orders", headers={"x-test-person": "browser"}).text
    (token,) = re.findall(r'name="token" value="(\w+)"', page)
    assert client.post("/act", data={**fields, "token": token}).status_code == 403
    (own,) = re.findall(r'name="token" value="(\w+)"', client.get("/act?act=pause&queue=orders").text)
    elsewhere = client.post("/act", data={**fields, "token": own}, headers={"origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    assert client.get("/act", params={**fields, "token": own}).status_code == 200
    assert not one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")


def test_the_cookie_is_for_this_site_alone_and_secure_over_https(login_dsn: str, client: TestClient) -> None:
    with TestClient(client.app, "https://testserver", headers={"x-test-person": "operator"}) as browser:
        said = browser.get("/").headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    assert "secure" in said


@pytest.mark.parametrize(("secure", "scheme", "marked"), [(True, "http", True), (False, "https", False)])
def test_the_cookie_is_secure_as_whoever_runs_the_console_says(
    login_dsn: str, orders: int, secure: bool, scheme: str, marked: bool
) -> None:
    console = app(login_dsn, Host(as_named), secure=secure)
    with TestClient(console, f"{scheme}://testserver", headers={"x-test-person": "operator"}) as browser:
        assert ("secure" in browser.get("/").headers["set-cookie"].lower()) is marked


def test_a_form_that_is_too_large_is_refused(client: TestClient) -> None:
    answer = client.post("/act", data={"body": "x" * (5 * 1024 * 1024)})
    assert answer.status_code == 413
