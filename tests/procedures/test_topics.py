"""Topics: publishing, options, rights and expiry."""

import uuid

import pytest
from support import Clock, Connect, Db, all_refused, column, one, receive, refused
from topics_support import bodies, publish, rotate, stored, subscribe, topic


@pytest.mark.behaviour("AMQ-21")
def test_every_subscription_gets_a_copy_of_what_is_stored_once(db: Db) -> None:
    topic(db)
    names = [subscribe(db, f"s{number}") for number in range(3)]
    (sent,) = publish(db, "hello")
    assert stored(db) == 1
    for name in names:
        (message,) = receive(db, name)
        assert (message.message_id, message.body, message.origin_queue, message.delivery_count) == (
            sent,
            "hello",
            "t",
            1,
        )
    assert stored(db) == 1
    assert [bodies(db, name) for name in names] == [[], [], []]


def test_a_message_keeps_all_it_was_sent_with(db: Db) -> None:
    topic(db)
    subscribe(db)
    conversation = uuid.uuid4()
    publish(
        db, "a", headers={"x": 1}, priority=7, correlation_id="c", reply_to="r", message_type="m", time_to_live="1 h",
        conversation_id=conversation, content_type="text/x-a",
    )  # fmt: skip
    one(db, "select howdah.send('t', '{\"a\": 1}'::jsonb)")
    one(db, r"""select howdah.send('t', '\x00ff'::bytea, headers => '{"y": 2}')""")
    first, second, third = receive(db, "t::s", 9)
    assert (first.headers, first.priority, first.correlation_id, first.reply_to, first.message_type) == (
        {"x": 1},
        7,
        "c",
        "r",
        "m",
    )
    assert (first.content_type, (first.expires_at or first.sent_at) > first.sent_at) == ("text/x-a", True)
    assert (second.body, second.content_type) == ('{"a": 1}', "application/json")
    assert (third.bytes, third.body, third.headers) == (b"\x00\xff", None, {"y": 2})


@pytest.mark.parametrize("kind", ["text", "jsonb", "bytea"])
@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_a_batch_is_published_in_order_and_whole(db: Db, kind: str, mode: str) -> None:
    topic(db)
    subscribe(db)
    sent = one(db, f"select howdah.send_batch('t', array['1', '2', '3']::{kind}[], delivery_mode => %s)", (mode,))
    assert [(m.message_id, m.delivery_mode) for m in receive(db, "t::s", 9)] == [(number, mode) for number in sent]
    refused(db, "HD006", f"select howdah.send_batch('t', array['1', '2']::{kind}[], priorities => array[1, 10])")
    assert one(db, f"select howdah.send_batch('t', '{{}}'::{kind}[])") == []
    assert receive(db, "t::s") == []


def test_what_is_published_counts_when_its_transaction_commits(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db)
    other = connect()
    with other.transaction():
        publish(other, "late")
        publish(db, "early")
        assert bodies(db) == ["early"]
    with other.transaction(force_rollback=True):
        publish(other, "never")
    with other.transaction():
        publish(other, "outer")
        with other.transaction(force_rollback=True):
            publish(other, "inner")
        with other.transaction():
            publish(other, "saved")
    assert bodies(db) == ["late", "outer", "saved"]


def test_nothing_is_stored_where_nobody_subscribed(db: Db) -> None:
    topic(db)
    assert publish(db, "x", "y")
    assert publish(db, "z", delivery_mode="non-persistent")
    assert stored(db) == 0
    assert one(db, "select published from howdah.list_topics()") == 3


@pytest.mark.behaviour("IMQ-93")
def test_the_largest_body_is_the_topics_own(db: Db) -> None:
    topic(db, max_message_bytes=10)
    topic(db, "wide", max_message_bytes=11)
    subscribe(db)
    publish(db, "x" * 10)
    said = refused(db, "HD007", "select howdah.send('t', %s)", ("x" * 11,))
    assert "11 bytes" in (said.message_primary or "")
    publish(db, "x" * 11, to="wide")
    refused(db, "HD007", "select howdah.send_batch('t', array['x', %s])", ("x" * 11,))
    assert bodies(db) == ["x" * 10]


def test_options_are_shown_altered_and_defaults_used(db: Db) -> None:
    topic(db, default_priority=7)
    subscribe(db)
    assert one(db, "select howdah.topic_options('t')")["default_priority"] == 7
    one(db, """select howdah.alter_topic('t', '{"default_time_to_live_ms": 1000, "default_priority": 2}')""")
    publish(db, "x")
    (message,) = receive(db, "t::s")
    assert message.priority == 2
    assert message.expires_at is not None
    assert (message.expires_at - message.sent_at).total_seconds() == 1
    assert one(db, "select topic || '/' || subscriptions from howdah.list_topics()") == "t/1"


def test_what_is_wrong_at_a_topic_is_said_and_changes_nothing(db: Db) -> None:
    topic(db)
    topic(db, "other")
    one(db, "select howdah.create_queue('q')")
    all_refused(
        db,
        [
            ("HD002", "select howdah.create_topic('t')"),
            ("HD002", "select howdah.create_topic('q')"),
            ("HD002", "select howdah.create_queue('t')"),
            ("HD003", "select howdah.create_topic('a b')"),
            ("HD003", "select howdah.create_topic('a:b')"),
            ("HD003", "select howdah.create_topic(null)"),
            ("HD004", """select howdah.create_topic('n', '{"retain": 1}')"""),
            ("HD004", """select howdah.create_topic('n', '{"retain_ms": 0}')"""),
            ("HD004", """select howdah.create_topic('n', '{"recovery": "all"}')"""),
            ("HD004", """select howdah.create_topic('n', '{"recovery": "query"}')"""),
            ("HD004", """select howdah.alter_topic('t', '{"backlog_action": "wait"}')"""),
            ("HD004", "select howdah.alter_topic('t', null)"),
            ("HD023", """select howdah.create_topic('n', '{"recovery": "query", "recovery_selector": "a ="}')"""),
            ("HD001", "select howdah.alter_topic('none', '{}')"),
            ("HD001", "select howdah.alter_topic('q', '{}')"),
            ("HD001", "select howdah.topic_options('none')"),
            ("HD001", "select howdah.topic_options('q')"),
            ("HD001", "select howdah.drop_topic('none')"),
            ("HD001", "select howdah.drop_topic('q')"),
            ("HD001", "select howdah.drop_queue('t')"),
            ("HD001", "select howdah.topic_history('q')"),
            ("HD001", "select howdah.send('none', 'x')"),
            ("HD005", "select howdah.topic_history('t', max_messages => 0)"),
            ("HD005", "select howdah.send('t', 'x', delay => '1 s')"),
            ("HD005", "select howdah.receive('t')"),
            ("HD005", "select howdah.receive_locked('t')"),
            ("HD005", "select howdah.wait('t')"),
            ("HD001", "select howdah.alter_queue('t', '{}')"),
            ("HD001", "select howdah.purge_queue('t')"),
            ("HD001", "select howdah.create_listener('l', 't')"),
            ("HD001", "select howdah.record_failure('t', 1)"),
            ("HD001", "select howdah.browse('t')"),
            ("HD001", "select howdah.queue_stats('t')"),
            ("HD001", "select howdah.queue_options('t')"),
        ],
    )


def test_rights_at_a_topic_are_asked_for(connect: Connect, db: Db) -> None:
    topic(db)
    consumer, producer, browser = (connect(f"howdah_{kind}") for kind in ("consumer", "producer", "browser"))
    assert publish(producer, "x")
    name = subscribe(consumer)
    publish(producer, "y")
    refused(consumer, "42501", "select howdah.send('t', 'x')")
    refused(consumer, "42501", "select howdah.create_topic('u')")
    refused(consumer, "42501", "select howdah.drop_topic('t')")
    refused(consumer, "42501", "select howdah.alter_topic('t', '{}')")
    refused(consumer, "42501", "select howdah.bridge('t', 'q')")
    refused(producer, "42501", "select howdah.subscribe('t', 'p')")
    refused(browser, "42501", "select howdah.receive(%s)", (name,))
    assert bodies(browser, name, verb="browse") == ["y"]
    assert column(browser, "select subscription from howdah.list_subscriptions('t')") == [name]
    one(db, "select howdah.revoke_queue('t', 'receive', 'howdah_consumer')")
    one(db, "select howdah.revoke_queue('t', 'send', 'howdah_producer')")
    said = refused(consumer, "HD010", "select howdah.subscribe('t', 'again')")
    assert "may not receive on" in (said.message_primary or "")
    refused(producer, "HD010", "select howdah.send('t', 'x')")
    refused(producer, "HD010", "select howdah.send_batch('t', array['x'])")


def test_a_paused_topic_takes_nothing_until_it_is_resumed(db: Db) -> None:
    topic(db)
    subscribe(db)
    one(db, "select howdah.pause('t')")
    assert "t" in (refused(db, "HD008", "select howdah.send('t', 'x')").message_primary or "")
    refused(db, "HD008", "select howdah.send_batch('t', array['x'])")
    one(db, "select howdah.resume('t')")
    publish(db, "y")
    assert bodies(db) == ["y"]


def test_a_topic_with_subscriptions_is_dropped_only_when_forced(db: Db) -> None:
    topic(db)
    subscribe(db)
    wide = subscribe(db, "wide", ">")
    publish(db, "x")
    assert "2 subscriptions" in (refused(db, "HD011", "select howdah.drop_topic('t')").message_primary or "")
    refused(db, "HD011", "select howdah.drop_topic('t', null)")
    assert one(db, "select howdah.drop_topic('t', force => true)") == 2
    refused(db, "HD001", "select howdah.receive('t::s')")
    refused(db, "HD001", "select howdah.drop_topic('t')")
    assert one(db, "select count(*) from howdah.list_topics()") == 0
    topic(db)
    publish(db, "new")
    assert bodies(db, wide) == ["new"]
    one(db, "select howdah.unsubscribe(%s)", (wide,))
    assert one(db, "select howdah.drop_topic('t')") == 0


def test_a_topic_whose_subscription_is_being_read_is_not_dropped(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db)
    publish(db, "x")
    reader = connect()
    with reader.transaction():
        receive(reader, "t::s")
        refused(db, "HD024", "select howdah.drop_topic('t', force => true)")
    assert one(db, "select howdah.drop_topic('t', force => true)") == 1


def test_expired_messages_reach_nobody_and_need_no_room(db: Db, clock: Clock) -> None:
    topic(db)
    subscribe(db)
    publish(db, "x", time_to_live="5 s")
    publish(db, "y")
    clock.advance(6)
    assert bodies(db) == ["y"]
    publish(db, "z", time_to_live="5 s")
    for _ in range(3):
        rotate(db, clock)
    assert stored(db) == 0


@pytest.mark.behaviour("IMQ-25")
def test_a_message_one_of_two_durable_subscribers_acknowledged_is_deleted_when_it_expires(db: Db, clock: Clock) -> None:
    topic(db)
    names = [subscribe(db, "a"), subscribe(db, "b")]
    publish(db, "x", time_to_live="1 h")
    assert bodies(db, names[0]) == ["x"]
    rotate(db, clock)
    rotate(db, clock)
    assert stored(db) == 1
    clock.advance(3600)
    rotate(db, clock)
    assert stored(db) == 0
    assert bodies(db, names[1]) == []


def test_the_journal_at_full_has_what_was_published(db: Db) -> None:
    topic(db, journal_level="full")
    subscribe(db)
    sent = publish(db, "x", "y")
    assert (
        column(db, "select message_id from howdah.audit_journal where event = 'sent' and queue = 't' order by 1")
        == sent
    )
    receive(db, "t::s", 9)
    assert column(db, "select message_id from howdah.audit_journal where queue = 't::s' order by 1") == sent
