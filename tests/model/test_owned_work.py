"""The work of nested operators counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.columns.formulas import work_in_runs
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Run
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.owned_work import leaves_work_inside
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from profile_analyze.roofline.peaks import parse_peaks
from profile_analyze.views.summary import summarise
from tests.findings.found import with_code
from tests.in_memory import CPU, STREAM, THREAD, profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.model.profile import Profile

Work = tuple[float, float]
"""Computation and memory."""
UNKNOWN = float("nan")


def chain(*works: Work, parents: Sequence[int] | None = None) -> Profile:
    """Return a profile of operators 0, 1, ... Each is inside the one before it.

    If `parents` is given, it has the index of each operator's parent instead, or -1.
    """
    above = range(-1, len(works) - 1) if parents is None else parents
    return profile_of(
        [
            {"name": str(index), "computation": computation, "memory": memory}
            for index, (computation, memory) in enumerate(works)
        ],
        [
            {"operator": index, "duration_s": 1.0, "parent": parent}
            for index, parent in enumerate(above)
        ],
        tracks=[CPU],
        columns={"source": "derived"},
    )


def work_of(profile: Profile, level: str = "operator") -> list[tuple[float | None, ...]]:
    """Return the computation and memory of each row; None for N/A."""
    operators = at_level(profile, level).operators
    columns = (operators.computation, operators.memory)
    return [
        tuple(None if np.isnan(one) else one for one in row)
        for row in np.transpose(columns).tolist()
    ]


def test_a_chain_of_operators_with_the_same_work_counts_once() -> None:
    conv2d = chain((10.0, 6.0), (10.0, 6.0), (10.0, 6.0), (10.0, 5.0))
    assert work_of(conv2d) == [(None, None)] * 3 + [(10.0, 5.0)]
    assert work_of(conv2d, "top")[0] == (10.0, 5.0)


def test_a_small_operator_inside_a_large_one_counts_beside_it() -> None:
    addmm = chain((100.0, 8.0), (0.0, 6.0))
    assert work_of(addmm) == [(100.0, 8.0), (0.0, 6.0)]
    assert work_of(addmm, "top")[0] == (100.0, 14.0)
    below_half = chain((100.0, 8.0), (49.0, 8.0))
    assert work_of(below_half) == [(100.0, 8.0), (49.0, 8.0)]
    half = chain((100.0, 8.0), (50.0, 1.0))
    assert work_of(half) == [(None, None), (50.0, 1.0)]


def test_the_bytes_decide_for_an_operator_that_computes_nothing() -> None:
    assert work_of(chain((0.0, 8.0), (UNKNOWN, 4.0))) == [(None, None), (None, 4.0)]
    assert work_of(chain((UNKNOWN, 8.0), (0.0, 3.0))) == [(None, 8.0), (0.0, 3.0)]
    # The bytes of an operator that computes do not matter.
    assert work_of(chain((1.0, 8.0), (0.0, 8.0))) == [(1.0, 8.0), (0.0, 8.0)]


def test_an_operator_whose_inner_work_is_unknown_keeps_its_own() -> None:
    assert work_of(chain((5.0, 8.0), (UNKNOWN, UNKNOWN))) == [(5.0, 8.0), (None, None)]
    assert work_of(chain((5.0, 8.0), (0.0, 0.0))) == [(5.0, 8.0), (0.0, 0.0)]


def test_work_is_unknown_if_only_zeros_are_known() -> None:
    """The node of a gradient computes nothing itself, but the operator inside may do so."""
    unknown = (UNKNOWN, UNKNOWN)
    assert work_of(chain((0.0, 0.0), unknown), "top") == [(None, None), (None, None)]
    assert work_of(chain(unknown, (0.0, 0.0)), "top")[0] == (None, None)
    siblings = chain((0.0, 0.0), unknown, (0.0, 4.0), parents=(-1, 0, 0))
    assert work_of(siblings, "top")[0] == (None, 4.0)
    assert work_of(siblings) == [(0.0, 0.0), (None, None), (0.0, 4.0)]


def test_work_that_an_inner_operator_delegates_counts_once_for_the_outer_operator() -> None:
    # Operators 1 and 2 state the same work of 2. If it counted twice, the sum with operator 3
    # would be 6, and operator 0 would delegate more than half of its work of 10.
    profile = chain((10.0, 0.0), (2.0, 0.0), (2.0, 0.0), (2.0, 0.0), parents=(-1, 0, 1, 0))
    assert work_of(profile) == [(10.0, 0.0), (None, None), (2.0, 0.0), (2.0, 0.0)]


def test_calls_that_delegate_count_as_calls_without_work() -> None:
    operators = [{"name": "linear", "computation": 8.0}, {"name": "gemm", "computation": 8.0}]
    executions = [
        {"operator": 0, "duration_s": 3.0},
        {"operator": 1, "duration_s": 2.0, "parent": 0},
        {"operator": 0, "duration_s": 3.0},
    ]
    profile = at_level(profile_of(operators, executions, tracks=[CPU]))
    # `linear` has the mean of its two calls, one of which delegates.
    assert profile.operators.computation.tolist() == [4.0, 8.0]
    table = run(Query(order="+name"), profile)
    assert table["computation"].tolist() == [8.0, 8.0]


def test_a_total_is_known_although_operators_delegate() -> None:
    profile = at_level(chain((0.0, 6.0), (0.0, 6.0)))
    table = run(Query(aggregates="sum"), profile)
    assert table["computation"].tolist() == [0.0]
    assert table["memory"].tolist() == [6.0]


def counted_by_recursion(works: Sequence[Work], parents: Sequence[int]) -> list[Work | None]:
    """Return the work that counts for each execution; None if it delegates its work."""
    result: list[Work | None] = [None] * len(works)

    def visit(index: int) -> Work:
        inside = [visit(one) for one, parent in enumerate(parents) if parent == index]
        computation, memory = (sum(amounts) for amounts in zip(*inside, (0.0, 0.0), strict=True))
        own = works[index]
        known = tuple(0.0 if np.isnan(amount) else amount for amount in own)
        if known[0] > 0:
            delegates = computation >= known[0] / 2
        else:
            delegates = known[1] > 0 and memory >= known[1] / 2
        if delegates:
            return computation, memory
        result[index] = own
        return computation + known[0], memory + known[1]

    for index, parent in enumerate(parents):
        if parent < 0:
            visit(index)
    return result


amounts = st.sampled_from([UNKNOWN, 0.0, 1.0, 2.0, 3.0, 4.0, 8.0, 100.0])


@given(st.data(), st.lists(st.tuples(amounts, amounts), min_size=1, max_size=14))
def test_counted_work_equals_a_plain_recursion(data: Any, works: list[Work]) -> None:
    parents = [data.draw(st.integers(-1, index - 1)) for index in range(len(works))]
    expected = counted_by_recursion(works, parents)
    order = data.draw(st.permutations(range(len(works))))  # a parent may come after its children
    index_of = {row: index for index, row in enumerate(order)}
    profile = profile_of(
        [
            {"name": str(index), "computation": works[index][0], "memory": works[index][1]}
            for index in range(len(works))
        ],
        [
            {"operator": row, "duration_s": 1.0, "parent": index_of.get(parents[row], -1)}
            for row in order
        ],
        tracks=[CPU],
    )
    found = work_of(profile)
    nothing = (None, None)
    assert found == [
        nothing if one is None else tuple(None if np.isnan(amount) else amount for amount in one)
        for one in expected
    ]
    operators = at_level(profile).operators
    expected_inside = [
        one is None and any(not np.isnan(amount) for amount in work)
        for one, work in zip(expected, works, strict=True)
    ]
    assert leaves_work_inside(operators).tolist() == expected_inside


def test_work_of_wrappers_does_not_count_as_unknown() -> None:
    names = ("conv2d", "convolution", "kernel", "unknown")
    works = ((10.0, 6.0), (10.0, 6.0), (10.0, 5.0), (UNKNOWN, UNKNOWN))
    profile = profile_of(
        [
            {"name": name, "type": name, "computation": computation, "memory": memory}
            for name, (computation, memory) in zip(names, works, strict=True)
        ],
        [  # each operator takes 1 s by itself
            {"operator": index, "duration_s": 4.0 - index, "parent": index - 1}
            for index in range(len(names))
        ],
        tracks=[CPU],
    )
    query = Query(peaks=parse_peaks("1GFLOPS:1GB/s"))
    summary = summarise(profile, judged_by=query)
    judgement = summary.judgement
    assert judgement is not None
    assert (judgement.memory_known, judgement.judged) == (0.75, 0.25)
    assert judgement.memory_unknown == (("unknown", 0.25),)
    (finding,) = with_code(run(query, profile).notes, "not-judged")
    assert finding["reasons"] == (
        (2, 0.5, ("inside",)),
        (1, 0.25, ("computation", (("unknown", 0.25),))),
    )


def test_very_deep_nesting_is_supported() -> None:
    depth = 3_000
    found = work_of(chain(*[(1.0, 1.0)] * depth))
    assert found == [(None, None)] * (depth - 1) + [(1.0, 1.0)]


def test_an_operator_keeps_its_collective_if_its_kernels_have_none() -> None:
    operators = [
        {"name": "send"},
        {"name": "sum"},
        {"name": "kernel", "level": "kernel"},
        {"name": "reduce", "level": "kernel"},
    ]
    optional = {"collective": Categorical.of(["send", None, None, "all_reduce"])}
    executions = [
        {"operator": 0, "track": 0, "duration_s": 1.0},
        {"operator": 1, "track": 0, "duration_s": 1.0},
        {"operator": 2, "track": 1, "duration_s": 1.0, "launched_by": 0},
        {"operator": 3, "track": 1, "duration_s": 1.0, "launched_by": 1},
    ]
    profile = profile_of(
        operators, executions, tracks=[THREAD, STREAM], columns={"optional": optional}
    )
    found = at_level(profile, "operator").operators.categorical("collective")
    assert found.values().tolist() == ["send", "all_reduce"]


def test_a_module_has_the_dtype_of_most_of_its_computation() -> None:
    """Half of the computation of the second module is not enough."""
    modules = [{"name": name, "level": "module"} for name in ("most", "half", "none")]
    computations = (3.0, 1.0, 2.0, 2.0, 0.0)
    operators = [
        {"name": str(index), "computation": computation}
        for index, computation in enumerate(computations)
    ]
    dtypes = [None, None, None, "bf16", "fp32", "bf16", None, "fp32"]
    executions = [
        *({"operator": module, "duration_s": 1.0} for module in range(3)),
        *(
            {"operator": 3 + index, "duration_s": 1.0, "parent": parent}
            for index, parent in enumerate((0, 0, 1, 1, 2))
        ),
    ]
    profile = profile_of(
        [*modules, *operators],
        executions,
        tracks=[CPU],
        columns={"optional": {"compute_dtype": Categorical.of(dtypes)}},
    )
    found = at_level(profile, "module").operators.categorical("compute_dtype")
    assert found.values().tolist() == ["bf16", None, None]
    inner = at_level(profile, "operator").operators.categorical("compute_dtype")
    assert inner.values().tolist() == dtypes[3:]


def test_work_without_a_device_time_does_not_count_beside_device_times() -> None:
    """The net calls mm twice in each run. In run 0 one product, and in run 1 both, have kernels."""
    operators: list[dict[str, Any]] = [
        {"name": "net", "level": "module"},
        {"name": "linear"},
        {"name": "mm", "computation": 8.0, "memory": 3.0},
        {"name": "copy", "memory": 5.0},  # never launches a kernel
        {"name": "gemm", "level": "kernel"},
    ]
    executions: list[dict[str, Any]] = []
    for run_ in (0, 1):
        net = len(executions)
        shared = {"run": run_, "duration_s": 1.0}
        executions.append({"operator": 0, **shared})
        for has_kernel in (run_ == 1, True):
            linear = len(executions)
            executions += [
                {"operator": 1, "parent": net, **shared},
                {"operator": 2, "parent": linear, **shared},
                {"operator": 3, "parent": linear, **shared},
            ]
            if has_kernel:
                executions.append({"operator": 4, "launched_by": linear + 1, "track": 1, **shared})
    profile = profile_of(operators, executions, tracks=[THREAD, STREAM], runs=[Run(), Run()])

    def in_runs(level: str) -> dict[str, Any]:
        rows = at_level(profile, level)
        work = work_in_runs(rows, "computation").tolist()
        values = zip(rows.calls().tolist(), rows.calls("host").tolist(), work, strict=True)
        return dict(zip(rows.operators.name.values(), values, strict=True))

    assert in_runs("operator")["mm"] == ([1, 2], [2, 2], [8, 16])
    assert in_runs("operator")["copy"][:2] == ([2, 2], [2, 2])
    assert in_runs("top")["linear"] == ([1, 2], [2, 2], [8, 16])
    # The work of a call is a mean over the runs.
    assert in_runs("module")["net"] == ([1, 1], [1, 1], [12, 12])
    assert at_level(profile, "module").operators.memory.tolist() == [4.5]
