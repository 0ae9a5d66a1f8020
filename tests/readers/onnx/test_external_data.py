"""Files with external data are opened only if they are regular files in the folder of the model."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import onnx
import pytest

from profile_analyze.readers.onnx.safety import external_data
from tests.conftest import FIXTURES, run_command
from tests.readers.onnx.models import model, write_model

VALUES = np.repeat(np.array([0, 1], "<f4"), 32).tobytes()
SPARSITY = ("--columns", "name,sparsity", "--format", "csv")
UNKNOWN = "note: the sparsity of 1 weight is N/A: the values cannot be read\n"


def with_values_in(folder: Path, name: str) -> str:
    """Copy the model whose values are in the file `name`. Return its path."""
    file = folder / "m.onnx"
    copyfile(FIXTURES / "hostile" / name, file)
    return str(file)


def split(file: str, new: Path) -> tuple[int, str, list[str]]:
    """Write the model to a new folder. Return the status, the error and the files of the folder."""
    new.mkdir()
    call = (file, "--split-matmul", "16,16,16", "--notes", "none", "--write-model")
    outcome = run_command(*call, str(new / "n.onnx"))
    return outcome.code, outcome.err, sorted(one.name for one in new.iterdir())


@pytest.mark.parametrize("of_folder", [False, True])
def test_values_behind_a_link_out_of_the_folder_are_not_read(
    tmp_path: Path, *, of_folder: bool
) -> None:
    folder, secret = tmp_path / "a", tmp_path / "secret"
    folder.mkdir()
    secret.mkdir()
    (secret / "link.bin").write_bytes(VALUES)
    file = with_values_in(folder, "external_link.onnx")
    location = "link.bin"
    if of_folder:
        location = "link/link.bin"
        (folder / "link").symlink_to(secret)
        proto = onnx.load(file, load_external_data=False)
        proto.graph.initializer[0].external_data[0].value = location
        write_model(folder, proto)
    else:
        (folder / "link.bin").symlink_to(secret / "link.bin")
    outcome = run_command(file, *SPARSITY)
    assert outcome.out == "name,sparsity\r\nmm,\r\n"
    assert outcome.err == (
        f"note: the values of 1 tensor are in {location}, not a regular file in the folder of the "
        f"model; to get the sparsity of these values, copy the file there\n{UNKNOWN}"
    )
    new = tmp_path / "new"
    error = (
        f"profile_analyze: error: {new / 'n.onnx'}: the model has values in {location}, and values "
        f"outside of its folder are not copied; write the new model to {folder}\n"
    )
    assert split(file, new) == (1, error, [])


def test_values_behind_a_link_within_the_folder_are_read(tmp_path: Path) -> None:
    file = with_values_in(tmp_path, "external_link.onnx")
    (tmp_path / "values").mkdir()
    (tmp_path / "values" / "w").write_bytes(VALUES)
    (tmp_path / "link.bin").symlink_to(Path("values") / "w")
    assert run_command(file, *SPARSITY).out == "name,sparsity\r\nmm,0.5\r\n"
    code, error, files = split(file, tmp_path / "new")
    assert (code, files) == (0, ["link.bin", "n.onnx"])
    assert error == ""
    assert (tmp_path / "new" / "link.bin").read_bytes() == VALUES


def test_a_model_and_its_values_may_be_links_to_one_folder(tmp_path: Path) -> None:
    """As in the cache of Hugging Face."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "blobs" / "w").write_bytes(VALUES)
    copyfile(FIXTURES / "hostile" / "external_link.onnx", tmp_path / "blobs" / "m")
    for name, blob in (("m.onnx", "m"), ("link.bin", "w")):
        (tmp_path / "snapshot" / name).symlink_to(Path("..") / "blobs" / blob)
    file = str(tmp_path / "snapshot" / "m.onnx")
    assert run_command(file, *SPARSITY).out == "name,sparsity\r\nmm,0.5\r\n"
    assert split(file, tmp_path / "new") == (0, "", ["link.bin", "n.onnx"])


def test_a_pipe_beside_the_model_is_not_opened(tmp_path: Path) -> None:
    file = with_values_in(tmp_path, "external_fifo.onnx")
    os.mkfifo(tmp_path / "fifo.bin")
    outcome = run_command(file, *SPARSITY)
    assert outcome.out == "name,sparsity\r\nmm,\r\n"
    assert outcome.err == (
        "note: the values of 1 tensor are in fifo.bin, not a regular file in the folder of the "
        f"model; to get the sparsity of these values, copy the file there\n{UNKNOWN}"
    )
    assert split(file, tmp_path / "new") == (0, "", ["n.onnx"])


def test_a_file_that_becomes_a_pipe_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(external_data, "state_of_file", lambda path: path)
    assert external_data.ModelFolder(tmp_path).open("pipe") is None


@pytest.mark.parametrize("location", ["a\0b", "x" * 5000, "/".join("x" * 5000), "", "."])
def test_a_location_that_no_file_can_have_gives_a_note(tmp_path: Path, location: str) -> None:
    proto: Any = model("g (float[2, 32] x) => (float[2, 2] y) { y = MatMul (x, w) }")
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=[32, 2], data_location=1)
    tensor.external_data.add(key="location", value=location)
    file = write_model(tmp_path, proto)
    outcome = run_command(file, *SPARSITY)
    assert (outcome.code, outcome.err.count("\n")) == (0, 2)
    assert outcome.err.endswith(UNKNOWN)
    assert split(file, tmp_path / "new") == (0, "", ["n.onnx"])


def test_a_model_of_standard_input_has_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link.bin").write_bytes(VALUES)
    monkeypatch.chdir(tmp_path)
    data = (FIXTURES / "hostile" / "external_link.onnx").read_bytes()
    assert run_command("-", *SPARSITY, stdin=data).out == "name,sparsity\r\nmm,\r\n"


@pytest.mark.parametrize("where", ["key", "value", "doc_string"])
@pytest.mark.parametrize("is_attribute", [False, True])
def test_texts_of_a_tensor_must_be_utf8(tmp_path: Path, where: str, *, is_attribute: bool) -> None:
    text = "g (float[2] x) => (float[2] y) { c = Constant <value = float[2] {1, 2}> () y = Add (x, c) }"
    proto: Any = model(
        text if is_attribute else "g (float[2] x) => (float[2] y) { y = Add (x, c) }"
    )
    if not is_attribute:
        proto.graph.initializer.add(name="c", data_type=1, dims=[2])
    tensor = proto.graph.node[0].attribute[0].t if is_attribute else proto.graph.initializer[0]
    if where == "doc_string":
        tensor.doc_string = "QQQQ"
    else:
        tensor.data_location = 1
        tensor.external_data.add(**{"key": "location", "value": "w", where: "QQQQ"})
    file = tmp_path / "m.onnx"
    file.write_bytes(proto.SerializeToString().replace(b"QQQQ", b"Q\xffQQ"))
    assert run_command(str(file)).err == (
        f"profile_analyze: error: {file}: damaged: a name in the ONNX model is not UTF-8: "
        "b'Q\\xffQQ'\n"
    )
