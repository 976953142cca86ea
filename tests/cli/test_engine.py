"""howdah engine: the limits of all queues together, and what a full queue says on the command line."""

from __future__ import annotations

import re

import psycopg
import pytest
from command import howdah, refused


def test_show_and_alter(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    assert howdah(dsn, "engine", "alter", "-o", "max_size=10k", "-o", "max_count=2").code == 0
    shown = howdah(dsn, "engine", "show", "--json").json
    assert (shown["state"], shown["max_count"], shown["max_size"], shown["red_threshold"]) == ("green", 2, 10240, 90)
    assert re.search(r"^state +green$", howdah(dsn, "engine", "show").out, re.MULTILINE)

    howdah(dsn, "send", "orders", "x")
    howdah(dsn, "send", "orders", "x")
    assert howdah(dsn, "engine", "show", "--json").json["state"] == "red"
    refused(howdah(dsn, "send", "orders", "x"), "the engine is full")
    refused(howdah(dsn, "queue", "create", "more"), "the engine is full")
    assert howdah(dsn, "engine", "alter", "-o", "max_count=0", "--json").json["altered"] == {"max_count": 0}
    howdah(dsn, "send", "orders", "x")


def test_the_largest_message_of_all_queues_is_set_and_shown(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders", "-o", "max_message_bytes=20")
    assert howdah(dsn, "engine", "alter", "-o", "max_message_bytes=10b").code == 0
    assert howdah(dsn, "engine", "show", "--json").json["max_message_bytes"] == 10
    refused(howdah(dsn, "send", "orders", "x" * 11), "the engine takes at most 10")
    assert howdah(dsn, "engine", "alter", "-o", "imq.message.max_size=0").code == 0
    assert howdah(dsn, "send", "orders", "x" * 11).code == 0
    refused(howdah(dsn, "send", "orders", "x" * 21), "queue 'orders' takes at most 20")


@pytest.mark.parametrize(
    ("option", "code", "text"),
    [("max_size=10g", 1, "10k"), ("max_message_bytes=10g", 1, "10k"), ("colour=red", 1, "max_count")],
)
def test_a_wrong_option_is_told_what_there_is(dsn: str, option: str, code: int, text: str) -> None:
    answer = howdah(dsn, "engine", "alter", "-o", option)
    assert (answer.code, text in answer.err) == (code, True)


def test_a_queues_limits_are_set_and_shown_and_a_full_queue_refuses(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders", "-o", "message_limit=1", "-o", "limit_behaviour=remove_oldest")
    shown = howdah(dsn, "queue", "show", "orders", "--json").json
    assert (shown["message_limit"], shown["limit_behaviour"], shown["send_timeout_ms"]) == (1, "remove_oldest", 30000)
    howdah(dsn, "send", "orders", "a")
    howdah(dsn, "send", "orders", "b")
    assert howdah(dsn, "browse", "orders", "--json").json["body"] == "b"
    howdah(dsn, "queue", "alter", "orders", "-o", "limit_behaviour=reject")
    refused(howdah(dsn, "send", "orders", "c"), "is full")


def test_a_deduplication_key_stores_one_message(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    sent = [howdah(dsn, "send", "orders", "x", "--deduplication-key", "k", "--json").json["message_id"] for _ in "ab"]
    assert sent[0] == sent[1]
    assert howdah(dsn, "send", "orders", "--file", "-", "--deduplication-key", "k").code == 2


def test_properties_of_the_engine_are_set_under_either_name_and_shown(dsn: str) -> None:
    ours = {"default_blocked_retry_ms": 7000, "autorollback": True, "redelivered_optimization": False}
    words = [word for name, value in ours.items() for word in ("-o", f"{name}={str(value).lower()}")]
    assert howdah(dsn, "engine", "alter", *words, "-o", "imq.message.expiration.interval=10").code == 0
    shown = howdah(dsn, "engine", "show", "--json").json
    assert {name: shown[name] for name in ours} == ours
    assert (shown["expiration_interval_seconds"], shown["journal_retention_days"]) == (10, 90)
    refused(howdah(dsn, "engine", "alter", "-o", "journal_retention_days=0"), "whole number from 1 to 36500")


def test_the_engine_is_paused_quiesced_and_resumed(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    assert howdah(dsn, "engine", "show", "--json").json["engine"] == "running"
    assert howdah(dsn, "engine", "pause", "--reason", "the disk is full").out == "engine paused\n"
    assert howdah(dsn, "engine", "pause").out == "engine was paused, quiesced or stopped already\n"
    refused(howdah(dsn, "send", "orders", "x"), "the engine is paused")
    assert howdah(dsn, "engine", "quiesce", "--json").json == {"quiesced": True}
    assert howdah(dsn, "engine", "show", "--json").json["engine"] == "quiesced"
    assert howdah(dsn, "engine", "resume").out == "engine resumed\n"
    assert howdah(dsn, "engine", "resume").out == "engine was running already\n"
    assert howdah(dsn, "send", "orders", "x").code == 0
    acts = howdah(dsn, "poison", "acts", "--json").json
    assert [(act["act"], act["queue_name"], act["reason"]) for act in acts] == [
        ("resumed", None, None),
        ("quiesced", None, None),
        ("paused", None, "the disk is full"),
    ]


def test_a_stop_says_what_is_under_way_and_stops_once_nothing_is(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    howdah(dsn, "send", "orders", "lost", "--non-persistent")
    howdah(dsn, "receive", "orders")  # the first receive on a server sweeps, and holds the engine's row
    howdah(dsn, "send", "orders", "kept")
    howdah(dsn, "send", "orders", "lost", "--non-persistent")
    with psycopg.connect(dsn) as worker:
        worker.execute("select howdah.receive('orders')")
        answer = howdah(dsn, "engine", "stop", "--timeout", "0.1", "--yes")
        assert answer.code == 1
        pid = worker.info.backend_pid
        assert answer.out == (
            f"engine quiescing, not stopped: 1 transaction (processes {pid}) and 0 leases under way\n"
        )
        assert howdah(dsn, "engine", "status", "--json").json["pids"] == [pid]
        worker.rollback()
    assert howdah(dsn, "engine", "stop", "--yes").out == "engine stopped\n"
    assert howdah(dsn, "engine", "stop", "--yes", "--json").json["state"] == "stopped"
    assert re.search(r"^state +stopped$", howdah(dsn, "engine", "status").out, re.MULTILINE)
    assert howdah(dsn, "engine", "resume").code == 0
    assert howdah(dsn, "receive", "orders", "--json").json["body"] == "kept"


def test_a_stop_asks_first_because_messages_are_lost(dsn: str) -> None:
    answer = howdah(dsn, "engine", "stop")
    assert answer.code != 0
    assert howdah(dsn, "engine", "status", "--json").json["state"] == "running"
    assert howdah(dsn, "engine", "stop", "--timeout", "-1").code == 2
