"""Write docs/measurements.toml, the summary of a record of ``howdah bench``: ``make bench-full`` does.

The record itself and its page are built, not committed. The summary is what pages quote.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from howdah.benchmarks.lines import doubted
from howdah.benchmarks.record import OURS, Record

SUMMARY = Path(__file__).parent.parent / "docs" / "measurements.toml"

_HEAD = """\
# The figures of `howdah bench --full` that pages quote. `make bench-full` writes them.
#
# A line is a case of a row. Figures are medians of all rounds. A figure that is not ours stands beside how many times
# better Howdah was: the median over the rounds that both ran in turn. Below 1, Howdah was worse. A third part says why
# that ratio is doubtful: within noise, unsteady, or one pair (docs/measurements.md).
# `cpu` is what a message of ours took of the server's CPU and of its clients', in microseconds.
# `again` says which rows were measured after the others, when, and at which load of the machine.
"""


def _key(text: str) -> str:
    return text if text.replace("-", "").replace("_", "").isalnum() and text.isascii() else json.dumps(text)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(below)}" for key, below in value.items()) + " }"
    return f"{value:.6g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _lines(record: Record) -> Iterator[str]:
    for row in dict.fromkeys(result.row for result in record.results):
        for case, results in record.cases(row):
            ours = next((result for result in results if result.who == OURS), None)
            cells = [f"unit = {json.dumps(results[0].unit)}"]
            for result in results:
                figure = f"{result.median:.6g}"
                if ours is not None and result is not ours:
                    doubt = doubted(ours.advantages(result))
                    figure = ", ".join(
                        [figure, f"{ours.advantage(result):.3g}", *([json.dumps(doubt)] if doubt else [])]
                    )
                    figure = f"[{figure}]"
                cells.append(f"{_key(result.who)} = {figure}")
            if ours is not None and ours.server_cpu:
                spent = (f"{median(values):.3g}" for values in (ours.server_cpu, ours.client_cpu))
                cells.append(f"cpu = [{', '.join(spent)}]")
            yield f"{_key(row)}.{_key(case)} = {{ {', '.join(cells)} }}"


def summary(record: Record) -> str:
    """The text of the file."""
    about = "\n".join(f"{_key(key)} = {_value(value)}" for key, value in record.about.items())
    return "\n".join([_HEAD, "[about]", about, "", "[rows]", *_lines(record)]) + "\n"


if __name__ == "__main__":
    SUMMARY.write_text(summary(Record.read(Path(sys.argv[1]))), encoding="utf-8")
