"""howdah queue find and act: what they find, how far they looked, and what they deal with."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from command import howdah, refused
from support import Clock, Db, column, one

from howdah.engine import Admin, connect
from howdah.engine.errors import ConnectionLost


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process has another time zone than the server, nine hours ahead of UTC."""
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_messages_are_found_counted_and_dealt_with(dsn: str) -> None:
    with connect(dsn) as connection:
        connection.admin.create_queue("orders")
        with connection.session() as session:
            for number in range(3):
                session.send("orders", f"order {number}", headers={"region": "EU"})
            session.commit()
        page = connection.admin.find_messages("orders", {"body": "order"}, max_rows=2)
        assert ([row["body"] for row in page.rows], page.looked, page.complete) == (["order 0", "order 1"], 2, False)
        rest = connection.admin.find_messages("orders", after=page.cursor)
        assert (len(rest.rows), rest.complete, rest.cursor) == (1, True, None)
        shown = connection.admin.show_message("orders", page.rows[0]["message_id"])
        assert shown is not None
        assert shown["body"] == "order 0"
    found = howdah(dsn, "queue", "find", "orders", "--header", "region=EU", "-n", "2", "--json")
    assert [row["body"] for row in found.json] == ["order 0", "order 1"]
    assert "there are more" in found.err
    act = ("queue", "act", "orders", "discard", "--body", "order", "--reason", "test data", "--json")
    assert howdah(dsn, *act, "--dry-run").json["matching"] == 3
    assert howdah(dsn, *act, "--yes", "--batch", "2").json["done"] == 3


@pytest.mark.parametrize(
    ("words", "bodies"),
    [
        (("--sent-before", "2026-05-01T21:30"), ["old"]),
        (("--sent-after", "2026-05-01T21:30"), ["new"]),
        (("--sent-before", "2026-05-01T12:30Z"), ["old"]),
        (("--sent-before", "30m"), ["old"]),
        (("--sent-after", "beginning"), ["old", "new"]),
        (("--sent-before", "beginning"), []),
    ],
)
def test_the_time_of_a_send_is_said_in_the_forms_of_all_commands(
    dsn: str, db: Db, clock: Clock, in_tokyo: None, words: tuple[str, ...], bodies: list[str]
) -> None:
    one(db, "select howdah.create_queue('orders')")
    for hour, body in ((12, "old"), (13, "new")):
        clock.set(datetime(2026, 5, 1, hour, tzinfo=UTC))
        one(db, "select howdah.send('orders', %s)", (body,))
    assert [row["body"] for row in howdah(dsn, "queue", "find", "orders", *words, "--json").json] == bodies
    act = ("queue", "act", "orders", "discard", *words, "--reason", "old", "--json")
    assert howdah(dsn, *act, "--dry-run").json["matching"] == len(bodies)
    assert howdah(dsn, *act, "--yes").json["done"] == len(bodies)
    refused(howdah(dsn, "queue", "find", "orders", words[0], "soon"), "'soon' is not a time", code=2)


def test_an_act_that_breaks_off_says_how_many_messages_it_has_dealt_with(
    dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    one(db, "select howdah.create_queue('orders')")
    for body in ("a", "b", "c"):
        one(db, "select howdah.send('orders', %s)", (body,))
    sound, calls = Admin.act_on_matching, []

    def cut_off(self: Admin, *arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise ConnectionLost("the server is gone")
        return sound(self, *arguments, **options)

    monkeypatch.setattr(Admin, "act_on_matching", cut_off)
    failed = howdah(dsn, "queue", "act", "orders", "discard", "--reason", "test data", "--yes", "--batch", "1")
    assert (failed.code, failed.out) == (1, "")
    assert (
        "howdah: stopped: discard: 2 messages done before, 0 passed over, and perhaps up to 1 more done\n" in failed.err
    )
    assert column(db, "select body from howdah.browse('orders', 10)") == ["c"]


def test_an_act_that_ctrl_c_stops_says_that_one_batch_more_may_be_done(
    dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    one(db, "select howdah.create_queue('orders')")

    def stopped(self: Admin, *arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Admin, "act_on_matching", stopped)
    failed = howdah(dsn, "queue", "act", "orders", "discard", "--reason", "test data", "--yes", "--batch", "7")
    assert failed.code == 130
    assert "stopped: discard: 0 messages done before, 0 passed over, and perhaps up to 7 more done\n" in failed.err


def test_an_act_that_is_refused_at_once_says_only_why(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    refused(howdah(dsn, "queue", "act", "orders", "discard", "--reason", "", "--yes"), "reason")
