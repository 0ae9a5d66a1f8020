"""Real profiles: their sums equal an independent count that uses `json` alone."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.graph.padded_channels import CHANNEL_BLOCKS
from profile_analyze.model.levels.levels import at_level
from tests.conftest import PROFILES, run_command
from tests.readers.onnxruntime.independent import (
    events_in,
    is_inside,
    own_times_us,
    runs_in,
)

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = PROFILES.parent / "onnxruntime"
# The first is not JSON, and the second has no types.
_OTHERS = ("names-1.14.json", "no-arguments.json")
SAMPLES = sorted(path for path in FOLDER.iterdir() if path.name not in _OTHERS)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_sums_by_type_equal_an_independent_count(path: Path) -> None:
    events = events_in(path)
    runs = runs_in(events)
    expected: dict[tuple[str, int], int] = defaultdict(int)
    for node, own_us in own_times_us(events):
        (number,) = [number for number, run in enumerate(runs) if is_inside(node, run)]
        expected[node["args"]["op_name"], number] += own_us
    profile = at_level(pa.load(path))
    found: dict[tuple[str, int], float] = defaultdict(float)
    times_s = profile.measured("time")
    for type_, of_runs in zip(profile.operators.type.values(), times_s.tolist(), strict=True):
        for number, time_s in enumerate(of_runs):
            if time_s == time_s:  # NaN: not in this run
                found[type_, number] += time_s * 1e6
    assert found == pytest.approx(expected)
    assert len(profile.runs) == len(runs)
    assert profile.check() == ()
    walls_s = np.array([run.wall_s for run in profile.runs])
    assert (profile.totals_s("time") <= walls_s).all()


def macs_of(name: str, *types: str) -> float:
    profile = at_level(pa.load(FOLDER / name))
    macs = profile.operators.numbers("macs")
    is_type = profile.operators.type.where(
        one in types for one in profile.operators.type.categories
    )
    return float(macs[is_type].sum())


@pytest.mark.parametrize(
    ("name", "macs"),
    [
        ("squeezenet-unoptimised-1.31.json.gz", 349_151_936),
        ("squeezenet-1.31.json.gz", 349_844_160),
        ("squeezenet-1.14.json.gz", 349_844_160),
        ("resnet50-1.31.json.gz", 4_087_136_256),
        ("qdq-1.31.json", 32 * 28 * 28 * 16 * 9),
    ],
)
def test_convolutions_have_known_multiply_adds(name: str, macs: float) -> None:
    assert macs_of(name, "Conv", "FusedConv") == macs


def test_operators_with_packed_weights_have_known_multiply_adds() -> None:
    assert macs_of("resnet50-1.31.json.gz", "Gemm") == 2048 * 1000
    # Two rows: the node has 6 steps in the first run, and 14 in the others. It has 16 inputs, and 8
    # units of 4 gates.
    assert macs_of("quirks-1.31.json", "LSTM") == (6 + 14) * 8 * 4 * (16 + 8)


def test_a_loop_in_several_runs_has_nested_scopes() -> None:
    profile = pa.load(FOLDER / "loop-1.31.json.gz")
    assert (len(profile.processes), [run.step for run in profile.runs]) == (1, [1, 2, 3])
    table = pa.run(pa.Query(by="scope"), profile)
    assert [scope and "/".join(scope) for scope in table["scope"]] == [
        "main/Loop",
        None,
        "main/Loop/body/If",
    ]


def test_a_pattern_that_matches_no_name_of_an_optimised_model_has_a_note() -> None:
    file = str(FOLDER / "squeezenet-1.31.json.gz")
    why = (
        "there are r1_nchwc, r2_nchwc, r4_nchwc and 37 more; the optimiser of ONNX Runtime named "
        "nodes after tensors; --model model.onnx --columns time,name,param.nodes shows the nodes "
        "of the model, --columns name,type,in_shapes,out_shapes tells them apart, and a profile "
        "with ORT_DISABLE_ALL has the names of the model\n"
    )
    for arguments, expected in (
        (("--where", "name ~ fire"), f"note: name ~ fire: no operator has this value; {why}"),
        (
            ("--aggregate-by", "name~fire"),
            f"note: name~fire: the pattern matches no name; {why}",
        ),
        (
            ("--opr-name", "fire"),
            f"note: the pattern 'fire' matches no name; {why}",
        ),
    ):
        assert expected in run_command(file, *arguments, "-t", "1").err


def test_the_note_on_renamed_nodes_follows_only_patterns_of_names() -> None:
    optimised, plain = (
        str(FOLDER / name)
        for name in ("squeezenet-1.31.json.gz", "squeezenet-unoptimised-1.31.json.gz")
    )
    of_type = run_command(optimised, "--where", "type ~ fire").err
    assert of_type.startswith("note: type ~ fire: no operator has this value; there are ")
    assert "optimiser" not in of_type
    assert "optimiser" not in run_command(plain, "--where", "name ~ fire").err


def test_nodes_with_channels_in_blocks_are_marked() -> None:
    operators = pa.load(FOLDER / "squeezenet-1.31.json.gz").operators
    blocks = operators.categorical(CHANNEL_BLOCKS).values().tolist()
    names = operators.name.values().tolist()
    assert dict(zip(names, blocks, strict=True)) == {
        name: (8, 16) if name.endswith("_nchwc") else None for name in names
    }
    assert blocks.count((8, 16)) == 29
