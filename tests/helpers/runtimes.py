"""Where the tools of clients in other languages are, or a skip that says what to install."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def java() -> Path:
    """A Java that runs source files: 17 or later, with the compiler's module, which a JRE lacks."""
    candidates = [os.path.join(os.environ["JAVA_HOME"], "bin", "java")] if "JAVA_HOME" in os.environ else []
    candidates += [found] if (found := shutil.which("java")) else []
    for candidate in candidates:
        try:
            done = subprocess.run([candidate, "--list-modules"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if "jdk.compiler@" in done.stdout:
            return Path(candidate)
    pytest.skip("no JDK: on Debian, apt-get install default-jdk-headless")


def jdbc_jar() -> Path:
    """PostgreSQL's JDBC driver."""
    for jar in (os.environ.get("HOWDAH_JDBC_JAR"), "/usr/share/java/postgresql.jar"):
        if jar and Path(jar).is_file():
            return Path(jar)
    pytest.skip("no JDBC driver: on Debian, apt-get install libpostgresql-jdbc-java; elsewhere set HOWDAH_JDBC_JAR")


def node_modules() -> Path:
    """A folder of Node's modules with node-postgres."""
    if shutil.which("node") is None:
        pytest.skip("no Node: on Debian, apt-get install nodejs node-pg")
    for folder in (os.environ.get("HOWDAH_NODE_MODULES"), ROOT / "build/node_modules", "/usr/share/nodejs"):
        if folder and (Path(folder) / "pg").is_dir():
            return Path(folder)
    pytest.skip("no node-postgres: npm install --prefix build pg")


def pgx() -> tuple[str, Path]:
    """The major version of pgx, "v4" or "v5", and the GOPATH where its source is."""
    if shutil.which("go") is None:
        pytest.skip("no Go: on Debian, apt-get install golang-go golang-github-jackc-pgx-v5-dev")
    for gopath in (os.environ.get("GOPATH"), "/usr/share/gocode"):
        for version in ("v5", "v4"):
            if gopath and (Path(gopath) / "src/github.com/jackc/pgx" / version).is_dir():
                return version, Path(gopath)
    pytest.skip("no pgx in a GOPATH: on Debian, apt-get install golang-github-jackc-pgx-v5-dev, or v4 up to Debian 12")
