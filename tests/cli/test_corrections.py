"""Answers where the original crashes or is wrong.

Numbers such as `f1` and `w21` in the names of tests are those of `docs/compatibility.md`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from profile_analyze.columns.catalog import listed
from profile_analyze.columns.kinds import RowKind
from profile_analyze.model.terms import SPLIT_KEYS
from tests.conftest import PROFILES, run_command

if TYPE_CHECKING:
    from pathlib import Path

OPERATOR_COLUMNS = listed(RowKind(None, split_by=SPLIT_KEYS).orderable())
GROUP_COLUMNS = listed(RowKind(("type",)).orderable())
TWO_DEVICES = (
    "note: the device time is the sum of 2 comp nodes, which may have run at the same time: "
    '18.6 ms on CompNode("cpu0:0" from "xpux:0"), 13.3 ms on CompNode("cpu1:0" from "xpu1:0")\n'
)


def rows_of(profile: str, *arguments: str, err: str = "") -> list[list[str]]:
    """Return the rows of a table; the lines of a cell are joined by spaces.

    The first cells of an operator are times, running sums, and its name, type and id.
    """
    outcome = run_command(str(PROFILES / f"{profile}.json"), "--print-only", "device", *arguments)
    assert (outcome.code, outcome.err) == (0, err)
    rows: list[list[str]] = []
    fresh = True
    for line in outcome.out.splitlines()[3:]:
        if not line.startswith("│"):
            fresh = True
            continue
        parts = [part.strip() for part in line.strip("│").split("│")]
        if fresh:
            rows.append(parts)
            fresh = False
        else:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], parts, strict=True)]
    return rows


def column(index: int, profile: str, *arguments: str, err: str = "") -> list[str]:
    return [row[index] for row in rows_of(profile, *arguments, err=err)]


def usage_error(*arguments: str) -> str:
    outcome = run_command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("profile_analyze: error: ")
    assert outcome.err.count("\n") == 1
    return outcome.err.removeprefix("profile_analyze: error: ").rstrip("\n")


def edited(tmp_path: Path, profile: str, **changes: Any) -> str:
    """Copy a profile, replace or remove (None) fields of every device time, and return the path."""
    document = json.loads((PROFILES / f"{profile}.json").read_text())
    for comp_nodes in document["profiler"]["device"].values():
        for interval in comp_nodes.values():
            for key, value in changes.items():
                if value is None:
                    del interval[key]
                else:
                    interval[key] = value
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(document))
    return str(path)


# positions of cells in a row
COMPUTATION, FLOPS, MEMORY, BANDWIDTH = 3, 4, 5, 6


def test_f1_unknown_values_sort_last() -> None:
    for direction in ("", "+"):
        values = column(COMPUTATION, "resnet18", "--order-by", f"{direction}computation", "-t", "0")
        assert values.count("N/A FLO") == 42
        assert set(values[49:]) == {"N/A FLO"}
    assert column(COMPUTATION, "resnet18", "--order-by", "computation", "-t", "2") == [
        "236.03 MFLO",
        "231.21 MFLO",
    ]
    smallest = column(COMPUTATION, "resnet18", "--order-by", "+computation", "-t", "1")
    assert smallest == ["1.00 KFLO"]


def test_f2_extremes_ignore_unknown_values() -> None:
    values = column(COMPUTATION, "resnet18", "--aggregate-by", "type", "--aggregate", "max")
    assert values == ["236.03 MFLO", "1.81 MFLO", "1.02 MFLO"]
    constant = ["--aggregate", "min", "--type", "ImmutableTensor"]
    assert column(COMPUTATION, "resnet18", *constant) == ["N/A FLO"]


def test_f3_grouping_sums_by_default() -> None:
    by_type = ["resnet18", "-t", "0", "--aggregate-by", "type"]
    assert rows_of(*by_type) == rows_of(*by_type, "--aggregate", "sum")


@pytest.mark.parametrize("arguments", [[], ["--aggregate-by", "type"]])
def test_f4_orders_by_text(arguments: list[str]) -> None:
    names = [row[2] for row in rows_of("tiny", "--order-by", "+type", "-t", "0", *arguments)]
    # of an operator: `NAME TYPE ID`; of a group: `TYPE ...`
    types = [name.split()[0 if arguments else -2] for name in names]
    assert types == sorted(types)
    assert len(types) == 4


@pytest.mark.parametrize("file", ["no such file", str(PROFILES / "resnet18.json")])
@pytest.mark.parametrize(
    ("order", "message"),
    [
        (
            "bogus",
            "there is no column 'bogus' to order by; did you mean bound (with --peaks)?",
        ),
        (
            "nonsense",
            f"there is no column 'nonsense' to order by; operators can be ordered by {OPERATOR_COLUMNS}",
        ),
        (
            "-time",
            "there is no column '-time' to order by; write time, which is largest first, or +time, "
            "which is smallest first",
        ),
        (
            "",
            "no column to order by in ''; a name is missing beside a comma; write no blank after a "
            "comma: type,name",
        ),
        ("+", "no column to order by in '+'; write a name after +, such as +time"),
        (
            "+in_shapes",
            f"operators cannot be ordered by 'in_shapes'; they can be ordered by {OPERATOR_COLUMNS}",
        ),
        (
            "info",
            f"there is no column 'info' to order by; operators can be ordered by {OPERATOR_COLUMNS}",
        ),
        (
            "count",
            f"operators cannot be ordered by 'count'; they can be ordered by {OPERATOR_COLUMNS}",
        ),
    ],
)
def test_f4_f5_a_wrong_order_is_a_usage_error(file: str, order: str, message: str) -> None:
    assert usage_error(file, f"--order-by={order}") == message


def test_f6_groups_have_no_id() -> None:
    message = f"groups cannot be ordered by 'id'; they can be ordered by {GROUP_COLUMNS}"
    assert usage_error("none", "--aggregate-by", "type", "--order-by", "+opr_id") == message


@pytest.mark.parametrize(
    ("options", "first_lines"),
    [
        ("--columns|opr_id, name~opr_id|--order-by|+opr_id, time", ["id,name~opr_id", "0,"]),
        ("--where|opr_id == 324|--columns|opr_id", ["id", "324"]),
        ("--where|name !~ opr_id|--columns|id|-t|1|--order-by|+opr_id", ["id", "0"]),
        ("--aggregate-by|name~opr_id|--columns|name~opr_id,count", ["name~opr_id,count", ",91"]),
    ],
)
def test_only_the_column_opr_id_is_renamed(options: str, first_lines: list[str]) -> None:
    outcome = run_command(str(PROFILES / "resnet18.json"), *options.split("|"), "--format", "csv")
    assert outcome.out.splitlines()[:2] == first_lines


def test_a_pattern_in_a_condition_keeps_opr_id() -> None:
    outcome = run_command(str(PROFILES / "resnet18.json"), "--where", "name ~ opr_id")
    assert "note: name ~ opr_id: no operator has this value" in outcome.err


def test_f7_without_copies_the_copy_time_is_not_available() -> None:
    path = str(PROFILES / "twocn.json")
    outcome = run_command(path, "--copy-time", "--print-only", "summary", "--type", "Concat")
    assert (outcome.code, outcome.err) == (0, TWO_DEVICES)
    assert outcome.out == (
        "-----------------  --------\n"
        "total device time  0.031907\n"
        "total host time    0.000238\n"
        "copy time          N/A\n"
        "copy wait time     N/A\n"
        "-----------------  --------\n"
    )


def test_f8_unknown_dtypes_do_not_match_and_are_counted() -> None:
    note = (
        "note: input dtype Float32: left out 12 operators (0.4% of the time) with an input of "
        "unknown dtype\n"
    )
    document = json.loads((PROFILES / "resnet18.json").read_text())
    graph, timed = document["graph_exec"], document["profiler"]["device"]
    of_float32 = {
        id_
        for id_, variable in graph["var"].items()
        if variable["mem_plan"] and variable["mem_plan"]["layout"]["dtype"] == "Float32"
    }
    wanted = {
        id_
        for id_, operator in graph["operator"].items()
        if id_ in timed and of_float32.intersection(operator["input"])
    }
    rows = rows_of("resnet18", "--input-dtype", "Float32", "-t", "0", err=note)
    assert {row[2].split()[-1] for row in rows} == wanted
    assert 0 < len(wanted) < len(timed)
    no_such = "note: input dtype Byte: no input is known to have it; the known dtypes are Float32\n"
    assert column(2, "direct-static", "--input-dtype", "Byte", err=no_such + NOTHING_OF_12) == []


NOTHING_OF_12 = "note: none of 12 operators with a device time matches\n"
ZERO = "note: the total device time is 0, so shares of it are N/A"


def test_f9_shares_of_a_total_of_0_are_not_available() -> None:
    (row,) = rows_of("derived-zero", "-t", "1", err=f"{ZERO}\n")
    assert row[0] == "#0 0.0 N/A"
    assert row[1] == "0.0 N/A"
    wiki = run_command(str(PROFILES / "derived-zero.json"), "--wiki", "--print-only", "device")
    assert wiki.code == 0
    assert [cell.strip() for cell in wiki.out.splitlines()[2].split("|")][2:7] == [
        *("0", "N/A", "", "0", "N/A"),
    ]
    hint = (
        "note: all device times of OpenCL are 0, because OpenCL measures only after "
        "CompNode::enable_opencl_profile(true)\n"
    )
    outcome = run_command(str(PROFILES / "derived-opencl-zero.json"), "--print-only", "summary")
    assert (outcome.code, outcome.err) == (0, f"{hint}{ZERO}\n")
    assert outcome.out.splitlines()[1:3] == [
        "total device time  0",
        "total host time    7.6e-05",
    ]


WIKI_HEADER = (
    "| #   | time   | ratio   | time bar   | cum-time   | cum-time ratio   | opr name   | opr type"
    "   | opr id   | computation (MFLO)   | MFLOPS   | MFLOPS-bar   | memory (MB)   "
    "| bandwidth (MiB/s)   | bandwidth bar   | in_shapes   | out_shapes   |\n"
)


def test_f10_an_empty_wiki_table_keeps_its_header() -> None:
    path = str(PROFILES / "tiny.json")
    outcome = run_command(path, "--wiki", "--min-time", "1e9", "--print-only", "device")
    assert outcome.code == 0
    header, rule = outcome.out.splitlines(keepends=True)
    assert header == WIKI_HEADER
    assert set(rule) == set("|-\n")


def test_f11_f12_unknown_values_have_no_bar() -> None:
    path = str(PROFILES / "derived-nofootprint.json")
    outcome = run_command(path, "--wiki", "-t", "1", "--print-only", "device")
    assert outcome.code == 0
    row = [cell.strip() for cell in outcome.out.splitlines()[2].split("|")]
    assert row[10:] == ["N/A", "N/A", "", "N/A", "N/A", "", "N/A", "N/A", ""]
    everything = ("--wiki", "-t", "0", "--print-only")
    device = run_command(str(PROFILES / "resnet18.json"), *everything, "device")
    assert device.code == 0
    took_no_time = [cell.strip() for cell in device.out.splitlines()[-1].split("|")]
    time, time_bar, bandwidth, bandwidth_bar = (took_no_time[index] for index in (2, 4, 14, 15))
    assert (time, time_bar, bandwidth, bandwidth_bar) == ("0", "", "N/A", "")
    host = run_command(str(PROFILES / "resnet18.json"), *everything, "host")
    assert host.code == 0
    assert "nan" not in device.out + host.out


def test_f13_units_have_prefixes_beyond_peta() -> None:
    (row,) = rows_of("derived-huge", "-t", "1")
    assert row[3:7] == ["2.36 EFLO", "19.83 ZFLOPS", "10.62 TiB", "87.13 PiB/s"]


def test_f14_the_operator_list_can_show_groups() -> None:
    path = str(PROFILES / "resnet18.json")
    only = ["--dump-only-opr", "--print-only", "device"]
    assert run_command(path, *only, "--aggregate", "sum").out == "all 91 N/A\n"
    assert run_command(path, *only, "--aggregate-by", "type", "-t", "2").out == (
        "ConvolutionForward 20 N/A\nElemwise 26 N/A\n"
    )


def test_f15_times_that_are_not_finite_are_not_available() -> None:
    note = (
        "note: the device time of 2 operators is N/A: in the file, it is missing or not "
        "finite, or its end is before its start\n"
    )
    rows = rows_of("derived-infstring", "-t", "0", "--order-by", "+time", err=note)
    assert [row[0] for row in rows[-2:]] == ["#30 N/A N/A", "#31 N/A N/A"]
    assert all("N/A" not in row[0] for row in rows[:-2])


def test_f16_times_may_be_whole_seconds(tmp_path: Path) -> None:
    outcome = run_command(edited(tmp_path, "tiny", start=0, end=1), "--print-only", "device")
    assert (outcome.code, outcome.err) == (0, "")
    assert "│ 1.0                │" in outcome.out


def test_f17_a_wrong_pattern_is_a_usage_error() -> None:
    assert (
        usage_error("none", "--opr-name", "(")
        == "pattern '(', at character 2: missing ); write \\( for the character ("
    )
    nested = usage_error("none", "--opr-name", "(" * 3000 + "a" + ")" * 3000)
    assert nested == f"pattern {'(' * 40!r}... is nested too deeply"
    repeated = usage_error("none", "--opr-name", f"a{{{'9' * 5000}}}")
    assert repeated == f"pattern 'a{{{'9' * 38}'... has a number of too many digits"
    assert usage_error("none", "--opr-name", "a**").startswith("pattern 'a**', at character ")


def test_f18_without_kern_the_wait_time_is_not_available(tmp_path: Path) -> None:
    path = edited(tmp_path, "tiny", kern=None)
    outcome = run_command(path, "--print-only", "device", "--top-end-key", "kern", "-t", "1")
    note = (
        "note: no operator has a device wait time: the profile does not say when the first kernel "
        "of an operator started; --top-end-key end shows the time to the end of each "
        "operator\n"
    )
    assert (outcome.code, outcome.err) == (0, note)
    assert outcome.out.splitlines()[3:6] == [
        "│ #0                 │ N/A          │ data            │ N/A           │ N/A     │ 0.00     "
        "│ N/A         │             │ {}           │",
        "│ N/A                │ N/A          │ InputCallback   │ FLO           │ FLOPS   │ byte     "
        "│ byte/s      │             │ {}           │",
        "│ N/A                │              │ 6               │               │         │          "
        "│             │             │              │",
    ]


def test_f18_an_operator_with_an_unknown_variable_has_a_row(tmp_path: Path) -> None:
    document = json.loads((PROFILES / "direct-static.json").read_text())
    for operator in document["graph_exec"]["operator"].values():
        operator["input"] = operator["output"] = ["unknown"]
    path = tmp_path / "unknown.json"
    path.write_text(json.dumps(document))
    outcome = run_command(str(path), "--input-dtype", "Float32", "--print-only", "device")
    assert outcome.code == 0
    assert outcome.err == (
        f"{NOTHING_OF_12}note: input dtype Float32: left out 12 operators (100.0% of the time) with "
        "an input of unknown dtype\n"
    )
    whole = run_command(str(path), "-t", "0", "--print-only", "device")
    assert (whole.code, whole.out.count("│ #")) == (0, 12)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_f19_boxes_are_ascii_if_the_encoding_lacks_box_characters(encoding: str) -> None:
    path = str(PROFILES / "tiny.json")
    outcome = run_command(path, "-t", "1", "--print-only", "device", encoding=encoding)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[0].startswith("+--------------------+--------------+")
    names = run_command(str(PROFILES / "derived-utf8names.json"), "-t", "1", encoding=encoding)
    assert r"| \u5377\u79ef\u5c42/\u4e0010 |" in names.out


def test_w1_w2_a_rate_over_no_time_is_not_available() -> None:
    for order in ("bandwidth", "+bandwidth"):
        values = column(BANDWIDTH, "resnet18", "--order-by", order, "-t", "0")
        known = [value for value in values if value != "N/A byte/s"]
        assert values == known + ["N/A byte/s"] * (91 - len(known))
        assert 0 < len(known) < 91
    group = ["--aggregate", "sum", "--type", "ImmutableTensor", "--max-time", "0"]
    assert column(BANDWIDTH, "resnet18", *group) == ["N/A byte/s"]


@pytest.mark.parametrize(("aggregate", "rate"), [("max", "43.40 GFLOPS"), ("min", "3.32 GFLOPS")])
def test_w3_the_largest_and_smallest_rates_are_rates_of_one_operator(
    aggregate: str, rate: str
) -> None:
    arguments = ["--aggregate", aggregate, "--type", "ConvolutionForward"]
    assert column(FLOPS, "mobilenet", *arguments) == [rate]


def test_w4_means_ignore_unknown_values() -> None:
    assert column(COMPUTATION, "resnet18", "--aggregate", "mean") == ["74.14 MFLO"]


def test_w5_rates_of_a_group_leave_out_the_time_of_unknown_work() -> None:
    document = json.loads((PROFILES / "resnet18.json").read_text())["profiler"]
    work = seconds = 0.0
    for id_, comp_nodes in document["device"].items():
        computation = document["opr_footprint"][id_]["computation"]
        if computation:
            work += computation
            seconds += sum(interval["end"] - interval["start"] for interval in comp_nodes.values())
    assert column(FLOPS, "resnet18", "--aggregate", "sum") == [f"{work / seconds / 1e9:.2f} GFLOPS"]


def test_w6_wait_times_are_labelled_as_wait_times() -> None:
    path = str(PROFILES / "resnet18.json")
    kern = ["--top-end-key", "kern", "-t", "1"]
    outcome = run_command(path, *kern, "--show-host")
    assert "│ device wait time   │" in outcome.out
    assert "│ host wait time   │" in outcome.out
    total = "note: shares are relative to the total device wait time, 33.0 us\n"
    (row,) = rows_of("resnet18", *kern, err=total)
    assert row[0] == "#0 1e-06 3.0%"
    assert (row[FLOPS], row[BANDWIDTH]) == ("N/A FLOPS", "N/A byte/s")
    (everything,) = rows_of("resnet18", *kern, "--aggregate", "sum", err=total)
    assert everything[0].endswith("100.0%")
    assert (everything[FLOPS], everything[BANDWIDTH]) == ("N/A FLOPS", "N/A byte/s")
    wiki = run_command(path, *kern, "--wiki", "--print-only", "device")
    assert wiki.out.startswith("|   # |   wait time | ratio   |")


def test_w7_a_thread_without_a_kernel_has_no_wait_time(tmp_path: Path) -> None:
    document = json.loads((PROFILES / "tiny.json").read_text())
    threads = {
        "without a kernel": {"start": 1.0, "kern": -1, "end": 5.0},
        "with one": {"start": 1.0, "kern": 1.25, "end": 2.0},
    }
    alone = {"without a kernel": threads["without a kernel"]}
    document["profiler"]["host"] = {"6": threads, "2": alone}
    path = tmp_path / "threads.json"
    path.write_text(json.dumps(document))
    only = ["--print-only", "host", "--top-end-key", "kern", "-t", "0"]
    outcome = run_command(str(path), *only, "--wiki")
    assert outcome.err.endswith("note: shares are relative to the total host wait time, 250 ms\n")
    rows = [line.split("|") for line in outcome.out.splitlines()[2:]]
    times = {row[9].strip(): (row[2].strip(), row[3].strip()) for row in rows}
    assert times == {"6": ("0.25", "100.0%"), "2": ("N/A", "N/A")}
    until_end = run_command(str(path), "--print-only", "host", "--wiki", "-t", "0")
    assert [line.split("|")[2].strip() for line in until_end.out.splitlines()[2:]] == ["4", "4"]


def test_w8_a_note_says_if_shapes_changed_between_runs() -> None:
    outcome = run_command(str(PROFILES / "trace-dyn.json"), "-t", "5")
    assert outcome.err == (
        "note: the shapes of 10 operators (99.7% of the time) changed between runs: computation, "
        "memory and shapes are from the first run, but times are from the last, so their FLOPS and "
        "bandwidth are wrong; profile with one input shape\n"
    )


def test_w9_a_note_says_that_a_pattern_matches_no_name() -> None:
    note = (
        "note: none of 91 operators with a device time matches\n"
        "note: the pattern '{}' matches no name; {}\n"
    )
    for pattern, hint in [
        ("CONV", "case matters; did you mean '(?i)CONV'?"),
        (
            "zz|RELU",
            "it must match from the start of a name; did you mean '.*(?:zz|RELU)'?",
        ),
        (
            "nothing",
            "there are FUSE_ADD_RELU(const{1,128,1,1}[2250],ADD"
            "..., const{1,128,1,1}[2250], ADD(l.2.RELU[1],conv[2241])[3360] and 94 more",
        ),
    ]:
        err = note.format(pattern, hint)
        assert rows_of("resnet18", "--opr-name", pattern, err=err) == []
    none_matches = "note: none of 91 operators with a device time matches\n"
    arguments = ["--opr-name", "conv", "--type", "PoolingForward"]
    assert rows_of("resnet18", *arguments, err=none_matches) == []
    untimed = none_matches.replace("\n", "; 1 operator without such a time would match\n")
    assert rows_of("resnet18", "--type", "Host2DeviceCopy", err=untimed) == []


def test_w10_a_note_says_that_no_operator_has_the_type() -> None:
    near = (
        "note: type conv: the profile has no such operator; did you mean ConvolutionForward?\n"
        "note: none of 91 operators with a device time matches\n"
    )
    assert rows_of("resnet18", "--type", "conv", err=near) == []
    spelt = near.replace("conv:", "ConvForward:").replace(
        "did you mean ConvolutionForward?", "did you mean ConvolutionForward or PoolingForward?"
    )
    assert rows_of("resnet18", "--type", "ConvForward", err=spelt) == []
    several = near.replace("conv:", "conv,pool:").replace(
        "did you mean ConvolutionForward?", "repeat --type for each type"
    )
    assert rows_of("resnet18", "--type", "conv,pool", err=several) == []
    by_count = near.replace(
        "type conv: the profile has no such operator; did you mean ConvolutionForward?",
        "type Q: the profile has no such operator; the most frequent are ImmutableTensor, "
        "Elemwise, ConvolutionForward, PoolingForward, Concat, InputCallback, GetVarShape, "
        "Subtensor",
    )
    outcome = run_command(str(PROFILES / "resnet18.json"), "--type", "Q", "--print-only", "device")
    assert outcome.err == by_count
    frequent = (
        "note: type NoSuchType: the profile has no such operator; the most frequent are "
        "InputCallback, ImmutableTensor, Elemwise, OutputCallback\n"
        "note: none of 4 operators with a device time matches\n"
    )
    assert rows_of("tiny", "--type", "NoSuchType", err=frequent) == []


def test_w11_cells_of_a_wiki_table_stay_cells() -> None:
    outcome = run_command(
        str(PROFILES / "names.json"), "--wiki", "-t", "0", "--print-only", "device"
    )
    lines = outcome.out.splitlines()
    assert len(lines) == 2 + 32
    assert {line.replace(r"\|", "").count("|") for line in lines} == {18}
    assert r"| a\|b\|c " in outcome.out
    assert r"| line1\nline2\ttab " in outcome.out
    strides = run_command(
        str(PROFILES / "odd-ops.json"), "--wiki", "-t", "0", "--print-only", "device"
    )
    assert len(strides.out.splitlines()) == 2 + 34
    assert "} -[" in strides.out


def test_w12_totals_have_one_format() -> None:
    outcome = run_command(str(PROFILES / "twocn.json"), "--copy-time", "--print-only", "summary")
    assert outcome.out == (
        "-----------------  ---------------------\n"
        "total device time  0.031907\n"
        "total host time    0.000238\n"
        "copy time          tot=0.0138 avg=0.0046\n"
        "copy wait time     tot=0.0138 avg=0.0046\n"
        "-----------------  ---------------------\n"
    )


def test_w13_time_limits_have_a_tolerance_of_half_a_nanosecond() -> None:
    document = json.loads((PROFILES / "smallcnn.json").read_text())["profiler"]["device"]
    microseconds = [
        round(sum(interval["end"] - interval["start"] for interval in comp_nodes.values()) * 1e6)
        for comp_nodes in document.values()
    ]
    rows = rows_of("smallcnn", "--min-time", "1e-6", "-t", "0")
    assert len(rows) == sum(time >= 1 for time in microseconds)
    nanosecond_more = rows_of("smallcnn", "--min-time", "1.001us", "-t", "0")
    assert len(nanosecond_more) == sum(time >= 2 for time in microseconds)
    nanosecond_less = rows_of("smallcnn", "--max-time", "0.999us", "-t", "0")
    assert len(nanosecond_less) == sum(time == 0 for time in microseconds)
    rows = rows_of("smallcnn", "--min-time", "1us", "--max-time", "2us", "-t", "0")
    assert len(rows) == sum(1 <= time <= 2 for time in microseconds)


def test_w14_each_device_has_its_total() -> None:
    assert run_command(str(PROFILES / "twocn.json")).err == TWO_DEVICES


@pytest.mark.parametrize("count", ["-1", "x", "1.5"])
def test_w17_top_is_a_number_of_rows(count: str) -> None:
    message = f"argument -t/--top: {count!r} is not a number of rows; 0 shows all"
    assert usage_error("none", f"-t={count}") == f"{message}; see profile-analyze --help"


def test_w18_columns_align_by_display_width() -> None:
    from wcwidth import wcswidth

    outcome = run_command(str(PROFILES / "derived-utf8names.json"), "-t", "0")
    widths = {wcswidth(line) for line in outcome.out.splitlines()[5:]}
    assert len(widths) == 1
    wiki = run_command(str(PROFILES / "derived-utf8names.json"), "-t", "0", "--wiki")
    assert len({wcswidth(line) for line in wiki.out.splitlines()[5:]}) == 1


def test_w20_an_operator_list_is_not_a_wiki_table() -> None:
    message = (
        "--dump-only-opr prints no table, so --confluence (or --wiki) has no effect; leave one "
        "out; a table of the names: --print-only device --columns name"
    )
    assert usage_error("none", "--dump-only-opr", "--wiki") == message


def test_w21_the_operator_list_has_one_line_for_each_operator() -> None:
    path = str(PROFILES / "names.json")
    outcome = run_command(path, "--dump-only-opr", "-t", "0", "--print-only", "device")
    lines = outcome.out.splitlines()
    assert len(lines) == 32
    assert r"line1\nline2\ttab ConvolutionForward 89" in lines


def test_raw_control_characters_are_read() -> None:
    outcome = run_command(str(PROFILES / "names-ctrlchar.json"), "--opr-name", "ctrl", "-t", "1")
    assert outcome.code == 0
    assert outcome.err == "note: read 1 raw control character in strings, which JSON forbids\n"
    assert r"│ ctrl\x01char" in outcome.out


def test_a_name_that_looks_like_a_number_stays_a_name() -> None:
    only = ["--wiki", "--print-only", "device", "-t", "1"]
    numbered = run_command(str(PROFILES / "names.json"), *only, "--type", "MatrixMul")
    assert [cell.strip() for cell in numbered.out.splitlines()[2].split("|")][7] == "nan"
    # The heading of a column of numbers would be right-aligned.
    assert "| opr name   |" in numbered.out
