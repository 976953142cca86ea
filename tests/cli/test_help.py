"""Help names every default in words, breaks its lines well, and needs neither driver nor Spark."""

import subprocess
import sys
from importlib.metadata import version

import pytest
from command import howdah


@pytest.mark.parametrize("words", [(), ("queue",)])
def test_no_words_show_the_help(dsn: str, words: tuple[str, ...]) -> None:
    shown = howdah(dsn, *words)
    assert (shown.code, shown.err) == (2, "")
    assert "Usage: howdah" in shown.out


def test_version_is_said_and_dash_h_shows_the_help_of_every_command(dsn: str) -> None:
    assert howdah(dsn, "--version").out == f"howdah {version('howdah')}\n"
    for words in ((), ("queue",), ("queue", "list"), ("send",)):
        shown = howdah(dsn, *words, "-h")
        assert (shown.code, shown.err) == (0, "")
        assert f"Usage: howdah {' '.join(words)}".strip() in shown.out


def test_help_shows_defaults_that_are_described_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for words, default in (
        (("server", "start"), "[default: the user's data folder]"),
        (("queue", "list"), "[default: the embedded server, if it runs]"),
        (("poison", "list"), "[default: "),
    ):
        assert default in howdah("", *words, "--help").out


def test_help_shows_no_value_where_a_flag_takes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for words in ((), ("send",), ("worker",)):
        assert "<bool>" not in howdah("", *words, "--help").out


def test_help_of_alter_shows_no_default_of_what_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = howdah("", "link", "alter", "--help").out
    assert shown.count("[default: ") == shown.count("[default: the embedded server") == 1


def test_help_breaks_a_paragraph_where_the_terminal_ends_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = howdah("", "import", "activemq", "--help").out
    assert "takes back what was consumed in ActiveMQ. Stop the broker" in shown
    assert "lists" not in shown.split("The broker may run.")[0], "paragraphs stay apart"


def test_help_needs_neither_the_driver_nor_spark() -> None:
    program = (
        "import sys\n"
        "from howdah.cli.main import main\n"
        "sys.argv = ['howdah', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({'psycopg', 'sqlalchemy', 'alembic', 'pyspark', 'apscheduler'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert shown.stdout.splitlines()[-1] == "[]"
    assert "Exit codes: 0 done" in shown.stdout
