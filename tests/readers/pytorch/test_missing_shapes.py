"""The note on a trace without shapes: it counts the operators whose computation needs shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import sentence
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.terms import OPERATOR
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import PROFILES, run_command
from tests.findings.found import rounded
from tests.readers.pytorch.events import Event, call, document, kernel, no_shapes, no_steps, op

if TYPE_CHECKING:
    from profile_analyze.model.findings import Finding

FOLDER = PROFILES.parent / "pytorch"
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
    ("events", "notes"),
    [
        (ON_GPU, (no_shapes(1, 30 / 40),)),
        ([one for one in ON_GPU if one["cat"] == "cpu_op"], (no_shapes(2, 50 / 70),)),
        ((op("mine"), op("aten::view", 60)), ()),
        ((*ON_GPU, op("aten::relu", 300, **{"Input Dims": [[2]]})), ()),
        ((call(20, 1), kernel("gemm", 100, 30, 1)), ()),
    ],
)
def test_the_note_counts_the_operators_that_need_shapes(
    events: tuple[Event, ...], notes: tuple[Finding, ...]
) -> None:
    profile = read_profile(Source.of_bytes("run.json", document(*events)), ())
    assert rounded(profile.notes) == rounded(notes)


def test_the_note_is_shown_first() -> None:
    file = str(FOLDER / "cnn-plain.json.gz")
    rows = at_level(pa.load(file), OPERATOR)
    times_s = rows.measured("time")
    share = times_s[np.isnan(rows.operators.computation)].sum() / times_s.sum()
    note = sentence(no_shapes(18, share))
    assert run_command(file).err.startswith(f"note: {note}\n")
    assert pa.load(FOLDER / "cnn-shapes.json.gz").notes == (no_steps(2),)
