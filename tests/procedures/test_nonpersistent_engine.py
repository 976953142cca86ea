"""An engine that is not persistent: whatever is sent, however, is stored in tables that no restart keeps."""

from __future__ import annotations

from support import SYSTEM, Db, column, fail, one, receive

OFF = """select howdah.alter_engine('{"persistent": false}')"""
ON = """select howdah.alter_engine('{"persistent": true}')"""


def modes(db: Db, queue: str) -> set[str]:
    return set(column(db, "select delivery_mode from howdah.browse(%s, 1000)", (queue,)))


def test_whatever_is_sent_and_however_is_non_persistent(db: Db) -> None:
    for queue in ("q", "orders", "bound"):
        one(db, "select howdah.create_queue(%s)", (queue,))
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.bridge('t', 'bound')")
    one(db, OFF)
    one(db, "select howdah.create_queue('later', '{\"persistent\": true}')")
    one(db, "select howdah.create_topic('news', '{\"persistent\": true}')")
    one(db, "select howdah.subscribe('news', 'n')")
    for queue in ("q", "later"):
        one(db, "select howdah.send(%s, 'a'::text, delivery_mode => 'persistent')", (queue,))
        one(db, "select howdah.send(%s, '{}'::jsonb)", (queue,))
        one(db, "select howdah.send(%s, repeat('x', 1000000)::bytea, priority => 9)", (queue,))
        one(db, "select howdah.send_batch(%s, array['b', 'c'])", (queue,))
        with db.cursor() as cursor, db.transaction():
            cursor.execute("select howdah.begin_copy()")
            with cursor.copy("copy pg_temp.howdah_copy (body) from stdin") as copy:
                copy.write_row(("copied",))
            cursor.execute("select howdah.send_copied(%s)", (queue,))
    one(db, "select howdah.send('q,orders', 'both'::text)")
    one(db, "select howdah.send('t', 'x'::text)")
    one(db, "select howdah.send_batch('t', array['y', 'z'])")
    one(db, "select howdah.send('news', 'x'::text)")
    for queue, number in {"q": 7, "later": 6, "orders": 1, "t::s": 3, "bound": 3, "news::n": 1}.items():
        assert len(receive(db, queue, 99, "browse")) == number, queue
        assert modes(db, queue) == {"non-persistent"}, queue
    assert one(db, "select count(*) from howdah.msgs") == 0
    for queue, number in {"q": 7, "later": 6, "orders": 1, "t::s": 3, "bound": 3, "news::n": 1}.items():
        assert len(receive(db, queue, 99)) == number, queue


def test_what_is_delayed_comes_back_or_is_dead_stays_non_persistent(db: Db) -> None:
    one(db, OFF)
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 2, "redelivery_delay_ms": 60000}')""")
    sent = one(db, "select howdah.send('q', 'a'::text)")
    assert fail(db, sent)[2] == "delayed"
    delayed = one(db, "select howdah.send('q', 'b'::text, delay => interval '1 hour')")
    assert set(column(db, "select boot is not null from howdah.parked")) == {True}
    assert fail(db, sent)[2] == "moved"
    assert modes(db, SYSTEM) == {"non-persistent"}
    assert delayed > sent


def test_each_queue_is_again_what_it_was_and_what_lies_there_stays_what_it_is(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.create_queue('memory', '{\"persistent\": false}')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    send = "select howdah.send(%s, %s)"
    for queue in ("q", "memory", "t"):
        one(db, send, (queue, "before"))
    one(db, OFF)
    one(db, "select howdah.alter_queue('q', '{\"max_failed_deliveries\": 3}')")
    one(db, "select howdah.alter_topic('t', '{\"retain_ms\": null}')")
    assert one(db, "select howdah.queue_options('q') -> 'persistent'") is True
    assert one(db, "select howdah.topic_options('t') -> 'persistent'") is True
    for queue in ("q", "memory", "t"):
        one(db, send, (queue, "during"))
    one(db, ON)
    for queue in ("q", "memory", "t"):
        one(db, send, (queue, "after"))
    found = "select body, delivery_mode from howdah.browse(%s, 9) order by sent_at, message_id"
    kept, lost = "persistent", "non-persistent"
    for queue, mode in {"q": kept, "memory": lost, "t::s": kept}.items():
        assert dict(db.execute(found.encode(), (queue,)).fetchall()) == {
            "before": mode,
            "during": lost,
            "after": mode,
        }
        assert {m.body for m in receive(db, queue, 9)} == {"before", "during", "after"}


def test_the_engine_says_so_and_the_check_of_the_server_warns_of_it(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    said = "select danger from howdah.check_server() where setting = 'engine' and value = 'persistent: false'"
    assert one(db, "select howdah.engine_options() -> 'persistent'") is True
    assert column(db, said) == []
    one(db, OFF)
    assert one(db, "select howdah.engine_options() -> 'persistent'") is False
    assert column(db, said) == ["loss"]
    assert column(db, "select setting from howdah.check_server() where setting = 'destination q'") == []
