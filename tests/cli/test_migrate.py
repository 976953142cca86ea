"""howdah migrate: install, check, go back."""

from collections.abc import Iterator

import psycopg
import pytest
from command import howdah, refused
from psycopg.conninfo import make_conninfo
from support import Db, Server, identifier, one


@pytest.fixture
def weak_dsn(server: Server, empty_dsn: str) -> Iterator[str]:
    """A database whose owner may not create roles."""
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        if not one(admin, "select rolsuper from pg_roles where rolname = current_user"):
            pytest.skip("needs a superuser, to make a role without rights")
        database = psycopg.conninfo.conninfo_to_dict(empty_dsn)["dbname"]
        admin.execute("create role howdah_test_weak login password 'weak'")
        try:
            name = identifier(str(database))
            admin.execute(psycopg.sql.SQL("alter database {} owner to howdah_test_weak").format(name))
            yield make_conninfo(empty_dsn, user="howdah_test_weak", password="weak")
            owner = identifier(admin.info.user)
            admin.execute(psycopg.sql.SQL("alter database {} owner to {}").format(name, owner))
            with psycopg.connect(empty_dsn, autocommit=True) as db:
                db.execute("drop owned by howdah_test_weak cascade")
        finally:
            admin.execute("drop role howdah_test_weak")


@pytest.mark.slow
def test_install_check_again(empty_dsn: str) -> None:
    before = howdah(empty_dsn, "migrate", "--check", "--json")
    assert before.code == 3
    assert (before.json["revision"], before.json["current"]) == (None, False)
    assert howdah(empty_dsn, "migrate", "--status").code == 0

    first = howdah(empty_dsn, "migrate", "--engine-name", "mine")
    assert first.out.startswith("tables: none -> ")
    assert "procedures: installed\n" in first.out
    assert howdah(empty_dsn, "migrate").out.startswith("nothing to do: revision ")
    assert howdah(empty_dsn, "migrate", "--json").json["current"] is True
    assert howdah(empty_dsn, "migrate", "--check").code == 0
    (system,) = [row["queue"] for row in howdah(empty_dsn, "queue", "list", "--json").json]
    assert system == "_SYSTEM.Exception.Destination.mine"


@pytest.mark.slow
def test_old_procedures_are_not_current(dsn: str, db: Db) -> None:
    db.execute("update howdah.engine set procedures_checksum = 'x'")

    assert "procedures  older\n" in howdah(dsn, "migrate", "--status").out
    assert howdah(dsn, "migrate", "--check").code == 3
    assert howdah(dsn, "migrate").out.startswith("procedures: installed\ndatabase ")


@pytest.mark.slow
@pytest.mark.own_database
def test_going_back_asks_first(dsn: str, db: Db) -> None:
    refused(howdah(dsn, "migrate", "--to", "base"), "stdin is not a terminal")
    assert howdah(dsn, "migrate", "--check").code == 0

    gone = howdah(dsn, "migrate", "--to", "base", "--yes")
    assert gone.code == 0
    assert " -> none\n" in gone.out
    assert one(db, "select to_regclass('howdah.msgs')") is None
    assert howdah(dsn, "migrate").code == 0
    assert howdah(dsn, "migrate", "--check").code == 0


@pytest.mark.slow
def test_bad_revisions_and_options(dsn: str) -> None:
    refused(howdah(dsn, "migrate", "--to", "nonsense"), "nonsense")
    assert howdah(dsn, "migrate", "--one-role", "--role-prefix", "x").code == 2
    assert howdah(dsn, "migrate", "--check").code == 0


def test_a_newer_database_is_refused(dsn: str, db: Db) -> None:
    db.execute("update howdah.alembic_version set version_num = '9999'")

    refused(howdah(dsn, "migrate"), "newer than the code")
    assert howdah(dsn, "migrate", "--check").code == 3


@pytest.mark.slow
def test_a_database_of_before_the_first_release_is_refused_with_what_to_do(dsn: str, db: Db) -> None:
    db.execute("update howdah.alembic_version set version_num = '0042'")

    failed = howdah(dsn, "migrate")
    assert failed.code == 1
    assert "revision 0042, which was never released" in failed.err
    assert "\ndrop schema howdah cascade;\n" in failed.err
    assert howdah(dsn, "migrate", "--check").code == 3


@pytest.mark.slow
def test_who_may_not_make_roles_gets_the_script(weak_dsn: str) -> None:
    failed = howdah(weak_dsn, "migrate", "--role-prefix", "howdah_absent")

    assert failed.code == 1
    assert '\ncreate role "howdah_absent_admin" nologin;\n' in failed.err
    assert "Traceback" not in failed.err
    assert howdah(weak_dsn, "migrate", "--one-role").code == 0
    assert howdah(weak_dsn, "queue", "create", "q").code == 0
    assert howdah(weak_dsn, "migrate").out.startswith("nothing to do")


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-94")
def test_a_new_database_of_the_embedded_server_alone_creates_queues_by_itself(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as db:
        name = identifier(db.info.dbname)
        db.execute(psycopg.sql.SQL("alter database {} set howdah.embedded = off").format(name))
        howdah(empty_dsn, "migrate")
        on = "select (autocreate_queue, autocreate_topic)::text from howdah.engine"
        assert one(db, on) == "(f,f)"
        howdah(empty_dsn, "migrate", "--to", "base", "--yes")
        db.execute(psycopg.sql.SQL("alter database {} set howdah.embedded = on").format(name))
        again = howdah(empty_dsn, "migrate")
        assert again.code == 0, again.err
        assert one(db, on) == "(t,t)"
        howdah(empty_dsn, "engine", "alter", "-o", "autocreate_queue=false")
        howdah(empty_dsn, "migrate")
        assert one(db, on) == "(f,t)"


@pytest.mark.slow
def test_who_installs_is_told_which_grant_it_takes_to_use_it(server: Server, empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as admin:
        if not one(admin, "select rolsuper from pg_roles where rolname = current_user"):
            pytest.skip("needs a superuser, to make another")
        admin.execute("create role howdah_test_boss login superuser password 'boss'")
        try:
            name = identifier(admin.info.dbname)
            admin.execute(psycopg.sql.SQL("alter database {} set howdah.embedded = off").format(name))
            boss = make_conninfo(empty_dsn, user="howdah_test_boss", password="boss")
            told = howdah(boss, "migrate").out.splitlines()[-1]
            assert told.startswith("role howdah_test_boss has none of Howdah's roles yet;")
            refused(howdah(boss, "queue", "create", "orders"), "may not create queue 'orders'")
            admin.execute(told.partition("queues: ")[2].encode())
            assert howdah(boss, "queue", "create", "orders").code == 0
            howdah(boss, "migrate", "--to", "base", "--yes")
            assert "none of Howdah's roles" not in howdah(boss, "migrate").out
        finally:
            admin.execute("reassign owned by howdah_test_boss to current_user; drop owned by howdah_test_boss cascade")
            admin.execute("drop role howdah_test_boss")
