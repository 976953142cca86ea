"""The log of a command that runs until it is told to stop: its options, and what they set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

LogJson = Annotated[bool, typer.Option("--log-json", help="Write the log as JSON lines.")]
LogLevel = Annotated[
    Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None,
    typer.Option(
        case_sensitive=False, help="Lowest level to log, of every logger. [default: INFO]", show_default=False
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log-file",
        metavar="FILE",
        dir_okay=False,
        help="Write the log to this file, too. It rolls over by size and age, and nine archives stay.",
    ),
]
LogSet = Annotated[
    list[str] | None,
    typer.Option(
        "--log-set",
        metavar="NAME=VALUE",
        help="Setting of the log, such as imq.log.console.output=ERROR|WARNING; may be repeated.",
    ),
]
LogConfig = Annotated[
    Path | None,
    typer.Option(
        "--log-config",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Logging configuration: .json or .toml for logging.config.dictConfig, .properties for settings, any"
        " other file for fileConfig.",
    ),
]


def log_settings(words: list[str] | None, file: Path | None, metrics: float | None) -> dict[str, str]:
    """Return the settings that the options make, by their names."""
    settings = {}
    for word in words or []:
        name, equals, settings[name] = word.partition("=")
        if not equals:
            raise typer.BadParameter(f"{word!r} is not NAME=VALUE", param_hint="--log-set")
    if file is not None:
        settings |= {"imq.log.file.dirpath": str(file.absolute().parent), "imq.log.file.filename": file.name}
    if metrics is not None:
        settings |= {"imq.metrics.enabled": "true", "imq.metrics.interval": f"{metrics:f}"}
    return settings


def configure(as_json: bool, level: str | None, config: Path | None, settings: dict[str, str]) -> float | None:
    """Log as the options say. Returns the seconds between the figures of the queues, None without these."""
    from ..workers.log import writer

    try:
        return writer.configure(as_json=as_json, level=level, config=config, settings=settings).metrics_seconds
    except writer.BadLogConfig as error:
        raise typer.BadParameter(error.message, param_hint="--log-config" if config else "--log-set") from error
