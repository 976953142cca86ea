"""Java's class data in the cache: written once, read after that, and left out wherever it would not fit."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import wait_until

from howdah.audit import AuditError, class_data
from howdah.audit.class_data import class_data_options, is_whole
from howdah.audit.driver import find_driver
from howdah.audit.java import Java, find_java

AUDIT = """
import sys
from pathlib import Path
from pyspark import SparkContext
from howdah.audit import run_audit
print(run_audit(sys.argv[1], master="local[1]", partitions=1).ok)
java = SparkContext._jvm.java.lang.ProcessHandle.current().pid()
maps = Path(f"/proc/{java}/maps").read_text()
print("with" if "/howdah/java" in maps else "without")
"""

COMPLETE = b"\xba\xa8\x0b\xf0 and so on"
IN_WRITING = bytes(1000)


def write(path: Path, content: bytes = COMPLETE) -> None:
    """What Java does at its end, after a whole audit."""
    path.write_bytes(content)
    path.with_suffix(".audited").touch()


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    """A Java with class data of its own, and a wrapper of it in an empty cache."""
    for name in ("HOWDAH_CLASS_DATA", *class_data._OTHERS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(class_data, "_written", [])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "cache" / "howdah" / "java-17-PATH"
    home.mkdir(parents=True)
    own = tmp_path / "jdk" / "lib" / "server" / "classes.jsa"
    own.parent.mkdir(parents=True)
    own.touch()
    return Java(home, tmp_path / "jdk" / "bin" / "java", 17, "PATH")


def to_write(java: Java, jar: Path | None = None) -> Path:
    """The file that the Java of a new process is to write at its end."""
    class_data._written.clear()
    (path,) = re.findall(r'^-XX:ArchiveClassesAtExit="(.+?)" ', class_data_options(java, jar, keep=True))
    return Path(path)


def to_read(java: Java, jar: Path | None = None) -> Path:
    (path,) = re.findall(r'^-XX:SharedArchiveFile="(.+?)" ', class_data_options(java, jar, keep=False))
    return Path(path)


def test_it_is_written_once_if_that_is_wished_and_read_after_that(java: Java) -> None:
    assert class_data_options(java, None, keep=False) == ""
    path = to_write(java)
    assert path.parent == java.home
    write(path)

    assert to_read(java) == path
    assert "ArchiveClassesAtExit" not in class_data_options(java, None, keep=True)


def test_a_file_that_java_did_not_end_is_not_read(java: Java) -> None:
    write(to_write(java), IN_WRITING)
    assert class_data_options(java, None, keep=False) == ""
    write(to_write(java), b"")
    assert class_data_options(java, None, keep=False) == ""


def test_a_file_of_a_java_without_a_whole_audit_is_not_read(java: Java) -> None:
    path = to_write(java)
    path.write_bytes(COMPLETE)
    assert class_data_options(java, None, keep=False) == ""
    class_data.audited()
    assert to_read(java) == path


def test_a_cache_that_is_deleted_meanwhile_fails_no_audit_and_a_mark_without_a_file_goes(java: Java) -> None:
    path = to_write(java)
    shutil.rmtree(java.home)
    class_data.audited()
    java.home.mkdir()
    class_data.audited()
    assert class_data_options(java, None, keep=True) == "", "Java has started already, and writes one file"
    os.utime(path.with_suffix(".audited"), (1, 1))
    assert class_data_options(java, None, keep=False) == ""
    assert list(java.home.iterdir()) == []


def test_an_unknown_wish_is_refused(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_CLASS_DATA", "no")
    with pytest.raises(AuditError, match="'no'; it can be keep, read or off"):
        class_data_options(java, None, keep=True)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HOWDAH_CLASS_DATA", "off"), ("JAVA_TOOL_OPTIONS", "-javaagent:x.jar"), ("SPARK_HOME", "/")],
)
def test_nothing_is_read_or_written_if_that_is_wished_or_if_java_has_options_of_others(
    java: Java, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    write(to_write(java))
    monkeypatch.setenv(variable, value)
    assert class_data_options(java, None, keep=True) == ""


def test_it_may_be_read_and_not_written(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    path = to_write(java)
    monkeypatch.setenv("HOWDAH_CLASS_DATA", "read")
    assert class_data_options(java, None, keep=True) == ""
    write(path)
    assert to_read(java) == path


def test_another_driver_or_another_build_of_java_has_another_file(java: Java, tmp_path: Path) -> None:
    write(to_write(java))
    jar = tmp_path / "driver.jar"
    jar.touch()
    assert class_data_options(java, jar, keep=False) == ""
    write(to_write(java, jar))
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
        write(java.home / name)
    write(java.home / f"{key}-3.jsa", IN_WRITING)
    os.utime(java.home / "0123456789abcdef-1.jsa", (1, 1))

    used = to_read(java)
    left = {used.name, f"{key}-3.jsa", "fedcba9876543210-1.jsa"}
    assert {path.name for path in java.home.glob("*.jsa")} == left
    os.utime(java.home / f"{key}-3.jsa", (1, 1))
    assert to_read(java) == used
    assert {path.name for path in java.home.glob("*.jsa")} == left - {f"{key}-3.jsa"}
    assert len(list(java.home.iterdir())) == 4


@pytest.mark.slow
def test_the_second_audit_takes_its_classes_from_the_cache_and_says_nothing_of_it(dsn: str, tmp_path: Path) -> None:
    driver = find_driver()
    if driver.jar is None:
        pytest.skip("no JDBC driver on this machine")
    if not (class_data_options(find_java(), driver.jar, keep=True) and Path("/proc/self/maps").exists()):
        pytest.skip("this Java has no class data of its own, or is given options")
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
