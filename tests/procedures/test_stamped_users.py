"""Where a queue wants it, each message is stamped with the user who sent it, and nobody who moves it."""

from __future__ import annotations

import pytest
from policy_support import (
    CONVERSATION,
    Create,
    send,
)
from psycopg.types.json import Jsonb
from support import (
    Clock,
    Connect,
    Db,
    column,
    fail,
    one,
    receive,
)


@pytest.mark.behaviour("WAS-44")
def test_a_message_that_is_backed_out_is_its_producers_still_whom_the_engine_stamped(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create("BACKOUT", stamp_user=True)
    create(preset="websphere_mq", max_failed_deliveries=1, exception_queue="BACKOUT", stamp_user=True)
    for verb in ("send", "pass_all", "set_all"):
        one(db, "select howdah.grant_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))
    sent = send(
        connect("howdah_producer"),
        headers=Jsonb({"JMSXUserID": "alice", "JMSXAppID": "shop", "n": 1}),
        correlation_id="c",
        reply_to="answers",
        message_type="order",
        conversation_id=CONVERSATION,
        priority=7,
    )
    query = (
        "select to_jsonb(m) - array['queue', 'position', 'stage', 'delivery_count', 'redelivered', 'origin_queue',"
        " 'dead_reason', 'dead_at'] from howdah.browse(%s) m"
    )
    before = one(db, query, ("q",))
    assert before["headers"] == {"JMSXUserID": "howdah_producer", "JMSXAppID": "shop", "n": 1}
    assert one(db, "select sent_at from howdah.browse('q')") == clock.now
    clock.advance(3600)
    consumer = connect("howdah_consumer")
    fail(consumer, sent)
    assert receive(consumer) == []
    assert one(db, query, ("BACKOUT",)) == before, "the consumer, who moved it, is stamped nowhere"
    (backed_out,) = receive(db, "BACKOUT", 1, "browse")
    assert (backed_out.origin_queue, backed_out.dead_at) == ("q", clock.now)
    one(db, "select howdah.replay('BACKOUT', %s)", ([sent],))
    assert one(db, query, ("q",))["headers"] == before["headers"], "nor the operator who replays it"


def test_every_way_of_sending_stamps_its_user_where_that_is_wanted_and_no_other_does(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(stamp_user=True)
    create("plain")
    create("bridged", stamp_user=True)
    create("alices", stamp_user=True)
    one(db, "select howdah.create_topic('unstamped'), howdah.bridge('unstamped', 'bridged')")
    one(db, "select howdah.bridge('unstamped', 'alices', $$JMSXUserID = 'alice'$$)")
    one(db, "select howdah.create_topic('t', '{\"stamp_user\": true}')")
    one(db, "select howdah.subscribe('t', 's')")
    producer = connect("howdah_producer")
    for query in (
        "howdah.send({}, 'a'::text)",
        "howdah.send({}, '{{}}'::jsonb, headers => '{{\"JMSXUserID\": \"alice\"}}')",
        "howdah.send({}, repeat('x', 100000)::bytea)",
        "howdah.send({}, 'a'::text, delivery_mode => 'non-persistent', deduplication_key => 'k')",
        "howdah.send_batch({}, array['a', 'b'])",
        (
            "howdah.send_batch({}, array['a', 'b'], headers => array['{{}}', null]::jsonb[],"
            " deduplication_keys => array['x', 'y'])"
        ),
        "howdah.schedule({}, 'a'::text, period => interval '1 minute', repeat => 0)",
        "howdah.respond({}, 'a'::text, headers => '{{\"JMSXUserID\": \"alice\"}}')",
    ):
        for name in ("q", "plain", "t", "unstamped"):
            one(producer, "select " + query.format(f"'{name}'"))
    for name in ("q", "plain", "t", "unstamped"):
        with producer.transaction():
            one(producer, "select howdah.begin_copy()")
            producer.execute("insert into pg_temp.howdah_copy values ('a', '{\"JMSXUserID\": \"alice\"}'), ('b', null)")
            assert one(producer, "select howdah.send_copied(%s)", (name,)) == 2
    one(producer, "select howdah.send('q,plain', 'both'::text)")
    clock.advance(61)
    assert one(db, "select fired from howdah.fire_schedules()") == 4
    assert len(receive(db, n=99, verb="browse")) == 13
    assert one(db, "select count(*) from howdah.browse('bridged', max_messages => 99)") == 12
    users = "select headers ->> 'JMSXUserID' from howdah.receive(%s, 99)"
    assert set(column(db, users, ("q",))) == {"howdah_producer"}
    assert set(column(db, users, ("t::s",))) == {"howdah_producer"}
    assert set(column(db, users, ("bridged",))) == {"howdah_producer"}
    assert column(db, users, ("alices",)) == [], "the bridge's selector read a forged user"
    assert set(column(db, users, ("plain",))) == {None, "alice"}
    one(db, "select howdah.alter_queue('q', '{\"stamp_user\": false}')")
    one(producer, "select howdah.send('q', 'a'::text)")
    assert column(db, users, ("q",)) == [None]
    one(db, "select howdah.alter_queue('q', '{\"stamp_user\": true}')")
    one(producer, "select howdah.send('q', 'a'::text)")
    assert column(db, users, ("q",)) == ["howdah_producer"]
