"""Checks and converts the values of options, which are texts on the command line."""

from __future__ import annotations

import argparse
import re
from math import isfinite
from typing import TYPE_CHECKING, Final

from profile_analyze.columns.catalog import split_names
from profile_analyze.errors import QuantityError, QueryError
from profile_analyze.readers.input.suffixes import SUFFIXES, is_label_table
from profile_analyze.readers.model_inputs import parse_dim, parse_input_shape, parse_tile
from profile_analyze.report.formats.output_formats import picture_format_of
from profile_analyze.units import parse_quantity, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

_AMBIGUOUS: Final = 0.1
"""A number of at least this size needs a per cent sign: `0.5` could mean 50 % or 0.5 %."""
_LONGEST_NUMBER: Final = 40
"""The most characters in a number of runs or a range of steps, which is more than any needs.
Without a limit, `int` would fail for numbers of several thousand digits."""
LOCAL: Final = "local"
"""The engine that reads files in processes of this machine, without Dask."""
_DASK: Final = "dask"
DEVICE_FILE: Final = re.compile(r"(?P<file>.*\.toml)(:(?P<rest>.*))?", re.DOTALL)
"""Matches a value of `--peaks` that names a TOML file of devices."""


def seconds(text: str) -> float:
    """Return the seconds in a text such as `1ms`."""
    try:
        return parse_time(text)
    # argparse adds the name of the option only to the message of its own exception.
    except QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def start_time(text: str) -> float:
    """Return the seconds in a text such as `10ms`. They must be finite."""
    start = seconds(text)
    if not isfinite(start):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time in a profile; write one such as 10ms"
        )
    return start


def time_limit(text: str) -> float:
    """Return the seconds in a text such as `5min`. They must be more than 0."""
    limit = seconds(text)
    if not limit > 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid time limit; write a time above 0, such as 60 or 5min"
        )
    return limit


def size_in_bytes(text: str) -> int:
    """Return the number of bytes in a text such as `16GiB`. The text must have a unit."""
    try:
        size = parse_quantity(text, "byte")
    except QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not text.strip()[-1].isalpha():  # a bare number could mean bytes or GiB
        raise argparse.ArgumentTypeError(f"{text!r} has no unit; write one, as in 16GiB")
    if size < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than a byte; write 16GiB")
    return int(size)


def fraction(text: str) -> float:
    """Return the fraction in a text such as `3%`. It must be at least 0 and less than 1."""
    try:
        value = parse_quantity(text, "1")
    except QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if 1 <= value < 100 and not text.strip().endswith("%"):
        raise argparse.ArgumentTypeError(f"{text!r} is {value * 100:g}%; did you mean {value:g}%?")
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is out of range: it must be at least 0% and less than 100%; write 3% or 0.03"
        )
    # 0.03 is a common way to write 3 %, but many people who write 0.5 mean 0.5 %.
    if value >= _AMBIGUOUS and not text.strip().endswith("%"):
        raise argparse.ArgumentTypeError(
            f"{text!r} could be {value:g}% or {100 * value:g}%; write one of these"
        )
    return value


def picture_file(text: str) -> str:
    """Check that the name of a picture has the suffix of a picture, and return it unchanged."""
    if text.endswith(SUFFIXES):
        raise argparse.ArgumentTypeError(
            f"took the profile {text} as the picture; write --plot result.svg {text}"
        )
    return _checked_by(picture_format_of, text)


def _checked_by(parse: Callable[[str], object], text: str) -> str:
    """Return the text unchanged if `parse` accepts it.

    Raises `ArgumentTypeError` in place of a `QueryError`.
    """
    try:
        parse(text)
    except QueryError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def input_shape(text: str) -> str:
    """Check the shape of an input, such as `data:1x3x224x224`, and return it unchanged."""
    return _checked_by(parse_input_shape, text)


def symbol_size(text: str) -> str:
    """Check the size of a symbol, such as `batch=8`, and return it unchanged."""
    return _checked_by(parse_dim, text)


def tile_sizes(text: str) -> str:
    """Check the sizes of a tile, such as `64,64,64`, and return them unchanged."""
    return _checked_by(parse_tile, text)


def model_file(text: str) -> str:
    """Check that the name of a new model has the suffix .onnx, and return it unchanged."""
    if not text.lower().endswith(".onnx"):
        raise argparse.ArgumentTypeError(
            f"{text!r} does not end with .onnx; models are written as ONNX, so name it, for "
            "example, split.onnx"
        )
    return text


def label_source(text: str) -> str:
    """Check that a text is a pattern with a label, or the name of a table; return it unchanged."""
    if "{" not in text and not is_label_table(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} has no label; write the names of labels in braces, as in "
            "'nightly/{date}/{host}/*.json', or name a table, such as labels.csv"
        )
    return text


def engine(text: str) -> str:
    """Check that a text is `local`, `dask` or `dask:ADDRESS`, and return it unchanged."""
    name, _, address = text.partition(":")
    if text in (LOCAL, _DASK) or (name == _DASK and address):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is not an engine; write local, dask, or dask:ADDRESS for a cluster that exists, "
        "such as dask:tcp://host:8786"
    )


def dask_address(engine: str) -> str:
    """Return the address in `dask:ADDRESS`; empty if `engine` has none."""
    return engine.partition(":")[2]


def label_value(text: str) -> str:
    """Check that a text has the form `NAME=VALUE`, and return it unchanged."""
    name, _, value = text.partition("=")
    if not (name and value):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not NAME=VALUE; write the name and the value of a label: date=2026-11-01"
        )
    return text


def run_count(text: str) -> int:
    """Return the number of runs in a text."""
    if not text.strip().isdecimal() or len(text) > _LONGEST_NUMBER:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs, such as 1")
    return int(text)


def step_range(text: str) -> tuple[int, int]:
    """Return the first and the last step in a text such as `3` or `3-5`."""
    first, dash, last = (part.strip() for part in text.partition("-"))
    is_range = first.isdecimal() and (last.isdecimal() if dash else not last)
    if not is_range or len(text) > _LONGEST_NUMBER:
        raise argparse.ArgumentTypeError(f"{text!r} is not a step; write 3, or 3-5 for several")
    if dash and int(last) < int(first):
        raise argparse.ArgumentTypeError(f"{text!r} has no steps; did you mean {last}-{first}?")
    return int(first), int(last or first)


def column_names(text: str) -> str:
    """Return the names of columns, separated by commas.

    The name `opr_id` of the original tool (docs/compatibility.md) is replaced by `id`.
    """
    return ",".join(re.sub(r"^(\+?)opr_id$", r"\1id", name) for name in split_names(text))


def condition(text: str) -> str:
    """Return a condition. As in `column_names`, `opr_id` at its start is replaced by `id`."""
    return re.sub(r"^(\s*)opr_id\b", r"\1id", text)


def row_count(text: str) -> int:
    """Return the number of rows in a text. Like the original tool, accept forms such as `1_000`."""
    try:
        count = int(text)
    except ValueError:
        count = -1
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows; 0 shows all")
    return count
