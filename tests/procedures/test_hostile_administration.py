"""An administrator of one team's names reaches no others by rules, patterns or forged changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from psycopg import sql
from psycopg.types.json import Jsonb
from support import Connect, Db, column, identifier, one, refused

SECRET = "hush"


@pytest.fixture
def confined(db: Db, connect: Connect) -> Iterator[Db]:
    """An administrator of A.> alone. Others administer B.q, which holds a message."""
    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser makes roles and becomes others")
    operators, team = (f"{name}_{db.info.dbname[-12:]}" for name in ("operators", "team"))
    member = one(db, "select session_user::text")
    db.execute(
        sql.SQL(
            "create role {0}; create role {1}; grant howdah_admin to {0}, {1}; grant {0} to {2};"
            "grant howdah_producer, howdah_consumer, howdah_browser to {1}"
        ).format(identifier(operators), identifier(team), identifier(member))
    )
    for kind in ("queue", "topic"):
        for operation in ("produce", "consume", "browse", "create", "admin"):
            for name, principals in (("*", [operators]), ("A.>", [operators, team])):
                one(
                    db,
                    "select howdah.set_rule('default', %s, %s, %s, true, 'group', %s)",
                    (kind, name, operation, principals),
                )
    one(db, "select howdah.create_queue('A.q'), howdah.create_queue('B.q'), howdah.create_topic('B.t')")
    one(db, "select howdah.send('B.q', %s)", (SECRET,))
    one(db, "select howdah.alter_queue('B.q', '{\"default_priority\": 6}')")
    one(db, "select howdah.create_alias('B.orders', 'B.q')")
    one(db, "select howdah.set_policy('B.>', '{\"message_limit\": 9}', false)")
    one(db, "select howdah.set_redaction('B.>', '$.card')")
    yield connect(team)
    for role in (team, operators):
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


def backup(*things: dict[str, object]) -> Jsonb:
    return Jsonb([{"howdah": "changes", "version": 1}, *things])


RESTORE = "select howdah.restore_changes(array(select jsonb_array_elements(%s)))"

FORGED: dict[str, dict[str, object]] = {
    "another team's queue": {"kind": "queue", "name": "B.q", "properties": {"default_priority": 1}},
    "rights there": {
        "kind": "queue",
        "name": "B.q",
        "properties": {"default_priority": 6, "grants": ["receive group public"]},
    },
    "a queue among its names": {"kind": "queue", "name": "B.new", "properties": {}},
    "the engine's rules": {"kind": "engine", "name": "howdah", "properties": {"access_enabled": False}},
    "a rule": {
        "kind": "rule",
        "name": "default/queue.B.q.consume.allow.user",
        "properties": {"principals": ["*"]},
    },
    "a service without rules": {"kind": "service", "name": "jms", "properties": {"access_enabled": False}},
    "an alias to it": {"kind": "alias", "name": "A.alias", "properties": {"target": "B.q"}},
    "an alias of it": {"kind": "alias", "name": "B.orders", "properties": {"target": "A.q"}},
    "a redaction rule of its names": {
        "kind": "redaction",
        "name": "B.q $",
        "properties": {"pattern": "B.q", "path": "$", "reason": None},
    },
    "a policy of its names": {"kind": "policy", "name": "B.>", "properties": {"at_limit": "discard"}},
}


@pytest.mark.first_case
@pytest.mark.parametrize("what", FORGED)
def test_a_forged_backup_does_nothing_that_the_verbs_refuse(db: Db, confined: Db, what: str) -> None:
    refused(confined, "HD010", RESTORE, (backup(FORGED[what]),))
    assert column(db, "select body from howdah.browse('B.q')") == [SECRET]


def test_a_forged_history_does_not_use_up_the_numbers_of_changes(db: Db) -> None:
    refused(db, "HD005", RESTORE, (backup({"change": {"change_id": 9223372036854775807}}),))


def test_who_is_no_administrator_restores_and_undoes_nothing(connect: Connect, confined: Db) -> None:
    for role in ("howdah_consumer", "howdah_producer", "howdah_browser", "howdah_auditor"):
        session = connect(role)
        refused(session, "42501", RESTORE, (backup(),))
        refused(session, "42501", "select howdah.undo_change(1)")
        refused(session, "42501", "select howdah.backup_changes()")


def test_nobody_undoes_what_he_may_not_do(db: Db, confined: Db) -> None:
    changes = column(db, "select change_id from howdah.list_changes() where name ^@ 'B.' or kind = 'rule' order by 1")
    assert set(column(db, "select kind from howdah.list_changes() where name ^@ 'B.'")) >= {
        *("queue", "topic", "alias", "policy", "redaction")
    }
    for change in changes:
        refused(confined, "HD010", "select howdah.undo_change(%s, true)", (change,))


@pytest.mark.first_case
@pytest.mark.parametrize(
    "call",
    [
        "select howdah.create_queue('B.new')",
        "select howdah.create_topic('B.new')",
        "select howdah.create_alias('B.new', 'A.q')",
        "select howdah.create_alias('A.alias', 'B.q')",
        "select howdah.alter_engine('{\"access_enabled\": false}')",
        "select howdah.alter_service('jms', '{\"access_enabled\": false}')",
        "select howdah.alter_service('jms', '{\"imq.jms.accesscontrol.enabled\": false}')",
        "select howdah.alter_service('admin', '{\"roles\": [\"howdah_consumer\"]}')",
        "select howdah.alter_service('jms', '{\"rule_set\": \"default\"}')",
        "select howdah.set_rule('default', 'queue', 'B.q', 'consume', true, 'user', '{*}')",
        "select howdah.set_rule('default', 'queue', 'A.*', 'consume', true, 'user', '{*}')",
        "select howdah.set_rule('default', 'queue', '*', 'consume', true, 'user', '{*}')",
        "select howdah.drop_rule('default', 'queue', '*', 'admin', true, 'group')",
        "select howdah.import_rules('default', '')",
        "select howdah.create_rule_set('mine')",
        "select howdah.grant_queue('B.q', 'receive', 'howdah_consumer')",
        "select howdah.alter_alias('B.orders', '{}', 'A.q')",
        "select howdah.alter_alias('B.orders', '{\"max_reliability\": \"best_effort\"}')",
        "select howdah.set_policy('>', '{\"message_limit\": 1}', true)",
        "select howdah.set_policy('>', '{\"message_limit\": 1}', false)",
        "select howdah.set_policy('B.>', '{\"exception_queue\": \"A.q\"}', false)",
        "select howdah.set_policy('B.new', '{\"at_limit\": \"discard\"}', false)",
        "select howdah.set_policy('*.new', '{\"default_time_to_live_ms\": 1}', false)",
        "select howdah.drop_policy('B.>')",
        "select howdah.drop_policy(null)",
        "select howdah.set_redaction('B.q', '$')",
        "select howdah.set_redaction('>', '$')",
        "select howdah.drop_redaction('B.>', '$.card')",
        "select howdah.bridge('B.t', 'A.q')",
        "select howdah.create_link('mine', 'B.q', 'x', 'elsewhere')",
        "select howdah.pause('B.q')",
        "select howdah.alter_queue('A.q', '{\"exception_queue\": \"B.q\"}')",
        "select howdah.alter_queue('A.q', '{\"log_queue\": \"B.q\"}')",
        "select howdah.create_queue('A.other', '{\"exception_queue\": \"B.q\"}')",
        "select howdah.set_policy('A.>', '{\"exception_queue\": \"B.q\"}')",
    ],
)
def test_an_administrator_of_one_teams_names_reaches_no_others(confined: Db, call: str) -> None:
    refused(confined, "HD010", call)
    one(confined, "select howdah.create_queue('A.new')")


def test_an_administrator_of_one_teams_names_decides_for_those_alone(confined: Db) -> None:
    for pattern in ("A.>", "A.*.new", "A.q", "A"):
        one(confined, "select howdah.set_policy(%s, '{\"message_limit\": 5}')", (pattern,))
        one(confined, "select howdah.set_redaction(%s, '$.card')", (pattern,))
        assert one(confined, "select howdah.drop_redaction(%s, '$.card')", (pattern,))
        assert one(confined, "select howdah.drop_policy(%s)", (pattern,))


NARROWED = {
    "another's names there": ("A.secret.>", ["A.>", "A.*", "A.*.x", "A.secret.q", "A.secret"], ["A.q", "A.open.>"]),
    "another's name there": ("A.secret", ["A.>", "A.*", "A.secret"], ["A.*.x", "A.open"]),
    "others' names by stars": ("A.*.x", ["A.>", "A.*.>", "A.b.>", "A.*.x", "A.b.*"], ["A.*", "A.*.y", "A.b.y.>"]),
}


@pytest.mark.parametrize("what", NARROWED)
def test_a_pattern_over_a_denied_name_is_refused(db: Db, confined: Db, what: str) -> None:
    denied, over, beside = NARROWED[what]
    one(db, "select howdah.set_rule('default', 'queue', %s, 'admin', false, 'user', '{*}')", (denied,))
    for pattern in over:
        refused(confined, "HD010", "select howdah.set_policy(%s, '{\"message_limit\": 1}', false)", (pattern,))
    for pattern in beside:
        one(confined, "select howdah.set_policy(%s, '{\"message_limit\": 1}', false)", (pattern,))


def test_a_pattern_of_more_parts_than_the_rule_of_the_team_is_refused(db: Db, confined: Db) -> None:
    for kind in ("queue", "topic"):
        one(db, "select howdah.drop_rule('default', %s, 'A.>', 'admin', true, 'group')", (kind,))
        one(
            db,
            "select howdah.set_rule('default', %s, 'A.*', 'admin', true, 'group',"
            " (select principals from howdah.list_rules() where name = 'A.>' and operation = 'create' limit 1))",
            (kind,),
        )
    for pattern in ("A.>", "A.*.>", "A.*.x", "A"):
        refused(confined, "HD010", "select howdah.set_policy(%s, '{\"message_limit\": 1}', false)", (pattern,))
    for pattern in ("A.*", "A.new"):
        one(confined, "select howdah.set_policy(%s, '{\"message_limit\": 1}', false)", (pattern,))


def test_a_right_at_queues_alone_is_none_at_the_subscriptions_of_their_names(db: Db, confined: Db) -> None:
    one(db, "select howdah.drop_rule('default', 'topic', 'A.>', 'admin', true, 'group')")
    refused(confined, "HD010", "select howdah.set_policy('A.>', '{\"at_limit\": \"discard\"}', false)")
    refused(confined, "HD010", "select howdah.set_redaction('A.>', '$.card')")
