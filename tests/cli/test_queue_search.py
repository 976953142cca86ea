"""howdah queue find and act: what they find, how far they looked, and what they deal with."""

from command import howdah

from howdah.engine import connect


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
