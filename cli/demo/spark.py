"""Spark for the demo's audit, which starts while the last messages are handled."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Spark:
    """A session that a thread of its own starts. Asking for the session raises the thread's error, if any."""

    def __init__(self, jdbc_jar: Path | None) -> None:
        self._jdbc_jar = jdbc_jar
        self._stack = ExitStack()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="spark")
        self._session: Future[SparkSession] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
        self._stack.close()

    def start(self) -> None:
        """Begin to start it, once."""
        self._session = self._session or self._pool.submit(self._start)

    def session(self) -> SparkSession:
        """Wait for it. Raises AuditError if Spark cannot run here."""
        self.start()
        assert self._session is not None
        return self._session.result()

    def _start(self) -> SparkSession:
        from ...audit import spark_session

        return self._stack.enter_context(spark_session(jdbc_jar=self._jdbc_jar))
