"""What somebody with few rights, or with an administrator's over one team's names, tries at rules, changes and logs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
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


GARBAGE = [
    "queue",
    "=",
    "queue.q.produce.allow.user=",
    "queue.q.fly.allow.user=tom",
    "queue.>.>.produce.allow.user=tom",
    "connection.ROOT.allow.user=*",
    "queue.q.produce.allow.user=a\x01b",
    "select 1; drop table howdah.msgs;",
    "\\" * 999,
    "queue." + "x" * 300 + ".produce.allow.user=tom",
    "queue.q.produce.allow.user=tom\nqueue.q.produce.maybe.user=tom",
]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_no_set_of_rules_and_leaves_the_set_as_it_was(db: Db, text: str) -> None:
    before = one(db, "select howdah.export_rules()")
    with pytest.raises(psycopg.Error) as error:
        one(db, "select howdah.import_rules('default', %s)", (text,))
    assert error.value.sqlstate in ("HD003", "HD005")
    assert len(str(error.value)) < 2000
    assert one(db, "select howdah.export_rules()") == before


ODD = ["o'brien", 'dou"ble', "per%cent %s %L", "back\\slash", "a, b", "x'); drop table howdah.msgs; --", "#note", "ünï"]


@pytest.mark.parametrize("name", ODD)
def test_a_role_of_any_name_has_its_rights_and_no_more(db: Db, connect: Connect, name: str) -> None:
    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser makes roles and becomes others")
    role = f"{name}{db.info.dbname[-8:]}"
    one(db, "select howdah.create_queue('q'), howdah.create_queue('other')")
    db.execute(sql.SQL("create role {0}; grant howdah_producer to {0}").format(identifier(role)))
    try:
        for queue in ("q", "other"):
            one(
                db,
                "select howdah.set_rule('default', 'queue', %s, 'produce', false, 'user', %s)",
                (queue, [role]),
            )
        one(db, "select howdah.set_rule('default', 'queue', 'q', 'produce', true, 'user', %s)", ([role],))
        one(db, "select howdah.drop_rule('default', 'queue', 'q', 'produce', false, 'user')")
        text = one(db, "select howdah.export_rules()")
        one(db, "select howdah.import_rules('copy', %s)", (text,))
        assert one(db, "select howdah.export_rules('copy')").split("\n")[1:] == text.split("\n")[1:]
        session = connect(role)
        one(session, "select howdah.send('q', 'x')")
        said = refused(session, "HD010", "select howdah.send('other', 'x')")
        assert "other" in str(said.message_primary)
    finally:
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


def test_settings_that_anybody_sets_give_no_right(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.set_rule('default', 'queue', 'q', 'consume', false, 'user', '{*}')")
    one(db, "select howdah.create_rule_set('open', 'default')")
    session = connect("howdah_consumer")
    for setting, value in (
        ("howdah.service", "admin"),
        ("howdah.service", "no such'; service"),
        ("howdah.instance", "master"),
        ("howdah.connection", "0" * 32),
        ("howdah.reason", "x" * 100_000),
    ):
        session.execute("select set_config(%s, %s, false)", (setting, value))
        refused(session, "HD010", "select * from howdah.receive('q')")
        refused(session, "42501", "select howdah.create_queue('mine')")


def test_a_reason_of_any_length_is_recorded_cut_and_as_it_is(db: Db) -> None:
    db.execute("select set_config('howdah.reason', %s, false)", ("'; drop table x; --\n\x1b[31m" + "y" * 5000,))
    one(db, "select howdah.create_queue('q')")
    (reason,) = column(db, "select reason from howdah.list_changes('queue', 'q')")
    assert len(reason) == 1000
    assert reason.startswith("'; drop table x; --\n\x1b[31m")


def test_a_line_in_the_log_names_who_wrote_it_whatever_it_says(db: Db, connect: Connect) -> None:
    session = connect("howdah_producer")
    forged = "fine\n2026-11-26T00:00:00Z error engine down\x1b[2J"
    one(
        session,
        "select howdah.log('INFO', %s, %s)",
        (forged, Jsonb({"actor": "howdah_owner", "code": "QUEUE_DISABLED"})),
    )
    rows = db.execute("select logged_event, text, actor from howdah.list_log(event => 'LOG')").fetchall()
    assert rows == [("LOG", forged, "howdah_producer")]


@pytest.mark.parametrize(
    "attributes",
    [
        {"password": "x"},
        {"PASSWORD": "x"},
        {"hosts": ["tom:secret@db1"]},
        {"dbname": "postgresql://tom:secret@db1/x"},
        {"dbname": "host=db1 password=secret"},
        {"description": "the password = secret"},
        {"dsn": "x"},
    ],
    ids=json.dumps,
)
def test_an_object_takes_no_secret(db: Db, attributes: dict[str, object]) -> None:
    with pytest.raises(psycopg.Error) as error:
        one(db, "select howdah.create_object('cf/x', 'connection_factory', %s)", (Jsonb(attributes),))
    assert error.value.sqlstate in ("HD004", "HD005")


def test_a_deny_holds_on_every_way_to_the_queue(db: Db, connect: Connect) -> None:
    """Also for what was there before the rule: aliases, schedules, subscriptions, consumers."""
    one(db, "select howdah.create_queue('q'), howdah.create_topic('t')")
    one(db, "select howdah.create_alias('alias', 'q')")
    one(db, "select howdah.create_queue('own')")
    session = connect("howdah_consumer")
    subscription = one(session, "select howdah.subscribe('t', 'mine', durable => true)")
    one(session, "select howdah.open_consumer('q')")
    for _ in range(2):
        one(db, "select howdah.send('q', 'x')")
        one(db, "select howdah.send('t', 'x')")
    for kind, name in (("queue", "q"), ("topic", "t")):
        for operation in ("consume", "browse", "produce"):
            one(db, "select howdah.set_rule('default', %s, %s, %s, false, 'user', '{*}')", (kind, name, operation))
    for name in ("q", "alias"):
        for verb in ("receive", "receive_locked", "browse"):
            refused(session, "HD010", f"select * from howdah.{verb}(%s)", (name,))
        refused(session, "HD010", "select * from howdah.lease(%s, 1)", (name,))
    assert column(session, "select body from howdah.receive('>')") == []
    producer = connect("howdah_producer")
    for target in ("q", "alias", "own,q", "own,alias", "t", "topic://t"):
        refused(producer, "HD010", "select howdah.send(%s, 'x')", (target,))
    refused(producer, "HD010", "select howdah.schedule('q', 'x', delay => '1 s')")
    refused(session, "HD010", "select howdah.subscribe('t', 'another')")
    assert subscription


def test_creating_uses_up_no_numbers_of_names_that_a_team_may_not_create(db: Db, connect: Connect) -> None:
    one(db, "select howdah.alter_engine('{\"autocreate_queue\": true}')")
    one(db, "select howdah.set_rule('default', 'queue', '*', 'create', true, 'group', '{howdah_admin}')")
    before = one(db, "select pg_sequence_last_value(pg_get_serial_sequence('howdah.destinations', 'id'))")
    producer = connect("howdah_producer")
    for n in range(20):
        refused(producer, "HD010", "select howdah.send(%s, 'x')", (f"q{n}",))
    assert one(db, "select pg_sequence_last_value(pg_get_serial_sequence('howdah.destinations', 'id'))") == before


def test_only_administrators_end_or_quiesce_an_instance_and_its_name_is_taken_once(connect: Connect) -> None:
    session = connect("howdah_consumer")
    one(session, "select howdah.register_instance('first', 'here', 1)")
    refused(connect("howdah_consumer"), "HD046", "select howdah.register_instance('first', 'there', 2)")
    for verb in ("quiesce_instance", "end_instance", "resume_instance"):
        refused(session, "42501", f"select howdah.{verb}('first')")
    for name in ("a b", "x'; --", "\n", "", "\x1b[31m"):
        refused(session, "HD003", "select howdah.register_instance(%s, 'there', 2)", (name,))


@pytest.mark.slow
def test_a_set_of_thousands_of_rules_is_read(db: Db) -> None:
    text = "\n".join(f"queue.q{n}.produce.allow.user=tom" for n in range(2000))
    assert one(db, "select howdah.import_rules('many', %s)", (text,)) == 2002
