"""Every way to send, to receive and to acknowledge counts for what a commit by reliability waits for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from commit_support import begin, setting, waited
from levels import ASSURED, LEVELS, RELIABLE, open_db, send
from support import Db, column, one

from howdah.engine.embedded import EmbeddedServer


@pytest.fixture
def db(sleepy_server: EmbeddedServer) -> Iterator[Db]:
    with open_db(sleepy_server) as connection:
        yield connection
        if connection.info.transaction_status:
            connection.execute("rollback")
        one(connection, "select howdah.purge_queue('q')")


SENDS = {
    "usual": "select howdah.send('q', 'x', reliability => %(level)s)",
    "with headers": "select howdah.send('q', 'x', headers => '{\"a\": 1}', reliability => %(level)s)",
    "large": "select howdah.send('q', repeat('x', 100000), reliability => %(level)s)",
    "late": "select howdah.send('q', 'x', delay => '1 h', reliability => %(level)s)",
    "batch": "select howdah.send_batch('q', array['x', 'y'], reliability => %(level)s)",
    "composite": "select howdah.send('q,spare', 'x', reliability => %(level)s)",
    "topic": "select howdah.send('t', 'x', reliability => %(level)s)",
    "topic batch": "select howdah.send_batch('t', array['x', 'y'], reliability => %(level)s)",
    "once later": "select howdah.schedule('q', 'x', delay => '1 h', reliability => %(level)s)",
    "answer": "select howdah.respond('q', 'x', reliability => %(level)s)",
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", SENDS)
def test_every_way_to_send_counts(db: Db, way: str, level: str) -> None:
    begin(db)
    db.execute(SENDS[way], {"level": level})
    assert setting(db) == ("on" if level == ASSURED else "off")
    db.execute("rollback")


@pytest.mark.parametrize("way", ["usual", "large", "topic"])
def test_a_send_without_a_level_counts_as_assured(db: Db, way: str) -> None:
    begin(db)
    send(db, RELIABLE)
    db.execute(SENDS[way], {"level": None})
    assert setting(db) == "on"
    db.execute("rollback")


@pytest.mark.parametrize("level", LEVELS)
def test_a_copy_counts(db: Db, level: str) -> None:
    begin(db)
    db.execute("select howdah.begin_copy()")
    with db.cursor().copy("copy pg_temp.howdah_copy (body) from stdin") as copy:
        copy.write_row(["x"])
    one(db, "select howdah.send_copied('q', reliability => %s)", (level,))
    assert setting(db) == ("on" if level == ASSURED else "off")
    db.execute("rollback")


RECEIVES = {
    "one": "select reliability from howdah.receive('q')",
    "many": "select reliability from howdah.receive('q', 5)",
    "selected": "select reliability from howdah.receive('q', 5, selector => 'JMSPriority = 4')",
    "held": "select reliability from howdah.receive_locked('q', 5)",
    "of all": "select reliability from howdah.receive('*', 5, selector => 'JMSCorrelationID = ''c''')",
    "correlated": "select reliability from howdah.receive_correlated('q', 'c', 5)",
    "by id": "select reliability from howdah.receive_message('q', %(id)s)",
    "leased": "select reliability from howdah.lease('q', 5)",
    "leased ahead": "select reliability from howdah.lease_ahead('q', 5)",
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", RECEIVES)
def test_every_way_to_receive_counts(db: Db, way: str, level: str) -> None:
    sent = one(db, "select howdah.send('q', 'x', correlation_id => 'c', reliability => %s)", (level,))
    begin(db)
    assert column(db, RECEIVES[way], {"id": sent}) == [level]
    assert setting(db) == ("on" if level == ASSURED else "off")
    assert one(db, "select current_setting('howdah.commit_by_reliability')") == "on"
    db.execute("rollback")


@pytest.mark.parametrize("level", LEVELS)
def test_a_subscriber_s_receive_counts(db: Db, level: str) -> None:
    name = one(db, "select howdah.subscribe('t', 's')")
    send(db, level, "t")
    begin(db)
    assert column(db, "select reliability from howdah.receive(%s, 1)", (name,)) == [level]
    assert waited(db) == (level == ASSURED)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("verb", ["ack", "ack_many", "lease"])
def test_an_acknowledgement_counts(db: Db, verb: str, level: str) -> None:
    send(db, level)
    lease, sent = db.execute("select lease, message_id from howdah.lease('q', 1)").fetchall()[0]
    begin(db)
    if verb == "ack":
        assert one(db, "select howdah.ack('q', %s)", (lease,)) == 1
    elif verb == "ack_many":
        assert one(db, "select howdah.ack_many('{q}', array[%s], array[%s])", (lease, sent)) == 1
    else:
        assert column(db, "select message_id from howdah.lease('q', 1, acknowledge => %s)", (lease,)) == []
    assert waited(db) == (level == ASSURED)


def test_what_the_engine_writes_besides_makes_the_commit_wait(db: Db) -> None:
    send(db, RELIABLE)
    lease = one(db, "select lease from howdah.lease('q', 1)")
    begin(db)
    send(db, RELIABLE)
    db.execute("select * from howdah.nack('q', %s, error_text => 'x')", (lease,))
    assert setting(db) == "on"
    db.execute("rollback")


def test_a_message_that_a_receive_disposes_of_makes_the_commit_wait(db: Db) -> None:
    one(db, 'select howdah.create_queue(\'hard\', \'{"max_failed_deliveries": 1, "decided_at": "receive"}\')')
    sent = one(db, "select howdah.send('hard', 'x', reliability => %s)", (RELIABLE,))
    db.execute("select * from howdah.record_failure('hard', %s, 'E', 'x')", (sent,))
    begin(db)
    send(db, RELIABLE)
    assert column(db, "select body from howdah.receive('hard', 1)") == []
    assert waited(db)
