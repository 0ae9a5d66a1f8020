"""Writes values for people, and the names of columns for people and programs."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from profile_analyze.columns.column import AggregateOf
from profile_analyze.units import (
    NOT_AVAILABLE,
    SCALED,
    percent,
    scaled,
    scaled_text,
    seconds,
    six_digits,
    three_digits,
)

if TYPE_CHECKING:
    from profile_analyze.columns.column import Column
    from profile_analyze.model.operators import Parameters, Shape, Shapes, Strides

Style: TypeAlias = Literal["short", "stacked", "fixed", "digits"]
"""The style in which an output format writes numbers.

| style | 231211008 FLO | 0.000101234 s |
|---|---|---|
| `short` | `231.21 MFLO` | `0.000101` |
| `stacked` | `231.21` above `MFLO` | `0.000101` |
| `fixed`: in millions, bytes in units of 1024 squared | `231.2` | `0.000101` |
| `digits`: six digits without a prefix | `2.31211e+08` | `0.000101234` |
"""

_CONTIGUOUS: Final = "contiguous"
_MACHINE_UNITS: Final = {
    "s": "_s",
    "byte": "_bytes",
    "FLO": "_flo",
    "FLO/s": "_flo_per_s",
    "byte/s": "_bytes_per_s",
    "FLO/byte": "_flo_per_byte",
}


def mega(value: float) -> str:
    """Return `value` in millions with one decimal: 231211008 gives `231.2`; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value / 1e6:.1f}"


def mebi(value: float) -> str:
    """Return `value` in units of 1024 * 1024 with one decimal; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value / 1024**2:.1f}"


# How the style `fixed` writes numbers with these units: as in the tables of the original tool.
_FIXED: Final = {"FLO": mega, "FLO/s": mega, "byte": mebi, "byte/s": mebi}
_LEAST_DIFFERENCES: Final = {"s": 0.5e-10, "1": 1e-12}
"""For each unit, the smallest difference that is shown. For times, it is half of 0.1 ns, because no
clock is finer. For fractions, it is far above what the order of a sum changes."""
# Units that the heading shows. Any other unit follows each value, with a suitable prefix.
_IN_HEADING: Final = ("s", "FLO/byte")


def shape_text(shape: Shape) -> str:
    """Return the text of one shape: `{1,3,224,224}`."""
    return "{" + ",".join(map(str, shape)) + "}"


def stride_text(stride: Shape) -> str:
    """Return the text of the strides of one tensor, after a dash: `-[150528,1,672,3]`."""
    return "-[" + ",".join(map(str, stride)) + "]"


def shapes_text(shapes: Shapes) -> str:
    """Return the text of several shapes: `{1,64,56,56}, {64,64,3,3}`."""
    return ", ".join(map(shape_text, shapes))


def strides_text(strides: Strides) -> str:
    """Return the text of the strides of several tensors: `[150528,1,672,3], contiguous`."""
    if not strides:
        return _CONTIGUOUS
    texts = (_CONTIGUOUS if one is None else stride_text(one)[1:] for one in strides)
    return ", ".join(texts)


def parameters_text(parameters: Parameters) -> str:
    """Return the text of the parameters of an operator: `mode=MAX, pad_h=1`."""
    return ", ".join(f"{name}={value}" for name, value in parameters)


def truth_text(value: bool) -> str:  # noqa: FBT001  # the value of a column
    """Return the text of a truth value, as in JSON: `true`."""
    return str(value).lower()


def heading(column: Column, *, compared: bool = False) -> str:
    """Return the heading of a column for people: `host time (s)`, `bandwidth`.

    In a comparison (`compared`), some columns have another heading.
    """
    if compared and column.heading_compared:
        return column.heading_compared
    if column.heading:
        return column.heading
    if column.kind != "number":
        return column.export_name or column.name
    words = column.name.replace("_", " ").replace(".", " ", 1)
    return f"{words} ({column.unit})" if column.unit in _IN_HEADING else words


def machine_name(column: Column) -> str:
    """Return the name of a column for programs, with its unit: `time_s`, `memory_bytes`.

    A name that already states the unit, such as `flops`, stays as it is.
    """
    base, dot, aggregate = column.name, "", ""
    if isinstance(column.of_groups, AggregateOf):
        base, dot, aggregate = column.name.partition(".")
    name = column.export_name or base
    if column.kind != "number":
        return name
    states_unit = unit_of_machine_name(name) == column.unit
    unit = "" if states_unit else _MACHINE_UNITS.get(column.unit, "")
    return f"{name}{dot and '_'}{aggregate}{unit}"


def unit_of_machine_name(name: str) -> str:
    """Return the unit at the end of a name for programs: `s` for `total_s`; empty without one."""
    if name == "flops":
        return "FLO/s"
    # The longest suffix counts: `_bytes_per_s` also ends with `_s`.
    found = [unit for unit, suffix in _MACHINE_UNITS.items() if name.endswith(suffix)]
    return max(found, key=lambda unit: len(_MACHINE_UNITS[unit]), default="")


def value_text(column: Column, value: Any, style: Style = "short") -> str:
    """Return the text of a value; `N/A` for None and NaN.

    The styles `short` and `stacked` add the unit if the heading does not show it.
    """
    is_missing = value is None or value != value  # noqa: PLR0124  # NaN
    if style == "stacked" and column.unit in SCALED:  # N/A has a unit below it, too
        return "\n".join(scaled(nan if is_missing else value, column.unit, as_original=True))
    if is_missing:
        return NOT_AVAILABLE
    if not column.signed:
        return _known_value_text(column, value, style)
    rounded = without_residue(value, column.unit)
    text = _known_value_text(column, rounded, style)
    return f"+{text}" if rounded > 0 else text


def without_residue(difference: float, unit: str) -> float:
    """Return a difference to show to people. Rounding noise becomes 0: see `_LEAST_DIFFERENCES`.

    For example, sums of the same times in another order may differ in their last digits.
    """
    return 0.0 if abs(difference) < _LEAST_DIFFERENCES.get(unit, 0.0) else difference


def quantity_text(column: Column, value: Any) -> str:
    """Return the text of a value with its unit, for places without a heading."""
    text = value_text(column, value)
    has_no_unit = column.unit in _IN_HEADING and text != NOT_AVAILABLE
    return f"{text} {column.unit}" if has_no_unit else text


def _known_value_text(column: Column, value: Any, style: Style) -> str:
    if column.kind != "number":
        return column.as_text(value)
    if style == "fixed" and column.unit in _FIXED:
        return _FIXED[column.unit](value)
    if column.unit in SCALED and style != "digits":
        return scaled_text(value, column.unit)
    if isinstance(value, int):
        return str(value)
    if style == "digits":
        return six_digits(value)
    return seconds(value) if column.unit == "s" else _bare_number_text(column, value)


def _bare_number_text(column: Column, value: float) -> str:
    if column.shown_as == "six digits":
        return six_digits(value)
    if column.unit == "1" and column.shown_as == "percent":
        return percent(value)
    if column.shown_as == "count":
        return f"{value:.0f}" if value.is_integer() else f"{value:.1f}"
    return f"{value:.2f}" if column.shown_as == "decimals" else three_digits(value)
