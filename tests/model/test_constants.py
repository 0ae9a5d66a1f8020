"""Sizes of constants count as memory only in the output formats of the original tool."""

from __future__ import annotations

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.constants import UNKNOWN_SIZE, memory_without_constants
from profile_analyze.report.formats.output_formats import OPERATORS, find_renderer
from tests.conftest import FIXTURES, PROFILES, TABLE_FORMATS, run_command

NAN = float("nan")
RESNET = str(PROFILES / "resnet18.json")


def test_a_constant_moves_nothing_and_keeps_its_size() -> None:
    memory, source, sizes = memory_without_constants(
        np.array([8.0, 4.0, NAN, NAN]), np.array([False, True, True, False])
    )
    np.testing.assert_array_equal(memory, [8, 0, 0, NAN])
    np.testing.assert_array_equal(sizes, [NAN, 4, UNKNOWN_SIZE, NAN])
    assert source.values().tolist() == ["measured", "derived", "derived", "measured"]


def memory_of(operators: pa.Operators) -> dict[str, tuple[float, str]]:
    sources = operators.source_of("memory").values()
    return {
        name: (memory, source)
        for name, memory, source in zip(
            operators.name.values(), operators.memory.tolist(), sources, strict=True
        )
    }


def test_constants_can_be_counted_as_in_the_file() -> None:
    profile = pa.load(PROFILES / "tiny.json")
    assert memory_of(profile.operators)["const<1>[2]"] == (0, "derived")
    counted = pa.counting_constants(profile)
    assert memory_of(counted.operators) == memory_of(profile.operators) | {
        "const<1>[2]": (4, "measured")
    }
    assert counted.operators.memory_source.categories == ("measured",)
    # A second call changes nothing, because each call sets the memory to the size.
    assert memory_of(pa.counting_constants(counted).operators) == memory_of(counted.operators)


@pytest.mark.parametrize("side", ["profile", "base"])
def test_constants_are_counted_on_both_sides_of_a_comparison(side: str) -> None:
    comparison = pa.compare(pa.load(PROFILES / "tiny.json"), pa.load(PROFILES / "tiny.json"))
    operators = getattr(pa.counting_constants(comparison), side).operators
    assert memory_of(operators)["const<1>[2]"] == (4, "measured")


WITH_CONSTANTS = {"table": "137.11   │ 1.29", "wiki": "137.1 |              1321.7 |"}
"""The memory and the bandwidth in each format of the original tool."""


@pytest.mark.parametrize(
    "output_format",
    [one for one in TABLE_FORMATS if find_renderer(one).has_tables and one != OPERATORS],
)
def test_only_formats_of_the_original_tool_count_constants(output_format: str) -> None:
    renderer = find_renderer(output_format)
    without = "97035808.0" if renderer.for_programs else "92.54 MiB"
    memory = WITH_CONSTANTS[output_format] if renderer.follows_original else without
    columns = () if renderer.follows_original else ("--columns", "memory")
    answer = run_command(
        RESNET, "--aggregate", "sum", "--print-only", "device", "--format", output_format, *columns
    )
    assert (answer.code, answer.err) == (0, "")
    assert memory in answer.out


def test_constants_that_only_the_baseline_has_keep_unknown_memory() -> None:
    comparison = pa.compare(pa.load(PROFILES / "smallcnn.json"), pa.load(PROFILES / "tiny.json"))
    counted = pa.counting_constants(comparison).profile.operators
    names = counted.name.values().tolist()
    assert np.isnan(counted.memory[names.index("const<1>[2]")])
    assert counted.source_of("memory").values()[names.index("const<1>[2]")] == "unknown"


def test_the_causes_of_a_difference_do_not_depend_on_the_output_format() -> None:
    """The format `table` counts constants as memory in its rows, but not in its summary."""
    runs = FIXTURES / "runs"
    sides = (str(runs / "changed"), "--compare", str(runs / "base"))
    causes = []
    for output_format in ("table", "plain"):
        arguments = ("--print-only", "summary", "--notes", "none", "--time-unit", "ms")
        outcome = run_command(*sides, *arguments, "--format", output_format)
        causes += [line for line in outcome.out.splitlines() if line.startswith("difference by")]
    assert (
        causes
        == [
            "difference by cause: more work +16.942 ms (conv(l.2.RELU[1],fuse[2186]@2187)[3348]), time "
            "per work -4.716 ms (45 operators, the largest conv(l.2.RELU[0],fuse[2080]@2081)[3334] "
            "-1.580 ms), residual -14.306 ms (medians do not add up)"
        ]
        * 2
    )


WITHOUT_SIZES = str(PROFILES / "derived-nofootprint.json")
"""A profile without footprints, so that the sizes of its constants are unknown."""


@pytest.mark.parametrize("work", [(), ("--work", "measured"), ("--work", "derived")])
def test_a_constant_of_unknown_size_moves_nothing(work: tuple[str, ...]) -> None:
    arguments = ("--type", "ImmutableTensor", "-t", "1", "--notes", "none", "--format", "csv")
    answer = run_command(WITHOUT_SIZES, *arguments, "--columns", "name,memory,memory_source", *work)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "name,memory_bytes,memory_source\r\ndw.weight,0.0,derived\r\n"


def test_constants_of_unknown_size_are_not_operators_of_unknown_memory() -> None:
    answer = run_command(
        *(WITHOUT_SIZES, "--peaks", "10TFLOPS:100GB/s", "--print-only", "summary"),
        *("--format", "plain", "--notes", "none"),
    )
    assert (
        "operators of unknown memory take the most time in these types: ConvolutionForward 82.4%, "
        "Elemwise 4.9%, AxisAddRemove 0.7%\n"
    ) in answer.out


def test_the_original_formats_do_not_know_the_size_of_such_a_constant() -> None:
    answer = run_command(WITHOUT_SIZES, "--type", "ImmutableTensor", "-t", "1")
    row = next(line for line in answer.out.splitlines() if "dw.weight" in line)
    assert [cell.strip() for cell in row.split("│")[4:8]] == ["N/A"] * 4
    counted = pa.counting_constants(pa.load(WITHOUT_SIZES)).operators
    assert memory_of(counted)["dw.weight"] == pytest.approx((NAN, "unknown"), nan_ok=True)
