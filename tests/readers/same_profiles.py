"""Compares two profiles to the last bit, and makes random profiles."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.findings import Finding, Kind, Size, Subject
from profile_analyze.model.notes import TextNote
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin, RecordedFact
from profile_analyze.model.profile import Profile
from profile_analyze.model.static import BodyWork, Port, StaticModel, Stored
from profile_analyze.model.tables import Allocations, Dependencies, Tensors, Uses


def difference(one: Any, other: Any, where: str = "profile") -> str | None:
    """Return where two values differ in type or in any bit; None if they are the same."""
    if type(one) is not type(other):
        return f"{where}: {type(one)} and {type(other)}"
    parts, other_parts = _parts(one), _parts(other)
    if parts is None:
        return None if _bits(one) == _bits(other) else where
    if parts.keys() != other_parts.keys():
        return where
    found = (difference(parts[name], other_parts[name], f"{where}.{name}") for name in parts)
    return next(filter(None, found), None)


def _parts(value: Any) -> Any:
    """Return the parts of a value by name; None if it has no parts."""
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value) if one.init}
    if isinstance(value, TextNote):
        return {name: getattr(value, name) for name in TextNote.__slots__}
    if isinstance(value, tuple):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else None


def _bits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        is_constant = len(value) > 0 and value.strides == (0,)
        return value.dtype, value.shape, is_constant, value.flags.writeable, value.tobytes()
    # `repr` distinguishes 0.0 from -0.0, but not one NaN from another.
    return value if isinstance(value, frozenset) else repr(value)


_names = st.sampled_from(["conv", "relu", "", "卷积", "new\nline", "a\0b"])
_numbers = st.floats() | st.sampled_from([0.0, -0.0, float("inf")])
_integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-200, 200)
_plain = st.recursive(
    st.none() | st.booleans() | _integers | _numbers | _names,
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)
_findings = st.builds(
    Finding,
    code=_names,
    kind=st.sampled_from(Kind),
    values=st.lists(st.tuples(_names, _plain), max_size=2).map(tuple),
    size=st.builds(Size, _numbers, _numbers),
    subjects=st.lists(
        st.builds(Subject, st.just("file"), _names, st.integers(1, 9)), max_size=2
    ).map(tuple),
)
_notes = _findings | st.builds(TextNote, _names, st.sampled_from(Kind), _numbers)


def _categorical(rows: int, values: Any) -> Any:
    def made(categories: list[Any], codes: list[int]) -> Categorical[Any]:
        highest = len(categories) - 1
        return Categorical(
            np.array([min(code, highest) for code in codes], np.int64), tuple(categories)
        )

    codes = st.lists(st.integers(-1, 200), min_size=rows, max_size=rows)
    return (
        st.just(Categorical.missing(rows))
        | values.map(lambda value: Categorical.constant(value, rows))
        | st.builds(made, st.lists(values, max_size=300 if rows > 50 else 3), codes)
    )


def _array(rows: int, values: Any, dtype: Any) -> Any:
    return st.lists(values, min_size=rows, max_size=rows).map(lambda row: np.array(row, dtype))


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Draw a profile. Its tables have all kinds of values, and may contradict each other."""
    rows, count = draw(st.sampled_from([3, 0, 1, 60])), draw(st.sampled_from([4, 0, 1]))
    texts, floats = _categorical(rows, _names), _array(rows, _numbers, np.float64)
    key = draw(_array(rows, _integers, np.int64) | texts)
    operators = Operators.of(
        key=key,
        name=draw(texts),
        type=draw(st.none() | texts),
        scope=draw(st.none() | _categorical(rows, st.lists(_names, max_size=2).map(tuple))),
        computation=draw(st.none() | floats),
        optional=draw(
            st.dictionaries(
                st.sampled_from(["in_shapes", "x"]), floats | _categorical(rows, _plain)
            )
        ),
        not_loaded=frozenset(draw(st.sets(_names))),
    )
    indices = _array(count, st.integers(-1, 2**31 - 1), np.int32)
    executions = Executions.of(
        draw(indices),
        draw(_array(count, _numbers, np.float64)),
        phase=draw(st.none() | _categorical(count, _names)),
        **draw(st.fixed_dictionaries({}, optional={"parent": indices, "run": indices})),
    )
    return Profile(
        file=draw(_names),
        origin=Origin(
            draw(_names), recorded=(RecordedFact("x_s", draw(_numbers), "s", draw(_names)),)
        ),
        operators=operators,
        executions=executions,
        tracks=tuple(draw(st.lists(_names.map(Track)))),
        runs=tuple(Run(wall_s=wall_s) for wall_s in draw(st.lists(_numbers))),
        processes=tuple(draw(st.lists(_names))),
        tensors=Tensors(draw(texts), draw(_categorical(rows, _plain)), draw(texts), draw(floats)),
        uses=Uses(draw(indices), draw(indices), draw(_array(count, st.booleans(), np.bool_))),
        dependencies=Dependencies(draw(indices), draw(indices), Categorical.missing(count)),
        allocations=Allocations(Categorical.missing(0), np.empty(0), np.empty(0), draw(indices)),
        notes=tuple(draw(st.lists(_notes))),
        model=draw(
            st.none()
            | st.just(
                StaticModel(
                    (Port("data", (1, "batch", None), "fp32"),),
                    (),
                    Stored(1, 2.0, 4.0),
                    (BodyWork("loop", "body", 1, float("nan"), None),),
                    lacks={"--dim batch": "no such symbol"},
                )
            )
        ),
    )
