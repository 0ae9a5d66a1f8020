"""Damaged, truncated and hostile files: one line of error, or as much as can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import run_command, some_of
from tests.readers.tensorrt.files import (
    convolution,
    description,
    layer,
    macs,
    tensor,
    times,
    written,
)
from tests.readers.tiny_file import failure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CONV = convolution("a", [tensor("x", [1, 3, 8, 8])], [tensor("y", [1, 4, 6, 6])], [3, 3], 108)


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (b'{"Layers": []}', "describes no layer; build the engine again"),
        (
            description("a", "b"),
            "has only the names of 2 layers; build the engine and export it again with "
            "--profilingVerbosity=detailed",
        ),
        (
            description(CONV)[:-20],
            f"truncated: the JSON ends in the middle, at byte {len(description(CONV)) - 20}; copy "
            "it again, or run trtexec again",
        ),
        (b'{"Layers": 3}', "at $.Layers: expected `array`, got `int`"),
        (
            b'{"Layers": [{"LayerType": "NoOp"}]}',
            "at $.Layers[0]: object missing required field `Name`",
        ),
        (
            description(layer("a", "NoOp", [tensor("x", [1])], [{"Name": "y", "Dimensions": "1"}])),
            "at $.Layers[0].Outputs[0].Dimensions: expected `array | null`, got `str`",
        ),
        # Tensors without names would look like one tensor, which several layers use.
        (
            description(layer("a", "NoOp", [tensor("x", [1])], [{"Dimensions": [1]}])),
            "at $.Layers[0].Outputs[0]: object missing required field `Name`",
        ),
        (
            description(layer("a", "NoOp", [tensor("x", [1]), tensor("", [1])], [])),
            "at $.Layers[0].Inputs[1].Name: expected `str` of length >= 1",
        ),
    ],
)
def test_a_description_that_cannot_be_read_has_an_error_or_a_note(
    tmp_path: Path, graph: bytes, reason: str
) -> None:
    """A description alone cannot be loaded. Beside a profile, a note gives the same reason."""
    path = written(tmp_path, times(("a", 1.0, 1.0)), graph)
    beside = tmp_path / "net.graph.json"
    assert failure(str(beside), pa.MalformedProfileError) == reason
    profile = pa.load(path)
    assert profile.total_s() == pytest.approx(1e-3)
    unread = {"file": str(beside), "reason": reason}
    assert profile.notes == (
        Finding.of("no-description", Kind.INCOMPLETE, dropped_beside="model", **unread),
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'[{ "count" : 10 }]', "has no layer"),
        (times(("a", 0.0, 0.0), count=0), "has layers, but no inference (count 0)"),
    ],
)
def test_a_profile_without_inferences_is_refused(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    advice = "run trtexec again with --separateProfileRun and at least one inference"
    found = failure(str(written(tmp_path, content)), pa.MalformedProfileError)
    assert found == f"{reason}; {advice} (--iterations=10)"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'[{"count": 1}, {"name": 3}]', "at $[1].name: expected `str | null`, got `int`"),
        (b'[{"count": -1}]', "at $[0].count: expected `int` >= 0"),
        (
            b'[{"count": 1}, {"name": "a", "averageMs": -1}]',
            "at $[1].averageMs: expected `float` >= 0.0",
        ),
        # Without such a layer, the total would be too small.
        *(
            (
                b'[{"count": 1}, {"name": "a", "averageMs": 1}, {%s: 0.5}]' % time,
                "at $[2]: object missing required field `name`",
            )
            for time in (b'"averageMs"', b'"timeMs"', b'"medianMs"', b'"name": null, "averageMs"')
        ),
        (b'[{"count": 1}, 3]', "at $[1]: expected `object`, got `int`"),
        (b'[{"count": 1} x', "is not valid JSON: expected ',' or ']' (byte 14)"),
        (b'[{"count": ' + b"[" * 100_000, "is nested too deeply for a profile"),
    ],
)
def test_damaged_times_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    assert failure(str(written(tmp_path, content)), pa.MalformedProfileError) == reason


@pytest.mark.parametrize(
    "name",
    [
        'a "quoted" name',
        'ends with "',
        r"C:\models\x",
        "record\x1eseparator",
        'a", "b',
        "tab\tname",
    ],
)
def test_names_that_are_not_escaped_are_read(tmp_path: Path, name: str) -> None:
    """trtexec escapes the names in neither file."""
    raw = description({**CONV, "Name": "NAME"}).replace(b"NAME", name.encode())
    path = written(tmp_path, times((name, 1.0, 1.0), ("next", 2.0, 2.0)), raw)
    profile = pa.load(path)
    assert profile.operators.name.values().tolist() == [name, "next"]
    assert macs(profile) == [3888, -1]


def test_names_that_another_program_escaped_are_read(tmp_path: Path) -> None:
    content = rb'[{"count": 1}, {"name": "a \"b\" \u001e", "averageMs": 1}]'
    profile = pa.load(written(tmp_path, content))
    assert profile.operators.name.values().tolist() == ['a "b" \x1e']


@pytest.mark.slow
def test_truncation_at_every_byte_is_refused(tmp_path: Path) -> None:
    """A truncated file is read only if nothing but its last line break is missing.

    All other truncated files give an error of one line.
    """
    for whole in (times(("a", 1.0, 1.0), ('b "', 2.0, 2.0)), description(CONV)):
        content = whole.rstrip()
        for end in some_of(range(len(content)), 23):
            path = tmp_path / "run.json"
            path.write_bytes(content[:end])
            with pytest.raises(pa.InputError) as caught:
                pa.load(path)
            assert "\n" not in str(caught.value), end


HOSTILE = (
    *("", "\\", '"', "a" * 10_000, "\x00", "\x1b[31m", "\n", "\ud7ff", "{ForeignNode[a...b]}"),
    *("[profile 1]", " [profile 99999999999999999999]", "=cmd()", "\u202e"),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_cause_no_error(tmp_path: Path, name: str) -> None:
    graph = description({**CONV, "Name": name, "Metadata": name, "TacticName": name})
    path = written(tmp_path, times((name, 1.0, 1.0)), graph)
    done = run_command(str(path), "--format", "jsonl", "--columns", "all")
    assert done.code == 0, done.err
    assert run_command(str(path)).code == 0
    assert run_command(str(tmp_path / "net.graph.json")).code == 0


VALUES: Sequence[Any] = (
    None,
    True,
    -1,
    1 << 31,
    1 << 70,
    1.5,
    "3",
    [],
    [[]],
    [None],
    [-1],
    [1 << 40] * 40,
    {},
    {"Count": -1},
)


@pytest.mark.slow
@pytest.mark.parametrize("value", some_of(VALUES, 3))
@pytest.mark.parametrize(
    "key", ["Kernel", "Stride", "Groups", "Weights", "Bias", "Activation", "Metadata", "Dimensions"]
)
def test_hostile_values_cause_few_lines_of_messages(tmp_path: Path, key: str, value: Any) -> None:
    """Unexpected values count as unknown: other kinds of layers may use a key differently."""
    path = tmp_path / "graph.json"
    changed = {**CONV, key: value}
    if key == "Dimensions":
        changed = {**CONV, "Inputs": [{**CONV["Inputs"][0], key: value}]}
    path.write_bytes(description(changed))
    done = run_command(str(path), "-t", "1")
    assert done.err.count("\n") <= 3, done.err
    if key != "Dimensions":
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    "document",
    [
        "[]",
        "[{}]",
        '[{"count": 1}, {}]',
        '{"Layers": [{}]}',
        '{"Layers": null}',
        '{"Layers": [["a"]]}',
    ],
)
def test_documents_of_another_structure_are_refused(tmp_path: Path, document: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(document)
    done = run_command(str(path))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
