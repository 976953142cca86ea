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
