"""What an import from another system's store pauses, resumes and forgets."""

from __future__ import annotations

import json

from support import Db, column, one, refused

COME = "select stored from howdah.import_messages('s', 'q', %s)"
MESSAGES = json.dumps([{"key": "k", "message_id": 1, "text": "x", "content_type": "text/plain"}])
HOLD = "select howdah.hold_import('s', 'q')"


def test_a_queue_that_the_second_hold_paused_is_resumed_at_the_end(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.begin_import('s')")
    one(db, "select howdah.pause('q', sending => false)")
    assert one(db, HOLD) is False
    one(db, "select howdah.resume('q')")
    assert one(db, HOLD) is True
    assert one(db, HOLD) is False, "the import itself has paused it"
    assert one(db, "select howdah.finish_import('s')") == ["q"]


def test_a_queue_that_an_operator_paused_stays_paused_at_the_end(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.begin_import('s')")
    one(db, "select howdah.pause('q', sending => false)")
    assert [one(db, HOLD) for _ in range(2)] == [False, False]
    assert one(db, "select howdah.finish_import('s')") == []


def test_an_import_that_is_not_finished_is_not_forgotten(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.begin_import('s')")
    refused(db, "HD005", "select howdah.forget_import('s')")
    one(db, "select howdah.pause('q', sending => false)")
    assert one(db, HOLD) is False
    assert one(db, COME, (MESSAGES,)) == 1
    refused(db, "HD005", "select howdah.forget_import('s')")
    assert one(db, COME, (MESSAGES,)) == 0, "it is still on record"
    one(db, "select howdah.finish_import('s')")
    assert one(db, "select howdah.forget_import('s')") == 1
    assert column(db, "select source from howdah.list_imports()") == []
