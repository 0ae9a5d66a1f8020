"""Rules on the totals: what they add up, which runs they cover, and whether runs are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words


def _times_are_means(_: Words, *, inferences: int | None, has_spread: bool) -> str:
    several = "several inferences" if inferences is None else counted(inferences, "inference")
    if not has_spread:
        kind = "from a single inference" if inferences == 1 else f"means over {several}"
        return f"times are {kind}; how much they vary is not known"
    if inferences == 1:
        return "the times of each run are from a single inference"
    return f"times are means over {several}; single inferences vary more than these runs"


def _synchronised(_: Words, *, factor: float | None) -> str:
    text = "the runtime waited for each operator before the next, so times include that wait"
    if factor is None:
        return f"{text}, which matters for short operators"
    return f"{text}: all operators together take {factor:.3g} times as long as a whole run"


def _runs_among(chosen: int, runs: int, run: int, process: str | None) -> str:
    """Return how many runs are chosen, and the first of them: `2 of 5 runs (such as run 3)`."""
    such_as = "" if chosen == 1 else "such as "
    of_process = "" if process is None else f" of {process}"
    return f"{chosen} of {counted(runs, 'run')} ({such_as}run {run}{of_process})"


def _runs_without_device_time(
    _: Words, *, chosen: int, runs: int, run: int, process: str | None
) -> str:
    verb, these = ("has", "this run") if chosen == 1 else ("have", "these runs")
    return (
        f"{_runs_among(chosen, runs, run, process)} {verb} no device time, so totals, host times "
        f"and wall times leave out {these}; --aggregate-by run shows each run"
    )


def _unequal_runs(_: Words, *, chosen: int, runs: int, run: int, process: str | None) -> str:
    return (
        f"runs are very unequal: {_runs_among(chosen, runs, run, process)} "
        f"{'has' if chosen == 1 else 'have'} times of fewer than a tenth of the operators of "
        "another run; --aggregate-by run shows each run"
    )


def _warm_up(
    _: Words,
    *,
    time: str,
    skipped: int,
    runs: int,
    slow_processes: int,
    processes: int,
    multiple: float,
) -> str:
    some = f"all {processes}" if slow_processes == processes else f"{slow_processes} of {processes}"
    in_processes = "" if processes == 1 else f" in {some} processes"
    first = f"run {skipped + 1}" if runs == 1 else f"runs {skipped + 1} to {skipped + runs}"
    is_one = runs == 1 and slow_processes == 1
    is_up_to = "is" if is_one else "is up to" if runs == 1 else "are up to"
    return (
        f"the {time} {'time' if runs == 1 else 'times'} of {first}{in_processes} {is_up_to} "
        f"{multiple:.1f} times the median; --skip-runs {skipped + runs} leaves "
        f"{'it' if is_one else 'them'} out"
    )


def _outliers(
    _: Words,
    *,
    run: int,
    process: str | None,
    outliers: int,
    multiple: float,
    outside: float | None,
) -> str:
    of_process = "" if process is None else f" of {process}"
    others = "" if outliers == 1 else f", the slowest of {outliers} outliers,"
    where = "" if outside is None else f", {percent(outside)} of it outside of operators"
    return (
        f"the wall time of run {run}{of_process}{others} is {multiple:.1f} times the "
        f"median{where}; --aggregate-by run shows each run"
    )


def _busy_host(_: Words, *, multiple: float) -> str:
    return (
        f"the host works {multiple:.1f} times as long as the device, so the device probably waits "
        "for the host; --show-host shows the host times"
    )


def _several_tracks(
    words: Words,
    *,
    noun: str,
    times_s: Sequence[tuple[str, float]],
    process: str,
    devices: int,
    busy_s: float | None,
    adds_up: bool,
) -> str:
    where = process and f" in {process}"
    overlap = ", which may have run at the same time"
    if busy_s is not None:
        busiest = "device" if devices == 1 else "busiest device"
        overlap = f", while the {busiest} worked for {words.time(busy_s)}"
    sums, rule = "is the sum of", ""
    if not adds_up:
        sums, rule = "is of", "; for an operator on several, only the slowest counts"
    parts = ", ".join(f"{words.time(time_s)} on {name}" for name, time_s in times_s)
    return f"the device time {sums} {counted(len(times_s), noun)}{where}{overlap}: {parts}{rule}"


def _several_ranks(words: Words, *, ranks: int, times_s: Sequence[tuple[int, float]]) -> str:
    texts = [f"{words.time(time_s)} on rank {rank}" for rank, time_s in times_s]
    times = f"from {' to '.join(texts)}" if ranks > len(texts) else ", ".join(texts)
    return f"the device time is the sum of {ranks} ranks: {times}; --aggregate-by rank shows each"


def _left_out_bodies(_: Words, *, operators: int, idle: int) -> str:
    some = "operator" if idle == 1 else "operators"
    never = f"; {idle} of these {some} never run" if idle else ""
    return (
        f"totals leave out {counted(operators, 'operator')} in bodies of If, Loop or Scan; their "
        f"rows show the work of one execution of the body{never}"
    )


RULES: Final = (
    Rule("times-are-means", "the file has means over inferences", _times_are_means),
    Rule("synchronised", "the runtime waited for each operator to end", _synchronised),
    Rule(
        "runs-without-device-time",
        "runs have no device time, although others have one",
        _runs_without_device_time,
    ),
    Rule(
        "unequal-runs",
        "runs did hardly any of the work of another run",
        _unequal_runs,
        threshold="a tenth of the operators of another run of the process",
    ),
    Rule(
        "warm-up",
        "the first runs of a process took longer than its other runs",
        _warm_up,
        threshold="1.2 times the median of at least three runs",
    ),
    Rule(
        "outliers",
        "runs after the first ones took far longer than the median run",
        _outliers,
        threshold="3 times the median of at least three runs",
    ),
    Rule(
        "few-device-times",
        "most operators lack a device time",
        "only {recorded} of {operators} operators {recorded:has/have} a device time; totals and "
        "shares leave out the other operators",
        threshold="half of the operators",
    ),
    Rule(
        "too-large-total",
        "the sum of the times is too large to represent",
        "the total {side} time is N/A: the sum of the times is too large to represent",
    ),
    Rule(
        "zero-total",
        "the total device time is 0",
        "the total device time is 0, so shares of it are N/A",
    ),
    Rule(
        "busy-host",
        "the host works far longer than the device, which then probably waits",
        _busy_host,
        threshold="twice as long, unless the device is busy for half of a run",
        limits="whether the device waits",
    ),
    Rule("several-tracks", "the device time is the sum of several tracks", _several_tracks),
    Rule("several-ranks", "the device time is the sum of several ranks", _several_ranks),
    Rule("left-out-bodies", "a model has operators in bodies", _left_out_bodies),
    Rule(
        "no-stacks",
        "no execution with a time was selected",
        "no stack: no execution with a time on the {side} was selected",
    ),
    Rule(
        "short-copy-time",
        "the original's format would show a copy time above 0 as 0",
        "the copy time is {copy_s:time}, too short for four decimals; --format plain shows it",
        threshold="0.05 ms",
    ),
)
