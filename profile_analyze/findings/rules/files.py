"""Rules on files: what is damaged, missing or left out before anything is analysed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words

SIZE_PLACEHOLDER: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Where the size belongs in a sentence of an older data set."""


_SHAPES_OF: Final = {
    None: " without shapes",
    "PyTorch trace": " without shapes; record with record_shapes=True",
    "ONNX Runtime profile": " without shapes; add --model model.onnx, or record with ONNX Runtime "
    "1.14 or later",
    "MIGraphX report": " without shapes; keep the lines of instructions, or record with "
    "migraphx-driver perf --detailed",
    "TensorFlow Lite benchmark": ": tables of TensorFlow Lite have no shapes, and --model cannot "
    "read .tflite files",
}
"""Why shapes are missing, by format; None for a format that has shapes, but not here."""


def _no_shapes(words: Words, *, operators: int, file_format: str | None) -> str:
    affected = f"{counted(operators, 'operator')}{words.sized}"
    return f"the computation of {affected} is unknown{_SHAPES_OF[file_format]}"


def _unread_lines(_: Words, *, lines: int, first: int, lacking: str) -> str:
    noun, what = {
        "json": ("line", "valid JSON"),
        "layer": ("line", "a layer"),
        "node": ("table line", "a node"),
    }[lacking]
    return f"left out {counted(lines, noun)} without {what}; the first is line {first}"


def _unread_files(_: Words, *, files: int, first: str, reason: str) -> str:
    more = f"; and {files - 1} more" if files > 1 else ""
    return f"left out {counted(files, 'file')} that cannot be read: {first}: {reason}{more}"


def _stored_note(words: Words, *, text: str) -> str:
    return text.replace(SIZE_PLACEHOLDER, words.sized)


def _underivable_work(
    words: Words, *, operators: int, facts: Sequence[str], is_in_model: bool = False
) -> str:
    some = f"{counted(operators, 'operator')}{words.sized}"
    *most, last = facts
    model = "; the ONNX model that ran may give it: --model model.onnx" if is_in_model else ""
    return f"the computation of {some} cannot be derived from {', '.join(most)} and {last}{model}"


RULES: Final = (
    Rule(
        "underivable-work",
        "the computation of operators is unknown, although the file describes them",
        _underivable_work,
    ),
    Rule(
        "stored-note",
        "an older version wrote this sentence into the data set",
        _stored_note,
    ),
    Rule("unread-files", "files were left out, because they cannot be read", _unread_files),
    Rule(
        "unkept-profile",
        "the decoded profile cannot be written to the cache",
        "{folder}: the decoded profile cannot be kept for the next question: {reason}; --cache "
        "names another folder, and --no-cache keeps nothing",
    ),
    Rule("no-shapes", "operators lack the shapes that their computation needs", _no_shapes),
    Rule("unread-lines", "lines of the file cannot be read", _unread_lines),
    Rule(
        "overlapping-events",
        "events partly overlap another event of their thread",
        "{events:event} partly {events:overlaps/overlap} another event of the same thread, by "
        "{excess_s:time} in total: no thread can run both, so sums may be wrong",
    ),
)
