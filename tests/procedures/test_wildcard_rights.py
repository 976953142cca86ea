"""Rights at the topics that a wildcard matches: asked at each receive, whatever held when it was made."""

from __future__ import annotations

import pytest
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, refused
from topics_support import bodies, publish, subscribe, topic

ROLES = ("howdah_consumer", "howdah_browser", "howdah_auditor")


def revoke(db: Db, name: str, verb: str = "receive") -> None:
    for role in ROLES:
        one(db, "select howdah.revoke_queue(%s, %s, %s)", (name, verb, role))


@pytest.fixture
def consumer(db: Db, connect: Connect) -> Db:
    topic(db, "a.open")
    return connect("howdah_consumer")


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True], ids=["unshared", "shared"])
def test_a_topic_made_later_is_not_read_through_a_wildcard_without_its_right(
    db: Db, consumer: Db, shared: bool
) -> None:
    name = subscribe(consumer, to="a.>", shared=shared)
    topic(db, "a.secret")
    revoke(db, "a.secret")
    publish(db, "secret", to="a.secret")
    publish(db, "open", to="a.open")
    refused(consumer, "HD010", "select howdah.subscribe('a.secret', 'mine')")
    assert bodies(consumer, name) == ["open"]
    with consumer.transaction(force_rollback=True):
        assert bodies(consumer, name, verb="receive_locked") == []
    assert column(consumer, "select body from howdah.lease(%s, 9)", (name,)) == []
    assert bodies(db, name) == ["secret"], "an administrator's session has the right"


def test_a_right_that_is_taken_back_ends_reading_and_given_anew_goes_on_where_it_was(db: Db, consumer: Db) -> None:
    name = subscribe(consumer, to="a.*")
    publish(db, "1", "2", to="a.open")
    assert bodies(consumer, name, 1) == ["1"]
    revoke(db, "a.open")
    publish(db, "3", to="a.open")
    assert bodies(consumer, name) == []
    assert one(db, "select behind from howdah.list_subscriptions('a.open')") == 2
    one(db, "select howdah.grant_queue('a.open', 'receive', 'howdah_consumer')")
    assert bodies(consumer, name) == ["2", "3"]


def test_a_subscription_to_one_topic_keeps_the_rights_of_its_own(db: Db, consumer: Db) -> None:
    name = subscribe(consumer, to="a.open")
    revoke(db, "a.open")
    publish(db, "1", to="a.open")
    assert bodies(consumer, name) == ["1"]
    one(db, "select howdah.revoke_queue(%s, 'receive', 'howdah_consumer')", (name,))
    refused(consumer, "HD010", "select howdah.receive(%s)", (name,))


def test_browsing_through_a_wildcard_needs_the_right_to_browse_the_topic(db: Db, consumer: Db) -> None:
    name = subscribe(consumer, to="a.>")
    (sent,) = publish(db, "1", to="a.open")
    assert bodies(consumer, name, verb="browse") == ["1"]
    revoke(db, "a.open", "browse")
    assert bodies(consumer, name, verb="browse") == []
    assert column(consumer, "select body from howdah.browse(%s, only_id => %s)", (name, sent)) == []
    assert bodies(db, name, verb="browse") == ["1"]


def test_who_may_not_read_a_topic_cannot_set_its_messages_aside_for_himself(db: Db, consumer: Db, clock: Clock) -> None:
    name = subscribe(consumer, to="a.>", options={"redelivery_delay_ms": 1000})
    revoke(db, "a.open")
    (sent,) = publish(db, "secret", to="a.open")
    assert fail(consumer, sent, name)[2] == "gone"
    clock.advance(2)
    assert receive(consumer, name, 9) == []
    assert bodies(db, name) == ["secret"]


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_what_was_set_aside_of_a_topic_waits_for_a_role_with_the_right_to_it(
    db: Db, consumer: Db, clock: Clock, mode: str
) -> None:
    name = subscribe(consumer, to="a.>")
    topic(db, "a.secret")
    revoke(db, "a.secret")
    (sent,) = publish(db, "secret", to="a.secret", delivery_mode=mode)
    (other,) = publish(db, "open", to="a.open", delivery_mode=mode)
    for number in (sent, other):
        assert fail(db, number, name, delay="1 s")[2] == "delayed"
    clock.advance(2)
    with consumer.transaction(force_rollback=True):
        assert bodies(consumer, name, verb="receive_locked") == ["open"]
    ((number, leased),) = consumer.execute("select lease, message_id from howdah.lease(%s, 9)", (name,)).fetchall()
    assert leased == other
    assert one(consumer, "select howdah.ack(%s, %s)", (name, number)) == 1
    assert bodies(consumer, name) == []
    assert bodies(db, name) == ["secret"]


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_what_came_back_to_a_wildcard_is_neither_read_nor_browsed_without_the_right_to_its_topic(
    db: Db, consumer: Db, mode: str
) -> None:
    name = subscribe(consumer, to="a.>", options={"max_failed_deliveries": 1})
    (sent,) = publish(db, "secret", to="a.open", delivery_mode=mode)
    fail(db, sent, name)
    assert bodies(db, name) == []
    one(db, "select howdah.replay(%s, %s)", (SYSTEM, [sent]))
    assert bodies(consumer, name, verb="browse") == ["secret"]
    for verb in ("browse", "receive"):
        revoke(db, "a.open", verb)
    assert bodies(consumer, name, verb="browse") == []
    assert column(consumer, "select body from howdah.browse(%s, only_id => %s)", (name, sent)) == []
    assert column(consumer, "select id from howdah.show_message(%s, %s)", (name, sent)) == []
    find = "select message_id from howdah.find_messages(%s) where message_id is not null"
    assert column(consumer, find, (name,)) == []
    assert column(db, find, (name,)) == [sent]
    assert bodies(consumer, name) == []
    assert bodies(db, name, verb="browse") == ["secret"]
    assert bodies(db, name) == ["secret"]


def test_what_an_administrator_moved_from_a_queue_to_a_wildcard_is_for_its_consumers(db: Db, consumer: Db) -> None:
    name = subscribe(consumer, to="a.>")
    one(db, "select howdah.create_queue('private')")
    revoke(db, "private")
    number = one(db, "select howdah.send('private', 'moved')")
    one(db, "select howdah.move_messages('private', %s, %s)", ([number], name))
    assert bodies(consumer, name) == ["moved"]


def test_a_role_of_ones_own_reads_by_wildcard_what_it_was_granted(db: Db, connect: Connect) -> None:
    for name in ("a.1", "a.2"):
        topic(db, name)
        revoke(db, name)
    one(db, "select howdah.grant_queue('a.2', 'receive', 'howdah_consumer')")
    name = subscribe(db, to="a.>")
    for to in ("a.1", "a.2"):
        publish(db, to, to=to)
    consumer = connect("howdah_consumer")
    refused(consumer, "HD010", "select howdah.receive(%s)", (name,))
    one(db, "select howdah.grant_queue(%s, 'receive', 'howdah_consumer')", (name,))
    assert bodies(consumer, name) == ["a.2"]
