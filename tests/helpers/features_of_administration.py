"""What administrators set: limits, levels, names, links, imports, contracts and transformations."""

from __future__ import annotations

import contextlib
import json
import time

import psycopg
from feature_engine import Engine, feature


@feature
def limits(e: Engine) -> None:
    """A queue that makes room by ending its oldest."""
    e.queue("small", message_limit=2, limit_behaviour="remove_oldest")
    e.send("small", 4)
    e.rows(
        "select howdah.alter_engine('{\"max_count\": 100000}'), howdah.alter_queue('small', '{\"message_limit\": 5}')"
    )


@feature
def limits_of_handlers(e: Engine) -> None:
    """A rate and a number in hand, of the queue and of each key: received, leased, failed, and taken away."""
    e.queue("calls", max_concurrent=3, rate_limit="1000/1s burst 20", limit_key="k", max_concurrent_per_key=2,
            rate_limit_per_key="100/1s burst 9")  # fmt: skip
    for key in (1, 1, 1, 2, None):
        e.rows("select howdah.send('calls', 'x', headers => %s)", json.dumps({} if key is None else {"k": key}))
    assert len(e.receive("calls", 2)) == 2
    (lease, *_), *_ = e.rows("select lease from howdah.lease('calls', 1, '1 minute')")
    e.rows("select howdah.ack('calls', %s)", lease)
    e.fail("calls", e.one("select message_id from howdah.browse('calls') limit 1"))
    e.rows("select howdah.alter_queue('calls', '{\"rate_limit\": null, \"max_concurrent_per_key\": null}')")
    e.receive("calls", 3)


@feature
def levels_of_reliability(e: Engine) -> None:
    """Best effort: without room, discarded for others and at the limit; gone with its sender, as express is."""
    best, express = "BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT"
    e.queue("scarce", message_limit=4)
    for level in (best, best, best, best, best, express, "RELIABLE_PERSISTENT"):
        e.rows("select howdah.send('scarce', 'x', reliability => %s)", level)
    e.rows("select howdah.send_batch('scarce', array['a', 'b', 'c', 'd', 'e'], reliability => %s)", best)
    e.receive("scarce", 2)
    e.queue("brittle", max_failed_deliveries=1)
    e.fail("brittle", e.one("select howdah.send('brittle', 'x', reliability => %s)", best))
    e.fail("brittle", e.one("select howdah.send('brittle', 'x', reliability => %s)", express))
    e.queue("ticker", discard_with_sender=True)
    e.rows('select howdah.create_topic(\'ticks\', \'{"discard_with_sender": true, "journal_level": "full"}\')')
    e.rows("select howdah.subscribe('ticks', 'early'), howdah.subscribe('ticks', 'late')")
    sender = e.connect()
    for destination in ("ticker", "ticks"):
        for level in (best, express, "RELIABLE_NONPERSISTENT"):
            e.rows("select howdah.send(%s, 'x', reliability => %s)", destination, level, db=sender)
    e.receive("ticks::early", 2)
    sender.close()
    while e.one("select howdah.maintain_senders()") == 0:
        time.sleep(0.01)
    assert len(e.receive("ticker", 9)) == 1
    assert len(e.receive("ticks::late", 9)) == 1


@feature
def aliases(e: Engine) -> None:
    """Other names, which send and receive."""
    e.queue("named")
    e.rows("select howdah.create_alias('nickname', 'plain'), howdah.alter_alias('nickname', target => 'named')")
    e.send("nickname", 3)
    assert len(e.receive("nickname", 2)) == 2
    e.rows("select howdah.drop_alias('nickname')")


@feature
def links(e: Engine) -> None:
    """Both halves of a link, whose other halves are elsewhere: what goes leaves, and what comes is sent."""
    e.queue("outward")
    e.queue("inward")
    e.send("outward", 3)
    e.rows("select howdah.send('outward', 'x', reliability => 'BEST_EFFORT_NONPERSISTENT')")
    e.rows("select howdah.create_link('far', 'outward', 'there', service => 'far')")
    e.rows("select howdah.alter_link('far', batch_size => 2), howdah.pause_link('far'), howdah.resume_link('far')")
    e.rows("select howdah.link_away('far', 'forwarder', 'down')")
    taken = "select taken, messages::text from howdah.link_take('far', 'forwarder', gen_random_uuid())"
    ((number, messages),) = e.rows(taken)
    assert number == 2
    e.rows(
        "select howdah.link_arrive(%s, gen_random_uuid(), 'b', 'near', 'there', 'inward', 1, gen_random_uuid(), null,"
        " %s::json)",
        "00000000-0000-4000-8000-000000000001",
        messages,
    )
    assert len(e.receive("inward", 9)) == 2
    e.rows("select howdah.forget_arrivals('00000000-0000-4000-8000-000000000001')")
    e.rows("select howdah.rebase_link('far'), howdah.drop_link('far')")


@feature
def imports(e: Engine) -> None:
    """Messages of another system: stored, taken back, passed for a subscription, and forgotten on record."""
    e.queue("came")
    e.rows("""select howdah.create_topic('came.topic', '{"journal_level": "full"}')""")
    e.rows("select howdah.begin_import('elsewhere'), howdah.hold_import('elsewhere', 'came')")
    full = '{"journal_level": "full"}'
    e.rows("select howdah.subscribe('came.topic', 'reader', 'came', options => %s)", full)
    messages = json.dumps([{"key": f"k{n}", "message_id": n, "text": "x", "content_type": "a/b"} for n in range(3)])
    for queue in ("came", "came.topic"):
        e.rows("select * from howdah.import_messages('elsewhere', %s, %s)", queue, messages)
    assert len(e.rows("select key from howdah.list_imported('elsewhere', 'came')")) == 3
    assert e.one("select howdah.withdraw_imported('elsewhere', 'came', '{k0}')") == 1
    assert e.one("select howdah.read_imported('elsewhere', 'came.topic', 'came.topic:came:reader', '{k0,k1}')") == 2
    e.rows("select howdah.finish_import('elsewhere')")
    assert (len(e.receive("came", 9)), len(e.receive("came.topic:came:reader", 9))) == (2, 1)
    e.rows("select howdah.begin_import('again'), howdah.finish_import('again'), howdah.forget_import('again')")
    assert len(e.rows("select source from howdah.list_imports()")) == 1


@feature
def states_of_the_engine(e: Engine) -> None:
    """A stop loses what is not persistent, once it is resumed."""
    e.queue("halted")
    for level in ("EXPRESS_NONPERSISTENT", "RELIABLE_NONPERSISTENT", "ASSURED_PERSISTENT"):
        e.rows("select howdah.send('halted', 'x', reliability => %s)", level)
    e.rows("select howdah.pause_engine(), howdah.resume_engine(), howdah.quiesce_engine()")
    while e.one("select state from howdah.stop_engine('10 seconds')") != "stopped":
        time.sleep(0.01)
    e.rows("select howdah.resume_engine()")
    assert len(e.receive("halted", 9)) == 1


@feature
def contracts(e: Engine) -> None:
    """A queue takes what keeps to its contract, and refuses the rest before anything is written."""
    e.queue("contracted", contract={"type": "object"})
    e.rows("select howdah.send('contracted', '{}'::jsonb)")
    with contextlib.suppress(psycopg.Error):
        e.rows("select howdah.send('contracted', '1'::jsonb)")
    e.receive("contracted", 2)


@feature
def transformations(e: Engine) -> None:
    """A subscription and a bridge get what an application's function makes, or its error; the unused one is dropped."""
    e.rows(
        "create schema changed; create function changed.upper(m howdah.message) returns howdah.message"
        " language plpgsql security definer set search_path = changed, pg_temp as"
        " $$ begin assert m.body <> 'bad'; m.body := upper(m.body); return m; end $$;"
        " alter function changed.upper owner to howdah_producer; grant usage on schema changed to howdah_nobody"
    )
    e.rows(
        "select howdah.register_transformation('upper', 'changed.upper'),"
        " howdah.register_transformation('unused', 'changed.upper')"
    )
    e.rows("select howdah.drop_transformation('unused')")
    e.queue("uppercase")
    e.rows("select howdah.create_topic('lowercase', '{\"journal_level\": \"full\"}')")
    e.rows("select howdah.bridge('lowercase', 'uppercase', null, 'upper')")
    e.rows(
        "select howdah.subscribe('lowercase', 'upper', options => %s)",
        '{"journal_level": "full", "max_failed_deliveries": 1}',
    )
    e.rows("select howdah.transform_subscription('lowercase::upper', 'upper')")
    e.rows("select howdah.send_batch('lowercase', array['tea', 'bad'])")
    e.receive("lowercase::upper", 2)
    e.receive("uppercase", 2)
