"""Strategies that generate profiles and questions.

Times are multiples of 2**-20 s, and work and memory are whole numbers. So all sums are exact in any
order, and answers can be compared to the last bit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hypothesis import assume
from hypothesis import strategies as st

from profile_analyze import Query, QueryError, parse_peaks
from profile_analyze.columns.catalog import CATALOG, find_column
from profile_analyze.model.terms import SPLIT_KEYS

if TYPE_CHECKING:
    from profile_analyze.columns.column import Column

TICK_S = 2.0**-20
TYPES = ("Convolution", "Elemwise", "Reduce", "Copy", "ImmutableTensor")
COMP_NODES = ('CompNode("cpu0:0" from "xpux:0")', 'CompNode("cpu1:0" from "xpu1:0")')
DTYPES = ("Float32", "Int32", "QuantizedS8")
NAMES = ("conv", "conv[1]", "relu(conv)", "a|b", "new\nline", "", "12345", "卷积")

ticks = st.integers(0, 40).map(lambda count: count * TICK_S)
shapes = st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=2)


@st.composite
def intervals(draw: st.DrawFn) -> dict[str, Any]:
    start, length, wait = draw(ticks), draw(ticks), draw(ticks)
    interval: dict[str, Any] = {"start": start, "kern": start + wait, "end": start + length}
    damage = draw(
        st.sampled_from(
            ["none"] * 12
            + ["inf", "backwards", "no kern", "no end", "-1", "early kern", "late kern"]
        )
    )
    if damage == "inf":
        interval["end"] = draw(st.sampled_from(["inf", "-inf", "nan"]))
    elif damage == "backwards":
        interval["end"] = start - TICK_S
    elif damage == "no kern":
        del interval["kern"]
    elif damage == "no end":
        interval["end"] = None
    elif damage == "early kern":
        interval["kern"] = start - TICK_S
    elif damage == "late kern":
        interval["kern"] = start + length + TICK_S
    elif damage == "-1":
        interval["kern"] = -1
    return interval


@st.composite
def footprints(draw: st.DrawFn) -> dict[str, Any]:
    in_shapes = draw(shapes)
    footprint: dict[str, Any] = {
        "computation": draw(st.none() | st.integers(0, 1000)),
        "memory": draw(st.integers(0, 1000)),
        "in_shapes": in_shapes,
        "out_shapes": draw(shapes),
    }
    if draw(_mostly):
        footprint["param"] = draw(_parameters)
    if draw(st.booleans()):
        footprint["in_layouts"] = [draw(st.none() | st.just([1, 2])) for _ in in_shapes]
    return footprint


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A decoded GraphProfiler document, in which any optional part may be missing."""
    count = draw(st.sampled_from([8, 12, 5, 3, 2, 1, 0]))
    ids = [str(id_) for id_ in draw(st.permutations(range(20)))[:count]]
    tracks = st.dictionaries(st.sampled_from(COMP_NODES), intervals(), min_size=1, max_size=2)
    variables: dict[str, Any] = {
        f"v{index}": {"mem_plan": draw(_memory_plans), "flag": []} for index in range(3)
    }
    operators = {
        id_: {
            "node_type": "operator",
            "id": id_,
            "name": draw(st.sampled_from(NAMES)),
            "type": draw(st.sampled_from(TYPES)),
            "input": draw(st.lists(st.sampled_from([*variables, "unknown"]), max_size=2)),
            "output": [],
        }
        for id_ in ids
    }
    profiler: dict[str, Any] = {"opr_internal_pf": {}}
    for section, entry in (("device", tracks), ("host", tracks), ("opr_footprint", footprints())):
        if draw(_mostly):
            present = [id_ for id_ in [*ids, "1000"] if draw(_mostly)]
            profiler[section] = {id_: draw(entry) for id_ in draw(st.permutations(present))}
    return {"profiler": profiler, "graph_exec": {"operator": operators, "var": variables}}


@st.composite
def runs_of_one(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Documents of several runs of one graph: ids and times differ, operators may be missing."""
    first = draw(documents())
    tracks = st.dictionaries(st.sampled_from(COMP_NODES), intervals(), min_size=1, max_size=2)
    documents_ = [first]
    operators = first["graph_exec"]["operator"]
    for _ in range(draw(st.sampled_from([2, 1, 3, 0]))):
        ids = [str(id_) for id_ in draw(st.permutations(range(20)))[: len(operators)]]
        new_ids = dict(zip(operators, ids, strict=True))
        kept = [id_ for id_ in operators if draw(_mostly)]
        profiler: dict[str, Any] = {
            side: {new_ids[id_]: draw(tracks) for id_ in kept if draw(_mostly)}
            for side in ("device", "host")
        }
        footprints_ = first["profiler"].get("opr_footprint", {})
        profiler["opr_footprint"] = {
            new_ids[id_]: footprints_[id_] for id_ in kept if id_ in footprints_
        }
        graph = {
            "operator": {new_ids[id_]: operators[id_] | {"id": new_ids[id_]} for id_ in kept},
            "var": first["graph_exec"]["var"],
        }
        documents_.append({"profiler": profiler, "graph_exec": graph})
    return documents_


# True comes first, because hypothesis shrinks towards the first element.
_mostly = st.sampled_from([True] * 7 + [False])

_parameters = st.dictionaries(
    st.sampled_from(["stride", "mode", "axis"]),
    st.integers(0, 2) | st.sampled_from(["ADD", "RELU", None]) | st.just({"deep": [1, True]}),
) | st.lists(st.integers(0, 2), max_size=2)

_memory_plans = st.none() | st.sampled_from(DTYPES).map(
    lambda dtype: {"mem_chunk_id": "chk1", "layout": {"dtype": dtype, "shape": [1]}}
)

# Running sums can neither filter nor order rows, and some numbers do not exist for groups.
_NUMBERS = tuple(
    column
    for column in CATALOG
    if column.kind == "number" and column.orderable and column.of_groups and not column.needs_base
)
_AMOUNTS = tuple(one.name for one in _NUMBERS if one.of_operators and not one.needs_peaks)
_JUDGED = tuple(one.name for one in _NUMBERS if one.needs_peaks)
# powers of two, so that sums of least times are exact
PEAKS = parse_peaks(f"{2**20}FLOPS:{2**18}B/s")
# Of the keys that split operators, the oracle splits by these two.
_OTHER_SPLIT_KEYS = {*SPLIT_KEYS} - {"track", "device"}
_PLAIN_KEYS = tuple(
    column
    for column in CATALOG
    if column.is_key
    and column.name not in _OTHER_SPLIT_KEYS
    and not (column.needs_peaks or column.needs_base)
)
_TEXTS = tuple(column.name for column in _PLAIN_KEYS if column.orderable)
_KEYS = (
    *(column.name for column in _PLAIN_KEYS),
    *("param.stride", "param.mode", "param.0"),
    *("name~[a-z]+", r"name~(\d)", "type~^(Conv|El)", "scope/2"),
)

_times = st.sampled_from(["0us", "9.5367431640625e-07", "10us", "20us", "0.02ms"])
_shares = st.sampled_from(["5%", "0.25", "0"])
_numbers = st.sampled_from(["0", "100", "500.5", "1e3"])
_comparisons = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])


_VALUES = {
    "s": _times,
    "FLO": _numbers | st.just("0.5KFLO"),
    "byte": _numbers | st.just("0.5KiB"),
    "FLO/s": st.sampled_from(["1e6", "2e7"]),
    "byte/s": st.sampled_from(["1e6", "2e7"]),
    "FLO/byte": _numbers,
    "count": _numbers,
    "": _numbers,  # ids
}
"""Values to compare a column of this unit with."""


def _values(column: Column) -> st.SearchStrategy[str]:
    if column.unit in _VALUES:
        return _VALUES[column.unit]
    return _shares if column.shown_as == "percent" else st.sampled_from(["0", "1", "1.25", "1.5"])


def _conditions(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Conditions on one of these columns of numbers."""
    return st.sampled_from(names).flatmap(
        lambda name: st.builds(
            "{} {} {}".format, st.just(name), _comparisons, _values(find_column(name))
        )
    )


_text_conditions = st.builds(
    "{} {} {}".format,
    st.sampled_from(_TEXTS),
    st.sampled_from(["==", "!=", "~", "!~"]),
    st.sampled_from(
        ["conv", "Elemwise", "Float32", "fp32", "C|c", "[a-z]v", "copy", "measured", "cpu1"]
    ),
)
_other_conditions = st.sampled_from(
    ["param.stride == 1", "param.stride >= 1", "param.mode == ADD", "param.mode != ADD",
     "in_shapes == {}", "out_shapes != {1}, {2,3}"]
)  # fmt: skip
_where = _conditions((*_AMOUNTS, "id")) | _text_conditions | _other_conditions


_several_aggregates = st.lists(
    st.sampled_from(["sum", "mean", "max", "min", "median", "std", "count", "p90", "p12.5"]),
    min_size=1, max_size=3, unique=True,
)  # fmt: skip


def _orders(query: Query, amounts: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Columns that can order the rows of `query`, some with a plus sign."""
    if query.grouped:
        keys = (column.name for column in query.by_columns if column.orderable)
        columns = (*amounts, "count", *query.times, *keys)
    else:
        columns = (*amounts, *_TEXTS, "id", "param.stride")
    return st.builds(str.__add__, st.sampled_from(["", "+"]), st.sampled_from(columns))


# The measures that most operators have are listed twice, so that they are drawn more often.
_measures = st.sampled_from(["time", "time", "host_time", "host_time", "wait", "host_wait"])


@st.composite
def queries(draw: st.DrawFn) -> Query:
    def rarely(strategy: st.SearchStrategy[Any], otherwise: Any = None) -> Any:
        return otherwise if draw(_mostly) else draw(strategy)

    peaks = draw(st.sampled_from([None, None, PEAKS]))
    amounts = (*_AMOUNTS, *_JUDGED) if peaks else _AMOUNTS
    keys = (*_KEYS, "bound") if peaks else _KEYS
    by = draw(
        st.just(())
        | st.just(("type",))
        | st.lists(st.sampled_from(keys), min_size=1, max_size=3, unique=True).map(tuple)
    )
    has_aggregates = draw(st.booleans()) and (by or draw(st.booleans()))
    aggregates = draw(_several_aggregates) if has_aggregates else ()
    plain = Query(by=by, aggregates=aggregates, peaks=peaks)
    orders = _orders(plain, amounts)
    having = st.lists(_conditions((*amounts, "count")), max_size=2)
    fields = {
        "measure": draw(_measures),
        "types": rarely(st.lists(st.sampled_from([*TYPES, "NoSuchType"]), max_size=2), ()),
        "name": rarely(st.sampled_from(["", "conv", ".*conv", "[a-z]+$", "NOPE"])),
        "input_dtype": rarely(st.sampled_from(["", *DTYPES])),
        "min_time_s": rarely(ticks),
        "max_time_s": rarely(ticks),
        "where": draw(st.just([]) | st.lists(_where | _conditions(amounts), max_size=2)),
        "by": by,
        "split_by": rarely(st.lists(st.sampled_from(["device", "track"]), max_size=2), ()),
        "aggregates": aggregates,
        "having": rarely(having, ()) if plain.grouped else (),
        "order": tuple(draw(st.lists(orders, min_size=1, max_size=2))),
        "top": rarely(st.integers(1, 4), 0),
        "peaks": peaks,
        "run_statistic": draw(st.sampled_from(["median", "mean", "min", "max"])),
    }
    try:
        return Query(**fields)
    except QueryError as error:  # conditions that nothing can meet are refused
        assume(not re.search("contradict each other|nothing is between", str(error)))
        raise
