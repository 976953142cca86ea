"""The site is built from all pages, strictly, and its rendered pages say what the code says."""

from __future__ import annotations

import json
import re
import shutil
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path

import cli_pages
import docsite
import option_pages
import psycopg
import pytest
import python_pages
import typer
from markdown_it import MarkdownIt
from pages import ROOT
from support import one

from howdah import engine, procedures, testing, workers
from howdah.cli.main import app
from howdah.procedures import reference

WRITTEN = docsite.written(ROOT)
RENDERED = docsite.sources()
#: Of each kind of rendered page, the page that people wrote and that leads to them.
BEFORE = {"sql": "sql-api.md", "python": "python-api.md", "cli": "cli.md", "options": "options.md"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the site is built from, to break things in. The rest of the repository is linked."""
    root = tmp_path_factory.mktemp("site")
    for entry in ROOT.iterdir():
        if entry.name == "docs":
            shutil.copytree(entry, root / "docs")
        elif entry.name in ("zensical.toml", "README.md"):
            shutil.copyfile(entry, root / entry.name)
        elif entry.name not in ("build", ".cache"):
            (root / entry.name).symlink_to(entry)
    return root


@pytest.mark.slow
def test_the_site_is_built_without_anything_wrong_and_what_is_wrong_fails_it(copy: Path) -> None:
    assert docsite.build(copy) == []
    built = {page.relative_to(copy / docsite.SITE).with_suffix(".md").as_posix() for page in pages(copy)}
    assert built == {*WRITTEN.values(), *RENDERED, "decisions/index.md"}
    assert "only-dark" in (copy / docsite.SITE / "states.html").read_text()

    assert [page for page in WRITTEN if shape(copy, page) != shape(ROOT, page)] == []

    page = copy / "docs" / "waiting.md"
    text = page.read_text()
    page.write_text(f"{text}\n[a page](nowhere.md) and [a place](limits.md#nowhere)\n")
    (problem,) = docsite.build(copy)
    assert "page does not exist" in problem
    assert "anchor does not exist" in problem

    page.write_text(f'{text}\n<script src="https://example.org/x.js"></script> ![picture](nowhere.png)\n')
    (copy / "docs" / "orphan.md").write_text("# Orphan\n")
    problems = "\n".join(docsite.build(copy))
    assert "waiting.html fetches https://example.org/x.js" in problems
    assert "nowhere.png" in problems
    assert "orphan.html is in no navigation" in problems


class Shape(HTMLParser):
    """The lists, headings, tables and blocks of code of a page, without what a table holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.table = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self.table and tag in ("ul", "ol", "li", "pre", "table", "h1", "h2", "h3", "h4"):
            self.tags.append(tag)
        self.table |= tag == "table"

    def handle_endtag(self, tag: str) -> None:
        self.table &= tag != "table"
        if not self.table and tag in ("ul", "ol"):
            self.tags.append(f"/{tag}")


def shape(root: Path, page: str) -> list[str]:
    """What a page is made of: on the site that was built there or, of the repository's, as CommonMark reads it."""
    if root == ROOT:
        # The site has diagrams as pictures.
        text = re.sub(r"^```mermaid\n.*?^```$", "", (root / page).read_text(), flags=re.MULTILINE | re.DOTALL)
        return Shape(MarkdownIt("commonmark").enable("table").render(text)).tags
    built = (root / docsite.SITE / WRITTEN[page]).with_suffix(".html").read_text()
    return Shape(built.partition("<article")[2].partition("</article>")[0]).tags


def pages(root: Path) -> list[Path]:
    """The pages of a site that was built."""
    return [page for page in (root / docsite.SITE).rglob("*.html") if page.name != "404.html"]


def test_every_page_is_in_the_navigation_once_or_taken_in_by_a_pattern() -> None:
    navigation = (ROOT / "docs/.nav.yml").read_text()
    patterns = re.findall(r'glob: "(.+)"', navigation)
    named = re.findall(r"^ *- (?:\w+: )?([\w/-]+\.md)$", navigation, re.MULTILINE)
    assert sorted(set(named)) == sorted(named)
    built = {*WRITTEN.values(), *RENDERED, "decisions/index.md"}
    assert set(named) <= built
    assert [page for page in sorted(built - set(named)) if not any(fnmatch(page, one) for one in patterns)] == []


def test_each_rendered_page_is_linked_by_the_page_before_it_through_its_source() -> None:
    for here, source in RENDERED.items():
        before = BEFORE[here.partition("/")[0]]
        assert f"](../{source.rstrip('/')}" in (ROOT / "docs" / before).read_text(), here
        assert (ROOT / source).exists(), source


def test_links_lead_to_the_rendered_pages_and_what_the_site_lacks_is_no_link() -> None:
    places = {"docs/limits.md": "limits.md", "procedures/send": "sql/send.md"}
    text = "[a](../procedures/send/) [b](limits.md#x) [c](../Makefile) [d](gone.md) [e](https://example.org)\n"
    assert docsite.linked(text, "docs/topics.md", "topics.md", places, ROOT) == (
        "[a](sql/send.md) [b](limits.md#x) c [d](gone.md) [e](https://example.org)\n"
    )
    assert docsite.linked(f"```\n{text}```\n", "docs/topics.md", "topics.md", places, ROOT) == f"```\n{text}```\n"


def test_lists_are_indented_by_fours_and_code_is_left_alone() -> None:
    text = (
        "1. a\n   b\n\n   ```yaml\n   - x\n     y\n   ```\n2."
        " c\n   - d\n     e\n- f\n\ng\n\n```yaml\n- h\n  i\n```\n\n    code\n"
    )
    assert docsite.indented(text) == (
        "1. a\n    b\n\n    ```yaml\n    - x\n      y\n    ```\n2. c\n    - d\n        e\n- f\n\ng\n\n"
        "```yaml\n- h\n  i\n```\n\n    code\n"
    )


@pytest.mark.slow
def test_every_public_function_has_a_section_with_its_declaration() -> None:
    """All but the clock, which docs/sql-api.md describes."""
    for name in procedures.FILES:
        if name == "base/now":
            continue
        for function in re.findall(r"create or replace function howdah\.([a-z]\w*)", procedures.source(name)):
            group = name.split("/")[0]
            section = docsite.rendered()[f"sql/{group}.md"][1].split(f"\n## {function}\n")[1]
            assert section.startswith(f"\n```sql\nhowdah.{function}("), function


def test_the_page_before_the_functions_names_each_group_and_where_it_is_explained() -> None:
    page = (ROOT / "docs/sql-api.md").read_text()
    for group, title in reference.TITLES.items():
        (row,) = re.findall(rf"^\| \[{title}\]\(\.\./procedures/{group}/\) \|.*$", page, re.MULTILINE)
        assert re.findall(r"\]\(([\w-]+)\.md\)", row) == list(reference.PAGES.get(group, ()))


def test_errors_are_a_table_and_names_are_code() -> None:
    page = docsite.rendered()["sql/send.md"][1]
    assert "| `HD001` | no such queue |" in page
    assert "`howdah.send_batch`" in page
    text = 'queue: as howdah.send(a, b => 1), JOBS.* or {"x": 1}; see docs/limits.md and engine.max_count.'
    assert reference.marked(text) == (
        '`queue`: as `howdah.send(a, b => 1)`, `JOBS.*` or `{"x": 1}`;'
        " see [limits](../limits.md) and `engine.max_count`."
    )


def test_every_command_is_on_one_page() -> None:
    commands = vars(typer.main.get_command(app))["commands"]
    assert sorted(name for page in cli_pages.PAGES for name in page.commands) == sorted(commands)
    before = (ROOT / "docs/cli.md").read_text()
    for page in cli_pages.PAGES:
        text = docsite.rendered()[f"cli/{page.name}.md"][1]
        row = f"| [{page.title}](../{page.source}) | {', '.join(f'`{name}`' for name in page.commands)} |"
        assert row in before
        for name in page.commands:
            assert f"## `howdah {name}`" in text
            for below in getattr(commands[name], "commands", {}):
                assert f"### `howdah {name} {below}`" in text
        assert "..." not in re.sub(r"\[ARGS\]\.\.\.|\]\.\.\.|\}\.\.\.", "", text), page.name


def test_each_name_that_a_package_exports_is_on_one_page() -> None:
    listed = [name for page in python_pages.PAGES for name in page.names]
    assert len(listed) == len(set(listed))
    exported = {f"{package.__name__}.{name}" for package in (engine, workers, testing) for name in package.__all__}
    # What is missing is described elsewhere: errors in their table, what a package passes on where it is made.
    assert exported - set(listed) == {
        "howdah.engine.Body", "howdah.engine.HowdahError", "howdah.testing.DrainError", "howdah.workers.AppError",
        "howdah.workers.Message", "howdah.workers.Reject", "howdah.workers.Retry", "howdah.workers.Rule",
    }  # fmt: skip
    for page in python_pages.PAGES:
        text = docsite.rendered()[f"python/{page.name}.md"][1]
        assert [name for name in page.names if f"\n## {name.rpartition('.')[2]}\n" not in text] == []


def test_the_options_are_those_of_the_database_with_its_defaults(db: psycopg.Connection) -> None:
    kinds = db.execute("select owner, key, kind, lowest, highest, choices, nullable from howdah._option_kinds()")
    options = option_pages.options()
    assert [(o.owner.name, o.key, o.kind, o.lowest, o.highest, o.choices, o.nullable) for o in options] == [
        (*row[:5], tuple(row[5] or ()), row[6]) for row in kinds
    ]
    one(db, "select howdah.create_queue('plain')")
    one(db, "select howdah.create_topic('prices')")
    one(db, "select howdah.create_listener('plain.listener', 'plain')")
    one(db, "select howdah.create_alias('other', 'plain')")
    one(db, """select howdah.alter_service('jms', '{"active": false}')""")
    holds = {
        "queue": one(db, "select howdah.queue_options('plain')"),
        "topic": one(db, "select howdah.topic_options('prices')"),
        "alias": one(db, "select to_jsonb(a) from howdah.list_aliases() a"),
        "engine": one(db, "select howdah.engine_options()"),
        "listener": one(db, "select to_jsonb(l) from howdah.list_listeners() l"),
        "service": one(db, "select to_jsonb(s) from howdah.list_services() s where s.service = 'jms'"),
    }
    for option in options:
        value = holds[option.owner.name][option.key]
        shown = None if value is None else value if isinstance(value, str) else json.dumps(value)
        default = option.default and option.default.strip("'")
        assert default == shown, option.key
