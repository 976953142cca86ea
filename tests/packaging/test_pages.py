"""Each command and each code block of a page does what the page shows."""

import re
from pathlib import Path

import page_runner
import pages
import pytest
from pages import ROOT

WRITTEN = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What stands on the page of the SQL API are signatures.
PAGES = [str(page.relative_to(ROOT)) for page in WRITTEN if page.name != "sql-api.md" and "\n```" in page.read_text()]

NOT_RUN = {
    "docs/archive.md",
    "docs/audit.md",
    "docs/audit-rules.md",
    "docs/audit-schedule.md",
    "docs/python-api.md",
    "docs/sessions.md",
}
"""Pages that cannot be run as they stand yet. The list only shrinks."""


def slow(page: str) -> bool:
    """Whether it starts Spark."""
    if "import spark_session" in "".join(pages.blocks(page, "python")):
        return True
    return any(page_runner.says(page, f"howdah {command}") for command in ("audit", "archive run"))


@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.slow) if slow(page) else page for page in PAGES])
def test_a_page_does_what_it_shows(
    page: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page not in NOT_RUN:
        page_runner.read(page, request, tmp_path)
        return
    monkeypatch.setattr(page_runner, "TIMEOUT", 20)
    with pytest.raises(AssertionError, match=re.escape(page)):
        page_runner.read(page, request, tmp_path)


def test_the_pages_that_are_not_run_exist() -> None:
    assert set(PAGES) >= NOT_RUN


def test_what_the_runner_understands(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    page_runner.read("tests/packaging/pages.md", request, tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a", "b"),
        ("a", "a\nb"),
        ("a\n…\nc", "a\nb"),
        ("a … c", "a b"),
        ("", "a"),
    ],
)
def test_the_runner_tells_what_differs(shown: str, printed: str) -> None:
    with pytest.raises(AssertionError, match="It prints"):
        page_runner.check(shown, printed)
    page_runner.check(printed, printed)


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ("```sql\nselect 1 / 0;\n```\n", "division by zero"),
        ("```sql\nselect 2;  -- → 3\n```\n", "It prints:\n2"),
        ("```sql\nselect 2;\n```\n\n```text\n 3\n```\n", "1 row"),
        ("```console\n$ false\n```\n", "exits 1"),
        ("```console\n$ true  # exits 1\n```\n", "exits 0"),
        ("```console\n$ echo a\nb\n```\n", "It prints:\na"),
        ("```python\nraise SystemExit('over')\n```\n", "over"),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "It prints:\n1"),
    ],
)
def test_a_page_that_shows_something_else_fails_and_names_the_block(
    block: str, says: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    page = tmp_path / "wrong.md"
    page.write_text(f"# Wrong\n\n{block}")
    with pytest.raises(AssertionError, match=rf"wrong\.md:3: (?s:.*){says}"):
        page_runner.read(str(page), request, tmp_path)
