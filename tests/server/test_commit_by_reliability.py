"""What a commit waits for where the caller said howdah.commit_by_reliability, and where nobody said it.

The server's WAL writer sleeps, so that an asynchronous commit is not flushed when COMMIT returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from levels import ASSURED, LEVELS, RELIABLE, WORD, make_sleepy, open_db, send
from support import Db, column, one

from howdah.engine.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def sleepy_server(module_server: EmbeddedServer) -> EmbeddedServer:
    """A server whose WAL writer flushes every ten seconds at most, and nothing else flushes."""
    make_sleepy(module_server)
    with open_db(module_server) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_queue('spare')")
        one(db, "select howdah.create_topic('t')")
        db.execute("create table business (id integer primary key)")
    return module_server


@pytest.fixture
def db(sleepy_server: EmbeddedServer) -> Iterator[Db]:
    with open_db(sleepy_server) as connection:
        yield connection
        if connection.info.transaction_status:
            connection.execute("rollback")
        one(connection, "select howdah.purge_queue('q')")


def waited(db: Db) -> bool:
    """Commit, and say whether the commit was flushed when it returned.

    The WAL writer flushes pages that are full, and so perhaps the commit's beginning.
    """
    before = one(db, "select pg_current_wal_insert_lsn()")
    db.execute("commit")
    return bool(
        one(
            db,
            "select flushed > %s and (flushed >= pg_current_wal_insert_lsn() or (flushed - '0/0') %% 8192 <> 0)"
            " from pg_current_wal_flush_lsn() flushed",
            (before,),
        )
    )


def setting(db: Db) -> str:
    return str(one(db, "select current_setting('synchronous_commit')"))


def begin(db: Db, *settings: str) -> None:
    db.execute("begin")
    for text in (WORD, *settings):
        db.execute(text)


def write(db: Db) -> None:
    db.execute("insert into business select coalesce(max(id), 0) + 1 from business")


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-18")
@pytest.mark.behaviour("SIB-31")
@pytest.mark.behaviour("SIB-33")
@pytest.mark.parametrize("level", LEVELS)
def test_a_send_alone_waits_only_if_it_is_assured(db: Db, level: str) -> None:
    begin(db)
    send(db, level)
    assert setting(db) == ("on" if level == ASSURED else "off")
    assert waited(db) == (level == ASSURED)


@pytest.mark.parametrize(("first", "second"), list(product(LEVELS, LEVELS)))
def test_of_two_sends_the_higher_decides_in_either_order(db: Db, first: str, second: str) -> None:
    begin(db)
    send(db, first)
    send(db, second)
    assert waited(db) == (ASSURED in (first, second))


@pytest.mark.parametrize(("received", "sent"), list(product(LEVELS, LEVELS)))
@pytest.mark.parametrize("received_first", [True, False])
def test_what_was_received_counts_as_what_was_sent(db: Db, received: str, sent: str, received_first: bool) -> None:
    send(db, received)
    begin(db)
    for turn in (received_first, not received_first):
        if turn:
            assert column(db, "select reliability from howdah.receive('q', 1)") == [received]
        else:
            send(db, sent, "spare")
    assert waited(db) == (ASSURED in (received, sent))


@pytest.mark.parametrize(("kept", "undone"), list(product(LEVELS, LEVELS)))
def test_a_rollback_to_a_savepoint_takes_back_what_the_messages_after_it_needed(db: Db, kept: str, undone: str) -> None:
    begin(db)
    send(db, kept)
    db.execute("savepoint s")
    send(db, undone)
    db.execute("rollback to savepoint s")
    assert waited(db) == (kept == ASSURED)


def test_a_savepoint_before_the_first_message_leads_back_to_the_callers_own_setting(db: Db) -> None:
    begin(db)
    db.execute("savepoint s")
    send(db, RELIABLE)
    assert setting(db) == "off"
    db.execute("rollback to savepoint s")
    assert setting(db) == "on"
    write(db)
    assert waited(db)


@pytest.mark.parametrize(("kept", "nested"), [(RELIABLE, ASSURED), (ASSURED, RELIABLE), (RELIABLE, RELIABLE)])
def test_a_released_savepoint_keeps_what_its_messages_need(db: Db, kept: str, nested: str) -> None:
    begin(db)
    send(db, kept)
    db.execute("savepoint s")
    send(db, nested)
    db.execute("release savepoint s")
    assert waited(db) == (ASSURED in (kept, nested))


@pytest.mark.parametrize("own", ["on", "off", "local", "remote_write", "remote_apply"])
def test_an_assured_message_waits_as_the_caller_set_it_and_off_becomes_on(db: Db, own: str) -> None:
    begin(db, f"set local synchronous_commit = {own}")
    send(db, RELIABLE)
    assert setting(db) == "off"
    send(db, ASSURED)
    assert setting(db) == ("on" if own == "off" else own)
    send(db, RELIABLE)
    assert waited(db)


@pytest.mark.parametrize("own", ["on", "off", "local", "remote_apply"])
def test_what_the_caller_sets_between_two_messages_is_his_own_from_then_on(db: Db, own: str) -> None:
    begin(db)
    send(db, RELIABLE)
    db.execute(f"set local synchronous_commit = {own}")
    send(db, RELIABLE)
    assert setting(db) == "off"
    send(db, ASSURED)
    assert setting(db) == ("on" if own == "off" else own)
    db.execute("rollback")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("own", ["on", "off", "local"])
def test_without_the_word_the_commit_waits_as_the_caller_set_it(db: Db, level: str, own: str) -> None:
    db.execute("begin")
    db.execute(f"set local synchronous_commit = {own}")
    send(db, level)
    write(db)
    assert setting(db) == own
    assert waited(db) == (own != "off")


def test_the_word_holds_for_one_transaction_only(db: Db) -> None:
    begin(db)
    send(db, RELIABLE)
    assert not waited(db)
    assert setting(db) == "on"
    db.execute("begin")
    send(db, RELIABLE)
    assert setting(db) == "on"
    assert waited(db)


def test_a_transaction_with_the_word_and_no_message_commits_as_the_caller_set_it(db: Db) -> None:
    begin(db)
    assert column(db, "select body from howdah.receive('q', 1)") == []
    write(db)
    assert waited(db)


def test_a_business_write_after_the_word_is_as_safe_as_the_highest_message_beside_it(db: Db) -> None:
    for level, safe in ((RELIABLE, False), (ASSURED, True)):
        begin(db)
        write(db)
        send(db, level)
        write(db)
        assert waited(db) == safe


def test_the_word_off_gives_back_what_the_caller_had(db: Db) -> None:
    begin(db)
    send(db, RELIABLE)
    db.execute("set local howdah.commit_by_reliability = off")
    send(db, RELIABLE)
    assert setting(db) == "on"
    assert waited(db)


@pytest.mark.parametrize("word", ["true", "yes", "1", "ON"])
def test_the_word_has_the_spellings_of_a_boolean(db: Db, word: str) -> None:
    db.execute("begin")
    one(db, "select set_config('howdah.commit_by_reliability', %s, true)", (word,))
    send(db, RELIABLE)
    assert setting(db) == "off"
    db.execute("rollback")


@pytest.mark.parametrize("word", ["maybe", "onn", "-1", "off"])
def test_any_other_word_changes_nothing(db: Db, word: str) -> None:
    db.execute("begin")
    one(db, "select set_config('howdah.commit_by_reliability', %s, true)", (word,))
    send(db, RELIABLE)
    assert column(db, "select reliability from howdah.receive('q')") == [RELIABLE]
    assert waited(db)


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


def test_a_prepared_transaction_is_always_flushed(db: Db) -> None:
    if one(db, "select current_setting('max_prepared_transactions')") == "0":
        pytest.skip("the server prepares none")
    begin(db)
    one(db, "select howdah.send('q', 'x', reliability => %s, notify => false)", (RELIABLE,))
    before = one(db, "select pg_current_wal_insert_lsn()")
    db.execute("prepare transaction 'p'")
    assert one(db, "select pg_current_wal_flush_lsn() > %s", (before,))
    before = one(db, "select pg_current_wal_insert_lsn()")
    db.execute("commit prepared 'p'")
    assert one(db, "select pg_current_wal_flush_lsn() > %s", (before,))
    assert column(db, "select reliability from howdah.receive('q')") == [RELIABLE]
