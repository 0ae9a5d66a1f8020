"""Reading files: what is read, what is repaired, and what is said about the rest."""

from __future__ import annotations

import gc
import gzip
import json
import random
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zstandard

import profile_analyze as pa
from profile_analyze.readers.megengine import MegEngineReader
from profile_analyze.readers.source import HEAD_SIZE, Source
from profile_analyze.readers.unsupported import UNSUPPORTED
from tests import oracle
from tests.conftest import PROFILE_NAMES, PROFILES, run_command
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from collections.abc import Callable

TINY = (PROFILES / "tiny.json").read_bytes()
READ_HERE = (
    "supported formats: MegEngine GraphProfiler JSON (an object with the keys profiler and "
    "graph_exec)"
)


def test_parameters_that_are_no_number_of_64_bits_are_texts() -> None:
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


def test_a_profile_may_begin_with_blanks_and_any_key() -> None:
    document = json.loads(TINY)
    parts = {"more": 1, "graph_exec": document["graph_exec"], "profiler": document["profiler"]}
    text = json.dumps(parts).encode()
    head = Source.of_bytes("x", b"\n  " + text + b"\n").head()
    assert head == text + b"\n"
    assert MegEngineReader().recognises(head, "x")
    assert not MegEngineReader().recognises(b"[" + head + b"]", "x")


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(pa.InputError) as caught:
        pa.load("-")
    assert str(caught.value) == "standard input: is closed"


OWN_REPORT = run_command(str(PROFILES / "tiny.json"), "--format", "json").out.encode()


def written(tmp_path: Path, content: bytes, name: str = "run.json") -> str:
    path = tmp_path / name
    path.write_bytes(content)
    return str(path)


def failure(path: str, kind: type[pa.InputError] = pa.InputError) -> str:
    """What is said of a file that cannot be read, without the file's name."""
    with pytest.raises(pa.InputError) as caught:
        pa.load(path)
    assert type(caught.value) is kind
    assert caught.value.file == path
    assert str(caught.value) == f"{path}: {caught.value.reason}"
    assert caught.value.exit_code == 1
    outcome = run_command(path)
    assert (outcome.code, outcome.out) == (1, "")
    message = str(caught.value).replace("\0", r"\x00")
    assert outcome.err == f"profile_analyze: error: {message}\n"
    return caught.value.reason


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_every_column_of_a_real_profile(name: str) -> None:
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
        assert plain(values) == [getattr(operator, column) for operator in expected]
    for side, time, wait in (("device", "time", "wait"), ("host", "host_time", "host_wait")):
        recorded = profile.recorded(side)  # type: ignore[arg-type]  # one of the two
        assert recorded.tolist() == [operator.recorded[side] for operator in expected]
        times, waits = profile.measured(time)[:, 0], profile.measured(wait)[:, 0]
        assert plain(times.tolist()) == [one.time[side][0] for one in expected]
        assert plain(waits.tolist()) == [one.wait[side][0] for one in expected]


OPEN_FILES = Path("/proc/self/fd")


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="nobody tells what is open")
def test_what_fails_leaves_nothing_open(tmp_path: Path) -> None:
    file = written(tmp_path, document_with({"a lane": {"end": "late"}}, "profiler", "host", "9"))
    gc.disable()  # as it is in the command: what is in a cycle would stay
    try:
        before = len(list(OPEN_FILES.iterdir()))
        with pytest.raises(pa.MalformedProfileError):
            pa.load(file)
        assert len(list(OPEN_FILES.iterdir())) == before
    finally:
        gc.enable()


def keys_of(profile: pa.Profile) -> list[int]:
    assert isinstance(profile.operators.key, np.ndarray)
    return list(profile.operators.key.tolist())


def plain(values: list[float]) -> list[float | None]:
    return [None if value != value else value for value in values]


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


def test_the_graph_is_read_where_a_question_needs_it() -> None:
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
    of_input = graph["var"]["9"]
    assert of_input["static_infer_tags"]["SHAPE"]["inferred_result"] == list(
        tensors.shape.values()[0]
    )
    with pytest.raises(pa.QueryError, match="tensors: the profile was loaded without this table"):
        pa.load(path).table("tensors")


def test_types_have_categories_and_dtypes_canonical_names() -> None:
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


@pytest.mark.parametrize("packed", ["gzip", "zstd", "two gzip members", "two zstd frames", "bom"])
def test_compression_is_told_by_the_first_bytes(tmp_path: Path, packed: str) -> None:
    half = len(TINY) // 2
    zstd = zstandard.ZstdCompressor().compress
    content = {
        "gzip": gzip.compress(TINY),
        "zstd": zstd(TINY),
        "two gzip members": gzip.compress(TINY[:half]) + gzip.compress(TINY[half:]),
        "two zstd frames": zstd(TINY[:half]) + zstd(TINY[half:]),
        "bom": b"\xef\xbb\xbf" + TINY,
    }[packed]
    plain_answer = run_command(str(PROFILES / "tiny.json"))
    assert run_command(written(tmp_path, content, "plainly.named")) == plain_answer
    assert run_command("-", stdin=content) == plain_answer


@pytest.mark.parametrize("padding", [b"\0", bytes(600), bytes(5000)])
def test_gzip_members_may_have_zero_bytes_between_and_after_them(
    tmp_path: Path, padding: bytes
) -> None:
    content = gzip.compress(TINY[:9]) + padding + gzip.compress(TINY[9:]) + padding
    assert gzip.decompress(content) == TINY
    assert Source(written(tmp_path, content)).content() == TINY
    with pytest.raises(pa.MalformedProfileError, match=r"damaged gzip: .*incorrect header check"):
        Source(written(tmp_path, content + b"no gzip")).content()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("size", [0, 1, 3 << 20])
def test_what_is_unpacked_in_steps_is_whole(
    tmp_path: Path, pack: Callable[[bytes], bytes], size: int
) -> None:
    content = random.Random(0).randbytes(size)
    assert Source(written(tmp_path, pack(content))).content() == content
    assert Source(written(tmp_path, pack(b"a" * size) + pack(content))).content() == (
        b"a" * size + content
    )
    cut = written(tmp_path, pack(content) + pack(content)[:-1])
    with pytest.raises(pa.MalformedProfileError, match=r"truncated: the (gzip|zstd) stream has no"):
        Source(cut).content()


PACKED = {
    "plain": TINY,
    "gzip": gzip.compress(TINY),
    "zstd": zstandard.ZstdCompressor().compress(TINY),
    "two members": gzip.compress(TINY[:-1]) + gzip.compress(TINY[-1:]),
    "two frames": zstandard.ZstdCompressor().compress(TINY[:-1])
    + zstandard.ZstdCompressor().compress(TINY[-1:]),
}


@pytest.mark.parametrize("packed", PACKED)
def test_a_file_may_hold_as_much_as_the_limit_and_no_more(tmp_path: Path, packed: str) -> None:
    path = written(tmp_path, PACKED[packed])
    size = len(TINY)
    assert Source(path, max_size=size).content() == TINY
    assert len(pa.load(path, max_size=size)) == len(pa.load_runs([path], max_size=size)) == 4
    reason = f"{path}: holds more than {(size - 1) / 1024:.2f} KiB, decompressed; --max-size raises the limit"
    for refuse in (
        lambda: Source(path, max_size=size - 1).content(),
        lambda: pa.load(path, max_size=size - 1),
        lambda: pa.load_runs([path], max_size=size - 1),
    ):
        with pytest.raises(pa.InputError) as caught:
            refuse()
        assert str(caught.value) == reason
    for files in ([path], ["-"]):
        outcome = run_command(*files, "--max-size", f"{size - 1}B", stdin=PACKED[packed])
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.endswith(
            f": holds more than {(size - 1) / 1024:.2f} KiB, decompressed; --max-size raises the limit\n"
        )
        assert run_command(*files, "--max-size", f"{size}B", stdin=PACKED[packed]).code == 0
    several = run_command(path, path, "--max-size", f"{size - 1}B")
    assert several.err == (
        f"profile_analyze: error: {reason}; --skip-bad leaves out what cannot be read\n"
    )


def test_a_list_is_limited_as_profiles_are(tmp_path: Path) -> None:
    names = written(tmp_path, b"# names\n" * 1000, "names")
    assert run_command(f"@{names}", "--max-size", "7KiB").err == (
        f"profile_analyze: error: @{names}: the list cannot be read: holds more than 7.00 KiB, "
        "decompressed; --max-size raises the limit\n"
    )


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_what_would_fill_the_memory_is_not_unpacked(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    bomb = written(tmp_path, pack(bytes(64 << 20)) * 20)
    tracemalloc.start()
    with pytest.raises(pa.InputError, match=r"holds more than 100\.00 MiB, decompressed"):
        Source(bomb, max_size=100 << 20).content()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200 << 20


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("16", "'16' has no unit; write one, as in 16GiB"),
        ("0B", "'0B' is less than a byte; write 16GiB"),
        ("-1GiB", "'-1GiB' is less than a byte; write 16GiB"),
        ("1ms", "'1ms' is not a number with the unit B, such as 10MiB"),
        ("inf", "'inf' is not a number with the unit B, such as 10MiB"),
        ("nan", "'nan' is not a number with the unit B, such as 10MiB"),
        ("1e400B", "'1e400B' is not a number with the unit B, such as 10MiB"),
        ("", "'' is not a number with the unit B, such as 10MiB"),
    ],
)
def test_limits_that_are_none(size: str, reason: str) -> None:
    outcome = run_command("nothing.json", f"--max-size={size}")
    message = f"argument --max-size: {reason}; see profile-analyze --help"
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"


def test_a_path_object_is_a_path() -> None:
    assert len(pa.load(PROFILES / "tiny.json")) == 4


@pytest.mark.parametrize(
    "missing", ["device", "host", "opr_footprint", "var", "input", "footprint"]
)
def test_what_older_writers_leave_out_may_be_missing(tmp_path: Path, missing: str) -> None:
    document = json.loads(TINY)
    graph = document["graph_exec"]
    if missing == "footprint":
        document["profiler"]["opr_footprint"] = {"6": {}}
    elif missing == "input":
        for operator in graph["operator"].values():
            del operator["input"], operator["output"]
    else:
        (document["profiler"] if missing in document["profiler"] else graph).pop(missing)
    path = written(tmp_path, json.dumps(document).encode())
    for query in (pa.Query(), pa.Query(measure="host_time"), pa.Query(input_dtype="Float32")):
        assert pa.run(query, pa.load(path)).rows == oracle.answer(oracle.read(document), query)


def test_lanes_of_unknown_operators_are_left_out(tmp_path: Path) -> None:
    document = json.loads(TINY)
    stranger = {"stranger": {"start": 0, "kern": 0, "end": 7}}
    document["profiler"]["device"] = {"999": stranger, **document["profiler"]["device"]}
    profile = pa.load(written(tmp_path, json.dumps(document).encode()))
    totals = {track.name: total for track, total in profile.total_by_track("device").items()}
    assert totals == {'CompNode("cpu0:0" from "xpux:0")': pytest.approx(5e-6)}


@pytest.mark.parametrize(
    ("outputs", "out_shapes", "changed"),
    [
        (["a", "b"], [[1, 2], [3]], 0),
        (["a", "b"], [[1, 2], [9]], 0),  # only the first is compared
        (["a", "b"], [[1, 9], [3]], 1),
        (["a"], [[1, 2], [3]], 0),
        (["a"], [], 0),
        (["a"], None, 0),
        (["scalar"], [[]], 0),
        (["scalar"], [[1]], 1),
        (["unknown"], [[9]], 0),
        (["nowhere"], [[9]], 0),
        ([], [[9]], 0),
    ],
)
def test_shapes_that_changed_between_runs_are_counted(
    tmp_path: Path, outputs: list[str], out_shapes: list[list[int]] | None, changed: int
) -> None:
    shapes = {"a": [1, 2], "b": [3], "scalar": [], "unknown": None}
    document = {
        "profiler": {"opr_footprint": {"1": {"memory": 4, "out_shapes": out_shapes}}},
        "graph_exec": {
            "operator": {"1": {"name": "x", "type": "T", "output": outputs}},
            "var": {
                name: {"static_infer_tags": {"SHAPE": {"inferred_result": shape}}}
                for name, shape in shapes.items()
            },
        },
    }
    for spaces in (None, (",", ":")):
        text = json.dumps(document, separators=spaces).encode()
        assert len(pa.load(written(tmp_path, text)).notes) == changed


def test_a_profile_is_recognised_whatever_its_first_key(tmp_path: Path) -> None:
    plain_answer = run_command(str(PROFILES / "tiny.json"))
    for size in (1, HEAD_SIZE, 1 << 20):
        first = b'{"host_name": "' + b"x" * size + b'", '
        assert run_command(written(tmp_path, first + TINY.lstrip()[1:])) == plain_answer
    document = json.loads(TINY)
    document["graph_exec"]["more"] = "x" * HEAD_SIZE
    reordered = {name: document[name] for name in ("graph_exec", "profiler")}
    assert run_command(written(tmp_path, json.dumps(reordered).encode())) == plain_answer


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
def test_the_first_bytes_of_a_profile(head: bytes, recognised: bool) -> None:  # noqa: FBT001
    assert MegEngineReader().recognises(head, "run.json") is recognised


def test_null_in_place_of_an_inputs_shape_is_told(tmp_path: Path) -> None:
    document = json.loads((PROFILES / "trace-dyn.json").read_text())
    graph, footprints = document["graph_exec"], document["profiler"]["opr_footprint"]
    graph["var"]["90001"] = {"static_infer_tags": None}
    judged = next(
        operator
        for id_, operator in graph["operator"].items()
        if id_ in footprints and 0 < len(operator["input"]) == len(footprints[id_]["in_shapes"])
    )
    judged["input"][0] = "90001"
    profile = pa.load(written(tmp_path, json.dumps(document).encode()))
    note = "the shapes of the runs cannot be compared: static_infer_tags are null"
    assert profile.notes == (note,)


def test_a_lane_without_a_known_time_has_no_total(tmp_path: Path) -> None:
    document = json.loads(TINY)
    document["profiler"]["device"]["6"]["other"] = {"start": 0, "kern": 0, "end": "inf"}
    profile = pa.load(written(tmp_path, json.dumps(document).encode()))
    (note,) = (note for note in pa.summarise(profile).notes if "comp nodes" in note)
    assert note.endswith(", N/A on other")


def test_an_entry_without_a_lane_is_counted(tmp_path: Path) -> None:
    profile = pa.load(written(tmp_path, document_with({}, "profiler", "host", "6")))
    assert profile.notes == ("left out 1 entry of host without a thread or comp node",)
    assert profile.recorded("host").tolist().count(False) == 1


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, ("graph_exec", "operator", "6", "output")),
        (None, ("graph_exec", "operator", "6", "input")),
        (
            {"SHAPE": {"inferred_result": "Large Array"}},
            ("graph_exec", "var", "7", "static_infer_tags"),
        ),
    ],
)
def test_what_serves_only_a_note_refuses_no_file(
    tmp_path: Path, value: Any, path: tuple[str, ...]
) -> None:
    assert pa.load(written(tmp_path, document_with(value, *path))).notes == ()


def test_a_time_that_says_truncated_is_no_truncation(tmp_path: Path) -> None:
    lane = 'CompNode("cpu0:0" from "xpux:0")'
    content = document_with("truncated", "profiler", "device", "6", lane, "end")
    assert failure(written(tmp_path, content), pa.MalformedProfileError) == (
        "at $.profiler.device.6[...].end: expected a number, inf, -inf or nan, got 'truncated'"
    )


def test_a_truncated_file_with_control_characters_is_truncated(tmp_path: Path) -> None:
    content = (PROFILES / "names-ctrlchar.json").read_bytes()[:-100]
    assert failure(written(tmp_path, content), pa.MalformedProfileError).startswith(
        f"truncated: the JSON ends in the middle, at byte {len(content)}; "
    )


def test_times_beyond_all_numbers_are_not_available(tmp_path: Path) -> None:
    document = json.loads(TINY)
    for place, lanes in enumerate(document["profiler"]["device"].values()):
        for interval in lanes.values():
            interval |= {"start": -1.7e308 * (place == 0), "kern": 0, "end": 1.7e308}
    path = written(tmp_path, json.dumps(document).encode())
    for arguments in ([], ["--aggregate", "sum"], ["--wiki", "--aggregate-by", "type"]):
        outcome = run_command(path, *arguments)
        assert outcome.code == 0
        assert "inf" not in outcome.out.replace("info", "")
        assert "nan" not in outcome.out
        assert "Warning" not in outcome.err
    for lanes in document["profiler"]["device"].values():
        for interval in lanes.values():
            interval |= {"start": 0, "end": 5e-324}
    path = written(tmp_path, json.dumps(document).encode())
    assert pa.run(pa.Query(aggregates="sum"), pa.load(path)).rows[0]["bandwidth"] is None


def test_shapes_that_cannot_be_compared_are_told(tmp_path: Path) -> None:
    content = document_with(None, "graph_exec", "var", "7", "static_infer_tags")
    path = written(tmp_path, content.replace(b'"output": [', b'"output": ["7", '))
    note = "the shapes of the runs cannot be compared: static_infer_tags are null"
    assert pa.load(path).notes == (note,)


def test_an_empty_graph_is_a_profile(tmp_path: Path) -> None:
    content = b'{"profiler": {}, "graph_exec": {"operator": {}}}'
    outcome = run_command(written(tmp_path, content), "--print-only", "summary")
    assert (outcome.code, outcome.err) == (0, "")
    assert "total device time  N/A" in outcome.out


def test_entries_of_unknown_operators_are_counted(tmp_path: Path) -> None:
    document = json.loads(TINY)
    for section in ("device", "host", "opr_footprint"):
        document["profiler"][section]["999"] = document["profiler"][section]["6"]
    document["profiler"]["host"]["998"] = document["profiler"]["host"]["6"]
    profile = pa.load(written(tmp_path, json.dumps(document).encode()))
    assert profile.notes == (
        "left out 1 entry of device that belong to no operator of the graph",
        "left out 2 entries of host that belong to no operator of the graph",
        "left out 1 entry of opr_footprint that belong to no operator of the graph",
    )
    assert profile.total_s() == pytest.approx(5e-6)


def test_raw_control_characters_are_read_and_counted() -> None:
    profile = pa.load(str(PROFILES / "names-ctrlchar.json"))
    assert "ctrl\x01char" in profile.operators.name.categories
    assert profile.notes == ("read 1 raw control character in strings, which JSON forbids",)


NO_PROFILES: list[tuple[bytes, str]] = [
    (b"", "is empty; the program that should have written it may have died"),
    (b" \n", "is empty; the program that should have written it may have died"),
    (b"hello", "is not JSON: it starts with 'hello'"),
    (b"\x00\x01\x02", "is not JSON: it starts with '\\x00\\x01\\x02'"),
    (b"[]", "looks like JSON, but no profile"),
    (b"{}", "looks like JSON, but no profile"),
    (OWN_REPORT, "looks like a report of profile_analyze, not a profile"),
    (b'"text"', "looks like JSON, but no profile"),
    (b"null", "looks like JSON, but no profile"),
    (b"[project]\nname = 1", "is not JSON: it starts with '[project]\\nna'"),
    (
        gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0),
        "looks like a gzip file inside another; unpack it once",
    ),
    (b"BZh91AY&SY", "looks like a bzip2 file; unpack it first"),
    (b"\xfd7zXZ\x00", "looks like an xz file; unpack it first"),
    (b"PK\x03\x04", "looks like a zip archive; unpack it first"),
    (b"run.json".ljust(257, b"\0") + b"ustar", "looks like a tar archive; unpack it first"),
    (b'[{"cat" : "Node","pid" :1', "looks like an ONNX Runtime profile"),
    (b'[\n  { "count" : 1 }', "looks like a TensorRT layer profile (trtexec --exportProfile)"),
    (
        b'[{ "startEnqMs" : 1 }',
        "looks like a TensorRT list of inference times (trtexec --exportTimes)",
    ),
    (
        b'{"Layers": ["a"]}',
        "looks like a TensorRT engine description (trtexec --exportLayerInfo)",
    ),
    (
        b'{"schemaVersion": 1, "traceEvents": []}',
        "looks like a PyTorch (Kineto) trace",
    ),
    (b'{"traceEvents": [{"ph": "X"}]}', "looks like a Chrome timeline"),
    (b'[{"name": "a", "ph": "X"}]', "looks like a Chrome timeline"),
    (
        b'{"traceEvents":[{"name":"OpDispatch"}]}',
        "looks like a Chrome timeline of MegEngine's imperative profiler",
    ),
    (b'{"highres-ticks": true}', "looks like a JAX or TensorFlow (XLA) trace"),
    (b'{"schemaVersion": "1.0"}', "looks like a Paddle profile"),
    (b'<?xml version="1.0"?>\n<net name="x">', "looks like an OpenVINO execution graph"),
    (b"layerName;execStatus;layerType;x", "looks like an OpenVINO counter report"),
    (
        b'{"report_type": "a", "detailed_performance": []}',
        "looks like an OpenVINO counter report",
    ),
    (b"Name,Type,Forward_MACs,x", "looks like an onnx-tool table"),
    (
        b"===\n[node type] [first] [avg ms]",
        "looks like a TensorFlow Lite benchmark log",
    ),
    (b"[I] === Profile (10 iterations ) ===", "looks like a trtexec log"),
    (
        b"x = y -> z: 1ms, 2%\nTotal instructions time: 1ms",
        "looks like a MIGraphX performance report",
    ),
    (b"\x08\x07\x12\x07pytorch", "looks like an ONNX model, not a profile"),
    (b"\xe4\xef\x81\x00\x20\x00\x00\x00mgv2", "looks like a MegEngine model, not a profile"),
    ("{}".encode("utf-16"), "is text in UTF-16, not the UTF-8 of JSON"),
    (b"\xfe\xff" + "{}".encode("utf-16-be"), "is text in UTF-16, not the UTF-8 of JSON"),
]


def test_every_unsupported_format_is_tested() -> None:
    tested = {reason.removeprefix("looks like ") for _, reason in NO_PROFILES}
    assert {known.format for known in UNSUPPORTED} <= tested


@pytest.mark.parametrize(("content", "reason"), NO_PROFILES)
def test_what_is_no_profile_is_called_by_its_name(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = written(tmp_path, content)
    assert failure(path, pa.UnknownFormatError) == f"{reason}; {READ_HERE}"


def document_with(value: Any, *path: str) -> bytes:
    document = json.loads(TINY)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(document).encode()


BROKEN = [
    (b'{"profiler": {}}', "at $: object missing required field `graph_exec`"),
    (
        b'{"profiler": {}, "graph_exec": {}}',
        "at $.graph_exec: object missing required field `operator`",
    ),
    (document_with(1, "profiler"), "at $.profiler: expected `object`, got `int`"),
    (
        document_with([], "profiler", "device"),
        "at $.profiler.device: expected `object`, got `array`",
    ),
    (
        document_with(None, "profiler", "host"),
        "at $.profiler.host: expected `object`, got `null`",
    ),
    (
        document_with("soon", "profiler", "device", "6", 'CompNode("cpu0:0" from "xpux:0")', "end"),
        "at $.profiler.device.6[...].end: expected a number, inf, -inf or nan, got 'soon'",
    ),
    (
        document_with("many", "profiler", "opr_footprint", "6", "memory"),
        "at $.profiler.opr_footprint.6.memory: expected `float | null`, got `str`",
    ),
    (
        document_with([1], "profiler", "opr_footprint", "6", "in_shapes"),
        "at $.profiler.opr_footprint[...].in_shapes[0]: expected `array`, got `int`",
    ),
    (
        document_with({"type": "x"}, "graph_exec", "operator", "6"),
        "at $.graph_exec.operator.6: object missing required field `name`",
    ),
    (
        document_with({"type": "x", "name": "y"}, "graph_exec", "operator", "six"),
        "at $.graph_exec.operator: the operator id 'six' is not a whole number",
    ),
    (
        document_with({"type": "x", "name": "y"}, "graph_exec", "operator", "9" * 30),
        f"at $.graph_exec.operator: the operator id '{'9' * 30}' is not a whole number",
    ),
    (TINY + b" {}", f"is not valid JSON: trailing characters (byte {len(TINY) + 2})"),
    (
        b'{"profiler": {"device": {"6": NaN}}, "graph_exec": {"operator": {}}}',
        "is not valid JSON: invalid character (byte 30)",
    ),
    (
        b'{"profiler": {"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        "is nested too deeply for a profile",
    ),
    (
        document_with("?", "graph_exec", "operator", "6", "name").replace(b"?", b"d\xe4ta"),
        "at $.graph_exec.operator.6: text that is not UTF-8, b'\\xe4ta'",
    ),
    (
        document_with({"type": "x"}, "graph_exec", "operator", "a\nb"),
        r"at $.graph_exec.operator.a\nb: object missing required field `name`",
    ),
    (
        document_with({}, "profiler", "host", "?").replace(b"?", b"\xed\xa0\x80"),
        "at $.profiler.host: text that is not UTF-8, b'\\xed\\xa0\\x80'",
    ),
    (gzip.compress(TINY, mtime=0)[:-20], "truncated: the gzip stream has no end"),
    (gzip.compress(TINY, mtime=0)[:9] + b"\xff" * 40, "damaged gzip: Error -3"),
    (zstandard.ZstdCompressor().compress(TINY)[:40], "truncated: the zstd stream has no end"),
    (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "damaged zstd: "),
]


@pytest.mark.parametrize(("content", "reason"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_profile_says_where_and_what(tmp_path: Path, content: bytes, reason: str) -> None:
    found = failure(written(tmp_path, content), pa.MalformedProfileError)
    assert found == reason or (reason.startswith("damaged") and found.startswith(reason))


def test_a_part_that_is_not_asked_for_may_be_broken(tmp_path: Path) -> None:
    path = written(tmp_path, document_with({"layout": 1}, "graph_exec", "var", "7", "mem_plan"))
    assert run_command(path).code == 0
    outcome = run_command(path, "--input-dtype", "Float32")
    assert (outcome.code, outcome.err) == (
        1,
        f"profile_analyze: error: {path}: at $.graph_exec.var[...].mem_plan.layout: "
        "expected `object | null`, got `int`\n",
    )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_profile_says_at_which_byte(tmp_path: Path, share: float) -> None:
    length = int(len(TINY) * share)
    assert failure(written(tmp_path, TINY[:length]), pa.MalformedProfileError) == (
        f"truncated: the JSON ends in the middle, at byte {length}; the program that wrote it may "
        "have died: profile again"
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert failure(str(tmp_path / "nothing.json")) == "no such file"
    with pytest.raises(pa.InputError, match="is a directory; name a file in it"):
        pa.load(tmp_path)
    assert failure(str(tmp_path / "a\0b")) == "no such file: the name has a NUL character"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(pa.InputError) as caught:
        pa.load(tmp_path / "secret.json")
    assert caught.value.reason == "permission denied"


def test_zstd_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    monkeypatch.setattr("sys.version_info", (3, 10))
    path = written(tmp_path, zstandard.ZstdCompressor().compress(TINY))
    assert failure(path) == (
        "is compressed by zstd, which needs the package zstandard before Python 3.14: "
        "pip install zstandard"
    )
