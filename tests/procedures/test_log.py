"""The log of the SQL side has the engine's events, each once, by level, queue and time."""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import Create, outcomes, send
from psycopg.types.json import Jsonb
from support import Clock, Db, one, refused

READ = "select howdah.read_log('shop')"


def logged(db: Db, **options: Any) -> list[tuple[str, str, str | None]]:
    """Level, event and destination of what is logged, oldest first; changes of the configuration only if asked for."""
    named = "".join(f"{name} => %({name})s, " for name in options)
    rows = db.execute(
        f"select logged_level, logged_event, destination from howdah.list_log({named}max_rows => 1000)".encode(),
        options,
    )
    wanted = [row for row in reversed(rows.fetchall()) if "event" in options or row[1] != "CONFIG_CHANGED"]
    return [(row[0], row[1], row[2]) for row in wanted]


def say(db: Db, text: str, level: str = "INFO") -> None:
    db.execute("select howdah.log(%s, %s)", (level, text))


def texts(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["text"] for entry in entries]


def test_a_disabled_queue_a_dead_message_and_the_engines_state_are_logged(db: Db, create: Create) -> None:
    create(max_failed_deliveries=1, disable_after=2)
    send(db)
    send(db)
    assert outcomes(db, 2) == ["moved", "moved"]
    one(db, "select howdah.pause_engine('upgrade')")
    assert logged(db) == [
        ("WARNING", "MESSAGE_DEAD", "q"),
        ("WARNING", "MESSAGE_DEAD", "q"),
        ("ERROR", "QUEUE_DISABLED", "q"),
        ("INFO", "ENGINE_STATE", None),
    ]
    row = db.execute("select text, details ->> 'reason' from howdah.list_log(event => 'engine_state')").fetchone()
    assert row == ("engine paused", "upgrade")


@pytest.mark.parametrize("notify", [True, False])
def test_an_event_is_logged_once_whether_or_not_administrators_are_told_of_it(
    db: Db, create: Create, notify: bool
) -> None:
    create(max_failed_deliveries=1, notify_admin=notify)
    send(db)
    assert outcomes(db, 1) == ["moved"]
    assert logged(db) == [("WARNING", "MESSAGE_DEAD", "q")]


def test_a_change_of_the_configuration_is_in_the_log_with_who_made_it_and_why(db: Db) -> None:
    db.execute("select set_config('howdah.reason', 'new shop', false)")
    db.execute("select howdah._record_change('queue', 'orders', 'created', null, '{}')")
    (row,) = db.execute("select logged_event, destination, actor, text, details ->> 'reason' from howdah.list_log()")
    assert row == ("CONFIG_CHANGED", "orders", one(db, "select session_user"), "queue created", "new shop")
    db.execute("select howdah.read_log('shop')")
    db.execute("select howdah._record_change('alias', 'a', 'dropped', '{}', null)")
    assert texts(one(db, READ)) == ["alias dropped"]


@pytest.mark.parametrize(
    ("level", "kept"),
    [("ERROR", ["ERROR"]), ("WARNING", ["WARNING", "ERROR"]), ("INFO", ["INFO", "WARNING", "ERROR"])],
)
def test_the_engines_level_selects_itself_and_what_is_more_severe(db: Db, level: str, kept: list[str]) -> None:
    one(db, "select howdah.alter_engine(jsonb_build_object('imq.log.level', %s::text))", (level,))
    one(db, READ)
    for said in ("INFO", "WARNING", "ERROR"):
        say(db, said, said)
    assert texts(one(db, READ)) == kept
    assert [row[0] for row in logged(db, level=level)] == kept


def test_a_list_shows_a_level_a_queue_an_event_and_a_time_of_its_own(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1)
    begun = clock.now
    send(db)
    outcomes(db, 1)
    clock.advance(3600)
    say(db, "hello")
    say(db, "help", "error")
    assert logged(db, level="warning") == [("WARNING", "MESSAGE_DEAD", "q"), ("ERROR", "LOG", None)]
    assert logged(db, queue="q") == [("WARNING", "MESSAGE_DEAD", "q")]
    assert logged(db, event="log") == [("INFO", "LOG", None), ("ERROR", "LOG", None)]
    assert logged(db, since=clock.now) == [("INFO", "LOG", None), ("ERROR", "LOG", None)]
    assert logged(db, since=begun, until=clock.now) == [("WARNING", "MESSAGE_DEAD", "q")]


def test_a_queue_that_removes_messages_says_once_a_minute_that_it_is_full(db: Db, create: Create, clock: Clock) -> None:
    create(message_limit=1, limit_behaviour="remove_oldest")
    for _ in range(3):
        send(db)
    assert logged(db, event="LIMIT_REACHED") == [("WARNING", "LIMIT_REACHED", "q")]
    clock.advance(61)
    send(db)
    assert len(logged(db, event="LIMIT_REACHED")) == 2


def test_maintenance_says_that_a_queue_was_full_for_senders_and_has_room_again(db: Db, create: Create) -> None:
    create(message_limit=10)
    create("unlimited")
    create("never", message_limit=10)
    for _ in range(10):
        send(db)
    maintain = "select howdah.maintain_log()"
    refused(db, "HD018", "select howdah.send('q', 'x'::text)")
    for _ in range(2):
        one(db, maintain)
    assert logged(db) == [("WARNING", "LIMIT_REACHED", "q")]
    db.execute("select howdah.receive('q', 5)")
    for _ in range(2):
        one(db, maintain)
    assert logged(db) == [("WARNING", "LIMIT_REACHED", "q"), ("INFO", "LIMIT_LEFT", "q")]


def test_maintenance_says_which_resource_state_the_engine_is_in(db: Db, create: Create) -> None:
    create()
    one(db, "select howdah.alter_engine('{\"max_count\": 10}')")
    for _ in range(8):
        send(db)
    for _ in range(2):
        one(db, "select howdah.maintain_log()")
    assert logged(db) == [("WARNING", "RESOURCE_STATE", None)]
    assert one(db, "select details ->> 'state' from howdah.list_log('WARNING')") == "orange"
    one(db, "select howdah.alter_engine('{\"max_count\": null}')")
    one(db, "select howdah.maintain_log()")
    assert logged(db)[1:] == [("INFO", "RESOURCE_STATE", None)]


def test_metrics_count_each_queue_and_all(db: Db, create: Create) -> None:
    create()
    create("other")
    for _ in range(3):
        send(db)
    one(db, "select howdah.receive('q')")
    outcomes(db, 1)
    rows = db.execute(
        "select queue_name, messages_in, messages_out, there from howdah.list_metrics()"
        " where queue_name is null or queue_name in ('q', 'other') order by 1"
    ).fetchall()
    assert rows == [("other", 0, 0, 0), ("q", 3, 1, 2), (None, 3, 1, 2)]
    assert one(db, "select failed from howdah.list_metrics() where queue_name is null") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "select howdah.log('DEBUG', 'x')",
        "select howdah.log(null, 'x')",
        "select howdah.log('INFO', ' ')",
        "select howdah.log('INFO', repeat('x', 2001))",
        "select howdah.log('INFO', 'x', '[]')",
        "select howdah.log('INFO', 'x', jsonb_build_object('x', repeat('x', 10000)))",
        "select howdah.list_log('DEBUG')",
        "select howdah.list_log(max_rows => 0)",
        "select howdah.log_since(max_rows => 10001)",
        "select howdah.log_since('{}')",
        "select howdah.log_since('[1]')",
        'select howdah.log_since(\'{"since": "x"}\')',
        'select howdah.log_since(\'{"since": "1:2:", "at": "x"}\')',
        "select howdah.read_log('')",
        "select howdah.read_log(null)",
    ],
)
def test_wrong_arguments_are_refused(db: Db, statement: str) -> None:
    refused(db, "HD005", statement)


def test_a_link_that_goes_away_comes_back_or_is_refused_is_logged_once(db: Db, create: Create) -> None:
    create("out")
    one(db, "select howdah.create_link('far', 'out', 'in', dsn_env => 'HOWDAH_FAR')")
    db.execute("select howdah.link_take('far', 'me')")
    for _ in range(2):
        one(db, "select howdah.link_away('far', 'me', 'no route')")
    db.execute("select howdah.link_take('far', 'me', gen_random_uuid())")
    assert logged(db) == [("WARNING", "LINK_AWAY", "out"), ("INFO", "LINK_BACK", "out")]
    assert one(db, "select details ->> 'error' from howdah.list_log(event => 'LINK_AWAY')") == "no route"
    message = send(db, "out")
    failures = Jsonb([{"message_id": message, "error_class": "LinkRefused"}])
    db.execute("select howdah.record_failures('out', %s)", (failures,))
    assert logged(db)[2:] == [("WARNING", "LINK_REFUSED", "out")]


def test_a_stopped_listener_and_what_a_stop_loses_are_logged(db: Db, create: Create) -> None:
    create(notify_admin=False)
    one(db, "select howdah.create_listener('shop', 'q', '{\"sequential_failures\": 1}')")
    message = send(db)
    db.execute("select howdah.record_failures_as('shop', %s)", (Jsonb([{"message_id": message}]),))
    assert logged(db) == [("ERROR", "LISTENER_STOPPED", "q")]
    one(db, "select howdah.send('q', 'x'::text, delivery_mode => 'non-persistent')")
    for timeout in (0, 10):
        one(db, "select state from howdah.stop_engine(interval '%s seconds')", (timeout,))
    one(db, "select howdah.resume_engine()")
    assert ("WARNING", "NONPERSISTENT_LOST", "q") in logged(db)
    stated = [event for event in logged(db) if event[1] == "ENGINE_STATE"]
    assert len(stated) == 3, "quiesced, stopped, running"
