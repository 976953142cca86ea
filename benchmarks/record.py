"""What was measured: values of several rounds, their medians and ratios, and the JSON file they are kept in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .processor import Cost

OURS = "Howdah"
FORMAT = 1

Unit = Literal["/s", "ratio", "ms", "bytes"]


@dataclass
class Result:
    """One thing measured several times. Higher rates and ratios are better; of anything else, lower is better."""

    row: str
    case: str
    who: str
    unit: Unit
    values: list[float] = field(default_factory=list)
    #: A curve, such as the rate of each round of a long drain; of the last repetition.
    series: list[float] = field(default_factory=list)
    #: Microseconds of CPU a message, of each repetition; empty where it was not measured or cannot be.
    server_cpu: list[float] = field(default_factory=list)
    client_cpu: list[float] = field(default_factory=list)
    #: Transactions of each connection that were measured after its warm-up; 0: it does not go by transactions.
    transactions: int = 0
    #: Why there were fewer than others have.
    few: str = ""

    @property
    def median(self) -> float:
        """The middle value."""
        return median(self.values)

    @property
    def higher_is_better(self) -> bool:
        """Whether this is a rate or a ratio."""
        return self.unit in ("/s", "ratio")

    def advantage(self, other: Result) -> float:
        """How many times better this is, as the median over the rounds that both ran in turn."""
        return median(self.advantages(other))

    def advantages(self, other: Result) -> list[float]:
        """How many times better this is, in each round that both ran in turn."""
        pairs = zip(self.values, other.values, strict=False)
        return [a / b if self.higher_is_better else b / a for a, b in pairs]


@dataclass
class Record:
    """One run: where and when, and all its results in the order they were measured."""

    about: dict[str, Any] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    #: Settings each one was run with, and peers that were left out, with the reason.
    settings: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def add(
        self,
        row: str,
        case: str,
        who: str,
        unit: Unit,
        value: float,
        series: list[float] | None = None,
        *,
        cost: Cost | None = None,
        transactions: int = 0,
        few: str = "",
    ) -> None:
        """One more value of a result; few: why there were fewer transactions of a connection than elsewhere."""
        found = self.find(row, case, who, unit)
        if found is None:
            found = Result(row, case, who, unit)
            self.results.append(found)
        found.values.append(value)
        if series is not None:
            found.series = series
        if cost is not None:
            found.client_cpu.append(cost.client)
            if cost.server is not None:
                found.server_cpu.append(cost.server)
        if transactions:
            found.transactions = min(found.transactions or transactions, transactions)
            found.few = few

    def renew(self, about: dict[str, Any]) -> None:
        """Have the head say with what the newest rows are measured; peers not measured again keep their versions."""
        self.about["machine"], self.about["server"] = about["machine"], about["server"]
        self.about["versions"] = {**self.about["versions"], **about["versions"]}

    def forget(self, row: str, why: str) -> None:
        """Drop the results of a row, which is measured again."""
        self.results = [result for result in self.results if result.row != row]
        self.absent.pop(row, None)
        self.about.setdefault("again", {})[row] = why

    @property
    def pieced(self) -> bool:
        """Whether every row was measured again, so that nothing is left of the run that the record began as."""
        return "again" in self.about and {result.row for result in self.results} <= set(self.about["again"])

    def find(self, row: str, case: str, who: str, unit: str | None = None) -> Result | None:
        """The result of that name, if it was measured."""
        for result in self.results:
            if (result.row, result.case, result.who) == (row, case, who) and unit in (None, result.unit):
                return result
        return None

    def cases(self, row: str) -> Iterator[tuple[str, list[Result]]]:
        """The cases of a row, each with its results: ours first."""
        names = dict.fromkeys(result.case for result in self.results if result.row == row)
        for name in names:
            found = [result for result in self.results if (result.row, result.case) == (row, name)]
            yield name, sorted(found, key=lambda result: result.who != OURS)

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"format": FORMAT, **asdict(self)}
        for result in content["results"]:
            for name in ("values", "series", "server_cpu", "client_cpu"):
                result[name] = [float(f"{value:.6g}") for value in result[name]]
        path.write_text(json.dumps(content, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read it back. Raises ValueError for another format."""
        content = json.loads(path.read_text())
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"{path} is no benchmark record of format {FORMAT}")
        del content["format"]
        content["results"] = [Result(**result) for result in content["results"]]
        return cls(**content)
