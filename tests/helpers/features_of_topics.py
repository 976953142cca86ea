"""Topics, requests and their replies, and listeners."""

from __future__ import annotations

import json

from feature_engine import Engine, feature


@feature
def topics(e: Engine) -> None:
    """Durable, shared and other subscriptions, bridges, history, sought, failed and ended ones."""
    e.queue("bridged")
    e.rows(
        'select howdah.create_topic(\'news\', \'{"journal_level": "full", "recovery":'
        ' "fixed_count", "recovery_amount": 2, "retain_ms": 3600000}\')'
    )
    e.rows("select howdah.alter_topic('news', '{\"default_priority\": 5}')")
    e.rows(
        "select howdah.bridge('news', 'bridged', 'k = 1'), howdah.bridge('news', 'plain'),"
        " howdah.unbridge('news', 'plain')"
    )
    full = '{"journal_level": "full", "max_failed_deliveries": 1}'
    e.rows("select howdah.subscribe('news', 'durable', 'client', options => %s)", full)
    e.rows("select howdah.subscribe('news', 'shared', 'client', shared => true, options => %s)", full)
    e.rows("select howdah.subscribe('news', 'picky', 'client', 'k = 1', options => %s)", full)
    e.rows("select howdah.subscribe('news', 'leaver', 'client', options => %s)", full)
    e.rows("select howdah.claim_client_id('publisher'), howdah.set_client_id('publisher')")
    ids = [
        e.one("select howdah.send('news', 'x', headers => %s)", json.dumps({"k": number % 2})) for number in range(8)
    ]
    e.rows("select howdah.send_batch('news', array['a', 'b'], priorities => array[9, 1])")
    e.rows(
        "select howdah.send('news', 'x', time_to_live => '1 hour'), howdah.send('news', 'x',"
        " delivery_mode => 'non-persistent')"
    )
    e.rows("select howdah.release_client_id(), howdah.set_client_id(null)")
    late = e.one("select howdah.subscribe('news', 'late', 'client', durable => false, options => %s)", full)
    e.send("news")
    for name in ("durable", "shared", "picky"):
        e.receive(f"news:client:{name}", 3)
    e.receive(late, 4)
    for name in ("durable", "shared"):
        failing = e.rows("select message_id from howdah.browse(%s, 1)", f"news:client:{name}")[0][0]
        e.fail(f"news:client:{name}", failing)
    rows = e.rows("select lease, message_id from howdah.lease('news:client:shared', 2)")
    e.rows("select howdah.ack('news:client:shared', %s, %s)", rows[0][0], [rows[0][1]])
    e.rows("select howdah.seek_subscription('news:client:durable', now() - interval '1 hour')")
    e.receive("news:client:durable", 2)
    e.rows("select howdah.purge_queue('news:client:picky')")
    e.rows("select howdah.unsubscribe('news:client:leaver')")
    e.receive("bridged", 2)
    assert ids
    e.rows(
        "select howdah.create_topic('gone', '{\"journal_level\": \"full\"}'), howdah.subscribe('gone', 's'),"
        " howdah.send('gone', 'x')"
    )
    e.rows("select howdah.drop_topic('gone', force => true)")
    e.rows("select howdah.maintain_topics(), howdah.maintain_subscriptions()")


@feature
def requests_and_replies(e: Engine) -> None:
    """Temporary queues and answers to them; of a connection that goes on and of one that ended."""
    e.queue("requests")
    for token in ("a-connection-that-lives", "a-connection-that-ends"):
        e.rows("select howdah.set_connection(%s)", token)
        mine = e.one("select howdah.create_temporary_queue()")
        for _ in range(2):
            e.rows("select howdah.send('requests', 'x', reply_to => %s, correlation_id => 'r')", mine)
            e.rows("select howdah.respond(%s, 'y', 'r')", mine)
        e.receive("requests")
        assert len(e.receive(mine)) == 1
        e.rows("select howdah.keep_connection()")
    e.rows("select howdah.close_connection()")
    e.rows("select howdah.set_connection('a-connection-that-lives')")
    other = e.one("select howdah.create_temporary_queue()")
    e.rows("select howdah.drop_temporary_queue(%s)", other)
    e.rows("select howdah.set_connection(null)")
    e.rows("select howdah.maintain_temporary()")


@feature
def listeners(e: Engine) -> None:
    """Receives and failures of named listeners."""
    e.queue("heard", max_failed_deliveries=2)
    e.rows(
        "select howdah.create_listener('ear', 'heard'), howdah.alter_listener('ear', '{\"sequential_failures\": 1}')"
    )
    e.rows("select howdah.ensure_listener('ear', 'heard', '{\"sequential_failures\": 1}')")
    ids = e.send("heard", 5)
    assert e.rows("select message_id from howdah.receive_as('ear', 1)")
    e.rows("select howdah.handled_as('ear')")
    e.rows("select howdah.record_failures_as('ear', %s)", json.dumps([{"message_id": ids[1], "error_text": "no"}]))
    e.rows("select howdah.stop_listener('ear', 'test'), howdah.resume_listener('ear')")
    e.queue("heard.hard", backout_count="hardened")
    e.send("heard.hard", 2)
    e.rows("select howdah.create_listener('other.ear', 'heard.hard')")
    attempt = e.one("select attempt from howdah.begin_attempts_as('other.ear')")
    assert e.rows("select howdah.receive_attempt_as('other.ear', %s)", attempt)
    e.rows("select howdah.drop_listener('other.ear')")
