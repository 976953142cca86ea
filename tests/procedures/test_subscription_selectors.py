"""A subscription with a selector, or without what is local, gets what it selects and nothing else."""

import pytest
from support import Connect, Db, column, one, refused
from topics_support import bodies, listed, publish, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


@pytest.mark.parametrize("shared", [False, True])
def test_with_a_selector_only_what_it_selects_is_received_and_counts_as_read(db: Db, shared: bool) -> None:
    name = subscribe(db, selector="kind = 'a' AND n BETWEEN 2 AND 3", shared=shared)
    for number in range(5):
        publish(db, f"a{number}", headers={"kind": "a", "n": number})
        publish(db, f"b{number}", headers={"kind": "b", "n": number})
    assert bodies(db, name) == ["a2", "a3"]
    assert listed(db, "behind") == 0


@pytest.mark.behaviour("AMQ-101")
@pytest.mark.parametrize("shared", [False, True])
def test_a_message_that_does_not_match_is_acknowledged_for_that_subscriber_alone(db: Db, shared: bool) -> None:
    name, other = subscribe(db, selector="n = 1", shared=shared), subscribe(db, "other")
    (sent,) = publish(db, "x", headers={"n": 2})
    pointers = "select last_acked_id >= %s from howdah.activemq_acks order by sub_name desc"
    assert listed(db, "behind") == 1
    assert bodies(db, name) == []
    assert listed(db, "behind, delivered") == (0, 0)
    assert column(db, pointers, (sent,)) == [True, False]
    assert bodies(db, other) == ["x"]
    assert column(db, pointers, (sent,)) == [True, True]


def test_a_selector_uses_headers_as_in_jms_and_an_empty_one_is_none(db: Db) -> None:
    name = subscribe(db, selector="JMSPriority > 4 OR JMSType = 'alarm' OR JMSCorrelationID = 'c'")
    empty = subscribe(db, "empty", selector="  ")
    publish(db, "low")
    publish(db, "high", priority=9)
    publish(db, "alarm", message_type="alarm")
    publish(db, "reply", correlation_id="c")
    assert bodies(db, name) == ["high", "alarm", "reply"]
    assert len(bodies(db, empty)) == 4


@pytest.mark.parametrize("kind", ["durable", "non-durable"])
def test_no_local_leaves_out_what_was_published_under_the_same_client_id(db: Db, connect: Connect, kind: str) -> None:
    name = subscribe(db, client_id="me", no_local=True, durable=kind == "durable")
    mine, other = connect(), connect()
    one(mine, "select howdah.set_client_id('me')")
    one(other, "select howdah.set_client_id('you')")
    publish(mine, "mine")
    one(mine, "select howdah.send_batch('t', array['mine too'])")
    publish(other, "yours")
    publish(db, "nobody's")
    assert bodies(db, name) == ["yours", "nobody's"]
    with mine.transaction():
        one(mine, "select howdah.set_client_id('you', local => true)")
        publish(mine, "as you")
    one(mine, "select howdah.set_client_id(null)")
    publish(mine, "as nobody")
    assert bodies(db, name) == ["as you", "as nobody"]
    refused(db, "HD003", "select howdah.set_client_id('a b')")
