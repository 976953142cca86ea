"""howdah kept: what was consumed and is kept is listed, sent again and deleted."""

from __future__ import annotations

from command import howdah, refused
from support import Clock, Db, column, one, receive

HOUR = 3_600_000


def keep(db: Db, *bodies: str) -> list[int]:
    """Send messages to a queue that keeps bodies, and consume them."""
    numbers: list[int] = [one(db, "select howdah.send('orders', %s)", (body,)) for body in bodies]
    receive(db, "orders", len(numbers))
    return numbers


def test_kept_messages_are_listed_sent_again_and_deleted(dsn: str, db: Db, clock: Clock) -> None:
    assert howdah(dsn, "queue", "create", "orders", "-o", f"keep_bodies_ms={HOUR}").code == 0
    assert howdah(dsn, "kept", "list", "orders").out == "orders keeps no message\n"
    early = keep(db, "one", "two")
    clock.advance(600)
    (late,) = keep(db, "three")
    db.execute("select howdah.send('orders', '\\x00ff'::bytea); select howdah.receive('orders')")
    shown = howdah(dsn, "kept", "list", "orders").out
    assert [word in shown for word in ("one", "two", "three", "2 bytes")] == [True] * 4
    listed = howdah(dsn, "queue", "list", "--wide").out
    assert "keeps bodies, ms" in listed
    assert str(HOUR) in listed
    rows = howdah(dsn, "kept", "list", "orders", "--oldest", "-n", "3", "--json").json
    assert [row["message_id"] for row in rows] == [*early, late]
    (row,) = howdah(dsn, "kept", "list", "orders", "--id", str(late), "--json").json
    assert (row["body"], row["delivery_count"]) == ("three", 1)
    again = howdah(dsn, "kept", "replay", "orders", "--before", "5m", "--dry-run")
    assert again.out == "2 messages would be sent again to orders\n"
    again = howdah(dsn, "kept", "replay", "orders", "--id", str(late), "--reason", "lost")
    assert again.out == "1 message sent again to orders\n"
    assert [message.body for message in receive(db, "orders", 9)] == ["three"]
    assert howdah(dsn, "kept", "replay", "orders", "--since", "5m", "-n", "1", "--json").json["replayed"] == 1
    deleted = howdah(dsn, "kept", "delete", "orders", "--before", "5m", "--yes", "--reason", "law")
    assert deleted.out == "2 kept messages of orders deleted\n"
    assert howdah(dsn, "kept", "delete", "orders", "--id", str(late), "--json").json["deleted"] == 1
    assert howdah(dsn, "kept", "delete", "orders", "--all", "--yes", "--json").json["deleted"] == 2
    assert column(db, "select act from howdah.list_acts('orders')").count("purged") == 3


def test_a_command_says_which_kept_messages_it_means_and_asks_before_it_deletes_many(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('orders', jsonb_build_object('keep_bodies_ms', %s::bigint))", (HOUR,))
    (number,) = keep(db, "one")
    for words in (("replay",), ("delete",), ("replay", "--all", "--id", "1"), ("delete", "--all", "--before", "1h")):
        assert howdah(dsn, "kept", words[0], "orders", *words[1:]).code == 2
    assert howdah(dsn, "kept", "delete", "orders", "--all").code != 0
    refused(howdah(dsn, "kept", "replay", "orders", "--id", "5"), "keeps no message 5")
    assert howdah(dsn, "kept", "list", "orders", "--role", "howdah_browser").code == 0
    assert howdah(dsn, "kept", "list", "orders", "--role", "howdah_producer").code != 0
    assert howdah(dsn, "kept", "replay", "orders", "--all", "--role", "howdah_browser").code != 0
    assert column(db, "select message_id from howdah.browse_kept('orders')") == [number]
