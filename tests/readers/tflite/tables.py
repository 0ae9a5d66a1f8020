"""Writes tables as benchmark_model does, from rows of numbers."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Layout: TypeAlias = Literal["old", "new", "spaces", "csv", "old csv"]
RUNS = "Operator-wise Profiling Info for Regular Benchmark Runs:"
START = "Profiling Info for Benchmark Initialization:"


class Row(NamedTuple):
    """A node: the times are in milliseconds."""

    type: str
    name: str
    mean: float
    calls: int = 1
    first: float | None = None


def part(
    rows: list[Row], layout: Layout = "new", runs: int = 50, *, before_timings: str = ""
) -> str:
    """Return the tables of one graph."""
    total = sum(row.mean * row.calls for row in rows)
    lines = [
        *_table("Run Order", rows, total, layout),
        *_table("Top by Computation Time", sorted(rows, key=_time, reverse=True), total, layout),
        f"Number of nodes executed: {len(rows)}",
        f"{'=' * 30} Summary by node type {'=' * 30}",
        _joined(["[Node type]", "[count]", "[avg ms]", "[avg %]"], layout)
        if "csv" not in layout
        else "node type, count, avg_ms, avg %, cdf %, mem KB, times called",
        _joined([rows[0].type, "1", "1.000", "10.000%"], layout),
        "",
        f"{before_timings}Timings (microseconds): count={runs} first=1 curr=2 min=1 max=3 "
        f"avg={total * 1e3:g} std=1",
        "Memory (bytes): count=0",
        f"{len(rows)} nodes observed",
        "",
        "",
    ]
    return "\n".join(lines)


def _time(row: Row) -> float:
    return row.mean * row.calls


def _table(title: str, rows: list[Row], total: float, layout: Layout) -> list[str]:
    is_csv, has_start = "csv" in layout, "old" in layout

    def written(cells: list[str]) -> list[str]:
        """Return the cells of a line. Only old layouts have the second one, the start."""
        return cells if has_start else [cells[0], *cells[2:]]

    head = ["[node type]", "[start]", "[first]", "[avg ms]", "[%]", "[cdf%]", "[mem KB]"]
    columns = [*head, "[times called]", "[Name]"]
    if is_csv:
        columns = ["node type", "start", "first", "avg_ms", "%", "cdf%", "mem KB"]
        columns += ["times called", "name"]
    lines = [f"{'=' * 30} {title} {'=' * 30}", _joined(written(columns), layout)]
    start = 0.0
    for row in rows:
        share, cumulative = (
            100 * time / total if total else float("nan")
            for time in (_time(row), start + _time(row))
        )
        first = row.mean if row.first is None else row.first
        cells = [row.type, *map(_number, (start, first, row.mean))]
        cells += [f"{_number(share)}%", f"{_number(cumulative)}%", "0.000", str(row.calls)]
        name = row.name.replace(",", "\t") if layout == "csv" else row.name
        lines.append(_joined([*written(cells), name], layout))
        start += _time(row)
    return [*lines, ""]


def _number(value: float) -> str:
    return f"{value:.3f}"


def _joined(cells: list[str], layout: Layout) -> str:
    if "csv" in layout:
        return ", ".join(cells)
    if layout == "spaces":
        *values, name = cells
        return "".join(f"{value:>26}" for value in values) + f"  {name}"
    first, *rest, last = cells
    return f"\t{first:>24}\t" + "".join(f"{cell:>9}\t" for cell in rest) + last


def log(*parts: str, prefix: str = "", initialisation: list[Row] | None = None) -> str:
    """Return a whole log with these tables of the model's runs."""
    lines = """STARTING!
Num threads: [4]
Loaded model net.tflite
Running benchmark for at least 1 iterations and at least 0.5 seconds
count=5 first=90 curr=80 min=70 max=90 avg=80.5 std=1

Running benchmark for at least 50 iterations and at least 1 seconds
count=50 first=9000 curr=8000 min=7000 max=9000 avg=8000 std=52

Inference timings in us: Init: 52687, First inference: 9000, Warmup (avg): 80.5, Inference (avg): 8000
"""
    if initialisation is not None:
        lines += f"{START}\n{part(initialisation, runs=1)}\n\n"
    lines += f"{RUNS}\n{''.join(parts)}\n"
    return "\n".join(f"{prefix}{line}".rstrip(" ") for line in lines.split("\n"))
