"""`ModelInputs`: what a caller says about a model, such as the sizes of its dynamic inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from operator import index
from shlex import quote
from typing import Any, Final, NamedTuple, SupportsIndex

from profile_analyze.errors import QueryError
from profile_analyze.units import counted

EXAMPLE: Final = "data:1x3x224x224"
TILE_EXAMPLE: Final = "64,64,64"
DTYPES: Final = {
    **{f"f{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    **{f"float{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{name: name for name in ("fp16", "fp32", "fp64", "bf16", "bool")},
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""The canonical dtype for each name that a caller may use, such as fp32 for f32 and float32."""

_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"

_TOO_MANY_DIGITS: Final = 21
_HUGE: Final = 10 ** (_TOO_MANY_DIGITS - 1)
"""Stands for every integer with `_TOO_MANY_DIGITS` digits or more. No size may be this large."""

_SIZES: Final = r"[0-9]+(?:[\s,x*X]+[0-9]+)*"


class InputShape(NamedTuple):
    """What a caller says about one input."""

    shape: tuple[int, ...] | None
    """None keeps the shape of the model. A size that the model leaves open becomes the size of its
    symbol in `ModelInputs.dims`, or 1."""
    dtype: str | None = None
    """One of `terms.DTYPES`; None keeps the dtype of the model."""
    value: float | None = None
    """The value of all elements; None if it is not known."""


class Tile(NamedTuple):
    """The largest matrices that a piece of hardware multiplies: M x K times K x N."""

    m: int
    n: int
    k: int
    with_convolutions: bool = False
    """Whether convolutions are cut into tiles, too. im2col turns them into matrix products."""

    @property
    def sizes(self) -> tuple[int, int, int]:
        """M, N and K."""
        return self.m, self.n, self.k

    def __str__(self) -> str:
        return "x".join(map(str, self.sizes))


class ModelInputs(NamedTuple):
    """What a caller says about a model: the sizes of its inputs and symbols, and the tile."""

    shapes: Mapping[str, InputShape] = {}
    """The shape of each input, by the name of the input."""
    dims: Mapping[str, int] = {}
    """The size of each symbol, such as `batch`."""
    may_lack: bool = False
    """Whether names that a model lacks are accepted. In a comparison, the other model may have such
    names. `StaticModel.lacks` lists the names that a model lacks."""
    tile: Tile | None = None
    """The largest matrix product of the hardware, which the columns on tiles need."""

    @classmethod
    def of(
        cls,
        shapes: Mapping[str, tuple[int, ...] | str] | Iterable[str] = (),
        dims: Mapping[str, int] | Iterable[str] = (),
        tile: str | None = None,
    ) -> ModelInputs:
        """Make `ModelInputs` from command-line texts, or from mappings of names to sizes.

        Raises `QueryError`.
        """
        of_tile = None if tile is None else parse_tile(tile)
        return cls(_shapes_of(shapes), _dims_of(dims), tile=of_tile)


NO_INPUTS: Final = ModelInputs()
"""Nothing is given: every input keeps the sizes of the model, and no product is cut into tiles."""


def parse_input_shape(text: str) -> tuple[str, InputShape]:
    """Parse `NAME:[DTYPE:]SHAPE[:VALUE]` into a name and a shape. Raises `QueryError`.

    If the text is only a shape, the name is empty. The reader then raises an error with the names
    of the model's inputs.
    """
    if re.fullmatch(rf"[\[({{]?{_SIZES}[\])}}]?", text):
        return "", InputShape(_sizes_of(re.findall("[0-9]+", text), text))
    # A name may have colons, as in `input:0`, so the pattern describes all parts after the name.
    match = re.fullmatch(
        rf"(.+?)(?::({'|'.join(DTYPES)}))?:(-?\d+(?:x-?\d+)*|scalar)(?::({_NUMBER}))?", text
    )
    if match is None:
        advice = _meant_shape(text) or f", such as {EXAMPLE} or ratio:f32:-1:0.25"
        raise QueryError(f"{text!r} is not NAME:SHAPE{advice}")
    name, dtype, shape, value = match.groups()
    if shape == "-1":
        sizes = None
    else:
        sizes = () if shape == "scalar" else _sizes_of(shape.split("x"), text)
    return name, InputShape(sizes, DTYPES.get(dtype), None if value is None else float(value))


def _meant_shape(text: str) -> str:
    """Return a suggestion if `text` has another form, such as `data=(1, 3)`; otherwise empty."""
    match = re.fullmatch(rf"([^\s:=]+)[:=\s]+[\[({{]?({_SIZES})[\])}}]?", text)
    if match is None:
        return ""
    return f"; did you mean {match[1]}:{'x'.join(re.findall('[0-9]+', match[2]))}?"


def parse_dim(text: str) -> tuple[str, int]:
    """Parse `SYMBOL=SIZE` into a symbol and a size. Raises `QueryError`.

    If the text is only a size, the symbol is empty. The reader then raises an error with the
    symbols of the model.
    """
    symbol, equals, size = (f"={text}" if re.fullmatch("[0-9]+", text) else text).rpartition("=")
    if re.fullmatch(r"\w+=\d+(?:\s*[,;]\s*\w+=\d+)+", text):
        each = " ".join(f"--dim {quote(one.strip())}" for one in re.split("[,;]", text))
        raise QueryError(f"{text!r} is not one SYMBOL=SIZE; did you mean {each}?")
    if not (equals and re.fullmatch(r"-?\d+", size)):
        match = re.fullmatch(r"([^\W\d]\w*)[:\s]+(\d+)", text)
        advice = f"; did you mean {match[1]}={match[2]}?" if match else ", such as batch=8"
        raise QueryError(f"{text!r} is not SYMBOL=SIZE{advice}")
    (integer,) = _sizes_of([size], text)
    return symbol, integer


def parse_tile(text: str) -> Tile:
    """Parse `M,N,K` or `M,N,K,conv` into a tile. Raises `QueryError`."""
    *numbers, last = (part.strip() for part in text.split(","))
    with_convolutions = last == "conv"
    sizes = numbers if with_convolutions else [*numbers, last]
    if not all(re.fullmatch("-?[0-9]+", one) for one in sizes):
        match = re.fullmatch(r"(\d+)\s*[x*X\s]\s*(\d+)\s*[x*X\s]\s*(\d+)", text.strip())
        advice = (
            f"; did you mean {','.join(match.groups())}?" if match else f", as in {TILE_EXAMPLE}"
        )
        raise QueryError(f"{text!r} is not M,N,K or M,N,K,conv{advice}")
    if len(sizes) != 3:
        raise QueryError(
            f"{text!r} has {counted(len(sizes), 'size')}, and a tile has three; write M,N,K, as in "
            f"{TILE_EXAMPLE}"
        )
    m, n, k = map(_integer, sizes)
    for name, size, shown in zip("MNK", (m, n, k), sizes, strict=True):
        if not 1 <= size < 1 << 32:
            problem = "too large" if size > 0 else "not positive"
            raise QueryError(
                f"{text!r}: {name} is {shown}, which is {problem}; write {TILE_EXAMPLE}"
            )
    return Tile(m, n, k, with_convolutions)


def _integer(text: str) -> int:
    """Return the integer in `text`; `_HUGE` or `-_HUGE` if it has too many digits."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("-0") or "0"
    # `int` refuses thousands of digits.
    return sign * (int(digits) if len(digits) < _TOO_MANY_DIGITS else _HUGE)


def _sizes_of(sizes: Iterable[str], text: str) -> tuple[int, ...]:
    """Return the `sizes` in the argument `text`. Raises `QueryError` for a wrong size."""
    integers = tuple(map(_integer, sizes))
    _check_sizes(integers, repr(text))
    return integers


def _check_sizes(sizes: Iterable[SupportsIndex], where: str) -> None:
    """Raise `QueryError` if a size is not an integer, is negative, or is too large for ONNX."""
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, SupportsIndex):
            raise QueryError(f"{where}: the size {size!r} is not an integer; write one such as 8")
        if not 0 <= index(size) < 1 << 63:
            problem = "negative" if index(size) < 0 else "too large"
            # `str` refuses thousands of digits.
            shown = size if abs(index(size)) < _HUGE else f"of {_TOO_MANY_DIGITS} digits or more"
            raise QueryError(f"{where}: the size {shown} is {problem}; write one such as 8")


def _shapes_of(
    shapes: Mapping[str, tuple[int, ...] | str] | Iterable[str],
) -> dict[str, InputShape]:
    if not isinstance(shapes, Mapping):
        return _by_name(map(parse_input_shape, shapes))
    parsed = {}
    for name, shape in shapes.items():
        if isinstance(shape, str):
            _, parsed[name] = parse_input_shape(f"{name}:{shape}")
        elif isinstance(shape, Iterable):
            sizes = tuple(shape)
            _check_sizes(sizes, name)
            parsed[name] = InputShape(tuple(map(index, sizes)))
        else:
            raise QueryError(
                f"{name}: {shape!r} is not a shape; write one such as (1, 3, 224, 224)"
            )
    return parsed


def _dims_of(dims: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    if not isinstance(dims, Mapping):
        return _by_name(map(parse_dim, dims))
    for symbol, size in dims.items():
        _check_sizes((size,), symbol)
    return {symbol: index(size) for symbol, size in dims.items()}


def _by_name(pairs: Iterable[tuple[str, object]]) -> dict[str, Any]:
    """Return the pairs as a dictionary. Raises `QueryError` if a name has two values."""
    by_name: dict[str, Any] = {}
    for name, value in pairs:
        if by_name.setdefault(name, value) != value and name:  # the reader reports empty names
            raise QueryError(f"{name!r} is given twice, with different values; leave one out")
    return by_name
