"""Spark for the demo's audit, which starts while the last messages are handled."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Spark:
    """A session that a thread of its own starts. Its error, if any, is raised by whoever asks for the session."""

    def __init__(self, jdbc_jar: Path | None) -> None:
        self._jdbc_jar = jdbc_jar
        self._stack = ExitStack()
        self._thread: threading.Thread | None = None
        self._session: SparkSession | None = None
        self._error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.join()
        self._stack.close()

    def start(self) -> None:
        """Begin to start it, once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._start, name="spark", daemon=True)
            self._thread.start()

    def session(self) -> SparkSession:
        """Wait for it. Raises AuditError if Spark cannot run here."""
        self.start()
        assert self._thread is not None
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._session is not None
        return self._session

    def _start(self) -> None:
        try:
            from ...audit import spark_session

            self._session = self._stack.enter_context(spark_session(jdbc_jar=self._jdbc_jar))
        except BaseException as error:  # noqa: BLE001 - raised where the session is asked for
            self._error = error
