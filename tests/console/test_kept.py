"""Kept messages in the console: read by whoever may browse, sent again and deleted by an operator."""

from __future__ import annotations

import pytest
from console_forms import submit
from psycopg.types.json import Jsonb
from starlette.testclient import TestClient
from support import Db, column, one, receive

from howdah.console.pages import kept as page
from howdah.console.pages import listings

KEPT = {"keep_bodies_ms": 3_600_000}
IDS = "select message_id from howdah.browse_kept('orders')"


@pytest.fixture
def consumed(db: Db, orders: int) -> list[int]:
    """Three messages that were consumed: JSON, text with a tag, and bytes."""
    one(db, "select howdah.alter_queue('orders', %s)", (Jsonb(KEPT),))
    text: int = one(db, "select howdah.send('orders', '<b>two</b>')")
    raw: int = one(db, "select howdah.send('orders', '\\x00ff'::bytea)")
    for _ in range(3):
        receive(db, "orders")
    return [orders, text, raw]


def test_kept_messages_are_listed_and_shown_whole_and_only_operators_are_offered_acts(
    client: TestClient, consumed: list[int]
) -> None:
    for person, acts in (("operator", True), ("browser", False)):
        headers = {"x-test-person": person}
        listed = client.get("/kept", params={"queue": "orders"}, headers=headers).text
        assert all(f"id={number}" in listed for number in consumed)
        assert "&lt;b&gt;two&lt;/b&gt;" in listed
        assert "2 bytes" in listed
        assert ("act=replay-kept" in listed, "act=delete-kept" in listed) == (acts, acts)
        shown = client.get("/message", params={"queue": "orders", "id": consumed[0]}, headers=headers).text
        assert "consumed, and kept" in shown
        assert "&#34;item&#34;: 7" in shown
        assert "north" in shown
        assert ("act=replay-kept" in shown) == acts
        assert "act=edit" not in shown
    raw = client.get("/message", params={"queue": "orders", "id": consumed[2]}).text
    assert "00ff" in raw
    refusal = client.get("/kept", params={"queue": "orders"}, headers={"x-test-person": "nobody"})
    assert refusal.status_code == 403
    assert "two" not in refusal.text
    assert 'href="/kept?queue=orders"' in client.get("/queue", params={"name": "orders"}).text


def test_kept_messages_are_paged_the_last_one_first(
    client: TestClient, consumed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (page, listings):
        monkeypatch.setattr(module, "MOST", 2)
    first = client.get("/kept", params={"queue": "orders"}).text
    assert [f"id={number}" in first for number in consumed] == [False, True, True]
    more = first.split('" rel="next"')[0].rsplit('href="', 1)[1].replace("&amp;", "&")
    second = client.get(more).text
    assert [f"id={number}" in second for number in consumed] == [True, False, False]
    assert 'rel="next"' not in second


def test_an_operator_sends_kept_messages_again_and_deletes_them(
    client: TestClient, db: Db, consumed: list[int]
) -> None:
    one(db, "select howdah.create_queue('aside')")
    again = {"act": "replay-kept", "queue": "orders", "reason": "to try"}
    assert "<h1>Not done</h1>" in submit(client, "browser", **again, target=str(consumed[0]))
    assert "1 done" in submit(client, **again, target=str(consumed[0]))
    assert "1 done" in submit(client, **again, target=str(consumed[1]), other="aside")
    assert column(db, "select (headers ->> 'howdah_replayed_from')::bigint from howdah.browse('orders')") == [
        consumed[0]
    ]
    assert column(db, "select body from howdah.browse('aside')") == ["<b>two</b>"]
    delete = {"act": "delete-kept", "queue": "orders", "reason": "law", "target": str(consumed[2])}
    assert "<h1>Not done</h1>" in submit(client, "browser", **delete, typed=str(consumed[2]))
    assert "1 done" not in submit(client, **delete, typed="5")
    assert "1 done" in submit(client, **delete, typed=str(consumed[2]))
    assert column(db, IDS) == consumed[:2]
    for all_of in (again, delete):
        assert "1 done" not in submit(client, **{**all_of, "target": "", "all": "yes"}, typed="orders")
    assert column(db, IDS) == consumed[:2]
    reasons = column(
        db, "select reason from howdah.list_acts('orders') where act in ('resent', 'purged') order by act_id"
    )
    assert [reason.endswith("(operator@example.org)") for reason in reasons] == [True] * 3
