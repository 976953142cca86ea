"""Access rules: the order in which they decide, sets of them, and that a change holds at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, identifier, one, refused, wait_until_blocked
from topics_support import bodies, publish, subscribe, topic

RULE = "select howdah.set_rule(%s, %s, %s, %s, %s, %s, %s)"
SEND = "select howdah.send('q', 'x')"

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


def rule(db: Db, key: str, *principals: str, rule_set: str = "default") -> bool:
    """Set a rule by its key: queue.q.produce.deny.user."""
    resource, name, operation, access, kind = key.split(".")
    changed: bool = one(
        db, RULE, (rule_set, resource, name, operation, access == "allow", kind, list(principals) or ["*"])
    )
    return changed


def service(db: Db, name: str, **options: Any) -> None:
    db.execute("select howdah.alter_service(%s, %s)", (name, Jsonb(options)))


@pytest.fixture
def team(db: Db) -> Iterator[dict[str, str]]:
    """Tom and ann are in the groups staff and visitors; all may call the functions of producers and consumers."""
    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser makes roles and becomes others")
    names = {name: f"{name}_{db.info.dbname[-12:]}" for name in ("staff", "visitors", "tom", "ann")}
    for role in names.values():
        db.execute(sql.SQL("create role {}").format(identifier(role)))
    for member in ("tom", "ann"):
        for group in (names["staff"], names["visitors"], "howdah_producer", "howdah_consumer", "howdah_browser"):
            db.execute(sql.SQL("grant {} to {}").format(identifier(group), identifier(names[member])))
    yield names
    for role in reversed(names.values()):
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


@pytest.fixture
def q(db: Db) -> str:
    one(db, "select howdah.create_queue('q')")
    return "q"


def may(session: Db, call: str = SEND) -> bool:
    try:
        session.execute(call.encode())
    except psycopg.Error as error:
        if error.sqlstate != "HD010":
            raise
        return False
    return True


PRECEDENCES: dict[str, tuple[list[tuple[str, str]], bool]] = {
    "what no rule covers is denied": ([("queue.other.produce.allow.user", "tom")], False),
    "a user precedes all users": (
        [("queue.q.produce.allow.user", "tom"), ("queue.q.produce.deny.user", "*")],
        True,
    ),
    "a user precedes his groups": (
        [("queue.q.produce.allow.user", "tom"), ("queue.q.produce.deny.group", "staff")],
        True,
    ),
    "all users precede all groups": (
        [("queue.q.produce.deny.user", "*"), ("queue.q.produce.allow.group", "*")],
        False,
    ),
    "a name precedes all names": (
        [("queue.q.produce.deny.group", "*"), ("queue.*.produce.allow.user", "tom")],
        False,
    ),
    "allowed and denied by one key is denied": (
        [("queue.q.produce.allow.group", "staff"), ("queue.q.produce.deny.group", "visitors")],
        False,
    ),
    "the last of several rules wins": (
        [("queue.q.produce.allow.user", "ann"), ("queue.q.produce.allow.user", "tom")],
        True,
    ),
}


@pytest.mark.behaviour("IMQ-68")
@pytest.mark.parametrize("how", PRECEDENCES)
def test_rules_decide_in_the_documented_order(db: Db, connect: Connect, team: dict[str, str], q: str, how: str) -> None:
    rules, allowed = PRECEDENCES[how]
    one(db, "select howdah.create_rule_set('mine')")
    one(db, 'select howdah.alter_engine(\'{"rule_set": "mine"}\')')
    for key, principal in rules:
        rule(db, key, team.get(principal, principal), rule_set="mine")
    tom = connect(team["tom"])
    assert may(tom) is allowed
    explained = one(db, "select allowed from howdah.explain_access(%s, 'queue', 'q', 'produce')", (team["tom"],))
    assert explained is allowed
    if how == "the last of several rules wins":
        assert not may(connect(team["ann"]))


@pytest.mark.first_case
@pytest.mark.parametrize("how", PRECEDENCES)
def test_rules_decide_of_all_queues_at_once_as_of_each(
    db: Db, connect: Connect, team: dict[str, str], q: str, how: str
) -> None:
    """The one look at all rights, against what lists ask of each queue."""
    one(db, "select howdah.create_rule_set('mine')")
    one(db, 'select howdah.alter_engine(\'{"rule_set": "mine"}\')')
    one(db, "select howdah.create_queue('other')")
    tom = connect(team["tom"])
    for operation in ("produce", "consume", "browse", "admin"):
        for key, principal in PRECEDENCES[how][0]:
            rule(db, key.replace("produce", operation), team.get(principal, principal), rule_set="mine")
        each = column(tom, "select queue from howdah.list_queues()")
        assert column(tom, "select n from howdah.queue_names() n") == each
        assert column(tom, "select queue_name from howdah.queue_stats()") == each
        assert ("q" in each) is PRECEDENCES[how][1]


def test_of_two_wildcards_the_more_specific_decides(db: Db, connect: Connect, team: dict[str, str]) -> None:
    one(db, "select howdah.create_queue('JOBS.print.a4')")
    tom, call = connect(team["tom"]), "select howdah.send('JOBS.print.a4', 'x')"
    wildcards = ["*", ">", "JOBS.>", "JOBS.*.*", "JOBS.*.a4", "JOBS.print.*", "JOBS.print.a4"]
    for n, name in enumerate(wildcards):
        access = ("deny", "allow")[n % 2]
        one(db, RULE, ("default", "queue", name, "produce", access == "allow", "user", [team["tom"]]))
        assert may(tom, call) is (access == "allow"), name


@pytest.mark.behaviour("IMQ-63")
def test_each_operation_is_allowed_and_denied_by_a_rule(db: Db, connect: Connect, team: dict[str, str], q: str) -> None:
    calls = {
        "produce": SEND,
        "consume": "select howdah.receive('q')",
        "browse": "select howdah.browse('q')",
    }
    tom = connect(team["tom"])
    for operation, call in calls.items():
        rule(db, f"queue.q.{operation}.deny.user", team["tom"])
        assert not may(tom, call)
        rule(db, f"queue.*.{operation}.deny.user", team["ann"])
        rule(db, f"queue.q.{operation}.allow.user", team["ann"])
        assert may(connect(team["ann"]), call)
    allowed = "select allowed from howdah.explain_access(%s, %s, %s, %s)"
    for resource, name, operation in (("connection", "NORMAL", "connect"), ("queue", "new", "create")):
        rule(db, f"{resource}.{name}.{operation}.deny.user", team["tom"])
        rule(db, f"{resource}.{name}.{operation}.allow.user", team["ann"])
        assert one(db, allowed, (team["tom"], resource, name, operation)) is False
        assert one(db, allowed, (team["ann"], resource, name, operation)) is True


@pytest.mark.behaviour("IMQ-64")
def test_at_first_only_the_group_of_administrators_may_connect_as_administrators(db: Db, team: dict[str, str]) -> None:
    ask = "select allowed, rule from howdah.explain_access(%s, 'connection', %s, 'connect')"
    assert db.execute(ask, (team["tom"], "NORMAL")).fetchone() == (True, "connection.NORMAL.allow.user")
    assert db.execute(ask, (team["tom"], "ADMIN")).fetchone() == (False, None)
    assert db.execute(ask, ("howdah_admin", "ADMIN")).fetchone() == (True, "connection.ADMIN.allow.group")


@pytest.mark.behaviour("IMQ-65")
def test_with_access_control_off_a_message_is_sent_without_a_rule(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    one(db, "select howdah.create_rule_set('none')")
    one(db, 'select howdah.alter_engine(\'{"rule_set": "none"}\')')
    tom = connect(team["tom"])
    assert not may(tom)
    assert one(db, "select howdah.engine_options() -> 'access_enabled'") is True
    one(db, "select howdah.alter_engine('{\"imq.accesscontrol.enabled\": false}')")
    assert may(tom)
    refused(connect("howdah_consumer"), "42501", SEND)
    one(db, "select howdah.alter_engine('{\"access_enabled\": true}')")
    assert not may(tom)


@pytest.mark.behaviour("IMQ-67")
def test_two_sets_of_rules_exchange_who_may_send(db: Db, connect: Connect, team: dict[str, str], q: str) -> None:
    sessions = {name: connect(team[name]) for name in ("tom", "ann")}
    for name in sessions:
        text = f"queue.q.produce.allow.user={team[name]}"
        assert one(db, "select howdah.import_rules(%s, %s)", (f"of_{name}", text)) == 3
    for name, other in (("tom", "ann"), ("ann", "tom"), ("tom", "ann")):
        one(db, "select howdah.alter_engine(%s::jsonb)", (f'{{"rule_set": "of_{name}"}}',))
        assert may(sessions[name])
        assert not may(sessions[other])


@pytest.mark.behaviour("IMQ-66")
@pytest.mark.behaviour("IMQ-16")
def test_a_service_has_a_switch_and_a_set_of_its_own(db: Db, connect: Connect, team: dict[str, str], q: str) -> None:
    """Tom belongs to no service, and so to jms; the administrators' role to admin."""
    one(db, "select howdah.import_rules('nobody', 'queue.q.admin.allow.user=*')")
    service(db, "admin", roles=["howdah_admin"])
    for name in ("jms", "admin"):
        service(db, name, rule_set="nobody")
    tom, admin = connect(team["tom"]), connect("howdah_admin")
    assert not may(tom)
    assert not may(admin)
    service(db, "jms", access_enabled=False)
    service(db, "admin", access_enabled=True)
    assert may(tom)
    assert not may(admin)
    service(db, "admin", access_enabled=None, rule_set=None)
    assert may(admin)
    refused(db, "HD004", """select howdah.alter_service('jms', '{"rule_set": "none"}')""")
    refused(tom, "42501", "update howdah.services set rule_set = null")


def test_what_a_session_says_of_its_service_changes_no_right(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    one(db, "select howdah.create_rule_set('nobody')")
    service(db, "admin", roles=["howdah_admin"])
    service(db, "jms", rule_set="nobody")
    service(db, "admin", access_enabled=False)
    tom = connect(team["tom"])
    tom.execute("set howdah.service = 'admin'")
    assert not may(tom)


def test_a_changed_rule_holds_for_the_next_statement_and_under_repeatable_read_for_the_next_transaction(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    tom, ann = connect(team["tom"]), connect(team["ann"])
    with ann.transaction(force_rollback=True), tom.transaction(force_rollback=True):
        ann.execute("set transaction isolation level repeatable read")
        assert may(ann)
        assert may(tom)
        rule(db, "queue.q.produce.deny.user", team["tom"], team["ann"])
        with tom.transaction(force_rollback=True):
            assert not may(tom)
        assert may(ann)
    assert not may(ann)


def test_a_membership_counts_from_the_next_statement_on(db: Db, connect: Connect, team: dict[str, str], q: str) -> None:
    rule(db, "queue.q.produce.deny.group", team["visitors"])
    tom = connect(team["tom"])
    assert not may(tom)
    revoke = sql.SQL("revoke {} from {}").format(identifier(team["visitors"]), identifier(team["tom"]))
    db.execute(revoke)
    assert may(tom)


def test_a_new_queue_has_what_the_rules_say_and_a_wildcard_covers_it(
    db: Db, connect: Connect, team: dict[str, str]
) -> None:
    one(db, RULE, ("default", "queue", "SECRET.>", "produce", False, "user", ["*"]))
    one(db, RULE, ("default", "queue", "SECRET.>", "produce", True, "user", [team["tom"]]))
    one(db, "select howdah.create_queue('SECRET.a')")
    call = "select howdah.send('SECRET.a', 'x')"
    assert may(connect(team["tom"]), call)
    assert not may(connect(team["ann"]), call)
    assert not may(connect("howdah_producer"), call)


def test_a_rule_that_denies_counts_everywhere_a_right_is_asked_for(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    for operation in ("produce", "consume", "browse"):
        rule(db, f"queue.q.{operation}.deny.user", team["tom"])
    one(db, SEND)
    tom = connect(team["tom"])
    calls = [
        "select howdah.send('q', 'x', priority => 9)",
        "select howdah.send('q', 'x', reliability => 'RELIABLE_PERSISTENT')",
        "select howdah.send('q', 'x', reliability => 'EXPRESS_NONPERSISTENT')",
        "select howdah.send('q', repeat('x', 100000))",
        "select howdah.send_batch('q', array['x', 'y'])",
        "select howdah.schedule('q', 'x', delay => '1 hour')",
        "select howdah.receive('q', 10)",
        "select howdah.receive_locked('q')",
        "select howdah.lease('q', 1)",
        "select howdah.ack('q', 1)",
        "select howdah.receive('>')",
        "select howdah.wait('q')",
        "select howdah.browse('q')",
        "select howdah.record_failure('q', 1)",
    ]
    for call in calls:
        assert not may(tom, call), call
    assert column(tom, "select * from howdah.incidents()") == []


def test_with_a_rule_that_denies_the_others_send_and_receive_as_before(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    rule(db, "queue.q.produce.deny.user", team["tom"])
    rule(db, "queue.q.consume.deny.user", team["tom"])
    ann = connect(team["ann"])
    for call in (SEND, SEND, "select howdah.send('q', 'x', reliability => 'RELIABLE_PERSISTENT')"):
        one(ann, call)
    assert len(column(ann, "select howdah.receive('q')")) == 1
    ((lease,),) = ann.execute("select distinct lease from howdah.lease('q', 2)").fetchall()
    assert one(ann, "select howdah.ack('q', %s)", (lease,)) == 2


def test_a_denied_topic_is_denied_at_its_subscriptions_too(db: Db, connect: Connect, team: dict[str, str]) -> None:
    topic(db, "news")
    tom = connect(team["tom"])
    names = [subscribe(tom, "news", to="news"), subscribe(tom, "all", to="*")]
    publish(db, "1", to="news")
    rule(db, "topic.*.consume.deny.user", team["tom"])
    refused(tom, "HD010", "select howdah.receive(%s)", (names[0],))
    assert bodies(tom, names[1]) == []
    one(db, "select howdah.drop_rule('default', 'topic', '*', 'consume', false, 'user')")
    assert [bodies(tom, name) for name in names] == [["1"], ["1"]]


def test_what_is_revoked_from_a_wildcards_group_is_kept_by_the_others(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    rule(db, "queue.*.produce.deny.user", team["tom"])
    rule(db, "queue.*.produce.allow.group", team["staff"], team["visitors"], "howdah_producer")
    assert one(db, "select howdah.revoke_queue('q', 'send', 'howdah_producer')") is True
    assert column(db, "select role from howdah.list_grants('q') where verb = 'send'") == sorted(
        [team["staff"], team["visitors"]]
    )
    assert may(connect(team["ann"]))
    assert not may(connect(team["tom"])), "he was denied before, and still is"
    assert not may(connect("howdah_producer"))
    assert one(db, "select howdah.revoke_queue('q', 'send', 'howdah_producer')") is False
    one(db, "select howdah.grant_queue('q', 'send', 'howdah_producer')")
    assert may(connect("howdah_producer"))


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


def test_a_queue_made_while_a_rule_changes_gets_the_changed_rule(
    db: Db, connect: Connect, team: dict[str, str]
) -> None:
    changer, maker = connect(), connect()
    with changer.transaction():
        rule(changer, "queue.*.produce.deny.user", team["tom"])
        maker.pgconn.send_query(b"select howdah.create_queue('q')")
        wait_until_blocked(db, maker)
    while maker.pgconn.get_result():
        pass
    assert not may(connect(team["tom"]))
    assert may(connect(team["ann"]))


def test_a_queue_that_comes_again_while_a_rule_changes_gets_the_changed_rule(
    db: Db, connect: Connect, team: dict[str, str], clock: Clock
) -> None:
    db.execute("select howdah.alter_engine('{\"autocreate_queue\": true}')")
    db.execute("select howdah.receive('q')")
    one(db, "select howdah.maintain_autocreated()")
    clock.advance(121)
    assert one(db, "select howdah.maintain_autocreated()") == 1
    changer, user = connect(), connect()
    with changer.transaction():
        rule(changer, "queue.q.produce.deny.user", team["tom"])
        user.pgconn.send_query(b"select howdah.send('q', 'x')")
        wait_until_blocked(db, user)
    while user.pgconn.get_result():
        pass
    assert not may(connect(team["tom"]))
    assert may(connect(team["ann"]))


@pytest.mark.parametrize(
    "change",
    [
        "howdah.set_rule('default', 'queue', '*', 'produce', false, 'user', '{tom}')",
        "howdah.drop_rule('default', 'queue', '*', 'produce', true, 'group')",
        "howdah.import_rules('default', '')",
        "howdah.grant_queue('q', 'send', 'howdah_browser')",
        "howdah.revoke_queue('q', 'send', 'howdah_producer')",
        """howdah.alter_engine('{"access_enabled": false}')""",
        """howdah.alter_service('jms', '{"access_enabled": false}')""",
    ],
)
@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_an_old_snapshot_that_may_miss_new_queues_changes_no_right(db: Db, q: str, change: str, level: str) -> None:
    with db.transaction(force_rollback=True):
        db.execute(f"set transaction isolation level {level}".encode())
        refused(db, "HD005", f"select {change}")


def test_the_explanation_names_the_rule_the_principal_and_the_set(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    ask = "select allowed, rule, principal, rule_set, why from howdah.explain_access(%s, 'queue', 'q', %s)"
    assert db.execute(ask, (team["tom"], "produce")).fetchone() == (
        *(True, "queue.*.produce.allow.group", "howdah_producer", "default"),
        "the rule allows the group howdah_producer",
    )
    rule(db, "queue.q.produce.deny.user", team["tom"])
    assert db.execute(ask, (team["tom"], "produce")).fetchone() == (
        *(False, "queue.q.produce.deny.user", team["tom"], "default"),
        "the rule denies the user",
    )
    assert db.execute(ask, (team["staff"], "consume")).fetchone() == (
        *(False, None, None, "default"),
        "no rule covers the role",
    )


def test_an_alias_has_the_rules_of_its_target_and_the_explanation_says_so(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    db.execute("select howdah.create_alias('other', 'q')")
    ask = "select allowed, rule, why from howdah.explain_access(%s, 'queue', 'other', 'produce')"
    send = "select howdah.send('other', 'x')"
    rule(db, "queue.other.produce.deny.user", team["tom"])
    assert may(connect(team["tom"]), send)
    assert db.execute(ask, (team["tom"],)).fetchone() == (
        *(True, "queue.*.produce.allow.group"),
        "the rule allows the group howdah_producer ('other' is an alias of 'q')",
    )
    rule(db, "queue.q.produce.deny.user", team["ann"])
    assert not may(connect(team["ann"]), send)
    allowed, key, _ = db.execute(ask, (team["ann"],)).fetchone() or ()
    assert (allowed, key) == (False, "queue.q.produce.deny.user")


@pytest.mark.parametrize("key", [None, "", "queue", "a\nb"])
def test_what_is_no_key_of_a_rule_is_refused(db: Db, key: str | None) -> None:
    refused(db, "HD005", "select * from howdah.parse_rule(%s)", (key,))
