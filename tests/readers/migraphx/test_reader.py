"""Unusual reports: names, brackets, dialects, several reports in a file, and damaged files."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.migraphx.instruction import parsed
from profile_analyze.readers.migraphx.shapes import Shape, shapes_of
from tests.conftest import FIXTURES, IS_FULL, run_command
from tests.findings.found import codes_in, rounded, with_code
from tests.readers.tiny_file import failure, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

FLOAT = "float_type, {2, 3}, {3, 1}"
END = "\nBatch size: 1\nTotal time: 0.01ms\n"


def report(*lines: str) -> bytes:
    """Return a report of instructions, each of which took 1 us."""
    timed = "".join(f"{line}: 0.001ms, 9%\n" for line in lines)
    return (timed + END).encode()


def rows(folder: Path, content: bytes, *columns: str) -> list[tuple[Any, ...]]:
    table = pa.run(pa.Query(order="+id"), pa.load(write_bytes(folder, content)))
    return list(zip(*(table[column].tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    "name",
    ["main:#output_0", "a: b", "in = x", "x -> y", "a,b", "f(x)", "x[0]", "(", "数据", "100%"],
)
def test_hostile_names_of_parameters_are_read(name: str, tmp_path: Path) -> None:
    content = report(
        f"{name} = @param:{name} -> {FLOAT}",
        f"@1 = gpu::code_object[symbol_name=relu_kernel,]({name},@0) -> {FLOAT}",
    )
    found = dict(rows(tmp_path, content, "name", "in_shapes"))
    assert found.keys() == {name, "@1"}
    # An unpaired bracket makes it unclear where the arguments of @1 end, so its inputs are unknown.
    assert found["@1"] == (None if name == "(" else ((2, 3),))


def test_an_index_of_thousands_of_digits_is_ignored(tmp_path: Path) -> None:
    call = f"gpu::code_object[symbol_name=relu_kernel,output_arg={'9' * 5000},](@0)"
    content = report(f"@0 = @param:x -> {FLOAT}", f"@1 = {call} -> {FLOAT}")
    assert rows(tmp_path, content, "name") == [("@0",), ("@1",)]


@pytest.mark.parametrize(
    ("text", "operator", "arguments", "attributes"),
    [
        (
            "@1 = hip::hip_allocate_memory[shape=int8_type, {48}, {1},id=main:scratch] -> " + FLOAT,
            "hip::hip_allocate_memory",
            (),
            (("id", "main:scratch"), ("shape", "int8_type, {48}, {1}")),
        ),
        (
            "@7 = gpu::code_object[code_object=9040,symbol_name=mlir_dot,output_arg=2,](a,b,c) -> "
            + FLOAT,
            "gpu::code_object",
            ("a", "b", "c"),
            (("code_object", 9040), ("output_arg", 2), ("symbol_name", "mlir_dot")),
        ),
        (
            "m:@3 = gpu::gemm[alpha=1.5,beta=0](@1,@2), [m:mod0, m:mod1] -> " + FLOAT,
            "gpu::gemm",
            ("@1", "@2"),
            (("alpha", 1.5), ("beta", 0)),
        ),
        ("@2 = @literal{1, 2, -3} -> " + FLOAT, "@literal", (), ()),
        ("2026-11-22T10:00:04Z @2 = neg(@1) -> " + FLOAT, "neg", ("@1",), ()),
        ("@2 = x[a={1, (2}](@1) -> " + FLOAT, "x", ("@1",), ()),
        ("@2 = x[" + "[" * 9999 + " -> " + FLOAT, "x", ("[" * 10_000,), ()),
    ],
)
def test_a_line_has_an_operator_arguments_and_attributes(
    text: str, operator: str, arguments: tuple[str, ...], attributes: tuple[Any, ...]
) -> None:
    found = parsed(text)
    assert found is not None
    assert (found.operator, found.arguments, found.attributes) == (operator, arguments, attributes)
    assert found.shapes == (Shape("float_type", (2, 3), (3, 1)),)


@pytest.mark.parametrize("text", ["", "a = b", "@1 = ", "@1 = add(x) -> nothing", " -> " + FLOAT])
def test_other_lines_are_not_instructions(text: str) -> None:
    assert parsed(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float_type, {}, {}", [Shape("float_type", (), ())]),
        ("half_type, {2, 3}, {0, 1}, target_id=0", [Shape("half_type", (2, 3), (0, 1))]),
        ("dynamic, float_type, {[1..4], 3}", [Shape("float_type", (None, 3))]),
        ("dynamic, int8_type, {[4..4, {2, 4}], 3}", [Shape("int8_type", (4, 3))]),
        (
            "[float_type, {1}, {0}, bool_type, {2}, {1}] # a -> b",
            [Shape("float_type", (1,), (0,)), Shape("bool_type", (2,), (1,))],
        ),
        ("float_type\uff0c {2}\uff0c {1}", [Shape("float_type", (2,), (1,))]),
        ("float_type, {" + "9" * 99 + "}, {1}", [Shape("float_type", (None,), (1,))]),
        ("nothing", []),
    ],
)
def test_shapes_are_parsed(text: str, expected: list[Shape]) -> None:
    assert list(shapes_of(text)) == expected


@pytest.mark.parametrize(
    ("type_", "lens", "strides", "size", "dtype"),
    [
        ("float_type", (2, 3), (3, 1), 24, "fp32"),
        ("half_type", (2, 3), (0, 1), 6, "fp16"),  # a stride of 0, so only one row is in memory
        ("bf16_type", (4,), (0,), 2, "bf16"),
        ("fp8e4m3fnuz_type", (4,), (1,), 4, "fp8"),
        ("fp4x2_type", (2, 3), (3, 1), 6, "fp4"),  # each element has two values
        ("int4_type", (3,), (1,), 2, "int4"),
        ("uint64_type", (2, 0), (0, 1), 0, "uint64"),
    ],
)
def test_a_shape_has_its_bytes_in_memory_and_its_dtype(
    type_: str, lens: tuple[int, ...], strides: tuple[int, ...], size: float, dtype: str
) -> None:
    shape = Shape(type_, lens, strides)
    assert (shape.stored.bytes, shape.dtype) == (size, dtype)


def test_an_instruction_on_the_line_of_a_return_is_read(tmp_path: Path) -> None:
    lines = (
        f"@0 = neg(x) -> {FLOAT}: 0.001ms, 9%",
        f"main:@return(@0, f(x))@1 = neg(@0) -> {FLOAT}: 0.002ms, 9%",
        "@2 = @return(@1)Summary:",
        "neg: 0.003ms, 100%",
    )
    assert rows(tmp_path, ("\n".join(lines) + END).encode(), "name") == [("@0",), ("@1",)]


def test_instructions_with_the_same_name_get_distinct_ids(tmp_path: Path) -> None:
    assert rows(tmp_path, report(*[f"@1 = neg(@0) -> {FLOAT}"] * 3), "id", "name") == [
        ("@1", "@1"),
        ("@1 #2", "@1"),
        ("@1 #3", "@1"),
    ]


def test_log_lines_and_colours_are_ignored(tmp_path: Path) -> None:
    content = report(f"@1 = neg(@0) -> {FLOAT}", f"@2 = neg(@1) -> {FLOAT}")
    logged = content.replace(b"\n", b"\r\n[2026-11-22] warning: 5ms, 3% of memory\r\n\r\n", 1)
    colored = b"\x1b[1;31m" + logged.replace(b"@2", b"\x1b[0m@2")
    assert rows(tmp_path, colored, "name") == [("@1",), ("@2",)]


def test_only_the_last_of_several_reports_is_read(tmp_path: Path) -> None:
    content = report(f"@1 = neg(@0) -> {FLOAT}") + report(f"@2 = abs(@0) -> {FLOAT}")
    assert rows(tmp_path, content, "name") == [("@2",)]
    notes = run_command(write_bytes(tmp_path, content)).err
    assert (
        "note: the file has 2 reports, and only the last one is shown; write each to its own file\n"
        in notes
    )


def test_the_summary_replaces_incomplete_instructions(tmp_path: Path) -> None:
    lines = report(f"@9 = neg(@8) -> {FLOAT}").decode().removesuffix(END)
    content = f"{lines}\nSummary:\nneg: 0.005ms / 5 = 0.001ms, 100%\n{END}".encode()
    assert rows(tmp_path, content, "name", "calls", "time") == [("neg", 5, pytest.approx(5e-6))]
    profile = pa.load(write_bytes(tmp_path, content))
    assert with_code(profile.notes, "rows-from-summary") == [
        Finding.of("rows-from-summary", Kind.INCOMPLETE, has_some=True)
    ]


def test_missing_lines_are_noted(tmp_path: Path) -> None:
    content = report(f"@9 = gpu::gemm(@7,@8,@6) -> {FLOAT}") + b"Total instructions time: 0.004ms\n"
    assert rounded(pa.load(write_bytes(tmp_path, content)).notes) == [
        Finding.of("missing-instructions", Kind.DAMAGED, found_s=1e-6, stated_s=4e-6),
        Finding.of(
            *("inputs-left-out", Kind.INCOMPLETE), share=1.0, operators=1, dropped_beside="model"
        ),
    ]


def test_an_old_summary_has_no_calls(tmp_path: Path) -> None:
    content = f"Summary:\ngpu::gemm: 0.2859ms, 69%\nload: 1.2e-05ms, 1%\n{END}".encode()
    assert rows(tmp_path, content, "name", "time") == [
        ("gpu::gemm", pytest.approx(285.9e-6)),
        ("load", pytest.approx(12e-9)),
    ]
    assert "groups-without-calls" in codes_in(pa.load(write_bytes(tmp_path, content)).notes)


def test_a_group_without_calls_counts_as_one_call(tmp_path: Path) -> None:
    lines = "gpu::gemm: 0.0042ms / 0 = infms, 40%\nload: 0.0063ms / 3 = 0.0021ms, 60%\n"
    content = f"Summary:\n{lines}{END}".encode()
    assert rows(tmp_path, content, "name", "calls", "time") == [
        ("gpu::gemm", 1, pytest.approx(4.2e-6)),
        ("load", 3, pytest.approx(6.3e-6)),
    ]
    profile = pa.load(write_bytes(tmp_path, content))
    assert with_code(profile.notes, "unknown-calls") == [
        Finding.of("unknown-calls", Kind.INCOMPLETE, share=0.4, operators=1)
    ]


@pytest.mark.parametrize("time", ["nan", "-nan", "inf", "-1", "1e9999"])
def test_impossible_times_are_unknown(time: str, tmp_path: Path) -> None:
    content = report(f"@1 = neg(@0) -> {FLOAT}", f"@2 = abs(@0) -> {FLOAT}")
    content = content.replace(b"0.001ms", f"{time}ms".encode(), 1)
    times_s = pa.load(write_bytes(tmp_path, content)).measured("time")
    assert times_s.tolist() == [[pytest.approx(nan, nan_ok=True)], [pytest.approx(1e-6)]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            f"module: main\n@0 = check_context::migraphx::gpu::context -> {FLOAT}\n@1 = neg(@0) -> {FLOAT}\n",
            "lists 2 instructions without times; record with migraphx-driver perf, or copy the "
            "whole report if this one was cut",
        ),
        (
            "Batch size: 1\nRate: 2 inferences/sec\nTotal time: 3ms\n",
            "has no line of an instruction, no summary and no Total instructions time; keep the "
            "whole output of migraphx-driver perf",
        ),
    ],
)
def test_files_without_anything_to_analyse_are_refused(
    content: str, reason: str, tmp_path: Path
) -> None:
    path = write_bytes(tmp_path, content.encode())
    assert failure(path, pa.MalformedProfileError) == reason


@pytest.mark.slow
def test_truncation_at_every_byte_is_noted_or_refused(tmp_path: Path) -> None:
    """Each truncated file is either read, with a note, or fails with one line of error."""
    content = (FIXTURES / "migraphx" / "old.txt").read_bytes()
    whole = content.index(b"Total time: ") + len("Total time: 0.0481ms")
    first = content.index(b": 0.00058ms, 2%") + len(": 0.00058ms, 2%")
    for length in range(0, len(content), 1 if IS_FULL else 23):
        path = write_bytes(tmp_path, content[:length])
        if length < first:
            with pytest.raises(pa.InputError) as caught:
                pa.load(path)
            assert "\n" not in str(caught.value)
            continue
        notes = pa.load(path).notes
        assert ("cut-report" in codes_in(notes)) == (length < whole), length


def test_a_truncated_batch_size_is_ignored(tmp_path: Path) -> None:
    content = report(f"@1 = neg(@0) -> {FLOAT}") + b"\nBatch size: 6"
    profile = pa.load(write_bytes(tmp_path, content))
    assert [(fact.name, fact.value) for fact in profile.origin.recorded] == [("batch_size", 1)]


def test_modules_that_run_each_other_make_no_cycle_of_parents(tmp_path: Path) -> None:
    content = report(f"a:@0 = if(x), [a, b] -> {FLOAT}", f"b:@0 = if(x), [a, b] -> {FLOAT}")
    assert [scope for (scope,) in rows(tmp_path, content, "scope")] == [("a",), ("b",)]


def test_bytes_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    content = report(f"x? = @param:x? -> {FLOAT}").replace(b"?", b"\xff")
    assert rows(tmp_path, content, "name") == [("x\ufffd",)]


def test_a_summary_alone_has_rows_for_its_known_times(tmp_path: Path) -> None:
    content = b"gpu::gemm: nanms / 3 = nanms, 1%\nload: 0.002ms / 2 = 0.001ms, 9%\n"
    assert rows(tmp_path, content, "name", "calls") == [("load", 2)]


def test_a_report_with_only_unknown_times_has_a_note(tmp_path: Path) -> None:
    content = report(f"@1 = neg(@0) -> {FLOAT}").replace(b"0.001ms", b"nanms")
    path = write_bytes(tmp_path, content + b"Total instructions time: 0.004ms\n")
    assert with_code(pa.load(path).notes, "missing-instructions") == [
        Finding.of("missing-instructions", Kind.DAMAGED, found_s=0.0, stated_s=4e-6)
    ]
    assert run_command(path).code == 0
