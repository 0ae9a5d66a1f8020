"""The columns that can be named, and how names in a list are separated."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.errors import PatternError, UnknownColumnError
from profile_analyze.model.columns import Column, RowKind
from profile_analyze.model.wording import machine_name
from profile_analyze.query.aggregates import AGGREGATES
from profile_analyze.query.catalog import (
    CATALOG,
    columns_of,
    find_column,
    group_keys,
    optional_columns_of,
    orderable_names,
    split_names,
)

TEXTS = ("name", "type", "category", "scope")
TIMES = ("time", "runs", "spread", "time_min", "time_max")
ONNX_TOOL = ("onnx_tool_macs", "onnx_tool_memory", "onnx_tool_params")
TILES = (
    *("tiles", "tiles_m", "tiles_n", "tiles_k", "tiled_macs", "tile_efficiency", "untiled_memory"),
    *("tiled_memory", "padded_memory", "tile_peak"),
)
TILES_OF_GROUPS = (TILES[0], *TILES[4:-1])
AMOUNTS = (
    "device_time",
    "time_median",
    "host_time",
    "wait",
    "queue",
    "self",
    "thread_wait",
    "calls",
    "allocated",
    "device_allocated",
    "computation",
    "flops",
    "memory",
    "bandwidth",
    "intensity",
)
MODEL_AMOUNTS = (
    "macs",
    "macs_share",
    "macs_with_bias",
    "macs_without_padding",
    "backward_macs",
    "params",
    "param_share",
    "param_bytes",
    "input_bytes",
    "output_bytes",
)

MESSAGES = ("message_bytes", "message_size", "bus_bytes", "bus_bandwidth")


def test_columns_are_found_by_name() -> None:
    assert [find_column(column.name) for column in CATALOG] == list(CATALOG)
    assert find_column("flops").unit == "FLO/s"


def test_names_for_programs_are_unique() -> None:
    aggregates = (*AGGREGATES, "p90")
    written = [f"{column.name}.{how}" for column in CATALOG for how in aggregates]
    columns = [*CATALOG, *(column for text in written if (column := _found(text)) is not None)]
    names = [machine_name(column) for column in columns]
    assert len(names) > 60
    assert sorted(names) == sorted(set(names))


def _found(text: str) -> Column | None:
    with suppress(UnknownColumnError):
        return find_column(text)
    return None


@pytest.mark.parametrize(
    ("text", "unit", "meaning", "needed"),
    [
        ("param.stride_h", "", "the operator's parameter stride_h", "parameters"),
        ("name~^(l.)", "", "the part of name that ^(l.) finds", ""),
        ("in_shapes~{1,", "", "the part of in_shapes that {1, finds", "in_shapes"),
        (
            "scope/2",
            "",
            "the first 2 levels of scope: the modules or regions around the operator, outermost "
            "first",
            "",
        ),
        ("scope/1~a.", "", "the part of scope/1 that a. finds", ""),
        ("time.p90", "s", "p90 of time", ""),
        ("flops.max", "FLO/s", "max of flops", ""),
        ("memory.p99.9", "byte", "p99.9 of memory", ""),
        ("wait.count", "1", "how many operators have a wait", ""),
    ],
)
def test_derived_columns_have_a_unit_and_a_meaning(
    text: str, unit: str, meaning: str, needed: str
) -> None:
    column = find_column(text)
    assert (column.name, column.unit, column.meaning) == (text, unit, meaning)
    assert optional_columns_of([text, "time"]) == {needed} - {""}


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("tme", "did you mean time?"),
        ("Bandwidth", "did you mean bandwidth?"),
        ("param.", "did you mean params or parameters?"),
        ("scope/0", "write how many levels to keep, such as scope/2"),
        ("scope/-1", "write how many levels to keep, such as scope/2"),
        ("scope/x", "write how many levels to keep, such as scope/2"),
        ("scope/~a", "write how many levels to keep, such as scope/2"),
        ("type/2", "did you mean type?"),
        ("time~3", "did you mean time?"),
        ("share.max", "did you mean "),
        ("time.p101", "did you mean "),
        ("time.p", "did you mean "),
        ("time.", "did you mean "),
        (
            "xyz",
            "the columns are id, name, type, category, scope, count, time, runs, spread, time_min, "
            "time_max, share and 115 more (--columns help explains all)",
        ),
    ],
)
def test_unknown_columns_are_errors_with_advice(text: str, advice: str) -> None:
    with pytest.raises(UnknownColumnError) as caught:
        find_column(text)
    assert str(caught.value).startswith(f"there is no column {text!r}; {advice}")


def test_several_similar_columns_are_suggested() -> None:
    with pytest.raises(UnknownColumnError) as caught:
        find_column("in_shape")
    assert (
        str(caught.value)
        == "there is no column 'in_shape'; did you mean in_shapes, base_in_shapes (with --compare) "
        "or out_shapes?"
    )


def test_an_aggregate_has_one_name() -> None:
    assert find_column("time.p50.0").name == "time.p50"


def test_an_invalid_pattern_in_a_column_name_is_an_error() -> None:
    with pytest.raises(PatternError, match=r"pattern '\(', at character 2: missing \)"):
        find_column("name~(")


def test_rows_can_be_ordered_and_grouped_by_these_columns() -> None:
    assert group_keys() == (
        *("name", "type", "category", "scope", "computation_source", "memory_source"),
        *(
            "conv_kind",
            "sparsity_pattern",
            "in_shapes",
            "in_strides",
            "out_shapes",
            "input_dtype",
            "device",
        ),
        *("track", "stream", "rank", "kernel"),
        *(
            "full_name",
            "launched_by",
            "grid",
            "block",
            "collective",
            "group_size",
            "parameters",
            "file",
            "run",
            "step",
            "phase",
            "bound",
            "match",
        ),
    )
    assert orderable_names(RowKind(None)) == (
        *("id", *TEXTS, *TIMES, "share", *AMOUNTS[:7]),
        *(
            "calls",
            "allocated",
            "device_allocated",
            "computation",
            "computation_source",
            "flops",
            "memory",
        ),
        *("memory_source", "bandwidth", "intensity", *MODEL_AMOUNTS[:4], "conv_kind"),
        *(*MODEL_AMOUNTS[4:8], "reused_weights", *MODEL_AMOUNTS[8:]),
        *(*ONNX_TOOL, "sparsity", "sparsity_pattern", "sparsity_block", *TILES),
        *("input_dtype", "device", "track", "stream", "rank", "kernel"),
        *("full_name", "launched_by", "grid"),
        *("block", "registers", "shared_memory", "occupancy", "collective", "group_size"),
        *(*MESSAGES, "rank_spread"),
    )
    assert orderable_names(RowKind(("param.mode", "type"))) == (
        *("param.mode", "type", "count", *TIMES, "share", *AMOUNTS, *MODEL_AMOUNTS, *ONNX_TOOL),
        *(*TILES_OF_GROUPS, *MESSAGES),
    )


def test_groups_have_their_keys_first() -> None:
    assert columns_of(RowKind(("type", "name~x")), ("time.p90",)) == (
        *("type", "name~x", "count", "time", "time.p90", *TIMES[1:], "share"),
        *("cumulative_time", "cumulative_share", *AMOUNTS, *MODEL_AMOUNTS, *ONNX_TOOL),
        *(*TILES_OF_GROUPS, *MESSAGES),
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("time", ("time",)),
        ("time, +name", ("time", "+name")),
        ("", ("",)),
        (r"name~^(l\.\d{1,2}),type", (r"name~^(l\.\d{1,2})", "type")),
        (r"name~[,]x,name~a\,b,id", ("name~[,]x", r"name~a\,b", "id")),
        (r"name~\(,id", (r"name~\(", "id")),
        ("a),b", ("a)", "b")),
        ("name~^([^(]*),type", ("name~^([^(]*)", "type")),
        ("name~[(],type", ("name~[(]", "type")),
        ("name~[]),],type", ("name~[]),]", "type")),
        ("name~[^]],type", ("name~[^]]", "type")),
        (r"name~[\]],type", (r"name~[\]]", "type")),
    ],
)
def test_names_are_separated_by_commas(text: str, names: tuple[str, ...]) -> None:
    assert split_names(text) == names


@given(st.lists(st.sampled_from(["time", "param.x", "name~(a,b)"]), min_size=1))
def test_joined_names_are_split_again(names: list[str]) -> None:
    assert split_names(",".join(names)) == tuple(names)
