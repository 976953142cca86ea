"""What a commit waits for where the caller said howdah.commit_by_reliability, and where nobody said it.

The server's WAL writer sleeps, so that an asynchronous commit is not flushed when COMMIT returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from commit_support import begin, setting, waited, write
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
