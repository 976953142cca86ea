"""The overview and its curves: from kept figures, without a script, and in words too."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient
from support import Clock, Db, deliver_and_fail, one

from howdah.console.curves import drawn
from howdah.console.database import Work
from howdah.console.showing import span
from howdah.engine.calls import Call

BEGIN = datetime(2026, 1, 31, 6, tzinfo=UTC)


def row(minute: int, enqueued: int = 0, seconds: float = 60) -> dict[str, Any]:
    """A point of a curve."""
    at = BEGIN + timedelta(minutes=minute)
    levels = {"dequeued": 0, "failed": 0, "live": enqueued, "oldest_age": None}
    return {"at": at, "seconds": seconds, "enqueued": enqueued, **levels}


@pytest.fixture
def moved(db: Db, clock: Clock, orders: int) -> None:
    """Three minutes with maintenance: 120 messages came in the last one."""
    db.execute("delete from howdah.flow_samples")
    for messages in (0, 0, 120):
        one(db, "select count(howdah.send('orders', 'x'::text)) from generate_series(1, %s)", (messages,))
        one(db, "select howdah.maintain_backlog()")
        clock.advance(60)
        one(db, "select howdah.maintain_totals()")


def test_a_curve_says_in_words_what_it_shows() -> None:
    curves = drawn([row(0), row(1, 120), row(2, 60)], "hour")
    coming = curves["lines"][0]
    assert (coming["title"], coming["last"], coming["least"], coming["most"]) == ("In, a second", "1", "0", "2")
    assert coming["pieces"] == ["0,58.0 150,2.0 300,30.0"]
    assert [line["In, a second"] for line in curves["rows"]] == ["0", "2", "1"]


def test_a_curve_is_broken_where_maintenance_stood_still() -> None:
    curves = drawn([row(0), row(1), row(31, 60, 1800), row(32)], "hour")
    assert [len(piece.split()) for piece in curves["lines"][0]["pieces"]] == [2, 2]
    assert drawn([row(0)], "hour")["lines"] == []


@pytest.mark.first_case
@pytest.mark.parametrize("path", ["/?", "/queue?name=orders&"])
@pytest.mark.parametrize("span", ["hour", "day", "week"])
def test_the_span_of_the_curves_is_in_the_url(client: TestClient, moved: None, path: str, span: str) -> None:
    page = client.get(f"{path}span={span}").text
    assert re.findall(r'<a href="([^"]*)" aria-current="true">(\w+)</a>', page) == [
        (f"{path.replace('&', '&amp;')}span={span}#curves", span.capitalize())
    ]
    assert f"The last {span}" in page


def test_the_curves_of_an_hour_are_drawn_without_a_script_and_have_a_text_for_each(
    client: TestClient, moved: None
) -> None:
    for path in ("/", "/queue?name=orders"):
        page = client.get(path).text
        texts = re.findall(r'<svg [^>]*role="img" aria-label="([^"]+)"><polyline', page)
        assert [text.partition(" in the last hour")[0] for text in texts] == [
            "In, a second",
            "Out, a second",
            "Failed, a second",
            "Waiting",
            "Oldest",
        ]
        assert "between 0 and 2" in texts[0]
    assert client.get("/?span=never").status_code == 200


def test_a_dead_message_does_not_wait_on_the_overview(client: TestClient, db: Db, orders: int) -> None:
    def totals() -> dict[str, str]:
        page = client.get("/").text
        return dict(re.findall(r'data-total="(live|dead|oldest_age)">([^<]*)<', page))

    assert totals()["live"] == "1"
    assert deliver_and_fail(db, "orders")[1] == "moved"
    gone = totals()
    assert (gone["live"], gone["dead"]) == ("0", "1")
    assert gone["oldest_age"] == span(None)


def test_the_overview_shows_the_state_of_server_resources_limits_and_vacuum(
    client: TestClient, db: Db, orders: int
) -> None:
    one(db, "select howdah.alter_engine('{\"max_count\": 1000}')")
    assert "messages not counted yet, at most 1,000; " in client.get("/").text
    one(db, "select howdah.maintain_backlog()")
    page = client.get("/").text
    for what in ("server", "maintenance", "resources", "limits", "vacuum horizon"):
        assert f"<bdi>{what}</bdi>" in page
    assert "1 messages, at most 1,000; " in page
    assert "bytes of bodies, no limit" in page
    assert "PostgreSQL " in page


@pytest.mark.slow
def test_pages_of_many_queues_ask_for_kept_figures_and_say_their_age(
    client: TestClient, db: Db, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one(db, "select count(howdah.create_queue('many' || n)) from generate_series(100, 300) n")
    calls: list[str] = []
    run = Work.run

    def noted(work: Work, call: Call[Any]) -> Any:
        calls.append(call.sql)
        return run(work, call)

    monkeypatch.setattr(Work, "run", noted)
    assert "Nobody has counted messages yet" in client.get("/").text
    one(db, "select howdah.maintain_backlog()")
    assert "Figures are 0 s old" in client.get("/").text
    one(db, "update howdah.backlog_counts set counted_at = counted_at - interval '1 hour' returning 1")
    for path in ("/", "/queues"):
        page = client.get(path).text
        assert "Figures are 1 h 0 min old: start a worker" in page
        assert len(re.findall('<tr data-queue="', page)) <= 100
    assert not [call for call in calls if "queue_stats" in call]


@pytest.mark.slow
def test_the_list_of_queues_goes_on_after_a_hundred_names(client: TestClient, db: Db, orders: int) -> None:
    one(db, "select count(howdah.create_queue('many' || n)) from generate_series(100, 250) n")
    page = client.get("/queues?like=MANY").text
    assert re.findall('<tr data-queue="([^"]+)"', page) == [f"many{n}" for n in range(100, 200)]
    following = re.findall(r'<a href="([^"]+)" rel="next">', page)[0].replace("&amp;", "&")
    page = client.get(following).text
    assert re.findall('<tr data-queue="([^"]+)"', page) == [f"many{n}" for n in range(200, 251)]
    assert 'rel="next"' not in page
