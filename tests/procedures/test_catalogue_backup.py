"""A backup restores the identical catalogue, and prunes nothing that holds messages or created itself."""

from __future__ import annotations

import pytest
from instances_support import beat, running
from psycopg.types.json import Jsonb
from support import Db, column, one, refused


@pytest.mark.behaviour("IMQ-117")
def test_a_backup_a_wipe_and_a_restore_give_the_identical_catalogue(db: Db) -> None:
    for made in (
        "set_policy('eu.>', '{\"default_priority\": 6}')",
        'create_queue(\'q\', \'{"preset": "activemq", "max_failed_deliveries": 3}\')',
        "create_queue('eu.q', '{\"message_limit\": 100}')",
        "create_topic('t', '{\"retain_ms\": 1000}')",
        "subscribe('t', 's', 'client', selector => 'a > 1', options => '{\"prioritized\": true}')",
        "subscribe('t.>', 'w', shared => true)",
        "create_alias('a', 'q', '{\"producer_may_override\": false}')",
        "set_redaction('eu.>', '$.card', 'PCI')",
        "bridge('t', 'q', 'b = 1')",
        "create_listener('l', 'eu.q', '{\"max_sessions\": 2}')",
        "create_link('k', 'eu.q', 'there', service => 'x')",
        "grant_queue('q', 'send', 'howdah_browser')",
        "revoke_queue('q', 'receive', 'howdah_consumer')",
        "pause('eu.q', true, false)",
        "alter_engine('{\"max_count\": 1000}')",
        "create_rule_set('night', 'default')",
        "set_rule('night', 'queue', 'eu.>', 'produce', false, 'user', '{tom}')",
        "alter_service('jms', '{\"idle_seconds\": 60}')",
        "create_object('cf', 'connection_factory', '{\"priority\": 7}', true)",
    ):
        one(db, f"select howdah.{made}")
    watching = running(db, "watching")
    catalogue = db.execute("select kind, name, properties from howdah._catalogue() order by kind, name").fetchall()
    assert len(catalogue) >= 11
    backup = column(db, "select * from howdah.backup_changes()")
    identity = one(db, "select howdah.cluster_settings() ->> 'record_id'")
    for wiped in (
        "drop_topic('t', true)",
        "unsubscribe('t.>::w')",
        "drop_alias('a')",
        "drop_queue('q')",
        "drop_queue('eu.q')",
        "drop_queue('ActiveMQ.DLQ')",
        "drop_policy('eu.>')",
        "drop_redaction('eu.>', '$.card')",
        "set_redaction('>', '$.extra')",
        "alter_engine('{\"max_count\": null}')",
        "create_queue('extra')",
        "drop_rule_set('night')",
        "create_rule_set('extra')",
        "drop_rule('default', 'queue', 'q', 'consume', true, 'group')",
        "alter_service('jms', '{\"idle_seconds\": 600}')",
        "alter_object('cf', '{\"priority\": null}', false)",
    ):
        one(db, f"select howdah.{wiped}")
    position = column(db, "select position from howdah.config_changes()")[-1]
    restored = one(db, "select howdah.restore_changes(%s, true)", ([Jsonb(line) for line in backup],))
    assert restored >= 11
    assert (
        db.execute("select kind, name, properties from howdah._catalogue() order by kind, name").fetchall() == catalogue
    )
    assert one(db, "select howdah.cluster_settings() ->> 'record_id'") != identity
    refused(db, "HD037", "select howdah.config_changes(%s)", (position,))
    assert beat(db, watching)["reset"] is True, "a reader of the former record is told"
    assert one(db, "select howdah.restore_changes(%s, true)", ([Jsonb(line) for line in backup],)) == 0
    for wrong in ([], [{"howdah": "changes", "version": 2}], [backup[0], {"kind": "role", "name": "x"}]):
        refused(db, "HD005", "select howdah.restore_changes(%s::jsonb[])", ([Jsonb(line) for line in wrong],))


RESTORE = "select howdah.restore_changes(%s, true)"


def backed_up(db: Db) -> list[Jsonb]:
    return [Jsonb(line) for line in column(db, "select * from howdah.backup_changes()")]


MADE = "select name from howdah._catalogue() where kind in ('queue', 'topic', 'subscription', 'alias') order by name"


def test_redaction_rules_are_in_the_backup(db: Db) -> None:
    one(db, "select howdah.set_redaction('people.>', '$.card', 'PCI')")
    backup = backed_up(db)
    one(db, "select howdah.drop_redaction('people.>', '$.card')")
    one(db, "select howdah.set_redaction('>', '$.extra')")
    assert one(db, RESTORE, (backup,)) == 2
    assert db.execute("select pattern, path, reason from howdah.list_redactions()").fetchall() == [
        ("people.>", "$.card", "PCI")
    ]


def test_what_holds_messages_is_not_pruned_and_all_else_is(db: Db) -> None:
    backup = backed_up(db)
    for made in (
        "create_queue('full')",
        "create_queue('empty')",
        "create_topic('t')",
        "create_topic('unread')",
        "subscribe('t', 'behind')",
        "subscribe('t', 'done')",
        "create_alias('a', 'full')",
    ):
        one(db, f"select howdah.{made}")
    one(db, "select howdah.send('full', 'x')")
    one(db, "select howdah.send('t', 'y')")
    assert column(db, "select body from howdah.receive('t::done')") == ["y"]
    assert one(db, RESTORE, (backup,)) == 4
    assert column(db, MADE) == ["full", "t", "t::behind"]
    assert column(db, "select body from howdah.receive('full')") == ["x"]
    assert column(db, "select body from howdah.receive('t::behind')") == ["y"]
    assert one(db, RESTORE, (backup,)) == 3
    assert column(db, MADE) == []


def test_what_created_itself_is_neither_backed_up_nor_pruned(db: Db) -> None:
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    before = backed_up(db)
    for use in ("send('q', 'x')", "receive('empty')", "send('topic://t', 'x')"):
        db.execute(f"select howdah.{use}".encode())
    backup = backed_up(db)
    assert column(db, MADE) == []
    assert one(db, RESTORE, (before,)) == 0
    assert one(db, RESTORE, (backup,)) == 0
    created = "select name from howdah.destinations where auto_created and dropped_at is null order by name"
    assert column(db, created) == ["empty", "q", "t"]


def test_what_created_itself_is_backed_up_with_what_was_made_of_it(db: Db) -> None:
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    for name in ("named", "linked", "listened", "paused", "bridged", "unused"):
        one(db, "select howdah.send(%s, 'x')", (name,))
    for topic in ("read", "from"):
        one(db, "select howdah.send(%s, 'x')", (f"topic://{topic}",))
    for made in (
        "create_alias('a', 'named')",
        "create_link('k', 'linked', 'there', service => 'x')",
        "create_listener('l', 'listened')",
        "pause('paused')",
        "bridge('from', 'bridged')",
        "subscribe('read', 's')",
    ):
        one(db, f"select howdah.{made}")
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": false, "autocreate_topic": false}\')')
    assert column(db, MADE) == [*("a", "bridged", "from", "linked", "listened", "named", "paused", "read", "read::s")]
    backup = backed_up(db)
    one(db, "select howdah.drop_alias('a')")
    for topic in ("read", "from"):
        one(db, "select howdah.drop_topic(%s, true)", (topic,))
    for name in ("named", "linked", "listened", "paused", "bridged", "unused"):
        one(db, "select howdah.drop_queue(%s, true)", (name,))
    one(db, RESTORE, (backup,))
    assert column(db, MADE) == [*("a", "bridged", "from", "linked", "listened", "named", "paused", "read", "read::s")]
