"""A quiet Spark session with Java and the JDBC driver in place."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from .class_data import class_data_options
from .driver import Driver, find_driver
from .errors import AuditError
from .java import find_java

_LOGGING = Path(__file__).with_name("log4j2.properties")

_SETTINGS = {
    "spark.app.name": "howdah audit",
    "spark.driver.memory": "2g",
    # Otherwise each call for a column asks Java several times, to name the line in an error.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Rows decoded at once: 4,096 of them with group ids or error texts of a megabyte would not fit.
    "spark.sql.parquet.columnarReaderBatchSize": "512",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

FEW_ROWS = 200_000
"""So many at most are few. One partition then takes less time than several with their shuffles."""

_FEW_SETTINGS = {
    # Such plans are not worth a second look.
    "spark.sql.adaptive.enabled": "false",
    # With one partition nothing is shuffled. A broadcast would be a job of its own.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# On one machine: nobody else can reach the driver, and its host name need not resolve.
_LOCAL_SETTINGS = {"spark.driver.host": "localhost", "spark.driver.bindAddress": "127.0.0.1"}

# On one machine an audit is short: the full compiler would cost more than it saves (26 s instead of 34 for 340,000
# messages on two cores). Java gives that compiler 48 MB, which the code that Spark makes for an audit and its reports
# fills; then nothing more is compiled at all.
_LOCAL_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"


_CLASSES = ("functions", "PythonUtils", "PythonSQLUtils", "org.apache.spark.sql.functions")


_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, whose Java runs already: with its master, its class path and its memory."""


@contextmanager
def spark_session(
    master: str = "local[*]",
    partitions: int = 4,
    jdbc_jar: Path | str | None = None,
    *,
    keep_classes: bool = False,
) -> Iterator[SparkSession]:
    """A session for the block, stopped at its end.

    partitions: those of a shuffle. keep_classes: whether Java, when it ends, may write its classes for the next one
    (class_data.py), once ``class_data.audited`` was called. The first session of a process starts Java (1 to 6
    seconds). Java stays until the process ends, with its memory and class path. Raises AuditError if there is no Java,
    or if Spark does not start. It also does if the process already has a session: it would get and stop that one.
    Under spark-submit its settings hold: master and jdbc_jar are not used, the JDBC driver comes by its --jars.
    """
    driver = None if _SUBMITTED in os.environ else find_driver(jdbc_jar)
    if SparkSession.getActiveSession() is not None:
        raise AuditError("a Spark session runs in this process already: hand it to the audit")
    shuffles = {"spark.sql.shuffle.partitions": str(partitions)}
    spark = _submitted(shuffles) if driver is None else _started(master, shuffles, driver, keep_classes)
    try:
        _keep_at_hand(spark)
        yield spark
    finally:
        spark.stop()


@contextmanager
def for_few_rows(spark: SparkSession, rows: int) -> Iterator[bool]:
    """For the block, and if the rows are few, Spark uses one partition, interprets plans, and joins without jobs.

    Yields whether they are few. For them, compiled plans and more partitions cost more time than they save.
    """
    few = rows <= FEW_ROWS
    before = {name: spark.conf.get(name, None) for name in _FEW_SETTINGS} if few else {}
    try:
        for name in before:
            spark.conf.set(name, _FEW_SETTINGS[name])
        yield few
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def is_local(spark: SparkSession) -> bool:
    """Whether Spark works on this machine alone."""
    return (spark.sparkContext.master or "").startswith("local")


class _AtHand:
    """A class of Java's, whose members are looked up once."""

    def __init__(self, java_class: Any) -> None:
        self._class = java_class

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        member = getattr(self._class, name)
        setattr(self, name, member)
        return member


def _keep_at_hand(spark: SparkSession) -> None:
    """Look up once the classes that PySpark asks Java for by name at each column and list.

    Each time, Java would look through its 280 jars for a class of that name in no package first.
    """
    java = spark.sparkContext._jvm
    for name in _CLASSES:
        if not isinstance(known := getattr(java, name), _AtHand):
            setattr(java, name, _AtHand(known))


def _submitted(settings: dict[str, str]) -> SparkSession:
    """The session of a program that spark-submit runs."""
    mine = {name: value for name, value in _SETTINGS.items() if name.startswith(("spark.sql.", "spark.python.sql."))}
    spark = SparkSession.builder.config(map=dict(mine | settings)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _started(master: str, settings: dict[str, str], driver: Driver, keep_classes: bool) -> SparkSession:
    """A session of our own, and with the first one of the process Java."""
    settings = _SETTINGS | driver.spark_settings() | settings
    java = find_java()
    java_options = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
    pythons = {}
    if master.startswith("local"):
        settings |= _LOCAL_SETTINGS
        java_options += f" {_LOCAL_JAVA_OPTIONS} {class_data_options(java, driver.jar, keep=keep_classes)}"
        # Spark starts what the path finds first as python3, which need not be the one that has Howdah.
        pythons["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
    settings["spark.driver.extraJavaOptions"] = java_options
    with _environment({"JAVA_HOME": str(java.home)} | pythons), warnings.catch_warnings():
        # Spark warns of pandas 3, which no part of an audit uses.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        try:
            return SparkSession.builder.master(master).config(map=dict(settings)).getOrCreate()
        except PySparkRuntimeError as error:
            hint = "" if driver.jar else ": no PostgreSQL JDBC driver came from Maven; name one by --jdbc-jar"
            raise AuditError(f"Spark did not start{hint}") from error


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """The process's environment with settings, as it was again after the block."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
