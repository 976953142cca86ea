"""A message sent by hand is an act with its reason."""

import pytest
from operator_acts_support import acts
from support import Connect, Db, one, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def test_a_message_sent_by_hand_is_an_act_with_its_reason(db: Db, connect: Connect) -> None:
    producer = connect("howdah_producer")
    send = "select howdah.send_by_hand(%s, 'hello', '{\"a\": 1}', 7, '1 hour', reason => 'to try')"
    sent: int = one(producer, send, ("q",))
    (waits,) = db.execute("select message_id, headers, priority, reason from howdah.list_delayed('q')").fetchall()
    assert waits == (sent, {"a": 1}, 7, "delay")
    one(db, "select howdah.create_topic('news'), howdah.subscribe('news', 'reader')")
    published: int = one(db, "select howdah.send_by_hand('news', 'told')")
    assert acts(db) == [
        ("sent", "q", None, "to try", "howdah_producer", sent),
        ("sent", "news", None, None, one(db, "select session_user::text"), published),
    ]


def test_what_may_not_be_sent_is_no_act_either(db: Db, connect: Connect) -> None:
    refused(connect("howdah_consumer"), "42501", "select howdah.send_by_hand('q', 'x')")
    refused(db, "HD001", "select howdah.send_by_hand('none', 'x')")
    refused(db, "HD005", "select howdah.send_by_hand('q', null)")
    one(db, "select howdah.pause('q')")
    refused(db, "HD008", "select howdah.send_by_hand('q', 'x', reason => 'try')")
    assert acts(db) == []


def test_a_message_sent_by_hand_has_type_group_correlation_answer_queue_and_time_to_live(db: Db) -> None:
    send = "howdah.send_by_hand('q', 'x', headers => %s, message_type => 'order', correlation_id => 'c1'"
    more = ", message_group => 'g', time_to_live => '1 hour', reply_to => 'answers')"
    sent: int = one(db, f"select {send}{more}", ('{"a": 1}',))
    is_ = db.execute(
        "select message_id, message_type, correlation_id, headers, reply_to, expires_at > howdah.now()"
        " from howdah.browse('q')"
    ).fetchall()
    assert is_ == [(sent, "order", "c1", {"a": 1, "JMSXGroupID": "g"}, "answers", True)]
    refused(db, "HD005", f"select {send}{more}", ("[1]",))
