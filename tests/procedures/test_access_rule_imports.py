"""Access rules are imported and exported in the syntax of properties."""

from __future__ import annotations

import pytest
from access_rules_support import RULE
from support import Db, column, one, refused

OF_MQ = """
# Access control of Sun ONE MQ
connection.NORMAL.allow.user=*
connection.ADMIN.allow.group=howdah_admin

queue.*.produce.allow.user=*
queue.*.consume.allow.user=*
queue.q1.produce.deny.user=tom
topic.*.produce.allow.group=howdah_producer, \\
    howdah_admin
queue.create.allow.user=*
queue.q1.produce.deny.user=ann
"""


@pytest.mark.behaviour("IMQ-67")
def test_rules_are_imported_and_exported_in_the_syntax_of_properties(db: Db) -> None:
    assert one(db, "select howdah.import_rules('mq', %s)", (OF_MQ,)) == 9
    text = one(db, "select howdah.export_rules('mq')")
    lines = text.splitlines()
    assert lines[0].startswith("#")
    assert sorted(lines[1:]) == [
        "connection.ADMIN.allow.group=howdah_admin",
        "connection.NORMAL.allow.user=*",
        "queue.*.admin.allow.group=howdah_admin",
        "queue.*.consume.allow.user=*",
        "queue.*.produce.allow.user=*",
        "queue.create.allow.user=*",
        "queue.q1.produce.deny.user=ann",
        "topic.*.admin.allow.group=howdah_admin",
        "topic.*.produce.allow.group=howdah_producer,howdah_admin",
    ]
    one(db, "select howdah.import_rules('again', %s)", (text,))
    assert one(db, "select howdah.export_rules('again')").splitlines()[1:] == lines[1:]


@pytest.mark.parametrize("last", ["queue.create", "queue.*.create"])
def test_of_two_spellings_of_one_key_the_last_line_wins_and_counts_alone(db: Db, last: str) -> None:
    keys = sorted(["queue.create", "queue.*.create"], key=lambda key: key == last)
    text = "".join(f"{key}.allow.user={'ann' if key == last else 'tom'}\n" for key in keys)
    assert one(db, "select howdah.import_rules('two', %s)", (text,)) == 3, "with the default rules for admin"
    assert "queue.create.allow.user=ann" in one(db, "select howdah.export_rules('two')").splitlines()


def test_odd_names_survive_export_and_import(db: Db) -> None:
    odd = [r"a,b", "a b", "#x", "ü\\", " before", "after ", "\u00a0a\u3000", "last "]
    one(db, RULE, ("default", "topic", "news:a=b\\:n", "consume", True, "user", odd))
    text = one(db, "select howdah.export_rules()")
    one(db, "select howdah.import_rules('copy', %s)", (text,))
    ask = "select principals from howdah.list_rules('copy') where name = %s"
    assert one(db, ask, ("news:a=b\\:n",)) == odd


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("queue.q.produse.allow.user=tom", "line 3"),
        ("queue.produce.allow.user=tom", "line 3"),
        ("connection.OTHER.allow.user=tom", "line 3"),
        ("queue.q.produce.allow.user=", "line 3"),
        ("queue.q.produce.allow.user", "line 3"),
        ("queue.A.>.B.produce.allow.user=tom", "line 3"),
        ("tom", "line 3"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number_and_nothing_is_written(db: Db, line: str, said: str) -> None:
    before = column(db, "select r::text from howdah.list_rules() r")
    text = f"queue.q.produce.allow.user=ann\n# next is wrong\n{line}\n"
    assert said in str(refused(db, "HD005", "select howdah.import_rules('default', %s)", (text,)).message_primary)
    assert column(db, "select r::text from howdah.list_rules() r") == before
    assert column(db, "select kind from howdah.config_changes where kind ~ 'rule'") == []


@pytest.mark.parametrize("key", [None, "", "queue", "a\nb"])
def test_what_is_no_key_of_a_rule_is_refused(db: Db, key: str | None) -> None:
    refused(db, "HD005", "select * from howdah.parse_rule(%s)", (key,))
