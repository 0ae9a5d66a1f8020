"""`--split-matmul` and `--write-model`, as a user calls them."""

from __future__ import annotations

import csv
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import profile_analyze as pa
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.readers.onnx.models import model, write_model
from tests.writers.split import run

if TYPE_CHECKING:
    from pathlib import Path

DIGITS = str(FIXTURES / "classifiers" / "digits.onnx")
CLASSIFIER = str(FIXTURES / "classifiers" / "classifier.onnx")
TILE = ("--split-matmul", "64,128,256")
CSV = ("--print-only", "device", "--format", "csv")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0,64,64", "'0,64,64': M is 0, which is not positive; write 64,64,64"),
        ("64,-1,64", "'64,-1,64': N is -1, which is not positive; write 64,64,64"),
        (f"64,64,{10**30}", f"'64,64,{10**30}': K is {10**30}, which is too large; write 64,64,64"),
        ("64,64", "'64,64' has 2 sizes, and a tile has three; write M,N,K, as in 64,64,64"),
        ("64", "'64' has 1 size, and a tile has three; write M,N,K, as in 64,64,64"),
        ("1,2,3,4", "'1,2,3,4' has 4 sizes, and a tile has three; write M,N,K, as in 64,64,64"),
        ("conv", "'conv' has 0 sizes, and a tile has three; write M,N,K, as in 64,64,64"),
        ("64,,64", "'64,,64' is not M,N,K or M,N,K,conv, as in 64,64,64"),
        ("64,64,64,gemm", "'64,64,64,gemm' is not M,N,K or M,N,K,conv, as in 64,64,64"),
        ("64x32x16", "'64x32x16' is not M,N,K or M,N,K,conv; did you mean 64,32,16?"),
    ],
)
def test_wrong_tiles_are_refused(value: str, message: str) -> None:
    outcome = run_command(DIGITS, f"--split-matmul={value}")
    assert (outcome.code, outcome.out) == (2, "")
    error = f"profile_analyze: error: argument --split-matmul: {message}"
    assert outcome.err.removesuffix("; see profile-analyze --help\n").rstrip("\n") == error


def test_sizes_of_tiles_may_have_leading_zeros() -> None:
    assert pa.ModelInputs.of(tile=f"{'0' * 5000}64,064,32").tile == (64, 64, 32, False)
    with pytest.raises(pa.QueryError, match=r"M is 0{24}, which is not positive; write"):
        pa.ModelInputs.of(tile=f"{'0' * 24},64,64")
    with pytest.raises(pa.QueryError, match=f"K is 0{1 << 32}, which is too large; write"):
        pa.ModelInputs.of(tile=f"64,64,0{1 << 32}")


@pytest.mark.parametrize(
    ("graph", "tile", "message"),
    [
        ("y = Relu (x)", "4,4,4", "has no matrix products to split; leave out --split-matmul"),
        (
            "y = Relu (x)",
            "4,4,4,conv",
            "has no matrix products and no convolutions to split; leave out --split-matmul",
        ),
        (
            "y = Conv (x, w)",
            "4,4,4",
            "has no matrix products to split; its convolutions count as products with "
            "--split-matmul 4,4,4,conv",
        ),
    ],
)
def test_models_without_products_are_refused(
    graph: str, tile: str, message: str, tmp_path: Path
) -> None:
    text = f"g (float[1, 3, 4, 4] x, float[2, 3, 3, 3] w) => (float y) {{ {graph} }}"
    file = write_model(tmp_path, model(text))
    outcome = run_command(file, "--split-matmul", tile)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {file}: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--write-model", "s.onnx"),
            "--write-model needs --split-matmul, which names the size of tiles: "
            "--split-matmul 64,64,64",
        ),
        (
            ("--write-model", "s.pb", *TILE),
            "argument --write-model: 's.pb' does not end with .onnx; models are written as ONNX, so "
            "name it, for example, split.onnx",
        ),
        (
            (DIGITS, "--write-model", "s.onnx", *TILE),
            "--write-model splits the model FILE, so it needs one FILE",
        ),
        (
            ("--write-model", "s.onnx", *TILE, "--model", "m.onnx"),
            "--write-model splits the model FILE, and --model adds a model to a profile; name the "
            "model itself as FILE",
        ),
        (
            ("--columns", "tiles"),
            "the column tiles needs the size of tiles; add --split-matmul 64,64,64",
        ),
        (
            ("--where", "tile_efficiency < 50%"),
            "the column tile_efficiency needs the size of tiles; add --split-matmul 64,64,64",
        ),
        (
            ("--aggregate-by", "type", "--order-by", "tiles.max"),
            "the column tiles.max needs the size of tiles; add --split-matmul 64,64,64",
        ),
        (
            ("--inspect", "fc1", *TILE),
            "--inspect shows one operator and no table, so --split-matmul has no effect; leave one "
            "out",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    arguments: tuple[str, ...], message: str
) -> None:
    outcome = run_command(DIGITS, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.removesuffix("; see profile-analyze --help\n").rstrip("\n") == (
        f"profile_analyze: error: {message}"
    )


def test_a_pipe_cannot_be_split(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    for file in ("-", pipe):
        assert run_command(file, "--write-model", "s.onnx", *TILE).err == (
            "profile_analyze: error: --write-model splits the model FILE, but a pipe can be read "
            "only once; name a file\n"
        )


def test_a_profile_has_no_products_of_its_own() -> None:
    file = str(PROFILES / "tiny.json")
    outcome = run_command(file, *TILE)
    assert (outcome.code, outcome.err) == (
        2,
        f"profile_analyze: error: {file}: has the format MegEngine GraphProfiler JSON, but "
        "--split-matmul needs a model; name the ONNX model, or add it after --model\n",
    )


def test_operators_and_groups_have_columns_on_tiles() -> None:
    outcome = run_command(CLASSIFIER, "--split-matmul", "16,16,16,conv", *CSV, "-t", "2")
    first = next(csv.DictReader(outcome.out.splitlines()))
    assert {name: value for name, value in first.items() if "tile" in name or "padded" in name} == {
        "tiles": "576.0",
        "tiles_m": "64.0",
        "tiles_n": "1.0",
        "tiles_k": "9.0",
        "tiled_macs": "2359296",
        "tile_efficiency": "1.0",
        "untiled_memory_bytes": "664576.0",
        "tiled_memory_bytes": "2293760.0",
        "padded_memory_bytes": "2293760.0",
        "tile_peak_bytes": "3072.0",
    }
    columns = "type,count,tiles,tiled_macs,tile_efficiency,tiled_memory"
    groups = run_command(
        CLASSIFIER,
        *("--split-matmul", "16,16,16,conv", "--aggregate-by", "type", "--columns", columns),
        *("--where", "tiles > 0", *CSV),
    )
    assert groups.out.splitlines() == [
        "type,count,tiles,tiled_macs,tile_efficiency,tiled_memory_bytes",
        "Conv,3,1280.0,5242880,0.984375,5005312.0",
        "Gemm,1,1.0,4096,0.0390625,744.0",
    ]


def test_products_come_first_without_an_order() -> None:
    columns = ("--columns", "name,macs,tiles")
    outcome = run_command(CLASSIFIER, "--split-matmul", "4,4,4", *CSV, *columns, "-t", "2")
    assert outcome.out.splitlines() == [
        *("name,macs,tiles", "linear,160,12.0", "block.conv1,2359296,"),
    ]
    assert outcome.err.splitlines()[1] == (
        "note: the columns on tiles leave out 3 convolutions; --split-matmul 4,4,4,conv counts "
        "convolutions as the products that im2col makes"
    )


def test_json_has_the_totals_of_the_tiles() -> None:
    outcome = run_command(DIGITS, *TILE, "--format", "json")
    assert json.loads(outcome.out)["summary"]["model"]["tiling"] == {
        "tile": [64, 128, 256],
        "products": 2,
        "split_products": 1,
        "tiles": 9,
        "macs": 158_800,
        "tiled_macs": 9 * 64 * 128 * 256,
        "tile_efficiency": 158_800 / (9 * 64 * 128 * 256),
        "untiled_memory_bytes": 4 * (784 + 784 * 200 + 200 + 200 + 2000 + 10),
        "tiled_memory_bytes": 4 * (784 * 2 + 784 * 200 + 200 * 7 + 200 + 2000 + 10),
        "padded_memory_bytes": 4 * (9 * 256 * (64 + 128) + 2 * 64 * 128 * 7 + 64 * 128),
        "tile_peak_bytes": 4 * (256 + 256 * 128 + 128),
        "untiled_peak_bytes": 4 * (784 + 784 * 200 + 200),
        "tile_peak_operator": "fc1",
    }
    assert (
        json.loads(run_command(DIGITS, "--format", "json").out)["summary"]["model"]["tiling"]
        is None
    )


def test_tiles_of_unknown_sizes_are_not_available(tmp_path: Path) -> None:
    text = "g (float[N, 3] x, float[3, 4] w) => (float[N, 4] y) { y = MatMul (x, w) }"
    outcome = run_command(
        write_model(tmp_path, model(text)), "--split-matmul", "2,2,2", "--print-only", "summary"
    )
    (line,) = [one for one in outcome.out.splitlines() if "tile" in one]
    assert line == "tiles of 2x2x2        N/A, because no matrix product has a known size"


def test_the_summary_leaves_out_the_branches_of_if(tmp_path: Path) -> None:
    text = """g (bool c, float[2, 3] x, float[3, 4] w) => (float[2, 4] y, float[2, 4] z) {
        z = MatMul (x, w)
        y = If (c) <
            then_branch = t () => (float[2, 4] a) { a = MatMul (x, w) },
            else_branch = e () => (float[2, 4] b) { b = MatMul (x, w) }
        >
    }"""
    file = write_model(tmp_path, model(text))
    shown = ("--format", "json", "-t", "0", "--columns", "tiles")
    outcome = run_command(file, "--split-matmul", "2,2,2", *shown)
    answer = json.loads(outcome.out)
    assert answer["summary"]["model"]["tiling"]["tiles"] == 4
    assert answer["tables"][0]["rows"] == [[4], [4], [4], [None]]


def test_a_profile_with_a_model_has_tiles() -> None:
    profile = str(PROFILES / "smallcnn.json")
    beside = ("--model", str(FIXTURES / "classifiers" / "smallcnn.onnx"))
    tile = ("--split-matmul", "16,16,16,conv")
    columns = ("--columns", "name,tiles,tile_efficiency", "-t", "1")
    outcome = run_command(profile, *beside, *tile, *CSV, *columns)
    assert outcome.out.splitlines()[1] == "c3.Convolution,288.0,1.0"
    shown = run_command(profile, *beside, *tile, "--format", "plain", "-t", "1").out
    assert "tile efficiency" in shown


def with_external_data(folder: Path, location: str = "w.bin") -> tuple[str, Any]:
    """Write a model with its weights in another file. Return the path and the undivided model."""
    text = "g (float[2, 8] x) => (float[2, 6] y) { y = MatMul (x, w) }"
    proto = model(text)
    weights = np.arange(48, dtype=np.float32).reshape(8, 6)
    proto.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    whole = onnx.ModelProto.FromString(proto.SerializeToString())
    file = folder / "m.onnx"
    onnx.save(proto, file, save_as_external_data=True, location=location, size_threshold=0)
    return str(file), whole


def test_external_data_is_copied_beside_a_model_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole = with_external_data(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    file = "../m.onnx"
    inputs = {"x": np.ones((2, 8), np.float32)}
    for new in (tmp_path / "split.onnx", other / "split.onnx"):
        outcome = run_command(file, "--split-matmul", "2,3,4", "--write-model", str(new))
        assert outcome.code == 0
        onnx.checker.check_model(str(new), full_check=True)
        # The weights are still in a separate file.
        (tensor,) = onnx.load(new, load_external_data=False).graph.initializer
        assert tensor.data_location == onnx.TensorProto.EXTERNAL
        np.testing.assert_allclose(run(onnx.load(new), inputs), run(whole, inputs))
    assert sorted(one.name for one in tmp_path.rglob("*") if one.is_file()) == [
        *("m.onnx", "split.onnx", "split.onnx", "w.bin", "w.bin"),
    ]


def test_nothing_is_written_if_a_copy_would_replace_a_file(tmp_path: Path) -> None:
    file, _ = with_external_data(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "w.bin").write_text("mine")
    call = (file, "--split-matmul", "2,3,4", "--write-model", str(other / "split.onnx"))
    outcome = run_command(*call)
    assert outcome.code == 1
    assert outcome.err == (
        f"profile_analyze: error: {other / 'w.bin'}: exists already; --force replaces it\n"
    )
    assert [one.name for one in other.iterdir()] == ["w.bin"]
    assert run_command(*call, "--force").code == 0
    assert (other / "w.bin").read_bytes() == (tmp_path / "w.bin").read_bytes()


def test_missing_external_data_stays_missing(tmp_path: Path) -> None:
    file, _ = with_external_data(tmp_path)
    (tmp_path / "w.bin").unlink()
    other = tmp_path / "other"
    other.mkdir()
    new = str(other / "split.onnx")
    assert run_command(file, "--split-matmul", "2,3,4", "--write-model", new).code == 0
    assert [one.name for one in other.iterdir()] == ["split.onnx"]


def test_the_folder_for_a_copy_of_external_data_must_exist(tmp_path: Path) -> None:
    for one in ("values", "other"):
        (tmp_path / one).mkdir()
    file, _ = with_external_data(tmp_path, "values/w.bin")
    new = str(tmp_path / "other" / "split.onnx")
    call = (file, "--split-matmul", "2,3,4", "--write-model", new)
    values = tmp_path / "other" / "values"
    assert run_command(*call).err == (
        f"profile_analyze: error: {values / 'w.bin'}: there is no folder {values}; create it "
        "first, or write to another one\n"
    )
    assert not [*(tmp_path / "other").iterdir()]
    values.mkdir()
    assert run_command(*call).code == 0
    onnx.checker.check_model(new, full_check=True)


@pytest.mark.parametrize("folder", [".", "other"])
def test_a_model_does_not_replace_its_values(folder: str, tmp_path: Path) -> None:
    file, _ = with_external_data(tmp_path, "w.onnx")
    (tmp_path / "other").mkdir()
    before = (tmp_path / "w.onnx").read_bytes()
    new = str(tmp_path / folder / "w.onnx")
    outcome = run_command(file, "--split-matmul", "2,3,4", "--write-model", new, "--force")
    assert (outcome.code, outcome.err) == (
        1,
        f"profile_analyze: error: {new}: the model has values in a file of this name; choose "
        "another name\n",
    )
    assert (tmp_path / "w.onnx").read_bytes() == before
    assert not [*(tmp_path / "other").iterdir()]


@pytest.mark.parametrize("absolute", [True, False])
def test_files_outside_of_the_folder_of_a_model_are_not_copied(
    *,
    absolute: bool,
    tmp_path: Path,
) -> None:
    folder, other = tmp_path / "a", tmp_path / "b" / "c"
    for one in (folder, other):
        one.mkdir(parents=True)
    file, _ = with_external_data(folder)
    (tmp_path / "secret").write_bytes((folder / "w.bin").read_bytes())
    location = str(tmp_path / "secret") if absolute else "../secret"
    proto = onnx.load(file, load_external_data=False)
    for entry in proto.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = location
    write_model(folder, proto)
    call = (file, "--split-matmul", "2,3,4", "--write-model")
    outcome = run_command(*call, str(other / "split.onnx"))
    assert (outcome.code, outcome.err) == (
        1,
        f"profile_analyze: error: {other / 'split.onnx'}: the model has values in {location}, "
        f"and values outside of its folder are not copied; write the new model to {folder}\n",
    )
    assert not [*other.iterdir()]
    assert run_command(*call, str(folder / "split.onnx")).code == 0


def test_an_answer_and_a_model_need_two_files(tmp_path: Path) -> None:
    name = str(tmp_path / "a.onnx")
    outcome = run_command(DIGITS, *TILE, "--write-model", name, "-o", name, "--format", "json")
    assert outcome.err == (
        f"profile_analyze: error: {name}: -o and --write-model name the same file; name two files\n"
    )
    assert not [*tmp_path.iterdir()]


def test_a_model_does_not_replace_its_source(tmp_path: Path) -> None:
    file = write_model(
        tmp_path, model("g (float[2, 3] x) => (float[2, 3] y) { y = MatMul (x, x) }")
    )
    outcome = run_command(file, *TILE, "--write-model", file, "--force")
    assert outcome.err == (
        f"profile_analyze: error: {file}: is one of the input files; write to another file\n"
    )


def test_a_written_model_has_the_work_of_its_source(tmp_path: Path) -> None:
    new = str(tmp_path / "split.onnx")
    assert run_command(DIGITS, *TILE, "--write-model", new).code == 0
    outcome = run_command(new, "--compare", DIGITS, "--format", "json", "--print-only", "summary")
    summary = json.loads(outcome.out)["summary"]["model"]
    assert (summary["macs"], summary["params"]) == (158_800, 159_010)
    assert (summary["base"]["macs"], summary["base"]["params"]) == (158_800, 159_010)
    assert summary["types"] == [
        {"type": "Gemm", "operators": 9},
        {"type": "Split", "operators": 1},
        {"type": "Concat", "operators": 1},
        {"type": "Relu", "operators": 1},
    ]


def test_the_library_counts_tiles() -> None:
    profile = pa.load(DIGITS, inputs=pa.ModelInputs.of(tile="64,128,256"))
    table = pa.run(pa.Query(order="tiles", top=1), profile)
    assert table.rows[0]["name"] == "fc1"
    assert table.rows[0]["tiles"] == 8
