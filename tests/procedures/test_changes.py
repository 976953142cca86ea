"""The record of changes has every act of an administrator once."""

from __future__ import annotations

import json
import re

import pytest
from changes_support import ACTS, last
from support import Clock, Connect, Db, column, one, refused

import howdah.procedures as sql
from howdah.procedures.parser import headers


@pytest.mark.behaviour("IMQ-113")
@pytest.mark.parametrize("kind", ACTS)
def test_each_act_of_an_administrator_is_one_record_with_who_and_when_before_and_after(
    db: Db, connect: Connect, clock: Clock, kind: str
) -> None:
    for needed in {"queue", "topic", "subscription"} - {kind}:
        if needed != "subscription" and not (kind == "topic" and needed == "subscription"):
            one(db, f"select howdah.{ACTS[needed][0]}")
    admin = connect("howdah_admin")
    for act in ACTS[kind]:
        before = column(db, "select change_id from howdah.config_changes()")
        one(admin, f"select howdah.{act}")
        rows = db.execute(
            "select at = howdah.now(), actor, kind, act, before, after from howdah.config_changes()"
            " where not change_id = any (%s)",
            (before,),
        ).fetchall()
        assert [row[:3] for row in rows] == [(True, "howdah_admin", kind)], act
        ((*_, made, was, is_),) = rows
        assert made == ("created" if was is None else "dropped" if is_ is None else "altered"), act
        clock.advance(1)


def test_what_is_done_to_locks_instances_and_the_cluster_is_on_record(db: Db) -> None:
    one(db, "select howdah.acquire_lock('job', 'me')")
    one(db, "select howdah.break_lock('job')")
    one(db, "select howdah.register_instance('first', 'host', 1, '0.1', '{}')")
    one(db, "select howdah.end_instance('first')")
    one(db, "select howdah.end_instance('first')")
    one(db, "select howdah.new_engine_id()")
    rows = db.execute("select kind, name, act, before is null, after is null from howdah.config_changes()").fetchall()
    assert rows == [
        ("lock", "job", "dropped", False, True),
        ("instance", "first", "altered", False, False),
        ("cluster", "identity", "altered", False, False),
    ]
    refused(db, "HD045", "select howdah.undo_change(%s)", (last(db),))


NO_CONFIGURATION = {
    *("begin_archive", "check_archive_run", "finish_archive_run"),
    *("begin_import", "forget_import", "list_imported", "read_imported"),
}
"""Steps of an archive's run and of an import, which have records of their own."""


def test_each_verb_that_administrators_alone_may_call_records_what_it_writes() -> None:
    """By the calls and statements in its text, and in those of the functions that it calls."""
    texts = {name.rpartition("/")[2]: re.sub(r"--[^\n]*", "", sql.source(name)) for name in sql.FILES}

    def whole(name: str, seen: set[str]) -> str:
        seen.add(name)
        spoken = re.sub(r"'(?:[^']|'')*'", "", texts[name])  # hints name functions, too
        called = set(re.findall(r"howdah\.(_?\w+)\(", spoken)) & texts.keys()
        return texts[name] + "".join(whole(other, seen) for other in sorted(called) if other not in seen)

    writing = {}
    for name in sql.FILES:
        for header in (header for header in headers(sql.source(name)) if header.roles == ("howdah_admin",)):
            text = whole(name.rpartition("/")[2], set())
            if " volatile" in texts[name.rpartition("/")[2]] and re.search(
                r"\b(insert into|update howdah|delete from|alter table|setval)\b", text
            ):
                writing[header.name] = text
    recorded = {name for name, text in writing.items() if re.search("into howdah.(config_changes|operator_acts)", text)}
    assert len(recorded) > 50
    assert writing.keys() - recorded == NO_CONFIGURATION


def test_what_changes_nothing_and_what_is_rolled_back_is_not_recorded(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    before = last(db)
    one(db, "select howdah.alter_queue('q', '{\"default_priority\": 4}')")
    one(db, "select howdah.resume('q')")
    one(db, "select howdah.drop_policy('none.>')")
    with db.transaction(force_rollback=True):
        one(db, "select howdah.drop_queue('q')")
    assert last(db) == before


def test_temporary_queues_fleeting_subscriptions_and_schedules_of_applications_are_no_configuration(
    db: Db, connect: Connect
) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.create_queue('q')")
    before = last(db)
    one(db, "select howdah.set_connection('0123456789abcdef')")
    one(db, "select howdah.create_temporary_queue()")
    one(db, "select howdah.subscribe('t', durable => false)")
    one(connect("howdah_producer"), "select howdah.schedule('q', 'x'::text, cron => '0 4 * * *', name => 'mine')")
    assert last(db) == before


def test_a_record_says_why_in_the_words_of_the_setting(db: Db) -> None:
    with db.transaction():
        db.execute("set local howdah.reason = 'ticket 7'")
        one(db, "select howdah.create_queue('q')")
    assert column(db, "select reason from howdah.list_changes('queue', 'q')") == ["ticket 7"]


def test_no_secret_and_no_body_is_on_record(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'the body'::text, cron => '0 4 * * *', name => 'nightly')")
    rows = db.execute("select row_to_json(c) from howdah.config_changes() c").fetchall()
    assert "the body" not in json.dumps(rows)
    assert "746865" not in json.dumps(rows)
