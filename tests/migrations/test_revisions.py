"""The baseline and the revisions that will follow it: the example of CONTRIBUTING.md is the next one here."""

import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import baseline
import psycopg
import pytest
from alembic.config import Config
from support import Db, column, fail, one, receive

from howdah import migrations
from howdah.migrations import MigrationError, downgrade, migrate, state
from howdah.migrations.versions import r1001_baseline
from howdah.schema.ddl import ddl

ROOT = Path(__file__).parents[2]
PLACES = "select place from howdah.poison_details order by incident_id"
Add = Callable[[str, str], None]


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Add:
    """Adds a revision to those of this version: its number and its text."""
    ours = migrations.config

    def config() -> Config:
        settings = ours()
        folders = [str(files("howdah.migrations") / "versions"), str(tmp_path)]
        settings.set_main_option("path_separator", "os")
        settings.set_main_option("version_locations", os.pathsep.join(folders))
        return settings

    def write(number: str, text: str) -> None:
        (tmp_path / f"r{number}_test.py").write_text(text)

    monkeypatch.setattr(migrations, "config", config)
    return write


@pytest.fixture
def example() -> str:
    """The revision that CONTRIBUTING.md shows."""
    (shown,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)
    return str(shown)


@pytest.fixture
def filled(db: Db) -> list[int]:
    """Two messages and an incident for each, one with a traceback."""
    one(db, "select howdah.create_queue('q')")
    sent = [one(db, "select howdah.send('q', %s)", (body,)) for body in ("a", "b")]
    fail(db, sent[0], error_class="E", error_text="no", traceback="line 1")
    fail(db, sent[1], error_class="E", error_text="no")
    return sent


def later(text: str) -> str:
    """Another revision after the example, which does nothing."""
    body, _ = text.replace("1002", "1003").replace("1001", "1002").split("def upgrade")
    return body + "def upgrade() -> None: ...\n\n\ndef downgrade() -> None: ...\n"


@pytest.mark.skipif(baseline.is_frozen(), reason="the baseline was released; tables change by revisions")
def test_the_baseline_is_rendered_from_the_metadata() -> None:
    assert r1001_baseline.SQL.read_text(encoding="utf-8") == ddl(), "schema/ says something else: make baseline"


def test_a_released_baseline_stays_as_it_is() -> None:
    assert r1001_baseline.RELEASED in (None, baseline.checksum()), (
        "the baseline was released: put the file back, and write a revision as CONTRIBUTING.md says"
    )


@pytest.mark.slow
def test_the_next_revision_changes_tables_before_the_procedures_and_uses_them_afterwards(
    db: Db, dsn: str, filled: list[int], add: Add, example: str
) -> None:
    add("1002", example)
    assert not state(dsn).current
    reached = migrate(dsn)
    assert (reached.revision, reached.current) == ("1002", True)
    assert column(db, PLACES) == [one(db, "select howdah._fingerprint(null, 'line 1', null)"), None]
    assert column(db, "select error_text from howdah.incidents('q')") == ["no", "no"], "the dropped function is back"
    assert [message.message_id for message in receive(db, n=5)] == filled


@pytest.mark.slow
def test_its_last_step_is_taken_once(db: Db, dsn: str, filled: list[int], add: Add, example: str) -> None:
    add("1002", example)
    migrate(dsn)
    db.execute("update howdah.poison_details set place = 'kept'")
    assert migrate(dsn).current
    db.execute("update howdah.engine set procedures_checksum = ''")
    assert migrate(dsn).current
    assert column(db, PLACES) == ["kept", "kept"]


@pytest.mark.slow
def test_what_fails_in_its_last_step_leaves_the_database_as_it_was(
    db: Db, dsn: str, filled: list[int], add: Add, example: str
) -> None:
    before = state(dsn)
    add("1002", example.replace("howdah._fingerprint", "howdah._absent"))
    with pytest.raises(Exception, match="_absent"):
        migrate(dsn)
    assert state(dsn).revision == before.revision
    with pytest.raises(psycopg.errors.UndefinedColumn):
        db.execute(PLACES.encode())
    assert column(db, "select error_text from howdah.incidents('q')") == ["no", "no"]


@pytest.mark.slow
def test_a_last_step_needs_the_procedures_of_the_newest_revision(
    db: Db, dsn: str, filled: list[int], add: Add, example: str
) -> None:
    add("1002", example)
    add("1003", later(example))
    with pytest.raises(MigrationError, match="1002 needs the procedures"):
        migrate(dsn, revision="1002")
    assert state(dsn).revision == "1001"
    assert migrate(dsn).revision == "1003"
    assert column(db, PLACES)[1] is None


@pytest.mark.slow
def test_back_and_forth_keeps_the_data_and_brings_the_procedures_of_each_version(
    db: Db, dsn: str, filled: list[int], add: Add, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("1002", example)
    migrate(dsn)
    db.execute("drop function howdah.browse(text, integer, integer, bigint, bigint, text, text)")
    assert downgrade(dsn, "1001").revision == "1001"
    monkeypatch.undo()  # the older version
    assert not state(dsn).current
    assert migrate(dsn).current
    assert column(db, "select message_id from howdah.browse('q')") == filled
    assert one(db, "select count(*) from howdah.poison_details") == 2


@pytest.mark.slow
@pytest.mark.parametrize("revision", ["0001", "0042"])
def test_a_database_of_before_the_baseline_is_refused_with_what_to_do(
    db: Db, dsn: str, filled: list[int], revision: str
) -> None:
    db.execute("update howdah.alembic_version set version_num = %s", (revision,))
    with pytest.raises(MigrationError, match=rf"{revision}, which was never released.*pg_dump") as refused:
        migrate(dsn)
    assert not state(dsn).current
    assert one(db, "select count(*) from howdah.msgs") == 2, "it is left alone"
    db.execute(str(refused.value).split("\n\n")[1].encode())
    assert migrate(dsn).current
