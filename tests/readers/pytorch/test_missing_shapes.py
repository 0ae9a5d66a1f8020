"""The note on a trace without shapes: it counts the operators whose computation needs shapes."""

from __future__ import annotations

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.terms import OPERATOR
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import PROFILES, run_command
from tests.readers.pytorch.events import Event, call, document, kernel, op

FOLDER = PROFILES.parent / "pytorch"
NOTE = "the computation of {} is unknown without shapes; record with record_shapes=True"
ON_GPU = (
    op("aten::linear", 0, 50),
    op("aten::addmm", 10, 30),
    call(20, 1),
    kernel("gemm", 100, 30, 1),
    op("aten::view", 60, 10),
    op("mine", 80, 10),
    call(82, 2),
    kernel("mine", 200, 10, 2),
)


@pytest.mark.parametrize(
    ("events", "size"),
    [
        (ON_GPU, "1 operator (75.0% of the time)"),
        ([one for one in ON_GPU if one["cat"] == "cpu_op"], "2 operators (71.4% of the time)"),
        ((op("mine"), op("aten::view", 60)), None),
        ((*ON_GPU, op("aten::relu", 300, **{"Input Dims": [[2]]})), None),
        ((call(20, 1), kernel("gemm", 100, 30, 1)), None),
    ],
)
def test_the_note_counts_the_operators_that_need_shapes(
    events: tuple[Event, ...], size: str | None
) -> None:
    profile = read_profile(Source.of_bytes("run.json", document(*events)), ())
    assert list(profile.notes) == ([NOTE.format(size)] if size else [])


def test_the_note_is_shown_first() -> None:
    file = str(FOLDER / "cnn-plain.json.gz")
    rows = at_level(pa.load(file), OPERATOR)
    times_s = rows.measured("time")
    share = times_s[np.isnan(rows.operators.computation)].sum() / times_s.sum()
    note = NOTE.format(f"18 operators ({share:.1%} of the time)")
    assert run_command(file).err.startswith(f"note: {note}\n")
    assert "without shapes" not in run_command(str(FOLDER / "cnn-shapes.json.gz")).err
