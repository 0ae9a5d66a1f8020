"""Times for people have the same unit and number of decimals in each part of a report."""

from __future__ import annotations

import json
import re
from math import inf, nan

import pytest

import profile_analyze as pa
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.wording import value_text
from profile_analyze.model.executions import Run
from profile_analyze.report.layout.times import ORIGINAL, TIME_UNITS, Times, TimeUnit, times_for
from profile_analyze.units import short_time
from tests import in_memory
from tests.conftest import PROFILES, run_command
from tests.small import Operator, profile_of

TINY = str(PROFILES / "tiny.json")


@pytest.mark.parametrize(
    ("largest_s", "wanted", "times"),
    [
        (2000.0, "auto", Times("s", 3)),
        (1.0, "auto", Times("s", 3)),
        (0.999, "auto", Times("ms", 3)),
        (1e-3, "auto", Times("ms", 3)),
        (0.0009, "auto", Times("us", 3)),
        (1e-6, "auto", Times("us", 3)),
        (9e-7, "auto", Times("ns", 1)),
        (1e-12, "auto", Times("ns", 1)),
        (0.0, "auto", Times("s", 3)),
        (0.103739, "s", Times("s", 6, is_fixed=True)),
        (0.103739, "ms", Times("ms", 3, is_fixed=True)),
        (0.103739, "us", Times("us", 0, is_fixed=True)),
        (0.103739, "ns", Times("ns", 0, is_fixed=True)),
        (9e-7, "s", Times("s", 10, is_fixed=True)),
        (9e-7, "us", Times("us", 4, is_fixed=True)),
    ],
)
def test_the_largest_time_chooses_unit_and_decimals(
    largest_s: float, wanted: TimeUnit, times: Times
) -> None:
    assert times_for([largest_s / 10, -largest_s, nan, inf, 0.0], wanted) == times


def test_times_without_a_number_are_in_seconds() -> None:
    assert times_for([], "auto") == times_for([nan], "auto") == Times("s", 3)


@pytest.mark.parametrize(
    ("time_s", "text", "signed"),
    [
        (0.00878, "8.780", "+8.780"),
        (-0.00878, "-8.780", "-8.780"),
        (5.1e-7, "0.001", "+0.001"),
        (4e-7, "<0.001", "+0.0004"),
        (-4e-7, ">-0.001", "-0.0004"),
        (-9.6e-11, ">-0.001", "-0.0000001"),
        (-4e-11, ">-0.001", "0"),
        (0.0, "0", "0"),
        (-0.0, "0", "0"),
        (nan, "N/A", "N/A"),
        (1e300, "1.000e+303", "+1.000e+303"),
        (inf, "N/A", "N/A"),
    ],
)
def test_small_times_are_not_shown_as_0(time_s: float, text: str, signed: str) -> None:
    times = Times("ms", 3)
    assert times.number(time_s) == text
    assert times.number(time_s, signed=True) == signed
    assert times.text(time_s) == (text if text == "N/A" else f"{text} ms")
    assert times.total(time_s) == times.copy_time(time_s) == times.text(time_s)


@pytest.mark.parametrize(
    ("time_s", "in_auto", "in_s"),
    [
        (0.019, "+19.0 ms", "+0.019 s"),
        (-2e-5, "-20.0 us", "-0.00002 s"),
        (-0.1, "-0.100 s", "-0.100 s"),
    ],
)
def test_small_differences_in_sentences_have_their_own_unit(
    time_s: float, in_auto: str, in_s: str
) -> None:
    times = times_for([2.3], "auto")
    assert times.text(time_s, signed=True) == in_auto
    assert times_for([2.3], "s").text(time_s, signed=True) == in_s
    if time_s > 0:
        assert times.text(time_s) == in_s[1:]


@pytest.mark.parametrize(
    ("time_s", "in_us", "in_ms", "signed"),
    [
        (0.9999999994, "999999.999 us", "1000.000 ms", "+999999.999 us"),
        (0.9999999996, "1000.000 ms", "1000.000 ms", "+1000.000 ms"),
        (13.336315805, "13.336 s", "13336.316 ms", "+13.336 s"),
        (-13.336315805, "-13.336 s", "-13336.316 ms", "-13.336 s"),
        (2e6, "2000000.000 s", "2000000.000 s", "+2000000.000 s"),
    ],
)
def test_a_time_of_many_digits_has_its_own_unit(
    time_s: float, in_us: str, in_ms: str, signed: str
) -> None:
    """For example, a program may wait for seconds between kernels of microseconds."""
    in_micros = times_for([1.76e-6], "auto")
    assert (in_micros.text(time_s), in_micros.total(time_s)) == (in_us, in_us)
    assert in_micros.text(time_s, signed=True) == signed
    assert times_for([1.76e-3], "auto").text(time_s) == in_ms
    assert times_for([1.76e-6], "us").text(time_s) == f"{time_s * 1e6:.3f} us"
    assert times_for([2.3], "auto").text(time_s) == f"{time_s:.3f} s"


def test_a_time_may_be_too_large_for_its_unit() -> None:
    assert Times("ns", 0).number(1.5e306) == "1.500e+315"


def test_sums_of_the_same_times_in_another_order_have_one_text() -> None:
    one, other = 0.0016595 + 0.001806 + 0.000684, 0.000684 + 0.001806 + 0.0016595
    assert (f"{one * 1e3:.3f}", f"{other * 1e3:.3f}") == ("4.149", "4.150")
    assert Times("ms", 3).number(one) == Times("ms", 3).number(other) == "4.149"


@pytest.mark.parametrize("half_us", [4001, 4913, 4999, 5997])
def test_a_time_between_two_roundings_has_one_text(half_us: int) -> None:
    """Such as 2.4565 ms, which the format github writes in facts and in conditions."""
    time_s = half_us / 2e6
    alike = (time_s, time_s * (1 + 4e-16), time_s * (1 - 4e-16))
    texts = {*map(Times("ms", 3).text, alike), *(short_time(one, 4) for one in alike)}
    assert len(texts) == 1


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20])
def test_totals_in_another_order_have_no_difference(scale: float) -> None:
    """The totals differ in the last digit: 0.6 and 0.6000000000000001."""

    def compared(*times: float) -> pa.Profile:
        executions = [{"operator": n, "duration_s": time * scale} for n, time in enumerate(times)]
        names = [{"name": name, "type": "Conv"} for name in "abc"]
        return in_memory.profile_of(names, executions)

    source = pa.compare(compared(0.1, 0.2, 0.3), compared(0.3, 0.2, 0.1))
    report = pa.Report.of(pa.summarise(source), ())
    record = json.loads(pa.render(report, "json"))["summary"]["comparison"]
    assert 0 < abs(record["difference_s"]) < 1e-15 * scale  # as it is, for programs
    for output_format in ("plain", "markdown", "table", "wiki"):
        text = pa.render(report, output_format)
        assert isinstance(text, str)
        assert re.search(r"difference\W* 0(\.0)? (ns|s) \(0\.0%\)", text), text
        assert "+" not in text
        assert "largest differences" not in text


def test_rounding_noise_is_no_difference() -> None:
    noise_s, tick_s = 5.42e-20, 1e-10
    for times, zero in ((times_for([1.57e-4], "auto"), "0 us"), (ORIGINAL, "0.0 s")):
        assert times.text(noise_s, signed=True) == times.text(-noise_s, signed=True) == zero
        assert times.text(tick_s, signed=True).startswith("+")
        assert times.text(noise_s) not in (zero, times.text(0.0))  # a time, not a difference
    texts = [value_text(find_column("difference"), value) for value in (noise_s, -noise_s, tick_s)]
    assert texts == ["0.0", "0.0", "+1e-10"]
    texts = [value_text(find_column("change"), value) for value in (2e-16, -2e-16, 1e-4, -1e-4)]
    assert texts == ["0.0%", "0.0%", "+0.0%", "-0.0%"]


def test_without_decimals_the_least_time_is_1() -> None:
    assert Times("us", 0).number(4e-7) == "<1"
    assert Times("us", 0).number(6e-7) == "1"


def test_the_original_has_seconds_with_three_digits() -> None:
    assert ORIGINAL.as_original
    assert ORIGINAL.number(0.0087824) == "0.00878"
    assert ORIGINAL.number(0.0087824, signed=True) == "+0.00878"
    assert ORIGINAL.text(0.0087824) == "0.00878 s"
    assert ORIGINAL.total(0.10373912) == "0.103739"
    assert ORIGINAL.copy_time(0.01234567) == "0.0123"
    assert (ORIGINAL.title("lost (s)"), ORIGINAL.original_title("time")) == ("lost (s)", "time")
    assert Times("ms").title("lost (s)") == "lost (ms)"
    assert Times("ms").original_title("time") == "time (ms)"


UNITS = {
    ("plain", "auto"): """\
total device time  2.000 ms
total host time    N/A

device self time (ms)   share  type  name
                2.000  100.0%  Conv  conv
               <0.001    0.0%  Relu  relu
                    0    0.0%  Add   add
""",
    ("plain", "us"): """\
total device time  2000 us
total host time    N/A

device self time (us)   share  type  name
                 2000  100.0%  Conv  conv
                   <1    0.0%  Relu  relu
                    0    0.0%  Add   add
""",
    ("markdown", "s"): """\
| total             |      value |
|:------------------|-----------:|
| total device time | 0.002000 s |
| total host time   |        N/A |

| name   | type   |   device self time (s) |   share |
|:-------|:-------|-----------------------:|--------:|
| conv   | Conv   |               0.002000 |  100.0% |
| relu   | Relu   |              <0.000001 |    0.0% |
| add    | Add    |                      0 |    0.0% |
""",
    ("table", "ms"): """\
-----------------  --------
total device time  2.000 ms
total host time    N/A
-----------------  --------

╒═════════════════════════╤═══════════════════╤═════════════════╤═══════════════╤═════════╤══════════╤═════════════╤═════════════╤══════════════╕
│ device self time (ms)   │ cumulative (ms)   │ operator info   │ computation   │ FLOPS   │ memory   │ bandwidth   │ in_shapes   │ out_shapes   │
╞═════════════════════════╪═══════════════════╪═════════════════╪═══════════════╪═════════╪══════════╪═════════════╪═════════════╪══════════════╡
│ #0                      │ 2.000             │ conv            │ N/A           │ N/A     │ N/A      │ N/A         │ {}          │ {}           │
│ 2.000                   │ 100.0%            │ Conv            │ FLO           │ FLOPS   │ byte     │ byte/s      │             │              │
│ 100.0%                  │                   │ 0               │               │         │          │             │             │              │
╘═════════════════════════╧═══════════════════╧═════════════════╧═══════════════╧═════════╧══════════╧═════════════╧═════════════╧══════════════╛
""",
    ("wiki", "ms"): """\
| name              | value    |
|-------------------|----------|
| total device time | 2.000 ms |
| total host time   | N/A      |

|   # |   time (ms) | ratio   | time bar        |   cum-time (ms) |   cum-time ratio | opr name   | opr type   |   opr id | computation (MFLO)   | MFLOPS   | MFLOPS-bar   | memory (MB)   | bandwidth (MiB/s)   | bandwidth bar   | in_shapes   | out_shapes   |
|-----|-------------|---------|-----------------|-----------------|------------------|------------|------------|----------|----------------------|----------|--------------|---------------|---------------------|-----------------|-------------|--------------|
|   0 |       2.000 | 100.0%  | ############### |           2.000 |           0.9998 | conv       | Conv       |        0 | N/A                  | N/A      |              | N/A           | N/A                 |                 | {}          | {}           |
""",
}


@pytest.mark.parametrize(("output_format", "unit"), UNITS)
def test_whole_reports_in_a_unit(output_format: str, unit: TimeUnit) -> None:
    profile = profile_of(
        [Operator("conv", "Conv", 2000), Operator("relu", "Relu", 0.4), Operator("add", "Add", 0)]
    )
    query = pa.Query(top=1 if output_format in ("table", "wiki") else 3)
    report = pa.Report.of(pa.summarise(profile), (pa.run(query, profile),))
    text = pa.render(report, output_format, display=pa.Display(time_unit=unit))
    assert text == UNITS[output_format, unit]


def test_a_part_has_one_unit_for_all_its_columns() -> None:
    profile = profile_of([Operator("a", "A", 4000), Operator("b", "B", 3)])
    table = pa.run(pa.Query(top=0), profile)
    assert pa.render(table, "plain", columns="name,time,cumulative_time") == (
        "name  device self time (ms)  cumulative time (ms)\n"
        "a                     4.000                 4.000\n"
        "b                     0.003                 4.003\n"
    )


def test_the_total_in_the_summary_has_three_digits() -> None:
    profile = in_memory.profile_of(
        [{"name": "conv", "type": "Conv"}],
        [{"operator": 0, "duration_s": 66e-3}],
        runs=[Run(wall_s=1.2)],
    )
    assert pa.render(pa.Report.of(pa.summarise(profile)), "plain").splitlines() == [
        "total device time   66.000 ms",
        "total host time     N/A",
        "wall time of a run  1200.000 ms (operators: 5.5%, outside of them: 1134.000 ms)",
    ]


@pytest.mark.parametrize("unit", TIME_UNITS)
def test_formats_for_programs_have_their_own_units(unit: str) -> None:
    for output_format in ("csv", "json", "jsonl", "junit", "github"):
        is_sentences = output_format in ("junit", "github")
        units = "chooses the units of times" if is_sentences else "has times in seconds"
        gate = ["--fail-if", "total > 1s"]
        outcome = run_command(TINY, "--format", output_format, "--time-unit", unit, *gate)
        if unit == "auto":
            assert outcome.code == 4  # too few runs to judge the condition
        else:
            assert (outcome.code, outcome.out, outcome.err) == (
                2,
                "",
                f"profile_analyze: error: {output_format} {units}, so --time-unit has no effect; "
                "leave it out\n",
            )
