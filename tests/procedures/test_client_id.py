"""A client id that is claimed belongs to one session, whatever becomes of that session's transactions."""

from __future__ import annotations

import psycopg
import pytest
from support import Connect, Db, column, one, refused, wait_until

CLAIM = "select howdah.claim_client_id(%s)"
RELEASE = "select howdah.release_client_id()"
PUBLISHED_AS = "select current_setting('howdah.client_id', true)"


@pytest.mark.parametrize("client_id", ["desk7", "desk8", "a", "b", "c"])  # their hashes are of both signs
def test_a_client_id_in_use_is_refused_until_it_is_released(db: Db, connect: Connect, client_id: str) -> None:
    other = connect()
    one(db, CLAIM, (client_id,))
    said = refused(other, "HD038", CLAIM, (client_id,))
    assert client_id in str(said.message_primary)
    assert one(other, PUBLISHED_AS) in (None, "")
    one(db, CLAIM, (client_id,))
    assert one(db, RELEASE)
    one(other, CLAIM, (client_id,))
    assert (one(other, PUBLISHED_AS), one(db, PUBLISHED_AS)) == (client_id, "")
    assert not one(db, RELEASE)


def test_a_session_has_one_client_id(db: Db) -> None:
    one(db, CLAIM, ("desk7",))
    refused(db, "HD005", CLAIM, ("desk8",))
    assert one(db, PUBLISHED_AS) == "desk7"
    one(db, RELEASE)
    one(db, CLAIM, ("desk8",))


def test_a_claim_outlives_a_rollback_and_is_made_once(db: Db, connect: Connect) -> None:
    with db.transaction(force_rollback=True):
        one(db, CLAIM, ("desk7",))
    other = connect()
    refused(other, "HD038", CLAIM, ("desk7",))
    one(db, CLAIM, ("desk7",))
    assert one(db, RELEASE)
    one(other, CLAIM, ("desk7",))


def test_the_end_of_a_session_frees_its_client_id(db: Db, connect: Connect) -> None:
    other = connect()
    one(other, CLAIM, ("desk7",))
    one(db, "select pg_terminate_backend(%s)", (other.info.backend_pid,))

    def claimed() -> bool:
        try:
            one(db, CLAIM, ("desk7",))
        except psycopg.Error as error:
            if error.sqlstate != "HD038":
                raise
            return False
        return True

    wait_until(claimed)


@pytest.mark.parametrize("bad", [None, "", "a b", "x" * 201])
def test_a_bad_client_id_is_not_claimed(db: Db, bad: str | None) -> None:
    refused(db, "HD003", CLAIM, (bad,))
    assert not one(db, RELEASE)


def test_whoever_only_names_a_client_id_may_do_so_beside_its_owner(db: Db, connect: Connect) -> None:
    one(connect(), CLAIM, ("desk7",))
    one(db, "select howdah.set_client_id('desk7')")
    assert one(db, PUBLISHED_AS) == "desk7"


def test_each_database_has_client_ids_of_its_own(db: Db, connect: Connect) -> None:
    one(db, CLAIM, ("desk7",))
    with psycopg.connect(db.info.dsn, dbname="postgres", password=db.info.password) as elsewhere:
        (key,) = column(db, "select objid::bigint from pg_locks where pid = pg_backend_pid() and classid = 1213154386")
        elsewhere.execute("select pg_advisory_lock(1213154386, %s)", (key,))
