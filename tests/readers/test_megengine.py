"""The MegEngine reader: recognition, columns, tables, and notes on odd values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.source import HEAD_SIZE, Source
from profile_analyze.readers.megengine import MegEngineReader
from profile_analyze.readers.megengine.terms import track_of
from tests import oracle
from tests.conftest import PROFILE_NAMES, PROFILES, run_command
from tests.findings.found import with_code
from tests.readers.tiny_file import TINY, document_with, write_bytes
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("head", "recognised"),
    [
        (b'{"profiler"', False),
        (b'{ "profiler" :', True),
        (b'{"graph_exec":', True),
        (b'{"a": {}, "graph_exec" : {', True),
        (b'{"a": {"opr_footprint":', True),
        (b'{"a": 1, "profiler": {', False),
        (b'{"a": "graph_exec", "opr_footprint", "b"', False),
        (b'[{"profiler": {}, "graph_exec": {}}]', False),
        (b"", False),
    ],
)
def test_the_first_bytes_show_whether_a_file_is_a_profile(head: bytes, *, recognised: bool) -> None:
    assert MegEngineReader().recognises(head, "run.json") is recognised


def test_a_profile_may_start_with_white_space_and_any_key() -> None:
    document = json.loads(TINY)
    parts = {"more": 1, "graph_exec": document["graph_exec"], "profiler": document["profiler"]}
    text = json.dumps(parts).encode()
    head = Source.of_bytes("x", b"\n  " + text + b"\n").head()
    assert head == text + b"\n"
    assert MegEngineReader().recognises(head, "x")
    assert not MegEngineReader().recognises(b"[" + head + b"]", "x")


def test_a_profile_is_recognised_with_any_first_key(tmp_path: Path) -> None:
    plain_answer = run_command(str(PROFILES / "tiny.json"))
    for size in (1, HEAD_SIZE, 1 << 20):
        first = b'{"host_name": "' + b"x" * size + b'", '
        assert run_command(write_bytes(tmp_path, first + TINY.lstrip()[1:])) == plain_answer
    document = json.loads(TINY)
    document["graph_exec"]["more"] = "x" * HEAD_SIZE
    reordered = {name: document[name] for name in ("graph_exec", "profiler")}
    assert run_command(write_bytes(tmp_path, json.dumps(reordered).encode())) == plain_answer


def keys_of(profile: pa.Profile) -> list[int]:
    assert isinstance(profile.operators.key, np.ndarray)
    return list(profile.operators.key.tolist())


def nan_as_none(values: list[float]) -> list[float | None]:
    return [None if value != value else value for value in values]


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_every_column_of_a_real_profile_equals_the_oracle(name: str) -> None:
    path = str(PROFILES / f"{name}.json")
    profile, expected = pa.load(path), oracle.read_file(path)
    assert profile.file == path
    assert keys_of(profile) == [operator.id for operator in expected]
    for column in ("name", "type"):
        values = getattr(profile.operators, column).values().tolist()
        assert values == [getattr(operator, column) for operator in expected]
    for column, field in (
        ("in_shapes", "in_shapes"),
        ("out_shapes", "out_shapes"),
        ("in_strides", "in_layouts"),
    ):
        values = profile.operators.categorical(column).values().tolist()
        assert values == [getattr(operator, field) for operator in expected]
    dtypes = profile.operators.categorical("input_dtypes").values().tolist()
    assert dtypes == [tuple(operator.dtypes) for operator in expected]
    for column in ("computation", "memory"):
        values = getattr(profile.operators, column).tolist()
        assert nan_as_none(values) == [getattr(operator, column) for operator in expected]
    for side, time, wait in (("device", "time", "wait"), ("host", "host_time", "host_wait")):
        recorded = profile.recorded(side)  # type: ignore[arg-type]  # one of the two
        assert recorded.tolist() == [operator.recorded[side] for operator in expected]
        times, waits = profile.measured(time)[:, 0], profile.measured(wait)[:, 0]
        assert nan_as_none(times.tolist()) == [one.time[side][0] for one in expected]
        assert nan_as_none(waits.tolist()) == [one.wait[side][0] for one in expected]


def test_comp_nodes_and_threads_are_tracks() -> None:
    profile = pa.load(str(PROFILES / "twocn.json"))
    assert sorted(
        (track.name, track.kind, track.device, track.resolution_s)
        for track in profile.total_by_track("device")
    ) == [
        ('CompNode("cpu0:0" from "xpux:0")', "comp node", 'CompNode("cpu0:0" from "xpux:0")', 1e-6),
        ('CompNode("cpu1:0" from "xpu1:0")', "comp node", 'CompNode("cpu1:0" from "xpu1:0")', 1e-6),
    ]
    (thread,) = profile.total_by_track("host")
    assert (thread.kind, thread.device, thread.resolution_s) == ("thread", None, 0)
    assert len(profile.executions) == 50


@pytest.mark.parametrize(
    ("locator", "kind", "threads", "resolution_s"),
    [
        ("cpu0:0", "cpu", 1, 1e-6),
        ("cpu:default", "cpu", 1, 1e-6),
        ("multithread4:0", "cpu", 4, 1e-6),
        ("multithread:default:12", "cpu", 12, 1e-6),
        ("multithread:default", "cpu", None, 1e-6),
        ("multithread0:0", "cpu", None, 1e-6),
        (f"multithread{'9' * 7}:0", "cpu", None, 1e-6),
        ("gpu1:0", "gpu", None, 0.0),
        ("cuda0:0", "gpu", None, 0.0),
        ("rocm0:0", "gpu", None, 0.0),
        ("opencl0:0", "gpu", None, 0.0),
        ("cambricon0:0", None, None, 0.0),
        ("xpux:0", None, None, 0.0),
    ],
)
def test_a_comp_node_names_its_kind_of_device(
    locator: str, kind: str | None, threads: int | None, resolution_s: float
) -> None:
    track = track_of(f'CompNode("{locator}" from "xpux:0")', "device")
    assert (track.device_kind, track.threads) == (kind, threads)
    assert track.resolution_s == resolution_s


def test_other_names_do_not_show_the_kind_of_device() -> None:
    for name, side in (("cpu0:0", "device"), ('CompNode("cpu0:0" from "xpux:0")', "host")):
        track = track_of(name, side)  # type: ignore[arg-type]  # one of the two
        assert (track.device_kind, track.threads, track.resolution_s) == (None, None, 0.0)


def test_graph_tables_are_read_only_if_wanted() -> None:
    path = str(PROFILES / "resnet18.json")
    graph = json.loads((PROFILES / "resnet18.json").read_text())["graph_exec"]
    profile = pa.load(path, wanted={"tensors"})
    tensors, uses = profile.table("tensors"), profile.table("uses")
    keys = tensors.key.values()
    assert keys.tolist() == list(graph["var"])
    edges = sorted(
        (id_, variable, is_output)
        for id_, operator in graph["operator"].items()
        for is_output, side in ((False, "input"), (True, "output"))
        for variable in operator[side]
    )
    found = zip(
        [keys_of(profile)[row] for row in uses.operator.tolist()],
        keys[uses.tensor].tolist(),
        uses.is_output.tolist(),
        strict=True,
    )
    assert sorted((str(id_), variable, is_output) for id_, variable, is_output in found) == edges
    first = graph["var"][keys[0]]
    assert first["static_infer_tags"]["SHAPE"]["inferred_result"] == list(tensors.shape.values()[0])
    with pytest.raises(pa.QueryError, match="tensors: the profile was loaded without this table"):
        pa.load(path).table("tensors")


@pytest.mark.parametrize("tags", [None, {"SHAPE": None}])
def test_a_null_in_place_of_a_shape_is_an_unknown_shape(tmp_path: Path, tags: Any) -> None:
    content = document_with(tags, "graph_exec", "var", "10", "static_infer_tags")
    before, after = (
        pa.load(write_bytes(tmp_path, one), wanted=["tensors"]).table("tensors")
        for one in (TINY, content)
    )
    shapes = dict(zip(before.key.values(), before.shape.values(), strict=True))
    assert shapes["10"] is not None
    assert dict(zip(after.key.values(), after.shape.values(), strict=True)) == shapes | {"10": None}


def test_types_get_categories_and_dtypes_get_canonical_names() -> None:
    operators = pa.load(str(PROFILES / "int8.json")).operators
    pairs = set(zip(operators.type.values(), operators.category.values(), strict=True))
    assert pairs == {
        ("AxisAddRemove", "data movement"),
        ("ConvBiasForward", "convolution"),
        ("ElemwiseMultiType", "elementwise"),
        ("Host2DeviceCopy", "data movement"),
        ("ImmutableTensor", "control"),
        ("InputCallback", "control"),
        ("OutputCallback", "control"),
        ("Reduce", "reduction"),
        ("TypeCvt", "elementwise"),
    }
    dtypes = zip(
        operators.type.values(), operators.categorical("compute_dtype").values(), strict=True
    )
    assert {(type_, dtype) for type_, dtype in dtypes if dtype} == {("ConvBiasForward", "int8")}
    of_resnet = pa.load(str(PROFILES / "resnet18.json")).operators.categorical("compute_dtype")
    assert of_resnet.categories == ("fp32",)


def test_parameters_other_than_64_bit_numbers_are_texts() -> None:
    found = {
        "low": -(2**63),
        "below": -(2**63) - 1,
        "high": 2**63 - 1,
        "above": 2**63,
        "negative": -1000,
        "half": 0.5,
        "true": True,
        "list": [1, "x"],
        "none": None,
    }
    (operator,) = (
        profile_of([Operator("a", "T", 1, parameters=found)])
        .operators.categorical("parameters")
        .values()
    )
    assert operator == (
        *(("above", "9223372036854775808"), ("below", "-9223372036854775809"), ("half", 0.5)),
        *(("high", 2**63 - 1), ("list", '[1,"x"]'), ("low", -(2**63)), ("negative", -1000)),
        ("true", "true"),
    )


def test_a_profile_can_be_named_by_a_path_object() -> None:
    assert len(pa.load(PROFILES / "tiny.json")) == 4


@pytest.mark.parametrize(
    "missing", ["device", "host", "opr_footprint", "var", "input", "footprint"]
)
def test_fields_that_older_writers_omit_are_optional(tmp_path: Path, missing: str) -> None:
    document = json.loads(TINY)
    graph = document["graph_exec"]
    if missing == "footprint":
        document["profiler"]["opr_footprint"] = {"6": {}}
    elif missing == "input":
        for operator in graph["operator"].values():
            del operator["input"], operator["output"]
    else:
        (document["profiler"] if missing in document["profiler"] else graph).pop(missing)
    path = write_bytes(tmp_path, json.dumps(document).encode())
    for query in (pa.Query(), pa.Query(measure="host_time"), pa.Query(input_dtype="Float32")):
        assert pa.run(query, pa.load(path)).rows == oracle.answer(oracle.read(document), query)


def test_an_empty_graph_is_a_profile(tmp_path: Path) -> None:
    content = b'{"profiler": {}, "graph_exec": {"operator": {}}}'
    outcome = run_command(write_bytes(tmp_path, content), "--print-only", "summary")
    assert (outcome.code, outcome.err) == (0, "")
    assert "total device time  N/A" in outcome.out


def test_raw_control_characters_are_read_and_counted() -> None:
    profile = pa.load(str(PROFILES / "names-ctrlchar.json"))
    assert "ctrl\x01char" in profile.operators.name.categories
    assert profile.notes == (Finding.of("raw-control-characters", Kind.CONTEXT, characters=1),)


def test_a_comp_node_with_unmatched_entries_only_is_not_a_track(tmp_path: Path) -> None:
    document = json.loads(TINY)
    unmatched = {"unmatched": {"start": 0, "kern": 0, "end": 7}}
    document["profiler"]["device"] = {"999": unmatched, **document["profiler"]["device"]}
    profile = pa.load(write_bytes(tmp_path, json.dumps(document).encode()))
    totals = {track.name: total for track, total in profile.total_by_track("device").items()}
    assert totals == {'CompNode("cpu0:0" from "xpux:0")': pytest.approx(5e-6)}


def test_unmatched_entries_are_counted(tmp_path: Path) -> None:
    document = json.loads(TINY)
    for section in ("device", "host", "opr_footprint"):
        document["profiler"][section]["999"] = document["profiler"][section]["6"]
    document["profiler"]["host"]["998"] = document["profiler"]["host"]["6"]
    profile = pa.load(write_bytes(tmp_path, json.dumps(document).encode()))
    assert profile.notes == (
        Finding.of("unmatched-entries", Kind.INCOMPLETE, entries=1, section="device"),
        Finding.of("unmatched-entries", Kind.INCOMPLETE, entries=2, section="host"),
        Finding.of("unmatched-entries", Kind.INCOMPLETE, entries=1, section="opr_footprint"),
    )
    assert profile.total_s() == pytest.approx(5e-6)


def test_an_entry_without_a_thread_is_counted(tmp_path: Path) -> None:
    profile = pa.load(write_bytes(tmp_path, document_with({}, "profiler", "host", "6")))
    assert profile.notes == (
        Finding.of("entries-without-track", Kind.INCOMPLETE, entries=1, section="host"),
    )
    assert profile.recorded("host").tolist().count(False) == 1


def test_a_comp_node_without_a_known_time_has_no_total(tmp_path: Path) -> None:
    document = json.loads(TINY)
    document["profiler"]["device"]["6"]["other"] = {"start": 0, "kern": 0, "end": "inf"}
    profile = pa.load(write_bytes(tmp_path, json.dumps(document).encode()))
    (finding,) = with_code(pa.summarise(profile).notes, "several-tracks")
    times_s: Any = finding["times_s"]
    assert (times_s[-1], finding["adds_up"]) == (("other", None), False)


def test_times_beyond_the_range_of_floats_are_unknown(tmp_path: Path) -> None:
    document = json.loads(TINY)
    for index, by_comp_node in enumerate(document["profiler"]["device"].values()):
        for interval in by_comp_node.values():
            interval |= {"start": -1.7e308 * (index == 0), "kern": 0, "end": 1.7e308}
    path = write_bytes(tmp_path, json.dumps(document).encode())
    for arguments in ([], ["--aggregate", "sum"], ["--wiki", "--aggregate-by", "type"]):
        outcome = run_command(path, *arguments)
        assert outcome.code == 0
        assert "inf" not in outcome.out.replace("info", "")
        assert "nan" not in outcome.out
        assert "Warning" not in outcome.err
    for by_comp_node in document["profiler"]["device"].values():
        for interval in by_comp_node.values():
            interval |= {"start": 0, "end": 5e-324}
    path = write_bytes(tmp_path, json.dumps(document).encode())
    assert pa.run(pa.Query(aggregates="sum"), pa.load(path)).rows[0]["bandwidth"] is None
