"""ActiveMQ's statements list what is pending for each durable subscriber."""

import pytest
from support import Clock, Db, column, fail, one
from topics_support import bodies, publish, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


@pytest.mark.behaviour("AMQ-46")
def test_of_one_message_for_three_durable_subscribers_there_is_one_copy_and_three_pointers(db: Db) -> None:
    for name in "abc":
        subscribe(db, name)
    (sent,) = publish(db, "x")
    assert column(db, "select id from howdah.activemq_msgs where container = 'topic://t'") == [sent]
    bodies(db, "t::a")
    assert column(db, "select id from howdah.activemq_msgs where container = 'topic://t'") == [sent]
    assert db.execute(
        "select sub_name, last_acked_id = %s from howdah.activemq_acks order by 1", (sent,)
    ).fetchall() == [
        ("a", True),
        ("b", False),
        ("c", False),
    ]


PENDING = (
    "SELECT M.ID FROM howdah.ACTIVEMQ_MSGS M, howdah.ACTIVEMQ_ACKS D WHERE D.CONTAINER=%s AND"
    " D.CLIENT_ID=%s AND D.SUB_NAME=%s"
    " AND M.XID IS NULL AND M.CONTAINER=D.CONTAINER AND M.ID>D.LAST_ACKED_ID AND M.ID>%s ORDER BY M.ID"
)


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-62")
@pytest.mark.parametrize("shared", [False, True])
def test_activemqs_statement_lists_what_is_pending_for_a_durable_subscriber(db: Db, shared: bool) -> None:
    name = subscribe(db, client_id="c", shared=shared)
    subscribe(db, "other")
    topic(db, "u")
    subscribe(db, "u", "u")
    publish(db, "elsewhere", to="u")
    sent = publish(db, *map(str, range(10)))
    where = ("topic://t", "c", "s")
    assert column(db, PENDING, (*where, -1)) == sent
    bodies(db, name, 4)
    assert column(db, PENDING, (*where, -1)) == sent[4:]
    assert column(db, PENDING, (*where, sent[6])) == sent[7:]
    bodies(db, name)
    assert column(db, PENDING, (*where, -1)) == []
    assert len(column(db, PENDING, ("topic://t", "", "other", -1))) == 10
    assert column(db, "SELECT COUNT(*) FROM howdah.ACTIVEMQ_MSGS WHERE CONTAINER='topic://t' AND XID IS NULL") == [10]
    assert column(
        db,
        "SELECT DISTINCT CONTAINER FROM howdah.ACTIVEMQ_MSGS WHERE CONTAINER IS NOT NULL"
        " UNION SELECT DISTINCT CONTAINER FROM howdah.ACTIVEMQ_ACKS ORDER BY 1",
    ) == ["topic://t", "topic://u"]


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_activemqs_statement_lists_what_is_leased_and_not_acknowledged_too(db: Db, clock: Clock, shared: bool) -> None:
    subscribe(db, client_id="c", shared=shared)
    sent = publish(db, *"abcd")
    (number,) = set(column(db, "select lease from howdah.lease('t:c:s', 3, '10 s')"))
    where = ("topic://t", "c", "s", -1)
    assert column(db, PENDING, where) == sent
    assert one(db, "select howdah.ack('t:c:s', %s, %s)", (number, sent[:1])) == 1
    assert column(db, PENDING, where) == sent[1:]
    clock.advance(11)
    assert column(db, PENDING, where) == sent[1:], "nobody has received it again yet"
    assert bodies(db, "t:c:s") == ["b", "c", "d"]
    assert column(db, PENDING, where) == []


def test_activemqs_statement_lists_non_persistent_messages_too_until_the_server_restarts(db: Db) -> None:
    name = subscribe(db, client_id="c")
    sent = publish(db, "a") + publish(db, "b", delivery_mode="non-persistent") + publish(db, "c")
    where = ("topic://t", "c", "s", -1)
    assert column(db, PENDING, where) == sent
    bodies(db, name, 1)
    assert column(db, PENDING, where) == sent[1:]
    db.execute("update howdah.topic_nonpersistent_0 set boot = boot - interval '1 hour'")
    assert column(db, PENDING, where) == sent[2:]


def test_what_is_set_aside_for_a_subscription_stands_under_its_own_name_in_activemqs_view(db: Db) -> None:
    name = subscribe(db, client_id="c")
    (sent,) = publish(db, "a")
    fail(db, sent, name, delay="1 hour")
    assert column(db, PENDING, ("topic://t", "c", "s", -1)) == []
    container = "select container from howdah.activemq_msgs where id = %s and container <> 'topic://t'"
    assert column(db, container, (sent,)) == [f"subscription://{name}"]
    assert one(db, "select parked from howdah.queue_stats(%s)", (name,)) == 1
    one(db, "select howdah.retry(%s, array[%s])", (name, sent))
    assert column(db, container, (sent,)) == [f"subscription://{name}"]


@pytest.mark.behaviour("AMQ-61")
def test_a_durable_subscription_is_a_row_of_activemq_acks_and_ten_when_prioritised(db: Db) -> None:
    subscribe(db, client_id="c", selector="n = 1")
    subscribe(db, "p", client_id="c", options={"prioritized": True})
    subscribe(db, None, durable=False)
    rows = db.execute(
        "select container, sub_dest, client_id, sub_name, selector, last_acked_id, priority, xid"
        " from howdah.activemq_acks"
        " order by sub_name desc, priority"
    ).fetchall()
    assert rows[0] == ("topic://t", "topic://t", "c", "s", "n = 1", -1, 0, None)
    assert [(row[3], row[6]) for row in rows[1:]] == [("p", priority) for priority in range(10)]
    key = column(
        db,
        "select a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid"
        " and a.attnum = any (i.indkey)"
        " where i.indrelid = 'howdah.acks'::regclass and i.indisprimary order by a.attnum",
    )
    assert sorted(key) == ["client_id", "destination_id", "priority", "subscription_name"]
    assert db.execute(
        "SELECT SELECTOR,SUB_NAME,CLIENT_ID,SUB_DEST FROM howdah.ACTIVEMQ_ACKS WHERE CONTAINER='topic://t'"
        " AND PRIORITY=0 ORDER BY 2"
    ).fetchall() == [(None, "p", "c", "topic://t"), ("n = 1", "s", "c", "topic://t")]


def test_activemqs_statement_by_priority_lists_each_priority_of_a_prioritised_subscription(db: Db) -> None:
    name = subscribe(db, client_id="c", options={"prioritized": True})
    sent = {priority: publish(db, "x", priority=priority)[0] for priority in (0, 4, 9)}
    statement = PENDING.replace(" ORDER BY", " AND M.PRIORITY=D.PRIORITY AND M.PRIORITY=%s ORDER BY")
    for priority, number in sent.items():
        assert column(db, statement, ("topic://t", "c", "s", -1, priority)) == [number]
    bodies(db, name, 1)
    pending = [column(db, statement, ("topic://t", "c", "s", -1, priority)) for priority in sent]
    assert pending == [[sent[0]], [sent[4]], []]
