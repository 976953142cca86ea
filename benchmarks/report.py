"""The page: one file with its plots inside, ratios first."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from ..plots import Curve, draw
from .lines import UNSTEADY, lines
from .record import OURS, Record, Result
from .row import Row
from .rows import ROWS
from .show import cpu, figure, reached, remarks, verdict

STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: .6rem 0 1.2rem; } td, th { padding: .15rem .7rem;
border-bottom: 1px solid #ddd; text-align: left; }
td.n { text-align: right; font-variant-numeric: tabular-nums; } td.r { font-weight: 600; }
h2 { margin-top: 2.2rem; } .no { color: #b00; } .yes { color: #070; } svg { max-width: 100%; height: auto; }
small { color: #555; }
"""
#: Of the marks of what was reached.
COLOURS = {"✓": "yes", "✗": "no", "": ""}
#: Rows drawn as throughput over connections.
WIDTHS = ("send-one", "receive-one", "receive-one-unjournaled")
CURVES = {
    **dict.fromkeys(("held", "held-nonpersistent", "held-parked"), "messages/s, round by round"),
    "backlog": "messages/s, round by round",
}


def write(record: Record, path: Path) -> None:
    """Write the page. Needs matplotlib, which howdah[bench] brings."""
    parts = [_head(record)]
    for row in ROWS:
        if found := _table(record, row):
            parts.append(f"<h2>{html.escape(row.title)}</h2>")
            parts.append(f"<p>To reach: {html.escape(row.reach)}.</p>" if row.reach else "")
            parts += [found, _plot(record, row)]
    title = "Howdah, measured"
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    path.parent.mkdir(parents=True, exist_ok=True)
    page = "\n".join(["<!doctype html>", f"<html lang=en><head>{head}</head><body><h1>{title}</h1>", *parts])
    path.write_text("\n".join(line.rstrip() for line in page.splitlines()) + "\n</body></html>\n")


def _head(record: Record) -> str:
    about = record.about
    machine = ", ".join(f"{name} {value}" for name, value in about["machine"].items())
    began = {"Date": about["date"], "Load before the run": f"{about['load before']:.1f}"}
    again = "; ".join(f"{row}: {when}" for row, when in about.get("again", {}).items())
    pairs = {
        **({} if record.pieced else began),
        "Machine": machine,
        "Versions": ", ".join(f"{name} {value}" for name, value in about["versions"].items()),
        "Server": ", ".join(f"{name} {value}" for name, value in about["server"].items()),
        "Run": f"{about['size']}, {about['rounds']} repetitions in turn, but one of the long drains;"
        f" bodies {about['body']}; journal_level {about['journal_level']}",
        **({"Measured" if record.pieced else "Measured again": again} if again else {}),
        **{f"Settings of {name}": value for name, value in record.settings.items()},
        **{f"Without {name}": value for name, value in record.absent.items()},
    }
    rows = "".join(f"<tr><th>{html.escape(k)}<td>{html.escape(str(v))}" for k, v in pairs.items())
    return (
        "<p>Ratios say how many times better Howdah is than what stands beside it, in the same run, as the median of"
        " repetitions in turn. Machines differ and are shared: quote ratios, not figures. A ratio is within noise if"
        f" the middle half of its pairs includes 1, and unsteady if that half is wider than {UNSTEADY:.0%} of it."
        " CPU is that of the server and of its clients, in microseconds a message.</p>"
        f"<table>{rows}</table>"
    )


def _table(record: Record, row: Row) -> str:
    out = []
    for line in lines(record, row):
        said, alone = verdict(row, line), reached(row, line)
        low, high = (figure(value, line.unit) for value in line.spread)
        cells = [
            f"<td>{html.escape(line.case)}<td>{html.escape(line.other)}",
            f'<td class="n r {COLOURS[said]}">{f"{line.ratio:.2f} {said}" if line.ratio else ""}',
            f"<td><small>{line.doubt}</small>",
            f'<td class="n {COLOURS[alone]}">{f"{figure(line.ours, line.unit)} {alone}" if line.ours else ""}',
            f'<td class="n"><small>{f"{low}, {high}" if line.ours else ""}</small>',
            f'<td class="n"><small>{cpu(line.cpu)}</small>',
            f'<td class="n">{figure(line.theirs, line.unit) if line.theirs else ""}',
            f'<td class="n"><small>{cpu(line.others_cpu)}</small>',
        ]
        out.append("<tr>" + "".join(cells))
    if not out:
        return ""
    heads = ("case", "against", "ratio", "", OURS, "lowest, highest", "CPU us", "the other", "CPU us")
    below = "".join(f"<p><small>{html.escape(remark)}</small></p>" for remark in remarks(lines(record, row)))
    return f"<table><tr>{''.join(f'<th>{name}' for name in heads)}{''.join(out)}</table>{below}"


def _plot(record: Record, row: Row) -> str:
    results = [result for result in record.results if result.row == row.key]
    if row.key in WIDTHS:
        return _draw("connections", "messages/s", _by_width(results), marker="o")
    if row.key in CURVES:
        curves = {f"{r.who}, {r.case}" if row.key.startswith("held") else r.who: r.series for r in results if r.series}
        return _draw("round", CURVES[row.key], {name: (list(range(1, len(y) + 1)), y) for name, y in curves.items()})
    if row.key == "latency":
        curves = {result.who: result.series for result in results if result.case == "p99"}
        lines_ = {name: (cuts, [float(n) for n in range(1, len(cuts) + 1)]) for name, cuts in curves.items()}
        return _draw("milliseconds", "percent of messages arrived", lines_, logarithmic=True)
    return ""


def _by_width(results: list[Result]) -> dict[str, tuple[list[Any], list[float]]]:
    curves: dict[str, tuple[list[Any], list[float]]] = {}
    for result in results:
        x, y = curves.setdefault(result.who, ([], []))
        x.append(result.case.split()[0])
        y.append(result.median)
    return curves


def _draw(
    x: str, y: str, curves: dict[str, tuple[list[Any], list[float]]], *, marker: str = "", logarithmic: bool = False
) -> str:
    wide = {name: 2.2 if name.startswith(OURS) else 1.2 for name in curves}
    drawn = [Curve(name, at, values, wide[name]) for name, (at, values) in curves.items()]
    return draw(drawn, x=x, y=y, marker=marker, logarithmic="x" if logarithmic else "")
