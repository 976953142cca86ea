"""The log of a worker process: text for people or JSON for machines, with the message of each line.

The application's own loggers write to the same log. Every record that is made while a handler runs knows the handler's
message. So do records of the handler's coroutines, and of threads that got a copy of its context.
"""

from __future__ import annotations

import json
import logging
import logging.config
import threading
import time
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...engine import HowdahError, Message
from ...text.controls import printable
from .channels import handlers
from .settings import BadSetting, LogSettings, ours, parse, read


class InHand:
    """The message that a session's handler is handling."""

    # A context variable holds this, not the message: setting one costs 0.2 microseconds for each message.
    __slots__ = ("message",)

    def __init__(self) -> None:
        self.message: Message | None = None


IN_HAND: ContextVar[InHand | None] = ContextVar("howdah_message", default=None)
"""What this context's session has in hand."""

OWN = "howdah"
QUIET = ("alembic", "apscheduler", "psycopg")
"""Libraries of ours whose INFO does not help operators of workers."""

_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "fields"}
_make_before: Any = logging.LogRecord


class BadLogConfig(HowdahError):
    """The file of --log-config, or a setting of --log-set, cannot be used."""


def _make_record(*arguments: Any, **options: Any) -> logging.LogRecord:
    """Make a record with the message in hand, for any formatter: %(howdah_message_id)s."""
    record: logging.LogRecord = _make_before(*arguments, **options)
    in_hand = IN_HAND.get()
    message = None if in_hand is None else in_hand.message
    record.howdah_queue = None if message is None else message.queue
    record.howdah_message_id = None if message is None else message.message_id
    record.howdah_correlation_id = None if message is None else message.correlation_id
    return record


def _in_hand(record: logging.LogRecord) -> dict[str, Any]:
    found = {
        "queue": getattr(record, "howdah_queue", None),
        "message": getattr(record, "howdah_message_id", None),
        "correlation_id": getattr(record, "howdah_correlation_id", None),
    }
    return {name: value for name, value in found.items() if value is not None}


class LineFormatter(logging.Formatter):
    """One line for each record: JSON, or text with name=value pairs."""

    converter = staticmethod(time.gmtime)

    def __init__(self, as_json: bool = True) -> None:
        super().__init__(datefmt="%Y-%m-%dT%H:%M:%S")
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        fields = _in_hand(record) | getattr(record, "fields", {})
        at = f"{self.formatTime(record, self.datefmt)}.{int(record.msecs):03d}Z"
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        if self._as_json:
            extra = {
                name: value
                for name, value in vars(record).items()
                if name not in _STANDARD and not name.startswith("howdah_")
            }
            head = {"at": at, "level": record.levelname.lower(), "event": record.getMessage(), "logger": record.name}
            return json.dumps(extra | head | fields, default=str)
        if record.name.partition(".")[0] != OWN:
            fields = {"logger": record.name} | fields
        pairs = " ".join(f"{name}={value!s}" for name, value in fields.items())
        # Foreign texts, such as an exception's, stay on the line and do not control the terminal that shows it.
        return printable(" ".join(f"{at} {record.levelname.lower():7} {record.getMessage()} {pairs}".split()))


def configure(
    *,
    as_json: bool,
    level: str | None = None,
    path: Path | None = None,
    config: Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> LogSettings:
    """Write the log of all loggers, from ``level`` (INFO) on, to the channels that the settings name.

    - path: only to this file, without a rollover.
    - config: a file for logging.config: .json or .toml for dictConfig, any other for fileConfig. What the file does not
      set keeps its default. Both may hold settings, too; a file .properties holds nothing else.
    - settings: by their names, such as imq.log.level, before those of the file.

    Returns the settings. Raises BadLogConfig.
    """
    global _make_before
    if (before := logging.getLogRecordFactory()) is not _make_record:
        _make_before = before
        logging.setLogRecordFactory(_make_record)
    found, rest = _read(config)
    try:
        parsed = parse(found | dict(settings or {}))
        parsed = replace(parsed, level=level or parsed.level or "INFO")
        formatter = LineFormatter(as_json)
        if path is not None:
            made: list[logging.Handler] = [logging.FileHandler(path, encoding="utf-8")]
            made[0].setFormatter(formatter)
        else:
            made = handlers(parsed, formatter)
    except (BadSetting, OSError) as error:
        raise BadLogConfig(str(error)) from error
    # Without a handler, logging would write to standard error all the same.
    logging.basicConfig(handlers=made or [logging.NullHandler()], level=_number(parsed), force=True)
    logging.captureWarnings(True)
    logging.getLogger(OWN).setLevel(_number(parsed))
    for name in QUIET:
        logging.getLogger(name).setLevel(max(_number(parsed), logging.WARNING))
    threading.excepthook = _thread_died
    if config is not None:
        _apply(config, rest)
    return parsed


def _number(settings: LogSettings) -> int:
    return logging.getLevelNamesMapping()[(settings.level or "INFO").upper()]


def _read(config: Path | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return our settings in a file, and what is for dictConfig. None: it is for fileConfig, or there is none."""
    if config is None:
        return {}, None
    try:
        if config.suffix == ".properties":
            return read(config), {}
        if config.suffix not in (".json", ".toml"):
            return {}, None
        text = config.read_text(encoding="utf-8")
        tree = json.loads(text) if config.suffix == ".json" else tomllib.loads(text)
        found = ours(tree)
        return found, {name: value for name, value in tree.items() if name.partition(".")[0] != "imq"}
    except Exception as error:
        raise BadLogConfig(f"{config} is not a logging configuration: {error}") from error


def _apply(config: Path, settings: dict[str, Any] | None) -> None:
    try:
        if settings is None:
            logging.config.fileConfig(config, disable_existing_loggers=False, encoding="utf-8")
        elif settings:
            logging.config.dictConfig({"version": 1, "disable_existing_loggers": False} | settings)
    except Exception as error:  # a handler that is made there may raise any class
        cause = f": {error.__cause__}" if error.__cause__ is not None else ""
        raise BadLogConfig(f"{config} is not a logging configuration: {error}{cause}") from error


def enable() -> None:
    """Keep the worker's loggers on: an application that configures logging disables loggers it does not know."""
    logging.getLogger("howdah.worker").disabled = False


def _thread_died(died: threading.ExceptHookArgs) -> None:
    if died.exc_value is not None:
        name = died.thread.name if died.thread else None
        fields = {"fields": {"thread": name}}
        logging.getLogger("howdah.worker").error("thread died", exc_info=died.exc_value, extra=fields)
