"""What the facades' SQL must be like: as the rest of the SQL API."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import Db

from howdah.migrations import add_facade
from howdah.procedures import FACADES, checked_name, facade_files, headers

ROOT = Path(__file__).parents[2] / "procedures" / "facades"


@pytest.mark.parametrize("facade", FACADES)
def test_every_file_is_listed_once_and_bears_the_name_of_its_function(facade: str) -> None:
    names = [line for line in (ROOT / facade / "CONTENTS").read_text().splitlines() if line and line[0] != "#"]
    assert sorted(names) == sorted(path.stem for path in (ROOT / facade).glob("*.sql"))
    for name in set(names) - {"_tables"}:
        text = (ROOT / facade / f"{name}.sql").read_text()
        assert set(re.findall(r"^create or replace function (\w+)\.(\w+)", text, re.MULTILINE)) == {(facade, name)}


@pytest.mark.parametrize("facade", FACADES)
def test_every_function_has_a_header_with_its_arguments_and_a_role(facade: str) -> None:
    for text in facade_files(facade):
        for name, arguments in re.findall(r"^create or replace function \w+\.(\w+)\(\s*([^)]*)\)", text, re.MULTILINE):
            (header, *_) = (one for one in headers(text) if one.name == name)
            assert header.summary, name
            assert header.roles, name
            assert header.title.startswith(f"{facade}.{name}("), name
            if name.startswith("_"):
                assert set(header.roles) <= {"internal", "everybody"}, name
                assert all(
                    word.strip().startswith(("p_", "out ", "msgs", "headers"))
                    for word in arguments.split(",")
                    if word.strip()
                ), name


@pytest.mark.own_database
def test_what_runs_with_the_owners_rights_has_its_search_path_pinned_and_public_has_nothing(db: Db, dsn: str) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks')")
    loose = db.execute(
        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'pgmq'::regnamespace and (p.prosecdef"
        " and not coalesce(p.proconfig, '{}') @> array['search_path=pg_catalog, howdah, pg_temp']"
        " or has_function_privilege('public', p.oid, 'execute'))"
    )
    assert loose.fetchall() == []
    open_tables = db.execute(
        "select c.relname from pg_class c where c.relnamespace = 'pgmq'::regnamespace and c.relkind in ('r', 'v', 'S')"
        " and has_table_privilege('public', c.oid, 'select, insert, update, delete')"
    )
    assert open_tables.fetchall() == []


def test_dynamic_sql_makes_and_drops_views_alone() -> None:
    found = {
        path.stem
        for path in ROOT.rglob("*.sql")
        if re.search(r"^\s+(return query )?execute\b", path.read_text(), re.MULTILINE)
    }
    assert found == {"_create", "drop_queue"}


def test_a_facade_that_there_is_not_has_no_name() -> None:
    with pytest.raises(ValueError, match="only pgmq"):
        checked_name("sqs")
