"""PostgreSQL's JDBC driver for Spark: a jar that is there, one that Debian gives, or Maven's."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .errors import AuditError
from .java import cache_folder

DRIVER_CLASS = "org.postgresql.Driver"
DEBIAN_PACKAGE = "libpostgresql-jdbc-java"
DEBIAN_JAR = Path("/usr/share/java/postgresql.jar")
MAVEN = "org.postgresql:postgresql:42.7.13"
_DOWNLOAD_LIMIT = 120  # seconds


@dataclass(frozen=True)
class Driver:
    """A jar on this machine, or (jar None) coordinates that Spark resolves through Maven."""

    jar: Path | None
    packages: str | None = None

    def spark_settings(self) -> dict[str, str]:
        """Settings of a Spark session that has the driver on the driver's and the executors' class paths."""
        if self.jar is None:
            # These annotations matter only to compilers.
            excluded = "org.checkerframework:checker-qual"
            return {"spark.jars.packages": self.packages or MAVEN, "spark.jars.excludes": excluded}
        return {"spark.jars": self.jar.as_uri(), "spark.driver.extraClassPath": str(self.jar)}


def find_driver(jdbc_jar: Path | str | None = None) -> Driver:
    """The driver from ``jdbc_jar`` or HOWDAH_JDBC_JAR, else Debian's installed, cached or downloaded, else Maven's.

    Raises AuditError if a jar was named that does not exist.
    """
    named = jdbc_jar or os.environ.get("HOWDAH_JDBC_JAR")
    if named:
        jar = Path(named).expanduser().resolve()
        if not jar.is_file():
            raise AuditError(f"there is no JDBC driver at {jar}")
        return Driver(jar)
    for jar in (DEBIAN_JAR, cache_folder() / "postgresql.jar"):
        if jar.is_file():
            return Driver(jar.resolve())
    downloaded = download(cache_folder())
    return Driver(downloaded) if downloaded else Driver(None, MAVEN)


def download(folder: Path) -> Path | None:
    """The jar of Debian's package, put into ``folder`` by apt-get, which needs no root; None where that fails."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return None
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        try:
            for command in (["apt-get", "download", DEBIAN_PACKAGE], ["dpkg-deb", "-x", "*.deb", "."]):
                names = [str(path) for path in Path(scratch).glob("*.deb")]
                words = [word for part in command for word in (names if part == "*.deb" else [part])]
                subprocess.run(words, cwd=scratch, capture_output=True, timeout=_DOWNLOAD_LIMIT, check=True)
            jar = folder / "postgresql.jar"
            os.replace((Path(scratch) / DEBIAN_JAR.relative_to("/")).resolve(strict=True), jar)
        except (OSError, subprocess.SubprocessError):
            return None
    return jar
