"""What a prepared transaction published or received is neither skipped nor lost before it ends."""

import pytest
from support import Clock, Connect, Db, one, refused
from topics_support import bodies, publish, rotate, stored, subscribe, topic


@pytest.fixture
def prepares(db: Db) -> None:
    if one(db, "show max_prepared_transactions") == "0":
        pytest.skip("the server prepares no transactions")


def test_what_a_prepared_publisher_commits_late_is_neither_skipped_nor_truncated(
    db: Db, clock: Clock, connect: Connect, prepares: None
) -> None:
    topic(db)
    name = subscribe(db)
    gid = f"publisher of {db.info.dbname}"
    writer = connect()
    writer.execute("begin")
    publish(writer, "prepared", notify=False)
    writer.execute(f"prepare transaction '{gid}'".encode())
    publish(db, "x")
    assert bodies(db, name) == ["x"]
    for _ in range(3):
        rotate(db, clock)
    publish(db, "y")
    assert bodies(db, name) == ["y"]
    db.execute(f"commit prepared '{gid}'".encode())
    assert bodies(db, name) == ["prepared"]
    rotate(db, clock)
    rotate(db, clock)
    assert stored(db) == 0


@pytest.mark.parametrize("shared", [False, True])
def test_a_prepared_consumer_keeps_what_it_took_until_it_is_ended(
    db: Db, connect: Connect, prepares: None, shared: bool
) -> None:
    topic(db)
    name = subscribe(db, shared=shared)
    publish(db, "a", "b")
    for ending in ("rollback", "commit"):
        gid = f"consumer of {db.info.dbname}"
        reader = connect()
        reader.execute("begin")
        assert bodies(reader, name, 1) == ["a"]
        reader.execute(f"prepare transaction '{gid}'".encode())
        refused(db, "HD024", "select howdah.unsubscribe(%s)", (name,))
        if shared:
            with db.transaction(force_rollback=True):
                assert bodies(db, name) == ["b"]
        else:
            refused(db, "HD024", "select howdah.receive(%s)", (name,))
        db.execute(f"{ending} prepared '{gid}'".encode())
    assert bodies(db, name) == ["b"]
