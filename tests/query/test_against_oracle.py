"""The reader and the query engine against plain loops, on generated and on real profiles."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given

from profile_analyze import Query, join_runs, load, run
from tests import oracle
from tests.conftest import IS_FULL, PROFILE_NAMES, PROFILES, examples, some_of
from tests.small import joined_at_once, profile_of_document
from tests.strategies import documents, queries, runs_of_one


@pytest.mark.slow
def test_answers_like_the_oracle() -> None:
    sizes: list[int] = []

    @examples(500)
    @given(document=documents(), query=queries())
    @example(
        document={"profiler": {}, "graph_exec": {"operator": {}}},
        query=Query(by="type", aggregates="mean"),
    )
    def compare(document: dict[str, Any], query: Query) -> None:
        rows = oracle.answer(oracle.read(document), query)
        assert run(query, profile_of_document(document)).rows == rows
        sizes.append(len(rows))

    compare()
    # Empty answers prove little, so many of the compared answers must have several rows.
    if IS_FULL:
        assert sum(size >= 2 for size in sizes) > len(sizes) / 10


@pytest.mark.slow
def test_answers_about_several_runs_like_the_oracle() -> None:
    sizes: list[int] = []

    @examples(400)
    @given(runs=runs_of_one(), query=queries())
    def compare(runs: list[dict[str, Any]], query: Query) -> None:
        rows = oracle.answer(oracle.join_runs(list(map(oracle.read, runs))), query)
        one_by_one = join_runs(
            profile_of_document(found, f"{index}.json") for index, found in enumerate(runs)
        )
        at_once = joined_at_once(runs)
        assert run(query, one_by_one).rows == run(query, at_once).rows == rows
        assert (at_once.notes, at_once.notes_on_runs) == (
            one_by_one.notes,
            one_by_one.notes_on_runs,
        )
        for side in ("device", "host"):
            tracks = [
                [track for track in one.tracks if track.side == side]
                for one in (at_once, one_by_one)
            ]
            assert tracks[0] == tracks[1]
        assert (at_once.file, at_once.processes) == (one_by_one.file, one_by_one.processes)
        sizes.append(len(rows))

    compare()
    if IS_FULL:
        assert sum(size >= 2 for size in sizes) > len(sizes) / 10


@pytest.mark.slow
def test_shares_of_all_operators_add_up_to_one() -> None:
    sums: list[float] = []

    @examples(200)
    @given(document=documents())
    def add_up(document: dict[str, Any]) -> None:
        table = run(Query(), profile_of_document(document))
        known = [row["share"] for row in table.rows if row["share"] is not None]
        if known:
            sums.append(sum(known))

    add_up()
    if IS_FULL:
        assert sums
    assert sums == pytest.approx([1.0] * len(sums))


@pytest.mark.slow
@examples(200)
@given(document=documents(), query=queries())
def test_a_table_has_the_same_counts_as_the_oracle(document: dict[str, Any], query: Query) -> None:
    operators = oracle.read(document)
    result = run(query, profile_of_document(document))
    everything = query.changed(top=0)
    ungrouped = {"by": (), "aggregates": (), "having": (), "order": ("time",)}
    plain = everything.changed(**ungrouped)
    matching = oracle.answer(operators, plain)
    assert result.recorded == sum(
        operator.recorded[oracle.side_of(query)] for operator in oracle.split(operators, query)
    )
    assert result.matched == len(matching)
    assert result.without_memory == sum(row["memory"] is None for row in matching)
    assert result.available == len(oracle.answer(operators, everything))
    assert len(result) == len(result.rows)


REAL_QUERIES = (
    Query(),
    Query(measure="host_time", order="+time"),
    Query(measure="wait", order=("+name", "id")),
    Query(by="type", aggregates="sum"),
    Query(by="type", aggregates="mean", order="+bandwidth"),
    Query(by="type", aggregates="max", order="flops"),
    Query(aggregates="min"),
    Query(types=("Elemwise", "Reduce"), name=".*(ADD|Reduce)", order="memory", top=5),
    Query(input_dtype="Float32", order="+id"),
    Query(min_time_s=2e-6, max_time_s=1e-3, order="computation"),
    Query(
        by="in_shapes,param.stride_h", aggregates="median,p90,std,count", order="count,+time.p90"
    ),
    Query(by=("device", "input_dtype"), having="count >= 2"),
    Query(by=("compute_dtype", "type"), where="compute_dtype != int8"),
    Query(by=r"name~^([a-zA-Z_]+)", where=["type != ConvolutionForward", "share > 0.01%"]),
    Query(where=["name ~ conv", "flops > 1e9", "param.stride_h == 2"], order="intensity,+id"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of(PROFILE_NAMES, 6))
def test_answers_like_the_oracle_on_real_profiles(name: str) -> None:
    path = str(PROFILES / f"{name}.json")
    operators, profile = oracle.read_file(path), load(path)
    for query in REAL_QUERIES:
        expected = oracle.answer(operators, query)
        for row, wanted in zip(run(query, profile).rows, expected, strict=True):
            assert row == {key: nearly(value) for key, value in wanted.items()}


def nearly(value: Any) -> Any:
    """Return the value with a tolerance: the last bits of sums depend on the order of addition."""
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
