"""Each command and each code block of a page does what the page shows."""

from pathlib import Path

import page_runner
import pytest
from pages import ROOT, WRITTEN, blocks

PAGES = [page for page in WRITTEN if "\n```" in (ROOT / page).read_text()]

FIRST = ("README.md", "docs/start/")
LONG = ("docs/start/operations.md", "docs/start/python.md")  # servers that stop and start, workers

SHOWS = {"docs/producers.md": [pytest.mark.behaviour("AMQ-01"), pytest.mark.behaviour("AMQ-13")]}


def marks(page: str) -> list[pytest.MarkDecorator]:
    """Those of a page's test. `make test` runs what newcomers read first, without Spark and what takes long."""
    spark = "import spark_session" in "".join(blocks(page, "python")) or any(
        page_runner.says(page, f"howdah {command}") for command in ("audit", "archive run")
    )
    return [*SHOWS.get(page, []), *([pytest.mark.slow] if spark or page in LONG or not page.startswith(FIRST) else [])]


@pytest.mark.parametrize("page", [pytest.param(page, marks=marks(page)) for page in PAGES])
def test_a_page_does_what_it_shows(page: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    page_runner.read(page, request, tmp_path)


@pytest.mark.slow
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
