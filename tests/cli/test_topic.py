"""howdah topic and howdah subscription: every command, its --json, and what it refuses.

Send and receive go through them too.
"""

from __future__ import annotations

from command import howdah, refused


def received(dsn: str, subscription: str, number: int = 10) -> list[object]:
    result = howdah(dsn, "receive", subscription, "-n", number, "--json")
    assert result.code == 0, result
    return [message["body"] for message in result.json_lines]


def test_create_list_show_alter_drop_a_topic(dsn: str) -> None:
    assert howdah(dsn, "topic", "list").out == "no topics\n"
    assert howdah(dsn, "topic", "create", "prices", "-o", "retain_ms=60000").out == "topic prices created\n"
    assert howdah(dsn, "topic", "create", "news", "--json").json["topic"] == "news"
    assert [row["topic"] for row in howdah(dsn, "topic", "list", "--json").json] == ["news", "prices"]
    assert "prices" in howdah(dsn, "topic", "list").out
    assert (
        howdah(dsn, "topic", "alter", "prices", "-o", "recovery=last_image").out == "topic prices altered: recovery\n"
    )
    shown = howdah(dsn, "topic", "show", "prices", "--json").json
    assert (shown["retain_ms"], shown["recovery"], shown["bridges"]) == (60000, "last_image", [])
    assert "recovery                 last_image\n" in howdah(dsn, "topic", "show", "prices").out
    assert howdah(dsn, "topic", "drop", "news", "--yes").out == "topic news dropped\n"
    refused(howdah(dsn, "topic", "drop", "news", "--yes"), "no queue 'news'")


def test_what_is_sent_to_a_topic_is_received_by_each_subscription(dsn: str) -> None:
    howdah(dsn, "topic", "create", "prices")
    assert howdah(dsn, "subscription", "create", "prices", "a").out == "subscribed as prices::a\n"
    second = howdah(
        dsn, "subscription", "create", "prices", "b", "--client-id", "shop", "-s", "level > 1", "--json"
    ).json["subscription"]
    assert second == "prices:shop:b"
    assert "sent to prices" in howdah(dsn, "send", "prices", "low", "-H", "level=1").out
    lines = '{"body": "high", "headers": {"level": 2}}\n{"body": "top", "headers": {"level": 3}}\n'
    assert howdah(dsn, "send", "prices", "-f", "-", stdin=lines).out == "2 messages sent to prices\n"
    assert received(dsn, "prices::a") == ["low", "high", "top"]
    assert received(dsn, second, 1) == ["high"]
    rows = {row["subscription"]: row for row in howdah(dsn, "subscription", "list", "prices", "--json").json}
    assert (rows["prices::a"]["behind"], rows["prices::a"]["delivered"]) == (0, 3)
    assert (rows[second]["behind"], rows[second]["delivered"]) == (1, 1)
    shown = howdah(dsn, "subscription", "list", "--wide").out
    assert "prices:shop:b" in shown
    assert "level > 1" in shown
    refused(howdah(dsn, "receive", "prices"), "is a topic")


def test_a_subscription_begins_in_the_past_and_history_shows_it(dsn: str) -> None:
    howdah(dsn, "topic", "create", "prices", "-o", "retain_ms=3600000")
    for body in ("1", "2"):
        howdah(dsn, "send", "prices", body)
    for name, since, bodies in (
        ("all", "beginning", ["1", "2"]),
        ("hour", "1h", ["1", "2"]),
        ("then", "2999-01-01", []),
    ):
        howdah(dsn, "subscription", "create", "prices", name, "--since", since)
        assert received(dsn, f"prices::{name}") == bodies
    history = howdah(dsn, "topic", "history", "prices", "--json").json_lines
    assert [(message["body"], message["queue"]) for message in history] == [("1", "prices"), ("2", "prices")]
    assert howdah(dsn, "topic", "history", "prices", "--since", "2999-01-01").out == "no stored message of prices\n"
    assert len(howdah(dsn, "topic", "history", "prices", "-n", "1", "--since", "1h", "--json").json_lines) == 1
    refused(howdah(dsn, "topic", "history", "prices", "--since", "yesterday"), "is not a time", 2)
    refused(howdah(dsn, "topic", "history", "prices", "--since", "9999999999d"), "is not a time", 2)


def test_pause_resume_alter_and_drop_a_subscription(dsn: str) -> None:
    howdah(dsn, "topic", "create", "prices")
    howdah(dsn, "subscription", "create", "prices", "a", "--shared")
    assert howdah(dsn, "subscription", "pause", "prices::a").out == "prices::a: paused\n"
    howdah(dsn, "send", "prices", "x")
    refused(howdah(dsn, "receive", "prices::a"), "is paused")
    assert howdah(dsn, "subscription", "resume", "prices::a", "--json").json["resumed"] is True
    altered = howdah(dsn, "subscription", "alter", "prices::a", "-o", "max_failed_deliveries=1")
    assert altered.out == "subscription prices::a altered: max_failed_deliveries\n"
    assert received(dsn, "prices::a") == ["x"]
    refused(howdah(dsn, "subscription", "drop", "prices::a"), "confirmation")
    refused(howdah(dsn, "topic", "drop", "prices", "--yes"), "has 1 subscription")
    assert howdah(dsn, "subscription", "drop", "prices::a", "--yes").code == 0
    assert howdah(dsn, "subscription", "list").out == "no subscriptions\n"
    refused(howdah(dsn, "subscription", "drop", "prices::a", "--yes"), "no subscription 'prices::a'")


def test_bridge_and_unbridge(dsn: str) -> None:
    howdah(dsn, "topic", "create", "prices")
    howdah(dsn, "queue", "create", "orders")
    assert howdah(dsn, "topic", "bridge", "prices", "orders", "-s", "level > 1").out == "prices goes on to orders\n"
    assert "bridges                  orders (level > 1)\n" in howdah(dsn, "topic", "show", "prices").out
    for level in (1, 2):
        howdah(dsn, "send", "prices", str(level), "-H", f"level={level}")
    assert received(dsn, "orders") == ["2"]
    assert howdah(dsn, "topic", "unbridge", "prices", "orders", "--json").json["unbridged"] is True
    assert "did not go on" in howdah(dsn, "topic", "unbridge", "prices", "orders").out


def test_what_cannot_be_is_one_line_and_changes_nothing(dsn: str) -> None:
    howdah(dsn, "topic", "create", "prices")
    for words, said in (
        (("topic", "create", "prices"), "exists already"),
        (("topic", "create", "a b"), "queue name"),
        (("topic", "create", "t", "-o", "colour=red"), "Options are: persistent"),
        (("topic", "create", "t", "-o", "recovery=query"), "recovery_selector"),
        (("topic", "show", "nowhere"), "there is no topic 'nowhere'"),
        (("topic", "history", "nowhere"), "'nowhere'"),
        (("topic", "bridge", "prices", "nowhere"), "'nowhere'"),
        (("subscription", "create", "nowhere", "a"), "'nowhere'"),
        (("subscription", "create", "prices", "a b"), "bad name"),
        (("subscription", "create", "prices", "a", "-s", "x >"), "selector"),
        (("subscription", "create", "prices", "a", "--no-local"), "client_id"),
        (("subscription", "list", "nowhere"), "'nowhere'"),
        (("subscription", "pause", "nowhere"), "'nowhere'"),
    ):
        refused(howdah(dsn, *words), said)
    refused(howdah(dsn, "topic", "alter", "prices"), "name at least one", 2)
    refused(howdah(dsn, "subscription", "alter", "x"), "name at least one", 2)
    assert howdah(dsn, "subscription", "list", "--json").json == []
    assert [row["topic"] for row in howdah(dsn, "topic", "list", "--json").json] == ["prices"]


def test_a_consumers_role_subscribes_and_lists_but_makes_no_topic(dsn: str) -> None:
    howdah(dsn, "topic", "create", "prices")
    role = ("--role", "howdah_consumer")
    refused(howdah(dsn, "topic", "create", "mine", *role), "permission denied")
    refused(howdah(dsn, "topic", "drop", "prices", "--yes", *role), "permission denied")
    assert howdah(dsn, "subscription", "create", "prices", "a", *role).code == 0
    assert len(howdah(dsn, "subscription", "list", "prices", "--json", *role).json) == 1
    refused(howdah(dsn, "send", "prices", "x", *role), "permission denied")
    assert howdah(dsn, "subscription", "drop", "prices::a", "--yes", *role).code == 0


def test_a_subscription_goes_back_to_a_time(dsn: str) -> None:
    howdah(dsn, "topic", "create", "news", "-o", "retain_ms=3600000")
    howdah(dsn, "subscription", "create", "news", "a")
    howdah(dsn, "send", "news", "x")
    for since, received in (("beginning", "x"), ("1h", "x"), ("end", "")):
        howdah(dsn, "receive", "news::a")
        said = howdah(dsn, "subscription", "seek", "news::a", since).out
        assert said == f"news::a: goes on from {since}\n"
        assert received in howdah(dsn, "receive", "news::a").out
    refused(howdah(dsn, "subscription", "seek", "news::a", "soon"), "is not a time", 2)
