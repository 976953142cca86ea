"""A quiet Spark session with Java and the JDBC driver in place."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from .driver import find_driver
from .errors import AuditError
from .java import find_java

_LOGGING = Path(__file__).with_name("log4j2.properties")

_SETTINGS = {
    "spark.app.name": "howdah audit",
    "spark.driver.memory": "2g",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

# On one machine: nobody else can reach the driver, and its host name need not resolve.
_LOCAL_SETTINGS = {"spark.driver.host": "localhost", "spark.driver.bindAddress": "127.0.0.1"}

# On one machine an audit is short: the full compiler would cost more than it saves (26 s instead of 34 for 340,000
# messages on two cores).
_LOCAL_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1"


@contextmanager
def spark_session(
    master: str = "local[*]", partitions: int = 4, jdbc_jar: Path | str | None = None
) -> Iterator[SparkSession]:
    """A session for the block, stopped at its end.

    partitions: those of a shuffle. The first session of a process starts Java (1 to 3 seconds), which stays until the
    process ends, and with it Java's memory and class path. Raises AuditError if there is no Java,
    if Spark does not start, or if the process has a session already: it would be that one, and stopped.
    """
    driver = find_driver(jdbc_jar)
    if SparkSession.getActiveSession() is not None:
        raise AuditError("a Spark session runs in this process already: hand it to the audit")
    settings = _SETTINGS | driver.spark_settings()
    settings["spark.sql.shuffle.partitions"] = str(partitions)
    java_options = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
    if master.startswith("local"):
        settings |= _LOCAL_SETTINGS
        java_options += f" {_LOCAL_JAVA_OPTIONS}"
    settings["spark.driver.extraJavaOptions"] = java_options
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(find_java().home)
    try:
        with warnings.catch_warnings():
            # Spark says this of pandas 3, which no part of an audit uses.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            spark = SparkSession.builder.master(master).config(map=dict(settings)).getOrCreate()
    except PySparkRuntimeError as error:
        hint = "" if driver.jar else ": no PostgreSQL JDBC driver came from Maven; name one by --jdbc-jar"
        raise AuditError(f"Spark did not start{hint}") from error
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before
    try:
        yield spark
    finally:
        spark.stop()
