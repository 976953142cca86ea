"""What an operator does from the console, and what an attacker cannot."""

from __future__ import annotations

import json
import re

import pytest
from console_forms import SECRET, go_on, submit
from console_people import as_named, person_named
from starlette.testclient import TestClient
from support import Db, column, deliver_and_fail, one

from howdah.console import Host, acts, app
from howdah.console.tokens import COOKIE, Tokens


def test_a_message_is_sent_and_a_queue_paused_and_resumed_with_the_reason_on_record(
    client: TestClient, db: Db, orders: int
) -> None:
    assert "1 done" in submit(client, act="send", queue="orders", body="hello", headers='{"a": "b"}', reason="to try")
    assert one(db, "select count(*)::int from howdah.browse('orders') where body = 'hello'") == 1
    assert db.execute("select act, actor, queue_name, reason from howdah.list_acts()").fetchall() == [
        ("sent", "console_operator", "orders", "to try (operator@example.org)")
    ]
    submit(client, act="pause", queue="orders", reason="too fast")
    submit(client, act="pause", queue="orders", reason="again, which changes nothing")
    assert one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")
    submit(client, act="resume", queue="orders", reason="well again")
    assert not one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")
    changes = db.execute(
        "select actor, reason from howdah.list_changes('queue', 'orders') order by change_id"
    ).fetchall()
    assert ("console_operator", "too fast (operator@example.org)") in changes
    acts_made = db.execute("select act, actor, queue_name, reason from howdah.list_acts()").fetchall()
    assert acts_made[:2] == [
        ("resumed", "console_operator", "orders", "well again (operator@example.org)"),
        ("paused", "console_operator", "orders", "too fast (operator@example.org)"),
    ]
    assert len(acts_made) == 3


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
    assert "So far: 2 done. That is 2 of 4." in page
    assert '<progress aria-label="Progress" value="2" max="4">' in page
    page, _ = go_on(client, page)
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


@pytest.mark.parametrize("person", ["auditor", "browser"])
@pytest.mark.parametrize("act", acts.ACTS)
def test_a_role_without_the_right_is_shown_no_form(client: TestClient, orders: int, person: str, act: str) -> None:
    given = {"act": act, "queue": "orders", "target": "1", "id": str(orders)}
    answer = client.get("/act", params=given, headers={"x-test-person": person})
    assert answer.status_code == 403
    assert f"your role may not do this: {acts.ACTS[act].title}" in answer.text
    assert "<form method" not in answer.text


def test_who_may_not_administer_one_queue_is_offered_no_act_there_and_others_elsewhere(
    client: TestClient, db: Db, orders: int
) -> None:
    one(db, "select howdah.create_queue('secret')")
    number = one(db, "select howdah.send('secret', 'x')")
    db.execute("select howdah.revoke_queue('secret', verb, 'howdah_admin') from unnest(array['send', 'admin']) v(verb)")
    for page in ("/queue?name={0}", "/messages?queue={0}", "/message?queue={0}&id={1}", "/dead?queue={0}"):
        said = {
            queue: client.get(page.format(queue, id_)).text for queue, id_ in (("secret", number), ("orders", orders))
        }
        assert not re.search('/act\\?|name="act"', said["secret"]), page
        assert page.startswith("/dead") or "/act?" in said["orders"], page
    assert client.get("/act?act=purge&queue=secret").status_code == 403
    assert client.get("/act?act=send&queue=secret").status_code == 403
    assert client.get("/act?act=send&queue=orders").status_code == 200


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
    token = Tokens(SECRET)._sign(client.cookies[COOKIE], person_named("browser"))
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


def test_a_body_in_chunks_is_refused_whatever_length_it_claims(client: TestClient) -> None:
    claimed = {"content-length": "10", "transfer-encoding": "chunked"}
    answer = client.post("/act", content="act=pause", headers=claimed)
    assert (answer.status_code, "too large" in answer.text) == (413, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"after": "x"},
        {"after": "[" * 5000},
        {"filter": '{"header": ' + "[" * 5000},
        {"sofar": "\u00b2"},
        {"left": "9" * 5000},
        {"act": "send", "body": "b", "headers": "[" * 5000},
    ],
)
def test_a_form_that_no_page_of_ours_made_is_answered_in_words(
    client: TestClient, orders: int, wrong: dict[str, str]
) -> None:
    page = client.get("/act", params={"act": "purge", "queue": "orders"}).text
    token = re.findall(r'name="token" value="([^"]*)"', page)[0]
    given = {"act": "purge", "queue": "orders", "reason": "r", "typed": "orders", "filter": "{}", "token": token}
    answer = client.post("/act", data=given | wrong)
    assert answer.status_code in (200, 400)
    assert "<h1>" in answer.text


@pytest.mark.first_case
@pytest.mark.parametrize("wrong", ["header=shop", "min_priority=high"])
def test_a_filter_that_cannot_be_read_is_refused_and_never_left_out(
    client: TestClient, orders: int, wrong: str
) -> None:
    assert client.get("/messages?queue=orders").status_code == 200
    assert client.get(f"/messages?queue=orders&{wrong}").status_code == 400
    assert client.get("/act?act=discard&queue=orders&filter=[]").status_code == 400
    assert client.get(f"/act?act=discard&queue=orders&id={'9' * 30}").status_code == 400


def test_the_form_of_all_that_match_says_which_they_are_and_counts_those_that_the_act_can_deal_with(
    client: TestClient, db: Db, orders: int
) -> None:
    one(db, "select howdah.send_batch('orders', array['a','b'])")
    said = client.get('/act?act=discard&queue=orders&filter={"header": {"shop": "north"}, "min_priority": 2}').text
    assert "Messages with: <bdi>header shop=north, min priority 2</bdi>" in said
    assert "all that match: 1 messages" in said
    for act, number in (("discard", 3), ("retry", 0), ("replay", 0)):
        said = client.get(f"/act?act={act}&queue=orders").text
        assert "All messages of the queue." in said
        assert f"all that match: {number} messages" in said
    assert "Nothing was done" in submit(client, act="retry", queue="orders", reason="again")


def test_a_purge_goes_in_batches_with_a_preview_and_leaves_what_is_in_hand(
    client: TestClient, db: Db, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one(db, "select howdah.send_batch('orders', array['a','b','c','d'])")
    one(db, "select count(*) from howdah.lease('orders', 1, interval '1 hour')")
    assert "all that match: 5 messages" in client.get("/act?act=purge&queue=orders").text
    said = submit(client, act="purge", queue="orders", typed="orders", reason="too old")
    assert "4 done. 1 left alone" in said
    acts = db.execute("select act, actor, reason from howdah.list_acts()").fetchall()
    assert acts == [("discarded", "console_operator", "too old (operator@example.org)")]


@pytest.mark.slow
def test_a_purge_of_more_than_is_counted_says_how_far_it_is_of_about_how_many(
    client: TestClient, db: Db, orders: int
) -> None:
    one(db, "select howdah.send_batch('orders', array(select 'x' from generate_series(1, 110000)))")
    db.execute("vacuum analyze howdah.msgs")
    said = client.get("/act?act=purge&queue=orders").text
    assert "100,000 among the first 100,000, and later ones" in said
    page = submit(client, act="purge", queue="orders", typed="orders", reason="too old")
    ((most,),) = [re.findall(r'<progress aria-label="Progress" value="5000" max="(\d+)">', page)]
    assert 90_000 < int(most) < 130_000
    assert "data-continue" in page


def test_an_edited_message_replaces_the_original_and_keeps_its_lines(client: TestClient, db: Db, orders: int) -> None:
    deliver_and_fail(db, "orders", error_text="broken")
    (grave,) = column(db, "select exception_queue from howdah.list_poison() limit 1")
    said = client.get(f"/act?act=edit&queue={grave}&id={orders}").text
    assert '<input type="checkbox" name="discard" value="yes" checked>' in said
    submit(client, act="edit", queue=grave, id=str(orders), body="\na\r\nb", discard="yes", reason="mended")
    assert column(db, "select body from howdah.browse('orders')") == ["\na\nb"]
    assert one(db, "select count(*)::int from howdah.browse(%s)", (grave,)) == 0


def test_what_came_to_nothing_is_not_called_done(client: TestClient, orders: int) -> None:
    said = submit(client, act="end-consumer", target="4711", typed="4711", reason="gone")
    assert "nothing done" in said


def test_a_time_needs_its_zone_and_a_message_sent_has_what_its_form_says(
    client: TestClient, db: Db, orders: int
) -> None:
    assert client.get("/messages?queue=orders&sent_after=2026-01-31T06:00:00").status_code == 400
    assert client.get("/messages?queue=orders&sent_after=2026-01-31T06:00:00Z").status_code == 200
    assert "has no zone" in submit(client, act="park", queue="orders", until="2026-01-31", reason="later")
    fields = {"body": '{"a": 1}', "content_type": "application/json", "priority": "7"}
    fields |= {"message_type": "order", "message_group": "g", "correlation_id": "c1", "time_to_live": "60"}
    submit(client, act="send", queue="orders", reason="to try", **fields)
    sent = db.execute(
        "select content_type, body, priority, message_type, correlation_id, headers, expires_at > howdah.now()"
        " from howdah.browse('orders') where priority = 7"
    ).fetchall()
    assert sent == [("application/json", '{"a": 1}', 7, "order", "c1", {"JMSXGroupID": "g"}, True)]
    assert "time to live" in submit(client, act="send", queue="orders", body="x", time_to_live="soon", reason="r")
