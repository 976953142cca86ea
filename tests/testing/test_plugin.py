"""The fixtures that an application's tests turn on, in a run of pytest of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from pages import parts
from support import Server, column, one

from howdah import testing

OURS = "select datname from pg_database where datname like 'howdah\\_testing\\_%%'"


@pytest.mark.slow
def test_the_tests_on_the_page_leave_no_database(server: Server, tmp_path: Path) -> None:
    files = {part.title: part.text for part in parts("docs/testing.md") if part.title}
    assert list(files) == ["shop.py", "conftest.py", "test_shop.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        before = column(admin, OURS)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
            cwd=tmp_path,
            env=os.environ | {"HOWDAH_TEST_DSN": server.dsn},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        assert "3 passed" in done.stdout, done.stdout
        assert column(admin, OURS) == before


@pytest.mark.slow
def test_an_embedded_server_where_none_is_named_which_ends_with_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOWDAH_TEST_DSN", raising=False)
    with testing.server() as dsn, psycopg.connect(dsn) as connection:
        data = Path(one(connection, "show data_directory"))
        assert data.exists()
    assert not data.exists()
    assert not data.parent.parent.exists()


@pytest.mark.slow
def test_pytest_is_needed_by_the_plugin_alone() -> None:
    program = "import sys; sys.modules['pytest'] = None; import howdah.testing; howdah.testing.make_message({'id': 1})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_template_that_cannot_be_made_leaves_no_database(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(dsn: str) -> None:
        raise ValueError("no tables")

    monkeypatch.setattr("howdah.testing.databases.migrate", lambda dsn: None)  # two seconds that are not the point
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        before = column(admin, OURS)
        databases = testing.Databases(server.dsn, refuse)
        with pytest.raises(ValueError, match="no tables"), databases.new():
            pass
        databases.close()
        assert column(admin, OURS) == before
