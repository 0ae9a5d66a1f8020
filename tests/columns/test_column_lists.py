"""Which columns each kind of row has, and their values: recorded in `tests/fixtures/columns.txt`.

python -m tests.columns.test_column_lists    records the lists anew; review the difference
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import profile_analyze as pa
from profile_analyze.columns.catalog import CATALOG, group_keys
from profile_analyze.columns.kinds import RowKind
from tests.conftest import FIXTURES, PROFILES
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FILE = FIXTURES / "columns.txt"
BY_TYPE = RowKind(("type", "name~x"))


def lists() -> Iterator[tuple[str, Iterable[str]]]:
    """Yield a title and the lines of each list."""
    yield "columns of operators", RowKind(None).names()
    yield (
        "columns of groups by type,name~x, with the 90th percentile",
        BY_TYPE.names(("time.p90",)),
    )
    yield "group keys", group_keys()
    yield "operators can be ordered by", RowKind(None).orderable()
    yield "groups by type,name~x can be ordered by", BY_TYPE.orderable()
    yield "measured columns", [column.name for column in CATALOG if column.measured]
    small = profile_of([Operator("conv", "Conv", 4, work=(1, 1)), Operator("relu", "Relu", 2)])
    table = pa.run(pa.Query(), small)
    empty = [name for name in table.columns if not table.has_values(name)]
    yield "columns without a value in a profile of two operators, of which one has work", empty
    for row in pa.run(pa.Query(order="+memory", top=2), pa.load(PROFILES / "tiny.json")).rows:
        values = [f"{name}: {as_text(value)}" for name, value in row.items()]
        yield f"values of the operator {row['id']} of tiny.json", values


def as_text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def text() -> str:
    return "\n".join(f"# {title}\n{chr(10).join(lines)}\n" for title, lines in lists())


def test_lists_of_columns_are_the_recorded_ones() -> None:
    assert text() == FILE.read_text(encoding="utf-8")


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
