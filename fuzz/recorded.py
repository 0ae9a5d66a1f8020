"""Recorded profiles and models, except GraphProfiler JSON, unchanged or with errors."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fuzz.documents import HOSTILE_TEXTS
from fuzz.mutations import to_json, with_wrong_bytes, with_wrong_values

if TYPE_CHECKING:
    from random import Random

FIXTURES: Final = Path(__file__).parent.parent / "tests" / "fixtures"
FOLDERS: Final = (
    "megengine-timeline",
    "migraphx",
    "models",
    "onnxruntime",
    "openvino",
    "pytorch",
    "pytorch-small",
    "tensorrt",
    "tflite",
)
"""The folders with recorded files."""
_EXPECTED: Final = ("models/*.json", "pytorch/*.averages.json")
"""Files in these folders that are no inputs: they have the expected results for other files."""

_LARGEST: Final = 200_000
"""The largest size of a recorded file in bytes. Larger files would take too long."""
_WORD: Final = re.compile(rb"[\w.+-]+")
_NUMBER: Final = re.compile(rb"(?<![\w.+@#-])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")
_LARGE: Final = (
    *("1e305", "1e300", "9e307", "1.7e308", "-1e305", "-1.7e308", "5e-324", "1e-320"),
    *("9223372036854775807", "18446744073709551616", "0"),
)
"""Numbers whose sums, ratios and squares leave the range of floats."""
_WORDS: Final = (
    *("0", "-1", "1e400", "-0.0", "nan", "inf", "9" * 30, "1.5", "1e-320", "", "None"),
    *(2**31, 2**63, -(2**63) - 1),
    *HOSTILE_TEXTS,
)


@cache
def recorded_files() -> tuple[bytes, ...]:
    """Return the decompressed contents of all recorded files up to `_LARGEST`."""
    paths = sorted(path for folder in FOLDERS for path in (FIXTURES / folder).iterdir())
    inputs = (path for path in paths if not any(map(path.match, _EXPECTED)))
    return tuple(data for data in map(_content, inputs) if len(data) <= _LARGEST)


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@cache
def recorded_models() -> tuple[bytes, ...]:
    """Return the contents of all recorded ONNX models up to `_LARGEST`."""
    contents = (path.read_bytes() for path in sorted((FIXTURES / "models").glob("*.onnx")))
    return tuple(data for data in contents if len(data) <= _LARGEST)


def recorded_file(random: Random, *, is_valid: bool) -> bytes:
    """Return the content of a recorded file: see `like`."""
    return like(random, random.choice(recorded_files()), is_valid=is_valid)


def model_file(random: Random, *, is_valid: bool) -> bytes:
    """Return a file for `--model`, mostly an ONNX model: see `like`."""
    chosen = recorded_models() if random.random() < 0.7 else recorded_files()
    return like(random, random.choice(chosen), is_valid=is_valid)


def like(random: Random, data: bytes, *, is_valid: bool) -> bytes:
    """Return the content of a file, unchanged if `is_valid`.

    Otherwise, the content has wrong values, words or bytes.
    """
    kind = random.random()
    if is_valid:
        return data
    if kind < 0.2:
        return with_wrong_bytes(random, data)
    if kind < 0.5:
        return with_wrong_words(random, data)
    if kind < 0.7:
        return with_large_numbers(random, data)
    try:
        document: Any = json.loads(data)
    except ValueError:
        return with_wrong_words(random, data)
    return to_json(random, with_wrong_values(random, document))


def with_large_numbers(random: Random, data: bytes) -> bytes:
    """Return `data` with some of its numbers replaced by numbers near the limits of floats."""
    share = random.choice((0.01, 0.1, 0.5))
    large = [random.choice(_LARGE).encode() for _ in range(random.choice((1, 2)))]
    return _NUMBER.sub(
        lambda found: random.choice(large) if random.random() < share else found[0], data
    )


def with_wrong_words(random: Random, data: bytes) -> bytes:
    """Return `data` with one to three words or numbers replaced."""
    for _ in range(random.choice((1, 1, 2, 3))):
        words = list(_WORD.finditer(data))
        if not words:
            return data
        found = random.choice(words)
        other = random.choice((random.choice(_WORDS), random.choice(words).group()))
        word = other if isinstance(other, bytes) else str(other).encode("utf-8", "surrogatepass")
        data = data[: found.start()] + word + data[found.end() :]
    return data
