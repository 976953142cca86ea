"""A user with few rights gains none by settings, detours or names."""

from __future__ import annotations

from support import Connect, Db, column, one, refused


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
