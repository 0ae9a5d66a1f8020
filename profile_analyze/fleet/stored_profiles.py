"""Turns the joined runs of several files into Arrow tables and back, without any loss.

Each part of a data set stores a `model.joining.runs.Partial`. Partial results can be merged, so the
parts together give the same profile as their files. `Facts` has everything that is not in a table.
"""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeAlias, cast

import msgspec
import numpy as np
import pyarrow as pa

from profile_analyze.columns.catalog import CATALOG
from profile_analyze.fleet.arrow import (
    CATEGORIES,
    COUNT,
    FLAG,
    NUMBER,
    ROW,
    Field,
    are_texts,
    counts_of,
    number_column,
    numbers_of,
    table_of,
    text_column,
    texts_of,
)
from profile_analyze.fleet.profile_tables import (
    COMMON_TABLES,
    executions_of,
    executions_table,
    origins_of,
    origins_table,
    runs_of,
    runs_table,
    tracks_of,
    tracks_table,
)
from profile_analyze.fleet.times_table import TIMES, TIMES_TABLE, FlatExecutions, times_of
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions
from profile_analyze.model.findings import Beside, Finding, Kind, Size, Subject, as_value
from profile_analyze.model.graph.padded_channels import CHANNEL_BLOCKS
from profile_analyze.model.joining.runs import IDENTITY, Partial
from profile_analyze.model.notes import TextNote, size_of
from profile_analyze.model.operators import Operators
from profile_analyze.model.terms import FUSED_NAMES, LABEL, LABEL_NAME, UNIQUE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from profile_analyze.model.notes import Note

_TEXT_COLUMNS: Final = (
    *("name", "type", "category", "level", "scope"),
    *("computation_source", "memory_source"),
)
_OPERATORS: Final = (
    Field("operator", ROW, "the number of the operator"),
    Field("key", CATEGORIES, "identifies the operator within its file"),
    Field("name", CATEGORIES, "the operator's name"),
    Field("type", CATEGORIES, "the kind of operator, as the runtime calls it"),
    Field("category", CATEGORIES, "the kind of work"),
    Field("level", CATEGORIES, "operator, module, kernel, runtime or frame"),
    Field("scope", CATEGORIES, "the modules or regions around the operator, as JSON"),
    Field("computation", NUMBER, "floating-point operations of one call", "FLO"),
    Field("memory", NUMBER, "bytes of all inputs and outputs of one call", "byte"),
    Field("computation_source", CATEGORIES, "the source of the computation"),
    Field("memory_source", CATEGORIES, "the source of the memory"),
    Field("repetition", COUNT, "the index among operators of equal name, type and shapes", "1"),
    Field("in_runs", COUNT, "how many runs have the operator", "1"),
    Field("disagrees", FLAG, "whether the runs disagree on computation or memory"),
)
"""The columns of all profiles. The optional columns of a profile follow them."""

_SHAPES: Final = tuple[tuple[int, ...], ...]
CATEGORIES_OF: Final[Mapping[str, Any]] = {
    "scope": tuple[str, ...],
    "in_shapes": _SHAPES,
    "out_shapes": _SHAPES,
    "in_strides": tuple[tuple[int, ...] | None, ...],
    "input_dtypes": tuple[str | None, ...],
    "parameters": tuple[tuple[str, Any], ...],
    FUSED_NAMES: tuple[str, ...],
    CHANNEL_BLOCKS: tuple[int, ...],
    "group_size": int,
    **dict.fromkeys(("compute_dtype", "full_name", "launched_by", "grid", "block"), str),
    **dict.fromkeys(("collective", "conv_kind", UNIQUE_NAME), str),
}
"""The types of the categories in categorical columns of operators. All other optional
columns are numbers."""

# Names of labels become part of the SQL that makes views. A data set is therefore refused if the
# name of a label does not match this pattern.
LabelName: TypeAlias = Annotated[str, msgspec.Meta(pattern=rf"\A{LABEL_NAME}\Z")]


class Process(msgspec.Struct, frozen=True):
    """A process, which wrote one file."""

    name: str
    times: str | None
    """The digest of all its times; None without times."""


class StoredNote(msgspec.Struct, frozen=True):
    """A note on some files: a sentence, as older versions stored it."""

    text: str
    importance: int
    dropped_beside: str
    files: Annotated[list[tuple[str, float | None]], msgspec.Meta(min_length=1)]
    """The files, and the size of the note in each of them (`Note.size`)."""


class StoredFinding(msgspec.Struct, frozen=True):
    """A finding on some files."""

    code: str
    kind: Literal["damaged", "answer", "wrong", "incomplete", "context"]
    values: list[tuple[str, Any]]
    dropped_beside: Beside
    subjects: list[Subject]
    files: Annotated[list[tuple[str, float | None, float | None]], msgspec.Meta(min_length=1)]
    """The files, and the size of the finding in each of them: share and time in seconds."""


class Facts(msgspec.Struct, frozen=True):
    """The facts of a `Partial` that are not in its tables, such as notes."""

    files: int
    processes: list[Process]
    lost_tables: list[str]
    notes: list[StoredNote] = []
    findings: list[StoredFinding] = []
    labels: dict[LabelName, str] = {}
    """The labels that all files of the part have. The table of runs has them, too."""
    flat: FlatExecutions | None = None
    """Facts about the executions, if they are flat. The part then has the table of times, too."""


class Stored(NamedTuple):
    """A `Partial` as Arrow tables by name, and the other facts."""

    tables: Mapping[str, pa.Table]
    facts: Facts


TABLES: Final = ("operators", *COMMON_TABLES)
"""The tables that all parts have."""
DECLARED: Final[Mapping[str, tuple[Field, ...]]] = {
    "operators": _OPERATORS,
    **COMMON_TABLES,
    TIMES_TABLE: TIMES,
}
"""The tables in `Stored.tables`, and the columns that each of them always has."""


def stored(partial: Partial) -> Stored:
    """Return a partial result as tables and facts. All of its processes have the same labels."""
    labels = dict(partial.labels[0]) if partial.labels else {}
    assert all(one == labels for one in partial.labels), "each part has one value of each label"
    tables = {
        "operators": _operators_table(partial),
        "executions": executions_table(partial.executions),
        "tracks": tracks_table(partial.tracks),
        "runs": runs_table(
            partial.runs,
            partial.processes,
            {LABEL + name: [value] * len(partial.processes) for name, value in labels.items()},
        ),
        "origin": origins_table(partial.origins),
    }
    flat = None
    if partial.executions.are_flat:
        tables[TIMES_TABLE], flat = times_of(partial.as_profile())
    processes = [
        Process(name, None if digest is None else digest.hex())
        for name, digest in zip(partial.processes, partial.digests, strict=True)
    ]
    notes = [_stored_note(*one) for one in partial.notes.items()]
    facts = Facts(
        files=partial.files,
        processes=processes,
        lost_tables=sorted(partial.lost_tables),
        notes=[one for one in notes if isinstance(one, StoredNote)],
        findings=[one for one in notes if isinstance(one, StoredFinding)],
        labels=labels,
        flat=flat,
    )
    return Stored(tables, facts)


def restored(tables: Mapping[str, pa.Table], facts: Facts) -> Partial:
    """Return the partial result from which `stored` made `tables` and `facts`, without times.

    Without a table of executions, the result has no executions.

    Raises `ValueError`, `KeyError`, `TypeError` or `IndexError` if the tables and facts do not fit
    together.
    """
    operators = _operators_of(tables["operators"])
    repetition = counts_of(tables["operators"], "repetition").tolist()
    notes = dict([*map(_restored_note, facts.notes), *map(_restored_note, facts.findings)])
    disagrees = tables["operators"].column("disagrees").to_pylist()
    table = tables.get("executions")
    partial = Partial(
        keys=list(zip(*_identities(operators), repetition, strict=True)),
        operators=operators,
        run_counts=counts_of(tables["operators"], "in_runs"),
        conflicting=np.array(disagrees, np.bool_),
        executions=Executions.of([], []) if table is None else executions_of(table),
        tracks=tracks_of(tables["tracks"]),
        runs=runs_of(tables["runs"]),
        processes=tuple(process.name for process in facts.processes),
        digests=tuple(
            None if process.times is None else bytes.fromhex(process.times)
            for process in facts.processes
        ),
        files=facts.files,
        origins=origins_of(tables["origin"]),
        lost_tables=frozenset(facts.lost_tables),
        notes=notes,
        labels=(facts.labels,) * len(facts.processes),
    )
    _check_references(partial)
    _check_counts(partial)
    return partial


def _stored_note(note: Note, files: Sequence[tuple[str, Size]]) -> StoredNote | StoredFinding:
    """Return a note and its files as they are stored."""
    sizes = [(name, _or_none(size.share), _or_none(size.time_s)) for name, size in files]
    if isinstance(note, Finding):
        kind = cast("Any", note.kind.name.lower())
        values, subjects = [*note.values], [*note.subjects]
        return StoredFinding(note.code, kind, values, note.dropped_beside, subjects, sizes)
    of_files = [(name, share if time_s is None else time_s) for name, share, time_s in sizes]
    return StoredNote(note.pattern, int(note.importance), note.dropped_beside, of_files)


def _restored_note(stored: StoredNote | StoredFinding) -> tuple[Note, list[tuple[str, Size]]]:
    """Return the note and the files from which `_stored_note` made `stored`."""
    if isinstance(stored, StoredNote):
        beside = _beside(stored.dropped_beside)
        note = TextNote(stored.text, Kind(stored.importance), dropped_beside=beside)
        files = [(name, _number(size)) for name, size in stored.files]
        return note, [(name, size_of(note.with_share(size))) for name, size in files]
    finding = Finding(
        stored.code,
        Kind[stored.kind.upper()],
        tuple((name, as_value(value)) for name, value in stored.values),
        subjects=tuple(stored.subjects),
        dropped_beside=stored.dropped_beside,
    )
    sizes = [(name, Size(_number(share), _number(time_s))) for name, share, time_s in stored.files]
    return finding, sizes


def _number(stored: float | None) -> float:
    return nan if stored is None else stored


def _check_counts(partial: Partial) -> None:
    """Raise `ValueError` if a rank or a count is negative."""
    for what, numbers in (
        ("rank", [track.rank for track in partial.tracks]),
        ("number of threads", [track.threads for track in partial.tracks]),
        ("number of inferences", [origin.averaged_over for origin in partial.origins]),
    ):
        if any(number is not None and number < 0 for number in numbers):
            raise ValueError(f"a {what} is negative")


def _check_references(partial: Partial) -> None:
    """Raise `ValueError` if a table refers to rows that another table lacks."""
    if not partial.origins:
        raise ValueError("the table origin is empty")
    executions = partial.executions
    run_processes = np.array([run.process for run in partial.runs], np.int64)
    for what, rows, count, lowest in (
        ("operators", executions.operator, len(partial.operators), 0),
        ("tracks", executions.track, len(partial.tracks), 0),
        ("runs", executions.run, len(partial.runs), 0),
        ("executions", executions.parent, len(executions), -1),
        ("executions", executions.launched_by, len(executions), -1),
        ("processes", run_processes, len(partial.processes), 0),
    ):
        if len(rows) and not (lowest <= rows.min() and rows.max() < count):
            raise ValueError(f"a table refers to {what} that do not exist")


def _operators_table(partial: Partial) -> pa.Table:
    operators = partial.operators
    columns = {
        "operator": pa.array(np.arange(1, len(operators) + 1, dtype=np.int32)),
        "repetition": pa.array([key[-1] for key in partial.keys], COUNT),
        "in_runs": pa.array(partial.run_counts),
        "disagrees": pa.array(partial.conflicting),
    }
    fields = [*_OPERATORS, *map(_optional_field, operators.optional)]
    encoded = set()
    for field in fields:
        if field.name in columns:
            continue
        values: Any = operators.optional.get(field.name)
        values = getattr(operators, field.name) if values is None else values
        if isinstance(values, Categorical):
            columns[field.name] = text_column(values)
            if not are_texts(values):
                encoded.add(field.name)
        elif values.dtype.kind == "i":  # keys that are numbers
            columns[field.name] = pa.array(np.ascontiguousarray(values))
        else:
            columns[field.name] = number_column(values)
    return table_of(fields, columns, frozenset(encoded))


def _optional_field(name: str) -> Field:
    """Return the declaration of an optional column, with its unit and meaning in the catalog.

    The type is a placeholder: `table_of` uses the type of the values.
    """
    for column in CATALOG:
        if column.optional == name:
            return Field(name, CATEGORIES, column.meaning, column.unit)
    return Field(name, CATEGORIES, "as the format states it")


def _operators_of(table: pa.Table) -> Operators:
    required = {field.name for field in _OPERATORS}
    # A reader of another package may add columns of texts. They are left out: no question uses
    # them.
    optional = {
        name: _values(table, name)
        for name in table.column_names
        if name not in required and (name in CATEGORIES_OF or not _has_texts(table, name))
    }
    columns: dict[str, Any] = {
        **{name: _values(table, name) for name in _TEXT_COLUMNS},
        **{name: numbers_of(table, name) for name in ("computation", "memory")},
    }
    key = texts_of(table, "key") if _has_texts(table, "key") else counts_of(table, "key")
    return Operators(key=key, **columns, optional=optional)


def _has_texts(table: pa.Table, name: str) -> bool:
    return bool(pa.types.is_dictionary(table.schema.field(name).type))


def _values(table: pa.Table, name: str) -> Any:
    """Return a column of operators. Raises `ValueError` or `msgspec.ValidationError`."""
    if name not in CATEGORIES_OF and name not in _TEXT_COLUMNS:
        return numbers_of(table, name)
    column = texts_of(table, name)
    # Converting a list of all categories checks them in one call.
    kind: Any = list[CATEGORIES_OF.get(name, str)]  # type: ignore[misc]  # known only at run time
    return Categorical(column.codes, tuple(msgspec.convert([*column.categories], kind)))


def _identities(operators: Operators) -> Iterator[list[Any]]:
    """Yield the values of all operators in each column of `IDENTITY`."""
    for name in IDENTITY:
        column = getattr(operators, name, None) or operators.categorical(name)
        yield column.values().tolist()


def _beside(text: str) -> Beside:
    return "model" if text == "model" else "profile" if text == "profile" else ""


def _or_none(share: float) -> float | None:
    return None if isnan(share) else share
