"""The tables of a profile, their consistency, and optional columns."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.execution_parts import ExecutionParts
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin
from profile_analyze.model.tables import Allocations, Dependencies, Tensors, Uses
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from tests.in_memory import THREAD, nested, operators_of, profile_of, static

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def problems_with(**changes: Any) -> tuple[str, ...]:
    return nested().changed(**changes).check()


def executions_with(**columns: Any) -> Executions:
    return nested().executions.changed(
        **{name: np.asarray(values) for name, values in columns.items()}
    )


ROW = np.zeros(1, np.int32)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"executions": executions_with(duration_s=[1.0, 2.0])},
            "executions: duration_s has 2 values for 8 rows",
        ),
        (
            {"operators": replace(nested().operators, computation=np.zeros(3))},
            "operators: computation has 3 values for 7 rows",
        ),
        (
            {"operators": replace(nested().operators, optional={"in_shapes": Categorical.of([1])})},
            "operators: in_shapes has 1 value for 7 rows",
        ),
        (
            {"operators": replace(nested().operators, key=np.array([1, 2, 3, 1, 5, 6, 7]))},
            "operators: 7 rows have 6 distinct keys",
        ),
        (
            {"operators": replace(nested().operators, category=Categorical.constant("magic", 7))},
            "operators: category 'magic' is unknown; known values: convolution, matmul, attention, "
            "normalization, softmax, pooling, elementwise, reduction, embedding, data movement, "
            "copy, communication, control, other",
        ),
        (
            {"operators": replace(nested().operators, level=Categorical.constant("top", 7))},
            "operators: level 'top' is unknown; known values: operator, module, kernel, earlier, runtime, frame",
        ),
        (
            {"operators": replace(nested().operators, name=Categorical.missing(7))},
            "operators: name is N/A",
        ),
        (
            {"operators": replace(nested().operators, memory=np.full(7, -1.0))},
            "operators: memory is negative or infinite",
        ),
        (
            {
                "operators": replace(
                    nested().operators,
                    optional={"in_shapes": Categorical.missing(7)},
                    not_loaded=frozenset({"in_shapes"}),
                )
            },
            "operators: in_shapes is loaded, but also listed as not loaded",
        ),
        (
            {"executions": executions_with(operator=np.full(8, 9, np.int32))},
            "executions: operator has indices from 9 to 9, but the table that it refers to has 7 rows",
        ),
        (
            {"tracks": (THREAD,)},
            "executions: track has indices from 0 to 1, but the table that it refers to has 1 row",
        ),
        (
            {"executions": executions_with(run=np.full(8, -1, np.int32))},
            "executions: run has indices from -1 to -1, but the table that it refers to has 1 row",
        ),
        (
            {"executions": executions_with(parent=np.array([1, 2, 0, -1, -1, -1, -1, -1]))},
            "executions: an execution is its own ancestor through parent or launched_by",
        ),
        (
            {"executions": executions_with(launched_by=np.array([6, -1, -1, -1, -1, -1, 0, -1]))},
            "executions: an execution is its own ancestor through parent or launched_by",
        ),
        (
            {"executions": executions_with(parent=np.array([-1, -100, 0, -1, -1, -1, -1, -1]))},
            "executions: parent has indices from -100 to 0, but the table that it refers to has 8 rows",
        ),
        (
            {"executions": executions_with(duration_s=np.full(8, -1.0))},
            "executions: duration_s is negative or infinite",
        ),
        (
            {"executions": executions_with(calls=np.full(8, -1))},
            "executions: calls is negative",
        ),
        ({"runs": (Run(wall_s=np.inf),)}, "runs: wall_s is negative or infinite"),
        ({"runs": ()}, "runs: the profile has no run"),
        ({"runs": (Run(3),)}, "runs: run 0 refers to process 3, but the profile has 1 process"),
        (
            {"origin": Origin("x", times="average")},  # type: ignore[arg-type]  # wrong on purpose
            "origin: times 'average' is unknown; known values: of each execution, mean, absent",
        ),
        (
            {"tracks": (THREAD, THREAD._replace(side="gpu"))},  # type: ignore[arg-type]
            "tracks: side 'gpu' is unknown; known values: device, host",
        ),
        (
            {"tracks": (THREAD._replace(together="mean"), THREAD)},  # type: ignore[arg-type]
            "tracks: together 'mean' is unknown; known values: sum, max",
        ),
        (
            {"tracks": (THREAD._replace(device_kind="npu"), THREAD)},  # type: ignore[arg-type]
            "tracks: device_kind 'npu' is unknown; known values: cpu, gpu",
        ),
        ({"tracks": (THREAD._replace(threads=0), THREAD)}, "tracks: threads is less than 1"),
        (
            {"origin": Origin("x", times="absent")},
            "executions: the origin says that times are absent, but the table has 8 rows",
        ),
        (
            {"uses": Uses(ROW, ROW + 4, np.array([True]))},
            "uses: tensor has indices from 4 to 4, but the table that it refers to has 0 rows",
        ),
        (
            {"dependencies": Dependencies(ROW, ROW + 8, Categorical.of(["event"]))},
            "dependencies: after has indices from 8 to 8, but the table that it refers to has 8 rows",
        ),
        (
            {
                "allocations": Allocations(
                    Categorical.of(["gpu"]), np.zeros(1), np.zeros(1), ROW - 2
                )
            },
            "allocations: execution has indices from -2 to -2, but the table that it refers to has 8 rows",
        ),
        (
            {
                "tensors": Tensors(
                    Categorical.of(["x"]),
                    Categorical.of([(1,)]),
                    Categorical.of(["fp32"]),
                    np.zeros(2),
                )
            },
            "tensors: size has 2 values for 1 row",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_inconsistencies_are_found(changes: dict[str, Any], problem: str) -> None:
    assert problem in problems_with(**changes)


def test_a_consistent_profile_has_no_problems() -> None:
    assert nested().check() == ()
    assert static().check() == ()


def test_optional_columns_have_three_states() -> None:
    operators = operators_of(
        [{"name": "a"}, {"name": "b"}],
        optional={"registers": np.array([32.0, np.nan]), "in_shapes": Categorical.of(["x", None])},
        not_loaded=frozenset({"parameters"}),
    )
    states = [operators.state(name) for name in ("registers", "parameters", "out_shapes")]
    assert states == ["loaded", "not loaded", "absent"]
    assert operators.categorical("in_shapes").values().tolist() == ["x", None]
    assert operators.categorical("out_shapes").values().tolist() == [None, None]
    np.testing.assert_array_equal(operators.numbers("registers"), [32, np.nan])
    assert np.isnan(operators.numbers("occupancy")).all()
    with pytest.raises(QueryError, match="parameters: the profile was loaded without this column"):
        operators.categorical("parameters")
    with pytest.raises(QueryError, match="tensors: the profile was loaded without this table"):
        static().changed(not_loaded=frozenset({"tensors"})).table("tensors")
    assert static().table("uses") is None


def test_operators_of_different_formats_are_concatenated() -> None:
    one = operators_of(
        [{"name": "a", "computation": 1.0}],
        optional={"in_shapes": Categorical.of(["x"]), "parameters": Categorical.of(["p"])},
    )
    other = operators_of(
        [{"name": "b", "key": "second"}],
        optional={"registers": np.array([32.0])},
        not_loaded=frozenset({"parameters"}),
    )
    both = Operators.concatenated([one, other])
    assert isinstance(both.key, Categorical)
    assert both.key.values().tolist() == ["0", "second"]
    assert both.categorical("in_shapes").values().tolist() == ["x", None]
    np.testing.assert_array_equal(both.numbers("registers"), [np.nan, 32])
    np.testing.assert_array_equal(both.computation, [1, np.nan])
    assert both.state("parameters") == "not loaded"
    assert both.source_of("computation").values().tolist() == ["measured", "unknown"]


def test_text_keys_sort_naturally_and_numbers_as_numbers() -> None:
    names = ["conv10", "conv2", "", "conv", "conv2a", "conv02", "b" + "9" * 5000, "b1"]
    ranks = Categorical.of([*names, None]).ranks(natural=True)
    assert np.isnan(ranks[-1])
    order = [names[index] for index in np.argsort(ranks[:-1]).tolist()]
    assert order == ["", "b1", "b" + "9" * 5000, "conv", "conv02", "conv2", "conv2a", "conv10"]
    assert static().operators.key_ranks().tolist() == [1, 0, 2]
    assert nested().operators.key_ranks().tolist() == list(range(7))


def joined(*parts: Executions) -> Executions:
    all_parts = ExecutionParts()
    for part in parts:
        all_parts.add(part)
    return all_parts.joined()


def test_constant_columns_take_no_memory() -> None:
    executions = Executions.of(np.zeros(1000, np.int32), np.ones(1000))
    stored = [
        values for name in Executions.__dataclass_fields__
        if isinstance(values := getattr(executions, name), np.ndarray) and values.strides != (0,)
    ]  # fmt: skip
    assert sum(values.nbytes for values in stored) == 12_000
    twice = joined(executions, executions)
    assert twice.run.strides == (0,)
    assert twice.take(np.array([0, 1999])).run.strides == (0,)
    assert twice.phase.values().tolist() == [None] * 2000
    with pytest.raises(TypeError, match="no columns speed"):
        Executions.of([0], [1.0], speed=[1.0])


def test_an_execution_takes_at_most_124_bytes() -> None:
    """Count the memory of executions with values in all columns."""
    rows, texts = np.arange(1000), Categorical.of(["forward", "backward"] * 500)
    filled = Executions.of(
        rows,
        rows,
        phase=texts,
        **dict.fromkeys(("run", "track", "calls", "untimed_calls", "parent", "launched_by"), rows),
        **dict.fromkeys(("start_s", "self_s", "first_kernel_s", "submitted_s", "median_s"), rows),
        **dict.fromkeys(("thread_wait_s", "allocated_bytes", "device_allocated_bytes"), rows),
    ).changed(kernel=texts)
    columns = [getattr(filled, name) for name in Executions.__dataclass_fields__]
    arrays = [one.codes if isinstance(one, Categorical) else one for one in columns]
    assert not [array for array in arrays if array.strides == (0,)]
    assert sum(array.nbytes for array in arrays) <= 124 * 1000


def test_references_between_executions_are_renumbered() -> None:
    executions = nested().executions
    both = joined(executions, executions)
    assert both.parent.tolist()[8:12] == [-1, 8, 9, 10]
    assert both.launched_by.tolist()[14:] == [11, 13]
    few = executions.take(np.array([6, 3, 2]))
    assert few.launched_by.tolist() == [1, -1, -1]
    assert few.parent.tolist() == [-1, 2, -1]


def test_executions_can_be_added_after_joining() -> None:
    executions, parts = nested().executions, ExecutionParts()
    parts.add(executions)
    first = parts.joined()
    parts.add(executions)
    assert first.duration_s.tolist() == executions.duration_s.tolist()
    both = parts.joined()
    assert both.duration_s.tolist() == [*executions.duration_s, *executions.duration_s]
    assert both.parent.tolist() == joined(executions, executions).parent.tolist()


def test_a_copy_is_measured_anew_only_if_its_measures_may_differ() -> None:
    profile = nested()
    times = profile.measured("time")
    assert profile.changed(file="other").measured("time") is times
    others = profile.operators.take(np.array([6, 5, 4, 3, 2, 1, 0]))
    assert profile.changed(operators=others).measured("time") is times
    longer = profile.executions.changed(duration_s=2 * profile.executions.duration_s)
    np.testing.assert_array_equal(
        profile.changed(executions=longer).measured("time"), 2 * np.asarray(times)
    )


def test_shares_of_the_time_agree_with_the_column_share() -> None:
    times_s = ([1.0, 9.0, 2.0], [3.0, 1.0, 8.0])  # of each operator in each run
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}],
        [
            {"operator": operator, "run": number, "duration_s": row[number]}
            for operator, row in enumerate(times_s)
            for number in range(3)
        ],
        runs=[Run()] * 3,
    )
    # The median of the totals 4 s, 10 s and 10 s is 10 s, and "a" takes 2 s. The median of its
    # shares in the runs would be 25 %, and its share of the sums 50 %.
    assert profile.share_of(np.array([True, False])) == 0.2
    assert run(Query(order="+share"), profile)["share"].tolist() == [0.2, 0.3]
    assert np.isnan(static().share_of(np.zeros(len(static().operators), np.bool_)))


def test_arrays_are_read_only() -> None:
    profile = nested()
    for values in (
        profile.executions.duration_s,
        profile.operators.memory,
        profile.measured("time"),
        profile.operators.name.codes,
    ):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1


def test_a_pickle_stores_constant_columns_once() -> None:
    executions = Executions.of(np.zeros(10_000, np.int32), np.zeros(10_000))
    pickled = pickle.dumps(executions)
    copy: Executions = pickle.loads(pickled)
    assert len(pickled) < 10_000 * (4 + 8) + 3_000  # the two columns that are given
    for one in fields(Executions):
        values, before = getattr(copy, one.name), getattr(executions, one.name)
        if one.name in ("phase", "kernel"):
            values, before = values.codes, before.codes
        np.testing.assert_array_equal(values, before)
        assert values.strides == before.strides
        assert not values.flags.writeable


def test_a_profile_can_be_pickled() -> None:
    copy: Profile = pickle.loads(pickle.dumps(nested()))
    assert copy.check() == ()
    np.testing.assert_array_equal(copy.measured("time"), nested().measured("time"))
    assert repr(copy) == "Profile('made.json', 7 operators, 'a made-up runtime')"
    assert repr(copy.executions) == "Executions(8 executions)"
    assert repr(copy.operators) == "Operators(7 operators, optional=())"
