"""Hooks: administrators are told of events by webhook, and nothing but the event is told."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import howdah, refused
from command import start as start_program
from hook_servers import WebServer, serving
from hooks_support import EVENT, QUEUE, File, Handled
from support import SYSTEM, Db, column, one, wait_until
from workers_support import StartWorkers

from howdah.engine import Connection, connect
from howdah.workers.hooks.handler import TARGET, Hooks


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A running web server."""
    with serving(WebServer()) as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Writes and loads a configuration."""
    return File(tmp_path / "hooks.toml")


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    """A connection, and the queue of advisories."""
    with connect(dsn) as connection:
        connection.admin.create_queue(QUEUE)
        yield connection


def webhook(url: str, more: str = "") -> str:
    return f'[[webhook]]\nurl = "{url}"\n{more}\n'


@pytest.mark.slow
def test_a_worker_calls_the_webhook_once_for_each_event_with_its_id_and_reason(
    connection: Connection, db: Db, web: WebServer, file: File, start: StartWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.answers = [200, 503]
    file(webhook(web.url) + "[[webhook]]\nname = 'second'\n" + webhook(web.url).partition("\n")[2])
    file.path.write_text("backoff = 0.1\n" + file.path.read_text())
    monkeypatch.setenv("HOWDAH_HOOKS", str(file.path))
    sent = connection.send(QUEUE, EVENT)
    workers = start(target=TARGET)
    wait_until(lambda: column(db, "select count(*) from howdah.audit_messages") == [0])
    assert [json.loads(body) for _, _, body in web.got] == [EVENT] * 3
    assert len(workers.events("hook told")) == 2
    assert [headers["Howdah-Advisory"] for _, headers, _ in web.got] == [f"{sent}-0"] * 3
    assert column(db, "select error_text from howdah.incidents()") == ["webhook second answered 503"]
    assert "secret-in-url" not in workers.log.read_text()


@pytest.mark.behaviour("SSB-29")
def test_of_a_dead_message_the_administrators_webhook_hears_once(
    connection: Connection, db: Db, web: WebServer, file: File, start: StartWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = '{"max_failed_deliveries": 1, "notify_admin": true}'
    one(db, "select howdah.create_queue('orders', %s)", (options,))
    file(webhook(web.url), "_SYSTEM.Advisory")
    monkeypatch.setenv("HOWDAH_HOOKS", str(file.path))
    start(target=TARGET)
    sent = connection.send("orders", "x")
    assert one(db, "select outcome from howdah.record_failure('orders', %s)", (sent,)) == "moved"
    wait_until(lambda: one(db, "select live from howdah.queue_stats('_SYSTEM.Advisory')") == 0)
    ((_, _, body),) = web.got
    told = json.loads(body)
    assert (told["event"], told["message_id"], told["reason"]) == (
        "MESSAGE_DEAD",
        sent,
        "failed deliveries reached the limit",
    )


def test_a_webhook_gets_the_event_or_its_own_text_and_headers(
    connection: Connection, web: WebServer, file: File
) -> None:
    text = (
        "body = '{{\"text\": \"{event} of {message_id}: {reason}{none}\"}}'\nheaders_env = { Authorization = 'TOKEN' }"
    )
    plain = "name = 'plain'\ncontent_type = 'text/plain'\nbody = '{reason}'"
    handle = Handled(connection, Hooks(file(webhook(web.url, text) + webhook(web.url, plain))))
    assert handle(EVENT) == "handled"
    (path, headers, body), (_, other, plain_body) = web.got
    assert path == "/in?key=secret-in-url"
    assert (headers["Authorization"], headers["Content-Type"]) == ("secret-token", "application/json")
    assert json.loads(body) == {"text": f"MESSAGE_DEAD of 4000017: {EVENT['reason']}"}
    assert "Authorization" not in other
    assert plain_body.decode() == EVENT["reason"]


@pytest.mark.first_case
@pytest.mark.parametrize("answer", [302, 307, 404, 500])
def test_a_webhook_that_fails_is_tried_three_times_and_its_advisory_is_dead_then(
    connection: Connection, db: Db, web: WebServer, file: File, answer: int
) -> None:
    """Later and later; a redirection is a failure too, and is not followed."""
    web.answers = [answer] * 4
    config = file("backoff = 60\n" + webhook(web.url))
    outcomes: list[str] = []
    for _ in range(3):  # each time by another process, which remembers nothing
        outcomes.append(Handled(connection, Hooks(config))(EVENT if not outcomes else None))
        db.execute("update howdah.poison_details set due_at = howdah.now()")
        db.execute("update howdah.parked set due_at = howdah.now()")
    assert outcomes == ["delayed", "delayed", "moved"]
    assert [json.loads(body) for _, _, body in web.got] == [EVENT] * 3
    assert column(db, "select delay_ms from howdah.poison_details order by 1") == [60_000, 120_000, None]
    assert column(db, "select origin_queue from howdah.browse(%s)", (SYSTEM,)) == [QUEUE]
    assert set(column(db, "select error_text from howdah.incidents()")) == {f"webhook 127.0.0.1 answered {answer}"}
    assert "secret" not in str(db.execute("select * from howdah.incidents()").fetchall())


def test_who_was_told_is_not_told_again_when_another_hook_fails(
    connection: Connection, db: Db, web: WebServer, file: File
) -> None:
    dead = "[[webhook]]\nname = 'dead'\nurl = 'http://127.0.0.1:1/'\n"
    handle = Handled(connection, Hooks(file("backoff = 0\n" + dead + webhook(web.url))))
    assert [handle(EVENT), handle(), handle()] == ["returned", "returned", "moved"]
    assert len(web.got) == 1
    assert "webhook dead does not answer: ConnectionRefusedError" in one(
        db, "select error_text from howdah.incidents() where attempt = 1"
    )
    one(db, "select howdah.replay(%s)", (SYSTEM,))
    assert handle() == "returned"
    assert len(web.got) == 2


def test_a_webhook_that_says_nothing_is_given_up_after_the_time_out(connection: Connection, file: File) -> None:
    with serving(WebServer()) as server:
        server.go_on.clear()
        handle = Handled(connection, Hooks(file("backoff = 0\n" + webhook(server.url, "timeout = 0.5"))))
        assert handle(EVENT) == "returned"
        server.go_on.set()
    (row,) = connection.admin.incidents(QUEUE)
    assert row["error_text"] == "webhook 127.0.0.1 does not answer: TimeoutError: timed out"


def test_hooks_hear_of_their_events_and_queues_only(connection: Connection, web: WebServer, file: File) -> None:
    wants = "events = ['MESSAGE_DEAD', 'QUEUE_DISABLED']\nqueues = ['orders', 'bills.*']"
    handle = Handled(connection, Hooks(file(webhook(web.url, wants))))
    for event, queue in [
        ("MESSAGE_DEAD", "orders"),
        ("MESSAGE_DEAD", "orders.b"),
        ("QUEUE_DISABLED", "bills.b"),
        ("LISTENER_STOPPED", "orders"),
        ("MESSAGE_DEAD", None),
    ]:
        assert handle({"event": event, "queue": queue}) == "handled"
    assert [json.loads(body)["queue"] for _, _, body in web.got] == ["orders", "bills.b"]


def test_an_advisory_about_advisories_ends_there(connection: Connection, web: WebServer, file: File) -> None:
    handle = Handled(connection, Hooks(file(webhook(web.url))))
    assert handle(EVENT | {"queue": QUEUE}) == "handled"
    assert web.got == []


@pytest.mark.first_case
@pytest.mark.parametrize("body", ["", "no JSON", "[]", "{}", '{"event": 7}', b"\xff", "NaN"])
def test_what_is_no_advisory_is_rejected_and_told_to_nobody(
    connection: Connection, web: WebServer, file: File, body: str | bytes
) -> None:
    handle = Handled(connection, Hooks(file(webhook(web.url))))
    assert handle(body) == "moved"
    assert web.got == []


@pytest.mark.slow
def test_the_program_tells_and_ends_in_order(
    dsn: str, connection: Connection, db: Db, web: WebServer, file: File
) -> None:
    connection.send(QUEUE, EVENT)
    file(webhook(web.url))
    program = start_program(dsn, "hooks", "run", file.path, stdin=subprocess.DEVNULL)
    wait_until(lambda: web.got and column(db, "select count(*) from howdah.audit_messages") == [0])
    program.terminate()
    _, err = program.communicate(timeout=60)
    assert program.returncode == 0
    assert b"hook told" in err
    assert b"secret" not in err
    file(webhook(web.url), queue="nowhere")
    refused(
        howdah(dsn, "hooks", "run", file.path),
        (
            "there is no queue 'nowhere' (Events have a queue as soon as a queue tells of any:"
            " howdah queue alter NAME -o notify_admin=true.)"
        ),
    )
