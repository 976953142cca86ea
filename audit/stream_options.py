"""The options of the journal as a Spark source, checked once; errors name the option."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..text.dsn import BadDsnError, read
from ..text.passfile import accessible
from .errors import AuditError

NAMES = (
    "dsn",
    "password",
    "queues",
    "startingOffsets",
    "endingOffsets",
    "maxRowsPerBatch",
    "partitions",
    "folded",
    "failOnDataLoss",
)
MAX_ROWS_PER_BATCH = 1_000_000
PARTITIONS = 4


@dataclass(frozen=True)
class Options:
    """What a reader was told. dsn holds the password, so it is not shown."""

    dsn: str = field(repr=False)
    queues: tuple[str, ...] | None
    starting: str
    ending: str
    max_rows: int
    partitions: int
    folded: bool
    fail_on_loss: bool

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Options:
        """Spark's options, whose names have any case. Raises AuditError."""
        known = {name.lower(): name for name in NAMES}
        options = {known.get(name.lower(), name): value for name, value in given.items()}
        if unknown := sorted(options.keys() - set(NAMES)):
            raise AuditError(f"unknown option {unknown[0]!r}; known are {', '.join(NAMES)}")
        queues = [name.strip() for name in options.get("queues", "").split(",") if name.strip()]
        return cls(
            dsn=_dsn(options.get("dsn"), options.get("password")),
            queues=tuple(queues) or None,
            starting=options.get("startingOffsets", "earliest"),
            ending=options.get("endingOffsets", "latest"),
            max_rows=_number(options, "maxRowsPerBatch", MAX_ROWS_PER_BATCH),
            partitions=_number(options, "partitions", PARTITIONS),
            folded=_truth(options, "folded", False),
            fail_on_loss=_truth(options, "failOnDataLoss", True),
        )


def _dsn(given: str | None, password: str | None) -> str:
    """The DSN: the option's, else HOWDAH_DSN's."""
    dsn = given or os.environ.get("HOWDAH_DSN")
    if not dsn:
        raise AuditError("name the database by the option dsn, or by HOWDAH_DSN where Spark was started")
    try:
        if given and "password" in read(given):
            # Spark hides option values by their names, so that of dsn would appear in plans and logs.
            raise AuditError(
                "a password in the option dsn would show in Spark's plans and logs: give it as the option password,"
                " in a password file, or the whole DSN by HOWDAH_DSN"
            )
        return accessible(dsn, None, **({"password": password} if password else {}))
    except BadDsnError as error:
        raise AuditError(str(error)) from None


def _number(options: Mapping[str, str], name: str, default: int) -> int:
    word = options.get(name, str(default))
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise AuditError(f"{name} must be a number from 1 on, not {word!r}")
    return number


def _truth(options: Mapping[str, str], name: str, default: bool) -> bool:
    word = options.get(name, str(default)).lower()
    if word not in ("true", "false"):
        raise AuditError(f"{name} must be true or false, not {word!r}")
    return word == "true"
