"""The pages that can be checked against the code are."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import FOLDERS

from howdah import procedures
from howdah.audit.checks import RULES
from howdah.audit.unseen import UNSEEN
from howdah.engine.errors import BY_SQLSTATE
from howdah.procedures import reference
from howdah.schema import metadata

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


CALLED_BY_PROGRAMS = {"due_schedules", "wake_due", "report_slow_consumer", "wait_many"}
"""A scheduler's and a session's own calls."""


def public(group: str = "") -> set[str]:
    """The names of the functions that anybody calls, of one folder or of all."""
    texts = "".join(procedures.source(name) for name in procedures.FILES if name.startswith(group))
    return set(re.findall(r"create or replace function howdah\.([a-z]\w*)", texts))


@pytest.mark.parametrize("group", ["temporary", "selectors", "send", "receive", "consumers", "leases", "schedules"])
def test_each_function_of_consumption_has_an_example_on_a_page_that_its_section_names(group: str) -> None:
    text = "".join(page(f"{name}.md") for name in reference.PAGES[group])
    shown = "".join(re.findall(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert public(f"{group}/") - CALLED_BY_PROGRAMS <= set(re.findall(r"howdah\.(\w+)\(", shown))


def test_the_functions_that_pages_name_exist() -> None:
    there = public()
    for written in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        named = set(re.findall(r"(?:`|select |from |perform |, )howdah\.([a-z]\w*)\(", written.read_text()))
        assert named <= there, written.name


def test_every_error_stands_on_the_errors_page_with_its_python_class() -> None:
    listed = dict(re.findall(r"^\| `(HD\d{3})` \| `(\w+)` \|", page("errors.md"), re.MULTILINE))
    assert listed == {code: cls.__name__ for code, cls in BY_SQLSTATE.items()}


def test_every_rule_of_an_audit_stands_on_its_page_with_its_severity_and_the_warnings_are_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \| (error|warning|notice) \|", page("audit-rules.md"), re.MULTILINE)
    assert sorted(listed) == sorted((rule.name, rule.severity) for rule in RULES)
    (warnings,) = re.findall(r"^Warnings are ([^.]*)\.", page("audit.md"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", warnings)) == {rule.name for rule in RULES if rule.severity == "warning"}


def test_pages_say_how_many_rules_an_audit_has() -> None:
    text = (ROOT / "README.md").read_text() + page("start/audit.md")
    said = re.findall(r"(\d+) rules(?:\]\(docs/audit-rules| over| proves)", text)
    assert said == [str(len(RULES))] * 3


def test_the_page_and_the_manual_name_as_many_things_that_no_audit_can_see() -> None:
    _, section = page("audit-rules.md").split("## What no audit can see\n")
    section, *_ = section.split("\nWhat helps:")
    assert len(re.findall(r"^- ", section, re.MULTILINE)) == len(UNSEEN)


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the tables under a heading of the second level."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.split("\n") if line[:1] == "|"]


def test_the_page_of_locks_lists_those_that_functions_take() -> None:
    facades = (text for facade in procedures.FACADES for text in procedures.facade_files(facade))
    texts = "".join([*map(procedures.source, procedures.FILES), *facades])
    taken = set(re.findall(r"(?:_lock_key|_latch)\('([a-z ]+)'", texts))
    listed = {row[0].strip("`") for row in rows(page("locks-and-numbers.md"), "Locks") if row[0][0] == "`"}
    assert listed == taken | {"connection"}


SEARCHING = {"claim", "groups", "hints", "receive", "walks"}
"""Rooms whose files are all named beside the numbers that they have."""
LIMITS = {"10000", "32", "1000000"}
"""Most messages of a call, half of 64 bits, and microseconds."""


def statements(name: str) -> str:
    """A procedure's text without its comments."""
    return re.sub("--.*", "", procedures.source(name))


def has(number: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(number)}(?![\w.])", text) is not None


def test_the_numbers_on_the_page_stand_in_the_files_that_it_names_and_in_no_other_of_their_rooms() -> None:
    listed: dict[str, set[str]] = {}
    for number, _, names in rows(page("locks-and-numbers.md"), "Numbers"):
        listed.setdefault(number, set()).update(re.findall(r"`([\w/]+)`", names))
    assert len(listed) > 20
    for number, named in listed.items():
        for name in named:
            assert has(number, statements(name)), (number, name)
        if number[0].isdigit() and number not in LIMITS:
            searching = {name for name in procedures.FILES if name.partition("/")[0] in SEARCHING}
            assert {name for name in searching if has(number, statements(name))} <= named, number


def links() -> Iterator[tuple[Path, Path]]:
    """Each link from a page to a file or folder of this repository."""
    for source in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", source.read_text()):
            yield source, (source.parent / target).resolve()


def test_links_between_pages_lead_somewhere() -> None:
    for source, target in links():
        assert target.exists(), f"{source.name} links to {target.relative_to(ROOT)}"


def test_every_page_is_linked_from_another_or_through_its_folder() -> None:
    linked = {target for source, target in links() if source != target}
    for written in (ROOT / "docs").rglob("*.md"):
        assert written in linked or (written.parent in linked and written.parent != ROOT / "docs"), written.name


def test_no_example_keeps_its_files_in_the_embedded_servers_folder() -> None:
    for written in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        assert not re.findall(r"^\$ howdah .*/var/lib/howdah/", written.read_text(), re.MULTILINE), written.name


def test_the_readme_names_the_extras_and_targets_that_exist() -> None:
    readme = (ROOT / "README.md").read_text()
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z-]+)", readme, re.MULTILINE)) <= targets
    table = readme.partition("| extra | what it adds |")[2].partition("\n\n")[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE)) == set(project["optional-dependencies"])


def layers(named: str) -> list[set[str]]:
    """The folders of each line of a contract of import-linter, from top to bottom."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    lines = next(contract["layers"] for contract in contracts if contract["name"].startswith(named))
    return [{name.removeprefix("howdah.") for name in re.findall(r"[\w.]+", line)} for line in lines]


def in_order(text: str, layers: list[set[str]]) -> list[set[str]]:
    """The words of a list of names, put together as the layers are."""
    names = iter(re.findall(r"\w+", text.replace(" and ", ", ")))
    return [{next(names) for _ in layer} for layer in layers]


def test_the_lists_of_layers_are_those_that_imports_are_held_to() -> None:
    folders, engine = layers("each folder"), layers("each wing")
    rows = (ROOT / "docs/architecture.md").read_text().partition("## The layers")[2].partition("##")[0].splitlines()
    assert [set(re.findall(r"`(\w+)/`", row.split("|")[1])) for row in rows if row.startswith("| `")] == folders
    item = " ".join((ROOT / "CONTRIBUTING.md").read_text().partition("**Layers go down only**: ")[2].split())
    outer, _, inner = item.partition(". No package")[0].partition(". Inside the engine: ")
    assert in_order(outer, folders) == folders
    assert in_order(inner, engine) == engine


def test_every_table_and_column_has_a_comment() -> None:
    for table in metadata.tables.values():
        assert table.comment, table.name
        for column in table.columns:
            assert column.comment, f"{table.name}.{column.name}"


def test_nobody_is_told_to_install_what_no_index_has() -> None:
    """Whoever takes the name there is not us: pip installs from a checkout or a wheel."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0"):
        if name.endswith((".py", ".md", ".sql", ".toml")) and "test_" not in name:
            assert not re.search(r"pip install (-U )?[\"']?howdah", (ROOT / name).read_text()), name


def test_the_hint_of_an_extra_names_one_that_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for folder in FOLDERS:
        for source in (ROOT / folder).rglob("*.py"):
            assert set(re.findall(r"how_to_install\([\"'](\w+)", source.read_text())) <= set(extras), source
