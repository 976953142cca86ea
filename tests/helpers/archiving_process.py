"""Archivers in processes of their own that kill themselves: DSN FOLDER, and a stage a line on stdin.

Each line is answered by how its process ended. They are forked, so that modules are loaded once, before there is any
connection. They use the Java of the tests' own Spark, whose port and secret PySpark finds in the environment: another
Java would take seconds.
"""

import os
import signal
import sys
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from howdah.audit.archive import run_archive


def shared_spark() -> SparkSession:
    """A session on the Spark that runs in the Java of PYSPARK_GATEWAY_PORT."""
    gateway = launch_gateway()  # type: ignore[no-untyped-call]
    jvm = gateway.jvm
    scala = jvm.org.apache.spark.SparkContext.getOrCreate()
    java = jvm.org.apache.spark.api.java.JavaSparkContext(scala)
    context = SparkContext(gateway=gateway, jsc=java, conf=SparkConf(_jvm=jvm, _jconf=java.getConf()))
    return SparkSession(context)


def archive(dsn: str, folder: str, last: str) -> None:
    """Archive, up to the stage."""

    def die(stage: str) -> None:
        if stage == last:
            os.kill(os.getpid(), signal.SIGKILL)

    run_archive(dsn, Path(folder), spark=shared_spark(), partitions=2, on_stage=die)


def main() -> None:
    """An archiver for each line."""
    dsn, folder = sys.argv[1:]
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            archive(dsn, folder, line.strip())
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
