"""The rows of each level, and their times."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.errors import QueryError
from profile_analyze.model.executions import Run, Track
from profile_analyze.model.levels.level import level_of
from profile_analyze.model.levels.levels import at_level, common_level, levels_of
from profile_analyze.model.notes import Importance
from profile_analyze.views.summary import summarise
from tests.findings.found import said
from tests.in_memory import CPU, STREAM, THREAD, four_steps, nested, profile_of, static

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def rows_of(profile: Profile, *measures: str) -> dict[str, tuple[Any, ...]]:
    """Return the milliseconds of some measures, by the name of the operator."""
    columns = [profile.measured(name)[:, 0] * 1e3 for name in measures]
    names = profile.operators.name.values().tolist()
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return {name: tuple(round(one, 9) for one in values) for name, *values in rows}


def test_the_rows_of_each_level_add_up() -> None:
    profile = nested()
    assert levels_of(profile) == ("operator", "top", "kernel", "module")
    nan = pytest.approx(np.nan, nan_ok=True)
    measures = ("host_time", "time", "self", "queue")
    assert rows_of(at_level(profile), *measures) == {
        "linear": (2.0, nan, 2.0, nan),
        "addmm": (3.0, 3.0, 3.0, 0.0),
        "relu": (2.0, 1.0, 2.0, 0.5),
    }
    assert rows_of(at_level(profile, "top"), *measures) == {
        "linear": (5.0, 3.0, 2.0, 0.0),
        "addmm": (nan, nan, nan, nan),
        "relu": (2.0, 1.0, 2.0, 0.5),
    }
    assert rows_of(at_level(profile, "module"), *measures) == {"net": (12.0, 4.0, 12.0, 0.5)}
    assert rows_of(at_level(profile, "kernel"), *measures) == {
        "gemm": (nan, 3.0, nan, 0.0),
        "relu_kernel": (nan, 1.0, nan, 0.5),
    }
    for level in levels_of(profile):
        assert at_level(profile, level).total_s() == pytest.approx(4e-3)
        assert at_level(profile, level).check() == ()


def test_work_is_attributed_once() -> None:
    profile = nested()
    inner = at_level(profile).operators
    np.testing.assert_array_equal(inner.computation, [np.nan, 8e6, np.nan])
    outer = at_level(profile, "top").operators
    np.testing.assert_array_equal(outer.computation, [8e6, 8e6, np.nan])
    np.testing.assert_array_equal(outer.memory, [3e3, 3e3, 1e3])
    assert at_level(profile, "top").recorded("host").tolist() == [True, False, True]
    np.testing.assert_array_equal(at_level(profile, "module").operators.memory, [4e3])
    assert at_level(profile, "top").calls()[[0, 2]].tolist() == [[1], [1]]


def test_work_is_derived_if_part_of_it_is_derived() -> None:
    profile = profile_of(
        [{"name": "a"}, {"name": "b", "computation": 5.0}],
        [{"operator": 0, "duration_s": 2.0}, {"operator": 1, "duration_s": 1.0, "parent": 0}],
        tracks=[CPU],
        columns={"source": "derived"},
    )
    top = at_level(profile, "top").operators
    assert top.computation.tolist() == [5.0, 5.0]
    assert top.source_of("computation").values().tolist() == ["derived", "derived"]
    assert top.source_of("memory").values().tolist() == ["unknown", "unknown"]


def test_kernels_that_nothing_launched_have_a_note() -> None:
    profile = profile_of(
        [{"name": "a"}, {"name": "k", "level": "kernel"}],
        [{"operator": 0, "duration_s": 2.0}, {"operator": 1, "duration_s": 0.5, "track": 1}],
        tracks=[THREAD, STREAM],
    )
    shown = at_level(profile)
    assert said(shown.notes) == (
        "left out 1 kernel, 500 ms (100.0% of the time), whose launch is not in the file; --level kernel has them",
    )
    assert at_level(profile, "kernel").total_s() == 0.5


def test_what_no_module_has_is_stated_per_run_with_its_share_of_the_device_time() -> None:
    profile = profile_of(
        [
            {"name": "net", "level": "module"},
            {"name": "a"},
            {"name": "k", "level": "kernel"},
            {"name": "of net", "level": "kernel"},
        ],
        [
            {"operator": row, "duration_s": time_s + run, "track": track, "run": run, **more}
            for run, net in ((0, 0), (1, 4))
            for row, time_s, track, more in (
                (0, 9.0, 0, {}),
                (1, 4.0, 0, {}),
                (2, 2.0, 1, {"launched_by": net + 1}),
                (3, 1.0, 1, {"launched_by": net}),
            )
        ],
        tracks=[THREAD, STREAM],
        runs=[Run(), Run()],
    )
    module = at_level(profile, "module")
    assert module.total_s() == 1.5
    assert said(module.notes)[:2] == (
        "left out 2 kernels in 2 runs, 2.50 s per run on average (62.5% of the time), that no module "
        "launched; --level kernel has them",
        "left out 2 operators in 2 runs, 4.50 s of host time per run on average, that ran outside of all "
        "modules; --level operator has them",
    )
    assert module.notes[0].share == 0.625
    assert at_level(profile, "operator").total_s() == 2.5
    assert at_level(profile, "kernel").total_s() == 4.0


def test_a_missing_level_is_an_error_that_lists_the_others() -> None:
    for profile, level, text in (
        (
            static(),
            "kernel",
            "only traces that recorded the work of a GPU have kernels; its levels: operator",
        ),
        (four_steps(), "top", "no operator ran inside another; its levels: operator"),
        (
            profile_of([{"name": "k", "level": "kernel"}]),
            "module",
            "only traces that recorded modules or named regions have this level; its levels: kernel",
        ),
    ):
        with pytest.raises(QueryError) as caught:
            at_level(profile, level)
        assert str(caught.value) == f"level: the profile has no level {level!r}: {text}"
    with pytest.raises(QueryError, match="it has no rows at all"):
        at_level(profile_of([]), "kernel")


def test_the_default_level_without_operators_is_kernel() -> None:
    profile = profile_of([{"name": "k", "level": "kernel"}], [{"operator": 0, "duration_s": 1.0}])
    shown = at_level(profile)
    assert (shown.level, shown.total_s()) == ("kernel", 1.0)
    assert at_level(shown) is shown


def test_time_on_another_thread_is_not_subtracted() -> None:
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}],
        [
            {"operator": 0, "duration_s": 1.0},
            {"operator": 1, "duration_s": 3.0, "parent": 0, "track": 1},
        ],
        tracks=[CPU, Track("thread 2", "device", "cpu", "thread")],
    )
    assert at_level(profile).measured("time").tolist() == [[1.0], [3.0]]


def test_work_that_is_stated_twice_counts_once() -> None:
    profile = profile_of(
        [
            {"name": "linear", "computation": 8.0},
            {"name": "addmm", "computation": 8.0},
            {"name": "gemm", "level": "kernel", "computation": 7.0},
            {"name": "relu", "computation": 1.0},
        ],
        [
            {"operator": 0, "duration_s": 3.0, "track": 1},
            {"operator": 1, "duration_s": 2.0, "track": 1, "parent": 0},
            {"operator": 2, "duration_s": 4.0, "launched_by": 1},
            {"operator": 3, "duration_s": 1.0, "track": 1},
        ],
        tracks=[STREAM, THREAD],
    )
    for level, names, computation in (
        ("operator", ["linear", "addmm", "relu"], [np.nan, 7.0, 1.0]),
        ("top", ["linear", "relu"], [7.0, 1.0]),
        ("kernel", ["gemm"], [7.0]),
    ):
        found = at_level(profile, level)
        ran = np.flatnonzero(found.recorded("host") | found.recorded("device"))
        operators = found.operators.take(ran)
        assert operators.name.values().tolist() == names
        np.testing.assert_array_equal(operators.computation, computation)


def test_top_includes_operators_on_other_threads() -> None:
    second = Track("thread 2", "device", "cpu", "thread")
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}, {"name": "c"}],
        [
            {"operator": 0, "duration_s": 1.0},
            {"operator": 1, "duration_s": 3.0, "parent": 0, "track": 1},
            {"operator": 2, "duration_s": 2.0, "parent": 1, "track": 1},
        ],
        tracks=[CPU, second],
    )
    assert at_level(profile).measured("time").tolist() == [[1.0], [1.0], [2.0]]
    top = at_level(profile, "top")
    assert rows_of(top, "time", "self")["a"] == (4000.0, 1000.0)
    assert top.total_s() == at_level(profile).total_s() == 4.0


def test_a_kernel_has_the_phase_of_its_launch() -> None:
    profile = profile_of(
        [{"name": "a"}, {"name": "k", "level": "kernel"}],
        [
            {"operator": 0, "duration_s": 1.0, "phase": "backward"},
            {"operator": 1, "duration_s": 2.0, "track": 1, "launched_by": 0},
        ],
        tracks=[THREAD, STREAM],
    )
    assert at_level(profile).executions.phase.values().tolist() == ["backward"] * 2


def test_executions_outside_of_all_rows_have_notes() -> None:
    profile = profile_of(
        [
            {"name": "step", "level": "module"},
            {"name": "a", "scope": ("net",)},
            {"name": "sync", "level": "runtime"},
            {"name": "b", "scope": ("net",)},
        ],
        [
            {"operator": 0, "duration_s": 5.0},
            {"operator": 1, "duration_s": 2.0, "parent": 0},
            {"operator": 2, "duration_s": 1.5},
            {"operator": 3, "duration_s": 1.0},
        ],
        tracks=[CPU],
    )
    assert said(at_level(profile).notes) == (
        "left out 1 call into the driver, 1.50 s (33.3% of the time), that ran outside of all "
        "operators; no level has them",
    )
    assert said(at_level(profile, "module").notes) == (
        "left out 1 call into the driver, 1.50 s (20.0% of the time), that ran outside of all "
        "modules; no level has them",
        "left out 1 operator, 1.00 s (13.3% of the time), that ran outside of all modules; --level "
        "operator has them",
        "modules and regions took 3.00 s (60.0% of the time) outside of all operators, for example in "
        "Python code; --level operator leaves this time out",
    )


BETWEEN = (
    "outside of all operators, for example in Python code; --level operator leaves this time out"
)


@pytest.mark.parametrize(
    ("parents", "note"),
    [
        # The outer module has 10 s, the inner module 4 s, and the operators 3 s and 1 s.
        ((-1, 0, 1, 2), f"modules and regions took 7.00 s (70.0% of the time) {BETWEEN}"),
        ((-1, 0, 0, 1), f"modules and regions took 6.00 s (60.0% of the time) {BETWEEN}"),
        # No operator is inside a module.
        ((-1, 0, -1, -1), f"modules and regions took 10.0 s (100.0% of the time) {BETWEEN}"),
        # The inner module is inside the first operator, so its time is not between operators.
        ((-1, 2, 0, 1), f"modules and regions took 7.00 s (70.0% of the time) {BETWEEN}"),
    ],
)
def test_the_time_of_modules_between_operators_has_a_note(
    parents: tuple[int, ...], note: str
) -> None:
    names = ({"name": "outer", "level": "module"}, {"name": "inner", "level": "module"})
    inside_s = 2.0 if parents[1] == 2 else 4.0  # inside the operator of 3 s, it is shorter
    profile = profile_of(
        [*names, {"name": "a", "scope": ("net",)}, {"name": "b", "scope": ("net",)}],
        [
            {"operator": row, "duration_s": time_s, "parent": parent}
            for row, (time_s, parent) in enumerate(
                zip((10.0, inside_s, 3.0, 1.0), parents, strict=True)
            )
        ],
        tracks=[CPU],
    )
    assert said(at_level(profile, "module").notes)[-1] == note


def test_a_module_inside_an_operator_takes_no_time_between_operators() -> None:
    profile = profile_of(
        [
            {"name": "a", "scope": ("net",)},
            {"name": "inner", "level": "module"},
            {"name": "b", "scope": ("net",)},
        ],
        [
            {"operator": row, "duration_s": time_s, "parent": row - 1}
            for row, time_s in enumerate((5.0, 3.0, 1.0))
        ],
        tracks=[CPU],
    )
    assert at_level(profile).total_s() == 5.0
    assert said(at_level(profile, "module").notes) == (
        "left out 1 operator, 5.00 s (62.5% of the time), that ran outside of all modules; --level "
        "operator has them",
    )


def test_the_note_on_time_between_operators_states_the_mean_of_the_runs() -> None:
    profile = profile_of(
        [{"name": "net", "level": "module"}, {"name": "a", "scope": ("net",)}],
        [
            {"operator": row, "duration_s": time_s, "parent": parent, "run": run}
            for run, start in ((0, 0), (1, 2))
            for row, time_s, parent in ((0, 5.0, -1), (1, 2.0 + run, start))
        ],
        tracks=[CPU],
        runs=[Run(), Run()],
    )
    assert said(at_level(profile, "module").notes) == (
        f"modules and regions took 2.50 s per run on average (50.0% of the time) {BETWEEN}",
    )


def test_the_note_on_time_between_operators_names_no_level_that_the_profile_lacks() -> None:
    profile = profile_of(
        [{"name": "net", "level": "module"}], [{"operator": 0, "duration_s": 5.0}], tracks=[CPU]
    )
    assert said(at_level(profile, "module").notes) == (
        "modules and regions took 5.00 s (100.0% of the time) outside of all operators, for example "
        "in Python code; the profile has no operators; record them, too",
    )


def test_a_level_is_worked_out_once() -> None:
    profile = nested()
    for level in levels_of(profile):
        assert level_of(profile, level) is level_of(profile, level)
        assert at_level(profile, level) is at_level(profile, level)
    kept = at_level(profile, keep_nested=True)
    assert kept.nested is profile
    assert kept.measured("time") is at_level(profile).measured("time")


def test_a_changed_profile_has_levels_of_its_own() -> None:
    profile = nested()
    for level in levels_of(profile):
        assert at_level(profile, level).file != "other"
        assert at_level(profile.changed(file="other"), level).file == "other"


def test_levels_leave_memory_with_their_profile() -> None:
    profile = nested()
    reference, enabled = ref(profile), gc.isenabled()
    gc.disable()  # without it, only objects that do not refer to each other are freed
    try:
        for level in levels_of(profile):
            at_level(profile, level)
            at_level(profile, level, keep_nested=True)
        del profile
        assert reference() is None
    finally:
        if enabled:
            gc.enable()


def test_only_one_level_can_be_selected() -> None:
    shown = at_level(nested(), "top")
    assert at_level(shown, "top") is shown
    with pytest.raises(QueryError, match="level: the rows are of level top already, not kernel"):
        at_level(shown, "kernel")


def test_the_self_time_in_the_file_is_used_if_no_execution_is_nested() -> None:
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}],
        [
            {"operator": 0, "duration_s": 5.0, "self_s": 2.0},
            {"operator": 1, "duration_s": 3.0},
        ],
        tracks=[CPU],
    )
    assert at_level(profile).measured("time").tolist() == [[2.0], [3.0]]


def test_executions_of_one_thread_are_nested_even_if_it_works_for_two_devices() -> None:
    rows = [
        {"operator": 0, "duration_s": 5.0},
        {"operator": 1, "duration_s": 3.0, "parent": 0, "track": 1},
    ]
    profile = profile_of(
        [{"name": "loop"}, {"name": "conv"}], rows, tracks=[CPU, CPU._replace(device="npu")]
    )
    assert at_level(profile).measured("time").tolist() == [[2.0], [3.0]]
    assert at_level(profile, "top").measured("time").tolist()[0] == [5.0]
    assert said(summarise(profile).notes) == ()
    other = profile.changed(tracks=(CPU, CPU._replace(name="thread 2")))
    assert at_level(other).measured("time").tolist() == [[5.0], [3.0]]
    assert said(summarise(other).notes) == (
        "the device time is the sum of 2 threads, which may have run at the same time: 5.00 s on "
        "thread 1, 3.00 s on thread 2",
    )


def test_a_trace_with_kernels_has_no_note_on_operators_that_launched_none() -> None:
    operators = [{"name": name} for name in ("view", "size", "relu")]
    executions = [
        {"operator": index, "duration_s": 1.0, "track": 1} for index in range(len(operators))
    ]
    kernel = {"operator": 3, "duration_s": 2.0, "launched_by": 2}
    profile = profile_of(
        [*operators, {"name": "relu_kernel", "level": "kernel"}],
        [*executions, kernel],
        tracks=[STREAM, THREAD],
    )
    assert said(summarise(profile).notes) == ()
    without_levels = profile_of(
        operators, [*executions, {"operator": 2, "duration_s": 2.0}], tracks=[STREAM, THREAD]
    )
    assert said(summarise(without_levels).notes) == (
        "only 1 of 3 operators has a device time; totals and shares leave out the other operators",
    )


def test_two_profiles_use_the_first_level_that_both_have() -> None:
    kernels = profile_of([{"name": "k", "level": "kernel"}], [{"operator": 0, "duration_s": 1.0}])
    assert common_level(nested(), kernels) == common_level(kernels, nested()) == "kernel"
    assert common_level(nested(), nested()) == "operator"
    assert common_level(at_level(nested(), "top"), nested()) == "top"
    assert common_level(four_steps(), four_steps()) is None  # neither has other levels
    with pytest.raises(QueryError, match="have no level in common: operator, and kernel"):
        common_level(four_steps(), kernels)


@st.composite
def traces(draw: Any) -> list[dict[str, Any]]:
    """Generate nested executions of two modules, three operators, a driver call and a kernel."""
    rows: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 14))):
        is_kernel = draw(st.booleans()) and index > 0
        above = draw(st.integers(-1, index - 1))
        if above >= 0 and rows[above]["track"] == 1:
            above = -1
        rows.append(
            {
                "operator": 6 if is_kernel else draw(st.integers(0, 5)),
                "duration_s": 1.0 if is_kernel else 0.0,
                "track": int(is_kernel),
                "run": 0,
                "parent": -1 if is_kernel else above,
                "launched_by": above if is_kernel else -1,
            }
        )
    for index in reversed(range(len(rows))):  # a parent takes longer than its children
        inside = sum(row["duration_s"] for row in rows if row["parent"] == index)
        if not rows[index]["track"]:
            rows[index]["duration_s"] = inside + 1.0
    return rows


OPERATORS = [
    {"name": "m1", "level": "module"},
    {"name": "m2", "level": "module"},
    {"name": "a"},
    {"name": "b"},
    {"name": "c"},
    {"name": "call", "level": "runtime"},
    {"name": "k", "level": "kernel"},
]


def times_by_recursion(
    rows: list[dict[str, Any]], level: str
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the host and device time of each operator of a level, computed row by row."""
    targets = {0, 1} if level == "module" else {2, 3, 4}

    def owner_of(index: int) -> int | None:
        """Return the execution of `level` that execution `index` belongs to."""
        path = []
        while index >= 0:
            if rows[index]["operator"] in targets:
                path.append(index)
            index = max(rows[index]["parent"], rows[index]["launched_by"])
        return None if not path else path[-1] if level == "top" else path[0]

    host, device = dict.fromkeys(range(7), 0.0), dict.fromkeys(range(7), 0.0)
    for index, row in enumerate(rows):
        owner = owner_of(index)
        if owner is None:
            continue
        operator = rows[owner]["operator"]
        if row["track"] == 1:
            device[operator] += row["duration_s"]
        else:  # the time of the children does not count
            inside = sum(one["duration_s"] for one in rows if one["parent"] == index)
            host[operator] += row["duration_s"] - inside
    return host, device


@given(traces(), st.sampled_from(["operator", "top", "module"]))
def test_levels_equal_a_plain_recursion(rows: list[dict[str, Any]], level: str) -> None:
    profile = profile_of(OPERATORS, rows, tracks=[THREAD, STREAM], runs=[Run()])
    if level not in levels_of(profile):
        return
    host, device = times_by_recursion(rows, level)
    shown = at_level(profile, level)
    targets = [0, 1] if level == "module" else [2, 3, 4]
    names = shown.operators.name.values().tolist()
    assert names == [OPERATORS[operator]["name"] for operator in targets]
    for measure, times in (("host_time", host), ("time", device)):
        found = np.nan_to_num(shown.measured(measure)[:, 0])
        assert found == pytest.approx([times[operator] for operator in targets])


@pytest.mark.parametrize(
    ("scopes", "note"),
    [
        (
            (None, ("net",)),
            "1 operator (75.0% of the time) has no scope: the profile has hardly any modules, "
            "only steps or regions; record modules, too (for PyTorch, with with_stack=True); until then, "
            "group operators by type and shapes instead: --level operator --aggregate-by type,in_shapes",
        ),
        (
            (None, None),
            "2 operators (100.0% of the time) have no scope: the profile has hardly any modules, "
            "only steps or regions; record modules, too (for PyTorch, with with_stack=True); until then, "
            "group operators by type and shapes instead: --level operator --aggregate-by type,in_shapes",
        ),
        ((("net",), None), None),
    ],
)
def test_rows_that_are_steps_instead_of_modules_have_a_note(
    scopes: tuple[tuple[str, ...] | None, ...], note: str | None
) -> None:
    operators: list[dict[str, Any]] = [
        {"name": name, "scope": scope} for name, scope in zip("ab", scopes, strict=True)
    ]
    profile = profile_of(
        [{"name": "step", "level": "module"}, *operators],
        [
            {"operator": 0, "duration_s": 4.0},
            {"operator": 1, "duration_s": 3.0, "parent": 0},
            {"operator": 2, "duration_s": 1.0, "parent": 0},
        ],
        tracks=[CPU],
    )
    found = at_level(profile, "module").notes
    assert said(found) == (() if note is None else (note,))
    assert [one.importance for one in found] == [Importance.ANSWER] * len(found)
    assert said(at_level(profile).notes) == ()
