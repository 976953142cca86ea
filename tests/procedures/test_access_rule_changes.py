"""A changed access rule holds at once, wherever its right is asked for."""

from __future__ import annotations

import pytest
from access_rules_support import RULE, SEND, may, rule
from psycopg import sql
from support import Clock, Connect, Db, column, identifier, one, refused, wait_until_blocked
from topics_support import bodies, publish, subscribe, topic


@pytest.fixture
def q(db: Db) -> str:
    one(db, "select howdah.create_queue('q')")
    return "q"


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
