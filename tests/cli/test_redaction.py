"""howdah redaction: rules that hide parts of bodies, and their record."""

from __future__ import annotations

from command import howdah, refused


def test_set_list_and_drop_a_redaction_and_take_that_back(dsn: str) -> None:
    assert howdah(dsn, "redaction", "list").out == "no redactions\n"
    made = howdah(dsn, "redaction", "set", "orders.>", "$.card", "--reason", "PCI")
    assert made.out == "redaction of $.card in orders.> set\n"
    assert howdah(dsn, "redaction", "set", "orders.>", "$.card").out == "redaction of $.card in orders.> was there\n"
    (row,) = howdah(dsn, "redaction", "list", "--json").json
    assert (row["pattern"], row["path"]) == ("orders.>", "$.card")
    assert howdah(dsn, "redaction", "drop", "orders.>", "$.card").out == "redaction of $.card in orders.> dropped\n"
    gone = howdah(dsn, "redaction", "drop", "orders.>", "$.card").out
    assert gone == "there was no redaction of $.card in orders.>\n"
    (last, *_) = howdah(dsn, "changes", "list", "--kind", "redaction", "--json").json
    assert howdah(dsn, "changes", "undo", str(last["change_id"]), "--yes").code == 0
    assert len(howdah(dsn, "redaction", "list", "--json").json) == 1
    refused(howdah(dsn, "redaction", "set", "orders.>", "card"), "no path of a redaction rule")
