"""What tests of the record of changes share: acts of each kind, and what the record says."""

from __future__ import annotations

from typing import Any

from support import Db, one


def changes(db: Db, kind: str | None = None, name: str | None = None) -> list[tuple[Any, ...]]:
    """Act, kind and name, oldest first."""
    return db.execute(
        "select act, kind, name from howdah.config_changes(of_kind => %s, of_name => %s)", (kind, name)
    ).fetchall()


def last(db: Db) -> int:
    return int(one(db, "select max(change_id) from howdah.config_changes()"))


ACTS = {
    "queue": ["create_queue('q')", "alter_queue('q', '{\"default_priority\": 7}')", "pause('q')", "drop_queue('q')"],
    "topic": ["create_topic('t')", "alter_topic('t', '{\"retain_ms\": 5}')", "drop_topic('t')"],
    "subscription": [
        "subscribe('t', 's')",
        "alter_queue('t::s', '{\"max_failed_deliveries\": 2}')",
        "unsubscribe('t::s')",
    ],
    "alias": ["create_alias('a', 'q')", "alter_alias('a', '{\"producer_may_override\": false}')", "drop_alias('a')"],
    "policy": ["set_policy('x.>', '{\"default_priority\": 7}')", "drop_policy('x.>')"],
    "engine": ["alter_engine('{\"max_count\": 10}')"],
    "rule": ["grant_queue('q', 'send', 'howdah_browser')", "revoke_queue('q', 'send', 'howdah_browser')"],
    "rule_set": ["create_rule_set('night')", "drop_rule_set('night')"],
    "service": ["alter_service('jms', '{\"idle_seconds\": 60}')"],
    "object": [
        "create_object('cf', 'connection_factory', '{\"priority\": 7}')",
        'alter_object(\'cf\', \'{"priority": null, "hosts": ["one"]}\')',
        "drop_object('cf')",
    ],
    "bridge": ["bridge('t', 'q')", "bridge('t', 'q', 'a = 1')", "unbridge('t', 'q')"],
    "listener": [
        "create_listener('l', 'q')",
        "alter_listener('l', '{\"max_sessions\": 2}')",
        "stop_listener('l')",
        "resume_listener('l')",
        "drop_listener('l')",
    ],
    "link": [
        "create_link('k', 'q', 'there', service => 'x')",
        "alter_link('k', batch_size => 5)",
        "pause_link('k')",
        "resume_link('k')",
        "rebase_link('k')",
        "drop_link('k')",
    ],
    "redaction": [
        "set_redaction('q', '$.card')",
        "set_redaction('q', '$.card', 'PCI')",
        "drop_redaction('q', '$.card')",
    ],
    "storage": ["set_storage('{\"fillfactor\": 70}', '{msgs}')", "set_storage('{\"fillfactor\": null}', '{msgs}')"],
    "metrics": ["reset_metrics()"],
    "schedule": [
        "schedule('q', 'x'::text, cron => '0 4 * * *', name => 'nightly')",
        "pause_schedule((select schedule_id from howdah.list_schedules()))",
        "resume_schedule((select schedule_id from howdah.list_schedules()))",
        "cancel_schedule((select schedule_id from howdah.list_schedules()))",
    ],
}
"""Acts of an administrator, by the kind of thing: first made, then changed, then ended."""
