"""Administrators change access rules and sets of them, within their rights and on record."""

from __future__ import annotations

from typing import Any

from access_rules_support import RULE, rule
from psycopg import sql
from support import Connect, Db, column, identifier, one, refused


def test_each_change_of_a_rule_is_on_record(db: Db) -> None:
    assert rule(db, "queue.q.produce.deny.user", "tom")
    assert not rule(db, "queue.q.produce.deny.user", "tom"), "nothing changed"
    rule(db, "queue.q.produce.deny.user", "ann")
    one(db, "select howdah.drop_rule('default', 'queue', 'q', 'produce', false, 'user')")
    one(db, "select howdah.create_rule_set('other')")
    one(db, "select howdah.drop_rule_set('other')")
    changes: list[Any] = db.execute(
        "select kind, name, act, before, after from howdah.config_changes where kind ~ 'rule' order by change_id"
    ).fetchall()
    key, tom, ann = "default/queue.q.produce.deny.user", {"principals": ["tom"]}, {"principals": ["ann"]}
    assert changes == [
        ("rule", key, "created", None, tom),
        ("rule", key, "altered", tom, ann),
        ("rule", key, "dropped", ann, None),
        ("rule_set", "other", "created", None, {}),
        ("rule_set", "other", "dropped", {}, None),
    ]


def test_a_set_in_force_is_not_dropped_and_bad_arguments_are_refused(db: Db) -> None:
    refused(db, "HD005", "select howdah.drop_rule_set('default')")
    for call in (
        "drop_rule_set('none')",
        "create_rule_set('default')",
        "create_rule_set('a b')",
        "create_rule_set('x', 'none')",
        "list_rules('none')",
        "export_rules('none')",
        "import_rules('x', null)",
        "set_rule('none', 'queue', 'q', 'produce', true, 'user', '{tom}')",
        "set_rule('default', 'queue', 'q', 'connect', true, 'user', '{tom}')",
        "set_rule('default', 'connection', 'q', 'connect', true, 'user', '{tom}')",
        "set_rule('default', 'queue', 'q', 'produce', null, 'user', '{tom}')",
        "set_rule('default', 'queue', 'q', 'produce', true, 'role', '{tom}')",
        "set_rule('default', 'queue', 'q', 'produce', true, 'user', '{}')",
        "set_rule('default', 'queue', 'q', 'produce', true, 'user', null)",
        "drop_rule('default', 'queue', '', 'produce', true, 'user')",
        "explain_access('nobody at all', 'queue', 'q', 'produce')",
    ):
        refused(db, "HD005", f"select howdah.{call}")
    refused(db, "HD003", "select howdah.set_rule('default', 'queue', 'a.>.b', 'produce', true, 'user', '{tom}')")
    refused(db, "HD004", 'select howdah.alter_engine(\'{"rule_set": "none"}\')')


def test_who_does_not_administer_everything_changes_only_rules_of_queues_that_he_administers(
    db: Db, connect: Connect, team: dict[str, str]
) -> None:
    for name in ("his", "ours"):
        one(db, "select howdah.create_queue(%s)", (name,))
    db.execute(sql.SQL("grant howdah_admin to {}").format(identifier(team["tom"])))
    rule(db, "queue.*.admin.deny.user", team["tom"])
    rule(db, "topic.*.admin.deny.user", team["tom"])
    rule(db, "queue.his.admin.allow.user", team["tom"])
    tom = connect(team["tom"])
    assert rule(tom, "queue.his.produce.allow.user", team["ann"])
    for key in ("queue.ours.produce.allow.user", "queue.*.admin.deny.user", "connection.ADMIN.connect.allow.user"):
        resource, name, operation, access, kind = key.split(".")
        refused(tom, "HD010", RULE, ("default", resource, name, operation, access == "allow", kind, [team["tom"]]))
    for call in (
        "import_rules('default', '')",
        "create_rule_set('x')",
        "drop_rule_set('default')",
        "alter_engine('{\"access_enabled\": false}')",
        "grant_queue('ours', 'send', 'howdah_admin')",
    ):
        refused(tom, "HD010", f"select howdah.{call}")


def test_only_administrators_change_rules_and_auditors_read_them(db: Db, connect: Connect) -> None:
    for role in ("howdah_producer", "howdah_consumer", "howdah_browser", "howdah_auditor"):
        refused(
            connect(role),
            "42501",
            "select howdah.set_rule('default', 'queue', '*', 'produce', true, 'user', '{*}')",
        )
    assert column(connect("howdah_auditor"), "select name from howdah.list_rule_sets()") == ["default"]
    assert len(column(connect("howdah_auditor"), "select * from howdah.list_rules()")) == 12
