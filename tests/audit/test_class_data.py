"""Java's class data in the cache: written once, read after that, and left out wherever it would not fit."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import wait_until

from howdah.audit.class_data import class_data_options, is_whole
from howdah.audit.driver import find_driver
from howdah.audit.java import Java

AUDIT = """
import sys
from pathlib import Path
from howdah.audit import run_audit, spark_session
with spark_session("local[1]", partitions=1) as spark:
    print(run_audit(sys.argv[1], spark=spark, partitions=1).ok)
    java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    maps = Path(f"/proc/{java}/maps").read_text()
    print("with" if "/howdah/java" in maps else "without")
"""

COMPLETE = b"\xba\xa8\x0b\xf0 and so on"
IN_WRITING = bytes(1000)


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    """A Java with class data of its own, and a wrapper of it in an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "cache" / "howdah" / "java-17-PATH"
    home.mkdir(parents=True)
    own = tmp_path / "jdk" / "lib" / "server" / "classes.jsa"
    own.parent.mkdir(parents=True)
    own.touch()
    return Java(home, tmp_path / "jdk" / "bin" / "java", 17, "PATH")


def to_write(java: Java, jar: Path | None = None) -> Path:
    """The file that Java is to write at its end."""
    (path,) = re.findall(r'^-XX:ArchiveClassesAtExit="(.+?)" ', class_data_options(java, jar, keep=True))
    return Path(path)


def to_read(java: Java, jar: Path | None = None) -> Path:
    (path,) = re.findall(r'^-XX:SharedArchiveFile="(.+?)" ', class_data_options(java, jar, keep=False))
    return Path(path)


def test_it_is_written_once_if_that_is_wished_and_read_after_that(java: Java) -> None:
    assert class_data_options(java, None, keep=False) == ""
    path = to_write(java)
    assert path.parent == java.home
    path.write_bytes(COMPLETE)

    assert to_read(java) == path
    assert "ArchiveClassesAtExit" not in class_data_options(java, None, keep=True)


def test_a_file_that_java_did_not_end_is_not_read(java: Java) -> None:
    to_write(java).write_bytes(IN_WRITING)
    assert class_data_options(java, None, keep=False) == ""
    to_write(java).write_bytes(b"")
    assert class_data_options(java, None, keep=False) == ""


def test_another_driver_or_another_build_of_java_has_another_file(java: Java, tmp_path: Path) -> None:
    to_write(java).write_bytes(COMPLETE)
    jar = tmp_path / "driver.jar"
    jar.touch()
    assert class_data_options(java, jar, keep=False) == ""
    to_write(java, jar).write_bytes(COMPLETE)
    assert to_read(java, jar) != to_read(java)

    (java.program.parent.parent / "lib" / "server" / "classes.jsa").write_bytes(b"a newer build")
    assert class_data_options(java, jar, keep=False) == ""


def test_a_java_without_class_data_and_a_cache_that_cannot_be_written_have_none(
    java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = Java(java.home, tmp_path / "other" / "bin" / "java", 17, "PATH")
    assert class_data_options(without, None, keep=True) == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert class_data_options(java, None, keep=True) == ""


def test_twins_of_it_and_what_nobody_used_for_a_month_are_removed(java: Java) -> None:
    key = to_write(java).name.partition("-")[0]
    for name in (f"{key}-1.jsa", f"{key}-2.jsa", "0123456789abcdef-1.jsa", "fedcba9876543210-1.jsa"):
        (java.home / name).write_bytes(COMPLETE)
    (java.home / f"{key}-3.jsa").write_bytes(IN_WRITING)
    os.utime(java.home / "0123456789abcdef-1.jsa", (1, 1))

    used = to_read(java)
    assert {path.name for path in java.home.iterdir()} == {used.name, f"{key}-3.jsa", "fedcba9876543210-1.jsa"}


@pytest.mark.slow
def test_the_second_audit_takes_its_classes_from_the_cache_and_says_nothing_of_it(dsn: str, tmp_path: Path) -> None:
    driver = find_driver()
    if driver.jar is None:
        pytest.skip("no JDBC driver on this machine")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOWDAH_JDBC_JAR": str(driver.jar)}

    def audit() -> list[str]:
        command = [sys.executable, "-W", "ignore", "-c", AUDIT, dsn]
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert answer.stderr == ""
        return answer.stdout.split()

    def written() -> bool:
        return any(is_whole(path) for path in (tmp_path / "howdah").glob("java-*/*.jsa"))

    assert audit() == ["True", "without"]
    wait_until(written)
    assert audit() == ["True", "with"]
