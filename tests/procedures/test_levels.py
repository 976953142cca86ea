"""Five levels of reliability: which one a message gets, and where it shows."""

import pytest
from support import Db, column, one, receive, refused
from topics_support import subscribe, topic

LEVELS = (
    "BEST_EFFORT_NONPERSISTENT",
    "EXPRESS_NONPERSISTENT",
    "RELIABLE_NONPERSISTENT",
    "RELIABLE_PERSISTENT",
    "ASSURED_PERSISTENT",
)
MODES = [(level, "non-persistent" if level.endswith("NONPERSISTENT") else "persistent") for level in LEVELS]


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, level: str | None, queue: str = "q", mode: str | None = None) -> int:
    sent = one(db, "select howdah.send(%s, 'x', reliability => %s, delivery_mode => %s)", (queue, level, mode))
    assert isinstance(sent, int)
    return sent


@pytest.mark.behaviour("SIB-16")
@pytest.mark.parametrize(("level", "mode"), MODES)
def test_each_level_has_its_delivery_mode_in_browse_and_receive(db: Db, level: str, mode: str) -> None:
    sent = send(db, level)
    assert db.execute("select delivery_mode, reliability from howdah.browse('q')").fetchall() == [(mode, level)]
    with db.transaction(force_rollback=True):
        (message,) = receive(db)
    assert (message.message_id, message.delivery_mode, message.reliability) == (sent, mode, level)
    assert db.execute("select delivery_mode, reliability from howdah.lease('q')").fetchall() == [(mode, level)]


@pytest.mark.parametrize(("level", "mode"), MODES)
def test_a_subscriber_sees_the_level_that_was_published(db: Db, level: str, mode: str) -> None:
    topic(db)
    names = [subscribe(db, "one"), subscribe(db, "many", shared=True)]
    for _ in range(3):
        send(db, level, "t")
    assert column(db, "select distinct reliability from howdah.topic_history('t')") == [level]
    for name in names:
        assert {m.reliability for m in receive(db, name, 2)} == {level}
        assert [(m.reliability, m.delivery_mode) for m in receive(db, name, 1)] == [(level, mode)]


@pytest.mark.behaviour("SIB-11")
def test_a_send_without_a_level_gets_the_default_of_its_queue(db: Db) -> None:
    send(db, None)
    for level in reversed(LEVELS):
        one(db, "select howdah.alter_queue('q', jsonb_build_object('default_reliability', %s::text))", (level,))
        send(db, None)
        one(db, "select howdah.send_batch('q', array['x'])")
    got = [m.reliability for m in receive(db, "q", 100)]
    assert sorted(got) == sorted(["ASSURED_PERSISTENT", *LEVELS, *LEVELS])


def test_a_mode_is_assured_or_express_and_a_level_decides_over_it(db: Db) -> None:
    send(db, None, mode="persistent")
    send(db, None, mode="non-persistent")
    send(db, "RELIABLE_PERSISTENT", mode="non-persistent")
    assert [m.reliability for m in receive(db, "q", 9)] == [
        "EXPRESS_NONPERSISTENT",
        "ASSURED_PERSISTENT",
        "RELIABLE_PERSISTENT",
    ]


@pytest.mark.behaviour("SIB-12")
def test_a_level_above_the_highest_one_of_the_queue_is_refused(db: Db) -> None:
    one(
        db,
        'select howdah.alter_queue(\'q\', \'{"default_reliability": "EXPRESS_NONPERSISTENT",'
        ' "max_reliability": "RELIABLE_NONPERSISTENT"}\')',
    )
    for level in LEVELS[3:]:
        said = refused(db, "HD039", "select howdah.send('q', 'x', reliability => %s)", (level,))
        assert level in str(said.message_primary)
    refused(db, "HD039", "select howdah.send('q', 'x', delivery_mode => 'persistent')")
    refused(db, "HD039", "select howdah.send_batch('q', array['x'], reliability => 'ASSURED_PERSISTENT')")
    for level in LEVELS[:3]:
        send(db, level)
    assert len(receive(db, "q", 9)) == 3
    refused(db, "HD004", "select howdah.alter_queue('q', '{\"default_reliability\": \"ASSURED_PERSISTENT\"}')")


@pytest.mark.behaviour("SIB-13")
@pytest.mark.parametrize("default", LEVELS)
def test_where_producers_may_not_override_every_message_gets_the_default(db: Db, default: str) -> None:
    one(
        db,
        "select howdah.alter_queue('q', jsonb_build_object('producer_may_override', false,"
        " 'default_reliability', %s::text))",
        (default,),
    )
    for level in LEVELS:
        send(db, level)
    send(db, None, mode="persistent")
    assert {m.reliability for m in receive(db, "q", 9)} == {default}


def test_a_selector_selects_by_level(db: Db) -> None:
    for level in LEVELS:
        send(db, level)
    for level in LEVELS:
        selector = f"JMS_Howdah_Reliability = '{level}'"
        assert column(db, "select reliability from howdah.receive('q', 9, selector => %s)", (selector,)) == [level]
        assert one(db, "select howdah.selector_matches(%s, '{}', reliability => %s)", (selector, level)) is True


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_stays_with_a_message_that_waits_fails_dies_and_is_replayed(db: Db, level: str) -> None:
    one(db, "select howdah.alter_queue('q', '{\"max_failed_deliveries\": 1, \"exception_discard_reliability\": null}')")
    one(db, "select howdah.send('q', 'x', reliability => %s, delay => '1 ms')", (level,))
    one(db, "select pg_sleep(0.002)")
    with db.transaction(force_rollback=True):
        (message,) = receive(db)
    assert message.reliability == level
    one(db, "select howdah.record_failure('q', %s, 'E', 'x')", (message.message_id,))
    receive(db)
    dead = db.execute("select queue, reliability from howdah.audit_messages").fetchall()
    assert [row[1] for row in dead] == [level]
    one(db, "select howdah.replay(%s)", (dead[0][0],))
    assert [m.reliability for m in receive(db)] == [level]


@pytest.mark.parametrize("level", LEVELS)
def test_the_journal_has_the_level_of_what_was_sent(db: Db, level: str) -> None:
    topic(db, journal_level="full")
    one(db, "select howdah.alter_queue('q', '{\"journal_level\": \"full\"}')")
    send(db, level)
    send(db, level, "t")
    one(db, "select howdah.send_batch('q', array['a', 'b'], reliability => %s)", (level,))
    assert column(db, "select distinct reliability from howdah.audit_journal where event = 'sent'") == [level]


def test_a_level_that_does_not_exist_is_refused(db: Db) -> None:
    for call in ("send('q', 'x'", "send_batch('q', array['x']", "schedule('q', 'x', delay => '1 s'"):
        refused(db, "HD005", f"select howdah.{call}, reliability => 'express')")
        refused(db, "HD005", f"select howdah.{call}, delivery_mode => 'PERSISTENT')")


WAYS = {
    "large": "select howdah.send('q', repeat('x', 5000), reliability => %s)",
    "bytes": "select howdah.send('q', '\\x00'::bytea, reliability => %s)",
    "json": "select howdah.send('q', '{{}}'::jsonb, reliability => %s)",
    "composite": "select howdah.send('r,q', 'x', reliability => %s)",
    "once": "select howdah.send('q', 'x', reliability => %s, deduplication_key => 'k')",
    "headers": "select howdah.send('q', 'x', reliability => %s, headers => '{{\"a\": 1}}', priority => 7)",
    "conversation": "select howdah.send('q', 'x', reliability => %s, conversation_id => gen_random_uuid())",
    "large batch": "select howdah.send_batch('q', array[repeat('x', 5000), 'y'], reliability => %s)",
    "batch once": (
        "select howdah.send_batch('q', array['x', 'y'], reliability => %s, deduplication_keys => array['a', 'b'])"
    ),
    "bridge": "select howdah.send('t', 'x', reliability => %s)",
    "schedule": "select howdah.schedule('q', 'x', delay => '1 microsecond', reliability => %s)",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("level", LEVELS)
def test_a_message_keeps_its_level_and_body_whatever_the_way_it_is_sent(db: Db, way: str, level: str) -> None:
    one(db, "select howdah.create_queue('r')")
    topic(db)
    one(db, "select howdah.bridge('t', 'q')")
    for _ in range(2):
        db.execute(WAYS[way].replace("{{", "{").replace("}}", "}").encode(), (level,))
    with db.transaction(force_rollback=True):
        got = receive(db, "q", 10)
    again = receive(db, "q", 10)
    assert [m.message_id for m in again] == [m.message_id for m in got]
    assert {m.reliability for m in again} == {level}
    times = 1 if "once" in way else 2
    assert len(again) == times * (2 if "batch" in way else 1)
    assert sum(len(m.body or m.bytes or "") for m in again) >= times
    if "large" in way:
        assert max(len(m.body or "") for m in again) == 5000
    assert one(db, "select count(*) from howdah.bodies") == 0


@pytest.mark.parametrize("level", LEVELS)
def test_a_hardened_queue_and_one_of_groups_keep_the_level(db: Db, level: str) -> None:
    one(db, "select howdah.create_queue('groups', '{\"message_groups\": \"transaction\"}')")
    one(
        db,
        "select howdah.send('groups', 'x', reliability => %s, headers => '{\"JMSXGroupID\": \"g\"}')",
        (level,),
    )
    assert [m.reliability for m in receive(db, "groups")] == [level]
    one(db, "select howdah.create_queue('hard', '{\"backout_count\": \"hardened\"}')")
    send(db, level, "hard")
    attempts = column(db, "select attempt from howdah.begin_attempts('hard', 1)")
    got = column(db, "select reliability from howdah.receive_attempt('hard', %s)", (attempts[0],))
    assert got == [level]
