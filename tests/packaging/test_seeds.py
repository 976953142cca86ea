"""Random tests: the same seeds in each run, new ones on demand, and a failure that says how it is repeated."""

import os
import subprocess
import sys
from pathlib import Path

import chance
import pytest

PROGRAM = """
import chance

def test_thrown() -> None:
    for seed in chance.seeds(3):
        chance.use(seed)
    assert False, f"thrown {chance.dice().random()}"
"""


def run(folder: Path, seed: str, **settings: str) -> str:
    """The output of a failing random test."""
    (folder / "test_dice.py").write_text(PROGRAM)
    (folder / "pytest.ini").write_text("[pytest]\n")
    tests = Path(__file__).parents[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HOWDAH_TEST_")}
    environment |= {"HOWDAH_TEST_SEED": seed, "PYTHONPATH": f"{tests / 'helpers'}{os.pathsep}{tests}", **settings}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "test_dice.py"]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout


def thrown(output: str) -> str:
    """The number that the test threw."""
    (line,) = [line for line in output.splitlines() if line.startswith("E ") and "AssertionError: thrown" in line]
    return line.rsplit(" ", 1)[1]


@pytest.mark.slow
def test_a_random_test_that_fails_prints_the_command_that_repeats_it(tmp_path: Path) -> None:
    first = run(tmp_path, "")
    assert f"HOWDAH_TEST_SEED={chance.FIRST} .venv/bin/pytest test_dice.py::test_thrown" in first
    assert thrown(run(tmp_path, str(chance.FIRST))) == thrown(first)
    assert thrown(run(tmp_path, "new")) != thrown(first)


@pytest.mark.slow
def test_the_command_that_repeats_a_failure_has_the_run_s_other_settings(tmp_path: Path) -> None:
    output = run(tmp_path, "7", HOWDAH_TEST_CRASHES="100", HOWDAH_TEST_PG="16")
    settings = "HOWDAH_TEST_CRASHES=100 HOWDAH_TEST_PG=16 HOWDAH_TEST_SEED=7"
    assert f"{settings} .venv/bin/pytest test_dice.py::test_thrown" in output
