"""The stacks of a profile, and which of them count for the rows of an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.errors import QueryError
from profile_analyze.model.executions import Run
from profile_analyze.model.levels.levels import levels_of
from profile_analyze.views.call_stacks import stacks_of
from profile_analyze.views.stacks import stacks_of_table
from tests.in_memory import CPU, STREAM, THREAD, four_steps, nested, profile_of
from tests.model.test_levels import OPERATORS, traces


def stacks_in_ms(profile: pa.Profile, **question: Any) -> dict[str, float]:
    """Return the milliseconds of the stacks of a question. Names are joined by semicolons."""
    stacks = stacks_of_table(pa.run(pa.Query(**question), profile))
    return {";".join(stack): round(time_s * 1e3, 9) for stack, time_s in stacks.items()}


ON_HOST = {"net": 5.0, "net;linear": 2.0, "net;linear;addmm": 3.0, "net;relu": 2.0}
ON_DEVICE = {"net;linear;addmm;gemm": 3.0, "net;relu;relu_kernel": 1.0}


def test_a_trace_has_kernels_below_operators_and_modules() -> None:
    assert stacks_in_ms(nested()) == ON_DEVICE
    assert stacks_in_ms(nested(), measure="host_time") == ON_HOST


@pytest.mark.parametrize(
    ("level", "question", "stacks"),
    [
        ("operator", {"name": "linear"}, {"net;linear": 2.0}),
        ("operator", {"types": "addmm"}, {"net;linear;addmm": 3.0}),
        ("top", {"name": "linear"}, {"net;linear": 2.0, "net;linear;addmm": 3.0}),
        ("top", {"top": 1}, {"net;linear": 2.0, "net;linear;addmm": 3.0}),
        ("module", {"top": 1}, ON_HOST),
        ("module", {"name": "other"}, {}),
        ("operator", {"where": "host_time > 0"}, {k: v for k, v in ON_HOST.items() if k != "net"}),
        ("operator", {"where": "track == thread 1", "name": "relu"}, {"net;relu": 2.0}),
        ("operator", {"min_time_s": 2.5e-3}, {"net;linear;addmm": 3.0}),
        ("operator", {"where": "host_time < 0"}, {}),
        ("operator", {}, ON_HOST),
        ("top", {}, ON_HOST),
    ],
)
def test_only_stacks_whose_time_counts_in_a_row_are_shown(
    level: str, question: dict[str, Any], stacks: dict[str, float]
) -> None:
    assert stacks_in_ms(nested(), measure="host_time", level=level, **question) == stacks


def test_kernels_belong_to_the_rows_of_their_operators_or_are_rows_themselves() -> None:
    assert stacks_in_ms(nested(), types="relu") == {"net;relu;relu_kernel": 1.0}
    assert stacks_in_ms(nested(), level="kernel", name="gemm") == {"net;linear;addmm;gemm": 3.0}


def test_a_profile_at_one_level_has_only_the_rows_of_that_level() -> None:
    assert stacks_in_ms(pa.at_level(nested()), measure="host_time") == {
        "net;linear": 2.0,
        "net;addmm": 3.0,
        "net;relu": 2.0,
    }
    kept = pa.at_level(nested(), keep_nested=True)
    assert stacks_in_ms(kept, measure="host_time") == ON_HOST


def test_all_runs_are_added_and_flat_profiles_have_flat_stacks() -> None:
    assert stacks_in_ms(four_steps()) == {"attention": 30.0, "mlp": 20.0}
    scoped = profile_of([{"name": "a", "scope": ("n", "m")}], [{"operator": 0, "duration_s": 2e-3}])
    assert stacks_in_ms(scoped) == {"n;m;a": 2.0}
    assert stacks_in_ms(profile_of([{"name": "a"}], [{"operator": 0, "duration_s": np.nan}])) == {}
    assert stacks_in_ms(profile_of([{"name": "a"}])) == {}


def test_groups_and_comparisons_have_no_stacks() -> None:
    grouped = pa.run(pa.Query(by="type"), four_steps())
    with pytest.raises(QueryError, match="output_format: a table of groups has no stacks; choose"):
        stacks_of_table(grouped)
    compared = pa.run(pa.Query(compared=True), pa.compare(four_steps(), four_steps()))
    with pytest.raises(QueryError, match="output_format: a comparison has no stacks; choose"):
        stacks_of_table(compared)


STEP, REGION, FUNCTION, FORWARD, BACKWARD, BODY, KERNEL, LOOP, CALL, INNER = range(10)
ROWS: list[dict[str, Any]] = [
    {"name": "step", "level": "module"},
    {"name": "region", "level": "module"},
    {"name": "main.py", "level": "frame"},
    {"name": "conv", "scope": ("region",)},
    {"name": "conv_backward", "scope": ("region",)},
    {"name": "add", "scope": ("loop",)},
    {"name": "conv", "level": "kernel"},
    {"name": "loop"},
    {"name": "launch", "level": "runtime"},
    {"name": "inner.py", "level": "frame", "scope": ("region",)},
]


@pytest.mark.parametrize(
    ("path", "stack"),
    [
        ((STEP,), "step"),
        ((STEP, REGION, FORWARD), "region;conv"),
        ((FUNCTION, STEP, REGION, FORWARD), "main.py;region;conv"),
        ((FUNCTION, REGION, INNER, FORWARD), "main.py;region;inner.py;conv"),
        ((STEP, FUNCTION, BACKWARD), "main.py;region;conv_backward"),
        ((LOOP, BODY), "loop;add"),
        ((BODY,), "loop;add"),
        ((REGION, FORWARD, KERNEL), "region;conv"),
        ((LOOP, CALL, KERNEL), "loop;conv"),
        ((STEP, LOOP, CALL), "loop"),
        ((CALL,), "launch"),
        ((KERNEL,), "conv"),
    ],
)
def test_scopes_and_nesting_make_one_stack(path: tuple[int, ...], stack: str) -> None:
    executions = [
        {"operator": operator, "duration_s": 1e-3, "parent": index - 1}
        for index, operator in enumerate(path)
    ]
    profile = profile_of(ROWS, executions, tracks=(CPU,))
    last = np.arange(len(path)) == len(path) - 1
    assert [*stacks_of(profile, "device", last)] == [tuple(stack.split(";"))]


def test_very_deep_stacks_are_cut_and_keep_the_time() -> None:
    executions = [
        {"operator": 0, "duration_s": 1500.0 - index, "parent": index - 1} for index in range(1500)
    ]
    profile = profile_of([{"name": "f"}], executions, tracks=(CPU,))
    stacks = stacks_of(profile, "device", np.ones(1500, np.bool_))
    assert [*map(len, stacks)] == [*range(1, 1001)]
    assert [*stacks.values()] == [*(999 * [1.0]), 501.0]


@st.composite
def executions_of_rows(draw: Any) -> list[dict[str, Any]]:
    """Generate executions of `ROWS`, nested and launched at random. A child is after its parent."""
    executions: list[dict[str, Any]] = []
    for index in range(draw(st.integers(0, 12))):
        operator = draw(st.integers(0, len(ROWS) - 1))
        link = "launched_by" if operator == KERNEL else "parent"
        executions.append(
            {
                "operator": operator,
                "duration_s": 1.0,
                "track": int(operator == KERNEL),
                "run": draw(st.integers(0, 1)),
                "parent": -1,
                "launched_by": -1,
                link: draw(st.integers(-1, index - 1)),
            }
        )
    for index in reversed(range(len(executions))):  # a parent takes longer than its children
        executions[index]["duration_s"] += sum(inside_s(executions, index))
    return executions


def inside_s(executions: list[dict[str, Any]], index: int) -> list[float]:
    """Return the durations of the outermost executions inside an execution, on its track."""
    found = []
    for execution in executions:
        above = max(execution["parent"], execution["launched_by"])
        while above > index and executions[above]["track"] != executions[index]["track"]:
            above = max(executions[above]["parent"], executions[above]["launched_by"])
        if above == index and execution["track"] == executions[index]["track"]:
            found.append(execution["duration_s"])
    return found


def stack_and_scope(
    executions: list[dict[str, Any]], index: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stack and the scope of an execution, by recursion to the executions around it."""
    operator = ROWS[executions[index]["operator"]]
    above = max(executions[index]["parent"], executions[index]["launched_by"])
    level, scope = operator.get("level", "operator"), operator.get("scope", ())
    if level in ("runtime", "kernel") and not scope and above >= 0:
        scope = stack_and_scope(executions, above)[1]
    outer_stack: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    while above >= 0:
        outer = ROWS[executions[above]["operator"]]
        outer_stack, outer_scope = stack_and_scope(executions, above)
        inside = (*outer_scope, outer["name"])
        outer_level = outer.get("level", "operator")
        # Skip runtime calls, and modules that the scope does not have.
        if outer_level == "module" and scope[: len(inside)] == inside:
            break
        if outer_level not in ("module", "runtime"):
            break
        above = max(executions[above]["parent"], executions[above]["launched_by"])
    else:  # no execution around this one is in its stack
        return (*scope, operator["name"]), scope
    if level == "runtime" or (level == "kernel" and outer_stack[-1] == operator["name"]):
        return outer_stack, scope
    # The outer stack already has the first names of the scope.
    common = 0
    while common < min(len(scope), len(inside)) and scope[common] == inside[common]:
        common += 1
    return (*outer_stack, *scope[common:], operator["name"]), scope


@given(executions_of_rows(), st.sampled_from([0, 1]))
def test_stacks_equal_a_plain_recursion(executions: list[dict[str, Any]], track: int) -> None:
    profile = profile_of(ROWS, executions, tracks=(THREAD, STREAM), runs=(Run(), Run()))
    expected: dict[tuple[str, ...], float] = {}
    for index, execution in enumerate(executions):
        if execution["track"] == track:
            stack, _ = stack_and_scope(executions, index)
            own_s = execution["duration_s"] - sum(inside_s(executions, index))
            expected[stack] = expected.get(stack, 0.0) + own_s
    chosen = np.ones(len(executions), np.bool_)
    assert stacks_of(profile, "device" if track else "host", chosen) == expected


@given(traces(), st.sampled_from(["time", "host_time"]), st.sampled_from(["a", "b", "m1"]))
def test_the_stacks_of_a_row_add_up_to_its_time(
    rows: list[dict[str, Any]], measure: str, name: str
) -> None:
    profile = profile_of(OPERATORS, rows, tracks=[THREAD, STREAM], runs=[Run()])
    for level in levels_of(profile):
        table = pa.run(pa.Query(measure=measure, level=level, name=f"{name}$"), profile)
        stacks = stacks_of_table(table)
        assert sum(stacks.values()) == np.nansum(table[measure])
