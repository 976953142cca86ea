"""A downgrade to base takes everything with it, unless something else stands on it."""

import pytest
from migrations_support import dictionary, procedures
from support import Db, column, one

from howdah.migrations import MigrationError, add_facade, downgrade, migrate, state


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-51")
def test_downgrade_leaves_an_empty_schema_and_up_again_gives_the_same(db: Db, dsn: str) -> None:
    migrate(dsn)
    before, functions = dictionary(db), procedures(db)
    assert downgrade(dsn, "base").revision is None
    assert column(db, "select relname::text from pg_class where relnamespace = 'howdah'::regnamespace") in (
        ["alembic_version", "alembic_version_pkc"],
        ["alembic_version_pkc", "alembic_version"],
    )
    assert procedures(db) == []
    assert migrate(dsn).current
    assert (dictionary(db), procedures(db)) == (before, functions)
    one(db, "select howdah.create_queue('q')")


@pytest.mark.slow
@pytest.mark.own_database
def test_facades_go_with_a_downgrade_to_base_and_work_when_installed_again(db: Db, dsn: str) -> None:
    for facade in ("pgmq", "pgmq_public"):
        add_facade(dsn, facade)
    one(db, "select pgmq.create('tasks')")
    assert downgrade(dsn, "base").revision is None
    assert one(db, "select to_regnamespace('pgmq') is null and to_regnamespace('pgmq_public') is null")
    assert migrate(dsn).current
    for facade in ("pgmq", "pgmq_public"):
        add_facade(dsn, facade)
    assert column(db, "select queue_name from pgmq.list_queues()") == []
    one(db, "select pgmq.create('tasks')")
    assert column(db, "select pgmq_public.send('tasks', '{}')")


@pytest.mark.slow
@pytest.mark.own_database
def test_a_downgrade_to_base_is_refused_while_something_else_stands_on_a_facade(db: Db, dsn: str) -> None:
    add_facade(dsn, "pgmq")
    db.execute("create view public.ours as select queue_name from pgmq.meta")
    with pytest.raises(MigrationError, match=r"ours.*this stands on pgmq"):
        downgrade(dsn, "base")
    assert state(dsn).current
    assert column(db, "select queue_name from public.ours") == []
    db.execute("drop view public.ours")
