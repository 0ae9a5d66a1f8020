"""Reads operators without their times: names, work, shapes, dtypes and parameters."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.constants import CONSTANT_BYTES, memory_without_constants
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.operators import OPTIONAL_COLUMNS, Operators
from profile_analyze.model.stale_work import STALE_WORK
from profile_analyze.model.terms import DERIVED_WORK
from profile_analyze.readers.megengine import sections
from profile_analyze.readers.megengine.file_notes import (
    FileNote,
    notes_on_operators,
)
from profile_analyze.readers.megengine.graph import input_dtypes
from profile_analyze.readers.megengine.stale_shapes import has_stale_shapes
from profile_analyze.readers.megengine.terms import category_of, dtype_of, is_constant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.operators import Dtypes, Parameters


class DecodedOperators(NamedTuple):
    """The operators of all files, in the order of the files, without their times."""

    operators: Operators
    notes: list[FileNote]
    file_of: NDArray[np.int64]
    """Shape (operators,): the index of each operator's file."""
    row_of: list[dict[str, int]]
    """For each file, maps the id of an operator to its row. Rows are numbered across all files."""


def read_operators(
    documents: Sequence[sections.Document], wanted: Collection[str]
) -> DecodedOperators:
    """Return the operators in `documents`. Raises `BrokenValueError`."""
    graphs = [document.graph_exec for document in documents]
    file_of = np.repeat(np.arange(len(graphs)), [len(graph.operator) for graph in graphs])
    rows = count()  # one counter, because rows are numbered across all files
    row_of = [dict(zip(graph.operator, rows, strict=False)) for graph in graphs]
    operators = list(chain.from_iterable(graph.operator.values() for graph in graphs))
    footprints_of_files, notes = _footprints(documents, wanted)
    footprints = list(chain.from_iterable(footprints_of_files))
    types = Categorical.of(sections.field_values(operators, "type"))
    constant = types.where(map(is_constant, types.categories))
    computation, computation_notes = _work(footprints, "computation", file_of)
    # The writer has no formula for some types of operator and writes 0 for them.
    computation[computation == 0] = np.nan
    memory, memory_notes = _work(footprints, "memory", file_of, constant)
    stale_work, stale_notes = _stale_work(footprints_of_files, graphs, file_of)
    memory, memory_source, constant_bytes = memory_without_constants(memory, constant)
    return DecodedOperators(
        operators=Operators.of(
            key=_keys(list(chain.from_iterable(row_of))),
            name=Categorical.of(sections.field_values(operators, "name")),
            type=types,
            category=types.mapped(category_of),
            computation=computation,
            memory=memory,
            memory_source=memory_source,
            optional={CONSTANT_BYTES: constant_bytes, STALE_WORK: stale_work}
            | _optional_columns(wanted, footprints, graphs)
            | _derived_work(wanted, types, footprints, graphs),
            not_loaded=frozenset((*OPTIONAL_COLUMNS, *DERIVED_WORK)) - frozenset(wanted),
        ),
        notes=[*notes, *computation_notes, *memory_notes, *stale_notes],
        file_of=file_of,
        row_of=row_of,
    )


def _keys(ids: Sequence[str]) -> NDArray[np.int64]:
    """Return the ids as whole numbers. Raises `BrokenValueError` if an id is not one."""
    digits = "".join(ids)
    # `int` alone would also accept ids such as " 1_0".
    if not ids or (digits.isascii() and digits.isdecimal()):
        with suppress(ValueError, OverflowError):
            return np.fromiter(map(int, ids), np.int64, len(ids))
    wrong = next((id_ for id_ in ids if not re.fullmatch("[0-9]+", id_)), None)
    if wrong is not None:
        error = msgspec.ValidationError(
            f"the operator id {wrong!r} is not a whole number of 0 or more"
        )
    else:
        longest = max(ids, key=lambda id_: (len(id_.lstrip("0")), id_.lstrip("0")))
        error = msgspec.ValidationError(f"the operator id {longest!r} does not fit into 64 bits")
    raise sections.BrokenValueError(sections.OPERATORS.path, error)


def _footprints(
    documents: Iterable[sections.Document], wanted: Collection[str]
) -> tuple[list[list[sections.Footprint]], list[FileNote]]:
    """Return, for each file, the footprint of each operator; and notes on unmatched footprints."""
    needs_parameters = not {"parameters", *DERIVED_WORK}.isdisjoint(wanted)
    section = sections.FOOTPRINTS_WITH_PARAMETERS if needs_parameters else sections.FOOTPRINTS
    of_files: list[list[sections.Footprint]] = []
    notes: list[FileNote] = []
    for file, document in enumerate(documents):
        ids = document.graph_exec.operator
        footprints = section.decode(document.profiler.opr_footprint)
        of_files.append(list(map(footprints.get, ids, repeat(sections.NO_FOOTPRINT))))
        unmatched = len(footprints) - sum(map(footprints.__contains__, ids))
        if unmatched:
            finding = Finding.of(
                *("unmatched-entries", Kind.INCOMPLETE), entries=unmatched, section="opr_footprint"
            )
            notes.append(FileNote(file, finding))
    return of_files, notes


def _stale_work(
    footprints_of_files: Iterable[Sequence[sections.Footprint]],
    graphs: Iterable[sections.Graph],
    file_of: NDArray[np.int64],
) -> tuple[NDArray[np.float64], list[FileNote]]:
    """Return the column `STALE_WORK`, and notes on the files with stale work.

    Files whose shapes cannot be compared get a note, too.
    """
    is_stale = np.zeros(len(file_of), np.bool_)
    notes: list[FileNote] = []
    for file, (footprints, graph) in enumerate(zip(footprints_of_files, graphs, strict=True)):
        is_stale_in_file = has_stale_shapes(footprints, graph)
        if is_stale_in_file is None:
            notes.append(FileNote(file, Finding.of("unknown-stale-shapes", Kind.CONTEXT)))
        else:
            is_stale[file_of == file] = is_stale_in_file
    notes += notes_on_operators(is_stale, file_of, "stale-shapes", Kind.WRONG, has_times=True)
    return np.where(is_stale, 1.0, np.nan), notes


def _work(
    footprints: Iterable[sections.Footprint],
    field: str,
    file_of: NDArray[np.int64],
    without_note: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], Iterable[FileNote]]:
    """Return `field` (computation or memory) of each operator, and notes on negative values.

    Operators in `without_note` (shape: operators) get no note.
    """
    amounts = sections.number_column(footprints, field)
    is_negative = amounts < 0
    amounts[is_negative] = np.nan
    notes = notes_on_operators(
        is_negative if without_note is None else is_negative & ~without_note,
        file_of,
        "negative-work",
        Kind.INCOMPLETE,
        has_times=True,
        amount=field,
    )
    return np.abs(amounts), notes  # -0 becomes 0


def _optional_columns(
    wanted: Collection[str],
    footprints: Sequence[sections.Footprint],
    graphs: Sequence[sections.Graph],
) -> dict[str, Any]:
    """Return the wanted optional columns by name. Raises `BrokenValueError`."""

    def decoded(field: str, decode: Callable[[bytes], Any]) -> Categorical[Any]:
        # Equal texts are decoded once. Many operators of a network have equal shapes.
        return Categorical.of(sections.raw_column(footprints, field)).mapped(decode)

    columns: dict[str, Callable[[], Categorical[Any]]] = {
        "in_shapes": lambda: decoded("in_shapes", sections.IN_SHAPES.decode_cached),
        "in_strides": lambda: _layouts(footprints).mapped(sections.IN_LAYOUTS.decode_cached),
        "out_shapes": lambda: decoded("out_shapes", sections.OUT_SHAPES.decode_cached),
        "input_dtypes": lambda: input_dtypes(graphs),
        "compute_dtype": lambda: input_dtypes(graphs).mapped(_compute_dtype),
        "parameters": lambda: decoded("param", _parameters),
    }
    return {name: make() for name, make in columns.items() if name in wanted}


def _derived_work(
    wanted: Collection[str],
    types: Categorical[str],
    footprints: Sequence[sections.Footprint],
    graphs: Sequence[sections.Graph],
) -> dict[str, NDArray[np.float64]]:
    """Return the wanted columns of `DERIVED_WORK`. Raises `BrokenValueError`."""
    if frozenset(DERIVED_WORK).isdisjoint(wanted):
        return {}
    # Imported here, because only calls with `--work` derive work.
    from profile_analyze.readers.megengine.work import derived_work

    names = ("in_shapes", "out_shapes", "input_dtypes", "parameters")
    columns = _optional_columns(names, footprints, graphs)
    facts = (types, *(columns[name] for name in names))
    work = list(map(lru_cache(derived_work), *(one.values().tolist() for one in facts)))
    return {
        f"derived_{amount}": np.array([getattr(one, amount) for one in work], np.float64)
        for amount in ("computation", "memory")
    }


def _compute_dtype(dtypes: Dtypes) -> str | None:
    """Return the canonical dtype of the first input with a known dtype."""
    known = next(filter(None, dtypes), None)
    return None if known is None else dtype_of(known)


def _layouts(footprints: Iterable[sections.Footprint]) -> Categorical[bytes]:
    """Return, as JSON, the strides of each operator's inputs; empty if they are N/A."""
    # The writer omits `in_layouts` if all inputs are contiguous, so a missing field counts as `[]`.
    # If the footprint has no `in_shapes` either, the strides are N/A.
    return Categorical.of(
        [
            bytes(one.in_layouts) or (b"[]" if memoryview(one.in_shapes).nbytes else b"")
            for one in footprints
        ]
    )


def _parameters(text: bytes) -> Parameters | None:
    """Return the parameters as pairs of name and value, without nulls.

    If the file has an array of values, each value gets its index as its name.
    """
    decoded = sections.PARAMETERS.decode_cached(text)
    if decoded is None:
        return None
    named = (
        decoded.items()
        if isinstance(decoded, dict)
        else ((str(index), value) for index, value in enumerate(decoded))
    )
    return tuple((name, _scalar(value)) for name, value in sorted(named) if value is not None)


def _scalar(value: Any) -> int | float | str:
    """Return numbers and texts as they are. Other types, and integers over 64 bits, become JSON."""
    if isinstance(value, (str, float)):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return msgspec.json.encode(value).decode()
