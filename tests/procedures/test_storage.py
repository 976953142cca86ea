"""Storage parameters of the tables that messages come and go in."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from support import Connect, Db, all_refused, one


def options(db: Db) -> dict[str, Any]:
    rows = db.execute("select table_name, options from howdah.list_storage()").fetchall()
    return dict(rows)


@pytest.mark.behaviour("IMQ-53")
def test_settings_of_the_hot_tables_are_applied_and_taken_back(db: Db, connect: Connect) -> None:
    admin = connect("howdah_admin")
    in_the_row = {"toast_tuple_target": "8160"}
    hot = {"msgs": {}, "msgs_nonpersistent": {}, "parked": {}, "leased": {}, "bodies": in_the_row}
    assert options(admin) == {**hot, "journal": {}, "kept_messages": {}}
    admin.execute("""select howdah.set_storage('{"fillfactor": 90, "autovacuum_vacuum_scale_factor": 0.05}')""")
    set_so = {"fillfactor": "90", "autovacuum_vacuum_scale_factor": "0.05"}
    assert options(admin) == {
        "msgs": set_so,
        "msgs_nonpersistent": set_so,
        "parked": set_so,
        "leased": set_so,
        "bodies": set_so | in_the_row,
        "journal": {},
        "kept_messages": {},
    }
    assert one(db, "select reloptions from pg_class where oid = 'howdah.msgs'::regclass") == [
        "fillfactor=90", "autovacuum_vacuum_scale_factor=0.05",
    ]  # fmt: skip
    admin.execute("""select howdah.set_storage('{"fillfactor": null}', array['parked'])""")
    assert options(admin)["parked"] == {"autovacuum_vacuum_scale_factor": "0.05"}
    assert options(admin)["msgs"] == set_so


def test_the_journal_is_listed_as_one_table_with_the_size_of_all_its_partitions(db: Db) -> None:
    parts = "select sum(pg_total_relation_size(relid)) from pg_partition_tree('howdah.journal') where isleaf"
    listed = "select bytes from howdah.list_storage() where table_name = 'journal'"
    before = one(db, listed)
    assert before == one(db, parts) > 0
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    db.execute("select count(howdah.send('q', 'x'::text)) from generate_series(1, 500)")
    assert one(db, listed) == one(db, parts) > before
    # Its parameters are not the hot tables'.
    with pytest.raises(psycopg.Error, match="a name that is unknown here"):
        db.execute("select howdah.set_storage('{}', array['journal'])")


@pytest.mark.behaviour("AMQ-58")
def test_queues_lie_in_the_logged_and_the_unlogged_table_as_their_options_say(db: Db) -> None:
    one(db, "select howdah.create_queue('safe')")
    one(db, """select howdah.create_queue('fast', '{"persistent": false}')""")
    sent = {queue: one(db, "select howdah.send(%s, 'x')", (queue,)) for queue in ("safe", "fast")}
    for table, persistence, queue in (("msgs", "p", "safe"), ("msgs_nonpersistent", "u", "fast")):
        assert (
            one(db, "select relpersistence from pg_class where oid = %s::regclass", (f"howdah.{table}",)) == persistence
        )
        assert one(db, f"select message_id from howdah.{table}") == sent[queue]
    for queue, number in sent.items():
        assert one(db, "select message_id from howdah.receive(%s)", (queue,)) == number


def test_wrong_settings_change_nothing(db: Db, connect: Connect) -> None:
    all_refused(
        db,
        [
            ("HD004", """select howdah.set_storage('{"fillfactor": 5}')"""),
            ("HD004", """select howdah.set_storage('{"fillfactor": 90, "none": 1}')"""),
            ("HD004", """select howdah.set_storage('{"fillfactor": "x; drop table howdah.msgs"}')"""),
            ("HD004", """select howdah.set_storage('{"fillfactor": 90}', array['pg_class'])"""),
            ("HD004", "select howdah.set_storage('[]')"),
            ("HD004", "select howdah.set_storage(null)"),
        ],
    )
    assert options(db)["msgs"] == {}
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        one(connect("howdah_consumer"), "select howdah.set_storage('{}')")
