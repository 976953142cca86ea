"""Transactions with the word howdah.commit_by_reliability, and whether their commits waited."""

from __future__ import annotations

from levels import WORD
from support import Db, one


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
