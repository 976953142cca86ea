"""Topics whose messages go on into queues: bridges, and ActiveMQ's virtual topics."""

from typing import Any

import pytest
from support import Connect, Db, all_refused, column, fail, one, receive, refused
from topics_support import bodies, publish, stored, subscribe, topic


def queue(db: Db, name: str, options: str = "{}") -> None:
    one(db, "select howdah.create_queue(%s, %s::jsonb)", (name, options))


def bridge(db: Db, to: str = "q", selector: str | None = None, name: str = "t") -> None:
    one(db, "select howdah.bridge(%s, %s, %s)", (name, to, selector))


@pytest.mark.parametrize("queue_first", [True, False])
def test_a_virtual_topic_feeds_each_consumers_queue_whichever_was_made_first(db: Db, queue_first: bool) -> None:
    def make_queues() -> None:
        for name in (
            "Consumer.A.VirtualTopic.Orders",
            "Consumer.B.VirtualTopic.Orders",
            "Consumer.A.VirtualTopic.Other",
        ):
            queue(db, name)

    if queue_first:
        make_queues()
    topic(db, "VirtualTopic.Orders")
    if not queue_first:
        make_queues()
    publish(db, "1", "2", to="VirtualTopic.Orders", headers={"n": 1}, priority=7, correlation_id="c")
    assert stored(db) == 0
    for name in ("A", "B"):
        (first, second) = receive(db, f"Consumer.{name}.VirtualTopic.Orders", 9)
        assert (first.body, first.headers, first.priority, first.correlation_id, second.body) == (
            "1",
            {"n": 1},
            7,
            "c",
            "2",
        )
    assert bodies(db, "Consumer.A.VirtualTopic.Other") == []
    assert one(db, "select bridges from howdah.list_topics()") == 2


def test_a_virtual_topic_has_subscribers_besides(db: Db) -> None:
    topic(db, "VirtualTopic.X")
    queue(db, "Consumer.A.VirtualTopic.X")
    name = subscribe(db, to="VirtualTopic.X")
    publish(db, "1", to="VirtualTopic.X")
    assert bodies(db, "Consumer.A.VirtualTopic.X") == bodies(db, name) == ["1"]


@pytest.mark.parametrize(("kind", "cast"), [("send", "{}"), ("send_batch", "array[{}]")])
def test_a_bridge_passes_on_what_its_selector_selects(db: Db, kind: str, cast: str) -> None:
    topic(db)
    queue(db, "q")
    queue(db, "all")
    bridge(db, selector="n > 1 AND JMSPriority = 6")
    bridge(db, "all")
    for number in range(4):
        headers = f"""'{{"n": {number}}}'::jsonb"""
        more = (
            f"headers => {headers}, priority => 6"
            if kind == "send"
            else f"headers => array[{headers}], priorities => array[6]"
        )
        body = cast.format(f"'{number}'::text")
        one(db, f"select howdah.{kind}('t', {body}, {more})")
    assert bodies(db, "q") == ["2", "3"]
    assert bodies(db, "all") == ["0", "1", "2", "3"]


def test_a_bridge_is_part_of_the_publishers_transaction(db: Db, connect: Connect) -> None:
    topic(db)
    queue(db, "q")
    bridge(db)
    publisher = connect()
    with publisher.transaction(force_rollback=True):
        publish(publisher, "never")
    with publisher.transaction():
        publish(publisher, "x")
        assert bodies(db, "q") == []
    assert bodies(db, "q") == ["x"]


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_what_is_passed_on_keeps_its_delivery_mode_and_is_a_message_of_its_own(db: Db, mode: str) -> None:
    topic(db)
    queue(db, "q", '{"max_failed_deliveries": 1}')
    bridge(db)
    name = subscribe(db)
    (sent,) = publish(db, "x", delivery_mode=mode, time_to_live="1 h")
    (passed,) = receive(db, "q", 9, "browse")
    assert (passed.delivery_mode, passed.expires_at is not None, passed.message_id != sent) == (mode, True, True)
    assert fail(db, passed.message_id, "q")[2] == "moved"
    assert bodies(db, name) == ["x"]


def test_calling_again_changes_the_selector_and_unbridge_ends_it(db: Db) -> None:
    topic(db)
    queue(db, "q")
    bridge(db, selector="n = 1")
    bridge(db, selector="n = 2")
    assert db.execute("select queue, selector from howdah.list_bridges('t')").fetchall() == [("q", "n = 2")]
    publish(db, "1", headers={"n": 1})
    publish(db, "2", headers={"n": 2})
    assert one(db, "select howdah.unbridge('t', 'q')") is True
    assert one(db, "select howdah.unbridge('t', 'q')") is False
    publish(db, "3", headers={"n": 2})
    assert bodies(db, "q") == ["2"]


@pytest.mark.parametrize("what", ["queue", "topic"])
def test_dropping_the_queue_or_the_topic_ends_the_bridge(db: Db, what: str) -> None:
    topic(db)
    queue(db, "q")
    bridge(db)
    one(db, f"select howdah.drop_{what}(%s)", ("q" if what == "queue" else "t",))
    if what == "queue":
        publish(db, "x")
        queue(db, "q")
        publish(db, "y")
    else:
        topic(db)
        publish(db, "x")
    assert bodies(db, "q") == []
    assert column(db, "select queue from howdah.list_bridges('t')") == []


def full(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"message_limit": 1}')""")
    one(db, "select howdah.send('q', 'x')")


REFUSALS: dict[str, Any] = {
    "HD007": lambda db: one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 1}')"""),
    "HD018": full,
}


@pytest.mark.parametrize("code", REFUSALS)
def test_a_queue_that_takes_no_such_message_refuses_the_publisher_whole(db: Db, code: str) -> None:
    topic(db)
    name = subscribe(db)
    queue(db, "q")
    bridge(db)
    REFUSALS[code](db)
    refused(db, code, "select howdah.send('t', 'too long')")
    assert bodies(db, name) == []


def test_who_may_bridge_and_what(db: Db, connect: Connect) -> None:
    topic(db)
    queue(db, "q")
    all_refused(
        db,
        [
            ("HD001", "select howdah.bridge('none', 'q')"),
            ("HD001", "select howdah.bridge('t', 'none')"),
            ("HD001", "select howdah.bridge('q', 't')"),
            ("HD001", "select howdah.bridge('t', 't')"),
            ("HD012", "select howdah.bridge('t', '_SYSTEM.Exception.Destination.howdah')"),
            ("HD023", "select howdah.bridge('t', 'q', 'n >')"),
            ("HD001", "select howdah.unbridge('none', 'q')"),
            ("HD001", "select howdah.list_bridges('q')"),
        ],
    )
    for role in ("producer", "consumer"):
        refused(connect(f"howdah_{role}"), "42501", "select howdah.bridge('t', 'q')")
    bridge(db)
    # The publisher needs no right at the queue: the administrator who made the bridge had it.
    one(db, "select howdah.revoke_queue('q', 'send', 'howdah_producer')")
    publish(connect("howdah_producer"), "x")
    assert bodies(db, "q") == ["x"]
