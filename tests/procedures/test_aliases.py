"""Aliases: other names of queues and topics, with levels of reliability of their own."""

import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, deliver_and_fail, one, receive, refused
from topics_support import bodies, subscribe, topic


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def alias(db: Db, name: str = "a", target: str = "q", options: str = "{}") -> None:
    one(db, "select howdah.create_alias(%s, %s, %s)", (name, target, options))


@pytest.mark.behaviour("SIB-14")
def test_an_alias_inherits_the_level_of_its_target_or_has_its_own(db: Db) -> None:
    one(db, "select howdah.alter_queue('q', '{\"default_reliability\": \"RELIABLE_PERSISTENT\"}')")
    alias(db, "inherits")
    alias(db, "own", options='{"default_reliability": "EXPRESS_NONPERSISTENT"}')
    alias(db, "capped", options='{"max_reliability": "RELIABLE_PERSISTENT"}')
    alias(db, "forced", options='{"default_reliability": "BEST_EFFORT_NONPERSISTENT", "producer_may_override": false}')
    for name, level in [("inherits", "RELIABLE_PERSISTENT"), ("own", "EXPRESS_NONPERSISTENT")]:
        one(db, "select howdah.send(%s, 'x')", (name,))
        assert [m.reliability for m in receive(db)] == [level]
        one(db, "select howdah.send(%s, 'x', reliability => 'ASSURED_PERSISTENT')", (name,))
        assert [m.reliability for m in receive(db)] == ["ASSURED_PERSISTENT"]
    refused(db, "HD039", "select howdah.send('capped', 'x', reliability => 'ASSURED_PERSISTENT')")
    one(db, "select howdah.send('forced', 'x', reliability => 'ASSURED_PERSISTENT')")
    assert [m.reliability for m in receive(db)] == ["BEST_EFFORT_NONPERSISTENT"]
    one(db, "select howdah.alter_alias('own', '{\"default_reliability\": null}')")
    one(db, "select howdah.alter_queue('q', '{\"default_reliability\": \"RELIABLE_NONPERSISTENT\"}')")
    one(db, "select howdah.send('own', 'x')")
    assert [m.reliability for m in receive(db)] == ["RELIABLE_NONPERSISTENT"]


def test_what_an_alias_leaves_out_is_what_its_target_has_now(db: Db) -> None:
    alias(db, "inherits")
    alias(db, "higher", options='{"default_reliability": "RELIABLE_PERSISTENT"}')
    one(
        db,
        'select howdah.alter_queue(\'q\', \'{"default_reliability": "EXPRESS_NONPERSISTENT",'
        ' "max_reliability": "RELIABLE_NONPERSISTENT"}\')',
    )
    refused(db, "HD039", "select howdah.send('inherits', 'x', reliability => 'ASSURED_PERSISTENT')")
    one(db, "select howdah.send('higher', 'x')")
    assert [m.reliability for m in receive(db)] == ["RELIABLE_NONPERSISTENT"]
    one(db, "select howdah.alter_queue('q', '{\"producer_may_override\": false}')")
    one(db, "select howdah.send('inherits', 'x', reliability => 'BEST_EFFORT_NONPERSISTENT')")
    assert [m.reliability for m in receive(db)] == ["EXPRESS_NONPERSISTENT"]


def test_messages_are_received_leased_browsed_and_fail_by_the_alias(db: Db) -> None:
    alias(db)
    one(db, "select howdah.send_batch('a', array['1', '2', '3'])")
    assert [m.body for m in receive(db, "a", 3, "browse")] == ["1", "2", "3"]
    assert deliver_and_fail(db, "a")[0] == 1
    assert [m.body for m in receive(db, "a")] == ["1"]
    ((lease, number),) = db.execute("select lease, message_id from howdah.lease('a')").fetchall()
    assert one(db, "select howdah.ack('a', %s, array[%s])", (lease, number)) is not None
    assert [m.body for m in receive(db, "q", 9)] == ["3"]


def test_an_alias_of_a_topic_publishes_and_serves_for_nothing_else(db: Db) -> None:
    topic(db)
    subscribe(db)
    alias(db, target="t")
    one(db, "select howdah.send('a', 'x')")
    assert bodies(db) == ["x"]
    refused(db, "HD001", "select howdah.subscribe('a')")
    refused(db, "HD001", "select howdah.receive('a')")


def test_administration_takes_the_name_of_the_target(db: Db) -> None:
    alias(db)
    for call in ("drop_queue('a')", "purge_queue('a')", "alter_queue('a', '{}')", "pause('a')"):
        said = refused(db, "HD001", f"select howdah.{call}")
        assert said.message_hint is not None
    assert column(db, "select howdah.queue_options('q') ->> 'preset'") == ["howdah"]


def test_a_name_is_a_destinations_or_an_aliass(db: Db) -> None:
    alias(db)
    refused(db, "HD002", "select howdah.create_queue('a')")
    refused(db, "HD002", "select howdah.create_topic('a')")
    refused(db, "HD002", "select howdah.create_alias('q', 'q')")
    refused(db, "HD002", "select howdah.create_alias('a', 'q')")
    refused(db, "HD003", "select howdah.create_alias('a b', 'q')")
    refused(db, "HD001", "select howdah.create_alias('b', 'nowhere')")
    refused(db, "HD001", "select howdah.create_alias('b', 'a')")
    refused(db, "HD004", "select howdah.create_alias('b', 'q', '{\"default_reliability\": \"fast\"}')")
    refused(db, "HD004", "select howdah.create_alias('b', 'q', '{\"persistent\": true}')")
    refused(
        db,
        "HD004",
        "select howdah.create_alias('b', 'q', '{\"max_reliability\": \"EXPRESS_NONPERSISTENT\"}')",
    )


def test_an_alias_whose_target_is_gone_says_so_until_it_has_another(db: Db) -> None:
    alias(db)
    one(db, "select howdah.drop_queue('q')")
    assert "alias" in str(refused(db, "HD001", "select howdah.send('a', 'x')").message_primary)
    one(db, "select howdah.create_queue('r')")
    one(db, "select howdah.alter_alias('a', target => 'r')")
    one(db, "select howdah.send('a', 'x')")
    assert [m.body for m in receive(db, "r")] == ["x"]
    assert db.execute("select alias, target from howdah.list_aliases()").fetchall() == [("a", "r")]
    assert one(db, "select howdah.drop_alias('a')") is True
    assert one(db, "select howdah.drop_alias('a')") is False
    refused(db, "HD001", "select howdah.send('a', 'x')")
    refused(db, "HD001", "select howdah.alter_alias('a')")


def test_the_rights_are_the_targets(db: Db, connect: Connect) -> None:
    alias(db)
    producer = connect("howdah_producer")
    one(producer, "select howdah.send('a', 'x')")
    refused(producer, "42501", "select howdah.create_alias('b', 'q')")
    consumer = connect("howdah_consumer")
    assert [m.body for m in receive(consumer, "a")] == ["x"]
    one(db, "select howdah.revoke_queue('q', 'receive', 'howdah_consumer')")
    refused(consumer, "HD010", "select howdah.receive('a')")
    assert column(producer, "select target from howdah.list_aliases()") == ["q"]


@pytest.mark.behaviour("SIB-15")
def test_levels_are_mapped_to_the_persistence_of_ibm_mq_and_back(db: Db) -> None:
    for level, persistence in [
        ("BEST_EFFORT_NONPERSISTENT", "MQPER_NOT_PERSISTENT"),
        ("EXPRESS_NONPERSISTENT", "MQPER_NOT_PERSISTENT"),
        ("RELIABLE_NONPERSISTENT", "MQPER_NOT_PERSISTENT"),
        ("RELIABLE_PERSISTENT", "MQPER_PERSISTENT"),
        ("ASSURED_PERSISTENT", "MQPER_PERSISTENT"),
    ]:
        assert one(db, "select howdah.to_mq_persistence(%s)", (level,)) == persistence
    back = "select howdah.from_mq_persistence(%s, 'EXPRESS_NONPERSISTENT', 'RELIABLE_PERSISTENT')"
    assert one(db, back, ("MQPER_NOT_PERSISTENT",)) == "EXPRESS_NONPERSISTENT"
    assert one(db, back, ("MQPER_PERSISTENT",)) == "RELIABLE_PERSISTENT"
    assert one(db, "select howdah.from_mq_persistence('MQPER_NOT_PERSISTENT')") == "RELIABLE_NONPERSISTENT"
    assert one(db, "select howdah.from_mq_persistence('MQPER_PERSISTENT')") == "ASSURED_PERSISTENT"
    refused(db, "HD005", "select howdah.from_mq_persistence('PERSISTENT')")
    refused(db, "HD005", "select howdah.from_mq_persistence('MQPER_PERSISTENT', 'ASSURED_PERSISTENT')")
    refused(db, "HD005", "select howdah.to_mq_persistence('durable')")


def test_in_a_composite_name_an_alias_keeps_its_levels(db: Db) -> None:
    one(db, "select howdah.create_queue('r')")
    alias(db, options='{"default_reliability": "RELIABLE_NONPERSISTENT", "max_reliability": "RELIABLE_NONPERSISTENT"}')
    one(db, "select howdah.send('a,r', '1')")
    one(db, "select howdah.send_batch('r,queue://a', array['2'])")
    one(db, "select howdah.send('queue://a', '3')")
    assert [m.reliability for m in receive(db, "q", 9)] == ["RELIABLE_NONPERSISTENT"] * 3
    assert [m.reliability for m in receive(db, "r", 9)] == ["ASSURED_PERSISTENT"] * 2
    refused(db, "HD039", "select howdah.send('r,a', 'x', reliability => 'ASSURED_PERSISTENT')")
    assert receive(db, "r") == []


def test_what_is_scheduled_by_an_alias_is_sent_with_its_level(db: Db, clock: Clock) -> None:
    alias(db, options='{"default_reliability": "RELIABLE_NONPERSISTENT"}')
    for given in (None, "RELIABLE_PERSISTENT"):
        one(db, "select howdah.schedule('a', 'x', period => '1 minute', reliability => %s)", (given,))
    clock.advance(61)
    one(db, "select howdah.fire_schedules()")
    assert {m.reliability for m in receive(db, "q", 9)} == {"RELIABLE_NONPERSISTENT", "RELIABLE_PERSISTENT"}


def test_a_schedule_by_an_alias_obeys_the_alias_at_each_firing(db: Db, clock: Clock) -> None:
    options = {
        "max_reliability": "RELIABLE_PERSISTENT",
        "default_reliability": "EXPRESS_NONPERSISTENT",
        "producer_may_override": False,
    }
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))
    alias(db, "high", options='{"max_reliability": "ASSURED_PERSISTENT", "producer_may_override": true}')
    number = one(db, "select howdah.schedule('high', 'x', period => '1 minute', reliability => 'ASSURED_PERSISTENT')")

    def fired() -> list[str]:
        clock.advance(60)
        one(db, "select howdah.fire_schedules()")
        return column(db, "select reliability from howdah.receive('q', 9)")

    assert fired() == ["ASSURED_PERSISTENT"]
    one(db, "select howdah.alter_alias('high', '{\"producer_may_override\": false}')")
    assert fired() == ["EXPRESS_NONPERSISTENT"], "as a send by the alias"
    one(db, "select howdah.drop_alias('high')")
    assert fired() == ["EXPRESS_NONPERSISTENT"], "as the target says"
    assert one(db, "select last_error from howdah.list_schedules() where schedule_id = %s", (number,)) is None
