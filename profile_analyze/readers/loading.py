"""Loads a profile of any supported format: finds the reader, and checks the result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError, QueryError
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.base import BatchReader
from profile_analyze.readers.deferred import DeferredReader
from profile_analyze.readers.input.content import MAX_SIZE
from profile_analyze.readers.input.source import Cache, Source
from profile_analyze.readers.megengine import MegEngineReader
from profile_analyze.readers.model_inputs import NO_INPUTS
from profile_analyze.readers.recognition import first_reader, reader_among

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from os import PathLike
    from typing import TypeAlias

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Reader, ReadTogether
    from profile_analyze.readers.model_inputs import ModelInputs

    CacheFolder: TypeAlias = Cache | str | PathLike[str]

_SEARCHED: Final = 1 << 20
"""How many bytes of a text file are searched for a line that is typical of its format."""

READERS: Final[tuple[Reader, ...]] = (
    MegEngineReader(),
    DeferredReader(
        "ONNX Runtime profile",
        module="profile_analyze.readers.onnxruntime.reader",
        pattern=rb'\[\s*\{\s*"cat"\s*:\s*"(Session|Node|Kernel|Api)"',
    ),
    DeferredReader(
        "TensorRT profile",
        module="profile_analyze.readers.tensorrt.reader",
        pattern=rb'\[\s*\{\s*"count"\s*:',
    ),
    DeferredReader(
        "TensorRT engine description",
        module="profile_analyze.readers.tensorrt.engine",
        pattern=rb'\{\s*"Layers"\s*:',
    ),
    DeferredReader(
        "MegEngine timeline",
        module="profile_analyze.readers.megengine_timeline.reader",
        # Without a match, `.*` takes a quarter of the time of `.*?`.
        pattern=rb'[\[{].*"(OpDispatch|KernelLaunch|TensorLink|train_time_ratio)"',
    ),
    DeferredReader(
        "PyTorch trace",
        module="profile_analyze.readers.pytorch.reader",
        # Paddle writes schemaVersion as a text, PyTorch as a number.
        pattern=rb'(?!.*"(span_index|highres-ticks|Ascend Hardware|async_npu)")\s*\{.*?'
        rb'("schemaVersion"\s*:\s*\d|"deviceProperties"|"distributedInfo"'
        rb'|"cat"\s*:\s*"(cpu_op|[kK]ernel|cuda_(runtime|driver)|Operator|Runtime|gpu_memcpy'
        rb'|user_annotation|python_function)")',
    ),
    DeferredReader(
        "OpenVINO execution graph",
        module="profile_analyze.readers.openvino.graph",
        pattern=rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?(<!DOCTYPE.*?>\s*)?<net\b",
    ),
    DeferredReader(
        "OpenVINO counters",
        module="profile_analyze.readers.openvino.counters_reader",
        pattern=rb"layerName[;,]execStatus[;,]"
        rb'|\s*\{\s*"report_type"\s*:|\s*\{.{,99}"(detailed|avg)_performance"\s*:',
    ),
    DeferredReader(
        "ONNX model",
        module="profile_analyze.readers.onnx.reader",
        extra="onnx",
        has_inputs=True,
        # A model begins with the field ir_version and the tag of the next field, or with the
        # version of an operator set.
        pattern=rb"\x08[\x01-\x20][\x12\x1a\x22\x28\x32\x3a\x42\x72\xca]"
        rb"|\x42[\x02-\x40](\x0a[\x00-\x3c][\x20-\x7e]*)?\x10[\x01-\x7f]",
    ),
    # The next readers search the text for a typical line. Such a line comes early, and searching
    # takes long, so only the first `_SEARCHED` bytes are searched.
    DeferredReader(
        "MIGraphX report",
        module="profile_analyze.readers.migraphx.reader",
        searched=_SEARCHED,
        # A log may come before the report, but no JSON or XML. A report that lists
        # instructions without times is recognised, too.
        pattern=rb"(?!\{|<|\[\s*[\[{\]\"])"
        rb".*?(?:\bTotal (?:instructions )?time(?::|\xef\xbc\x9a) ?-?[\d.]+"
        rb"|\bcheck_context::migraphx::| -> (?:dynamic, )?\w{1,20}_type(?:,|\xef\xbc\x8c) ?\{"
        rb"|ms / \d+ = [-+\d.e]+ms(?:,|\xef\xbc\x8c))",
    ),
    DeferredReader(
        "TensorFlow Lite benchmark",
        module="profile_analyze.readers.tflite.reader",
        searched=_SEARCHED,
        # A benchmark without any table is recognised, too, so that the error says what to do.
        # In the first line of a table, only the prefix of a logger may come before the header.
        pattern=rb"(?![\[{]\s*[\"{])(?:.*?\n)?(?:[\dVDIWEF][^\n]{0,99}[:\]] )?[ \t]*"
        rb"(?:\[node type\][ \t]+(?:\[start\][ \t]+)?\[first\][ \t]+\[avg ms\][ \t]"
        rb"|node type, (?:start, )?first, avg_ms, %|Inference timings in us: Init: )",
    ),
    # A text may also begin with one of the bytes in `pattern`. This reader is therefore tried last,
    # and recognises only files with one of the `suffixes`.
    DeferredReader(
        "ONNX model",
        module="profile_analyze.readers.onnx.reader",
        extra="onnx",
        has_inputs=True,
        # The tag of any field of a model.
        pattern=rb"[\x08\x12\x1a\x22\x28\x32\x3a\x42\x72\xa2\xca]",
        suffixes=(".onnx", ".onnx.gz", ".onnx.zst"),
    ),
)
"""The readers of this package, in the order in which they are tried."""

_FALLBACK_FORMAT: Final = "plain"
"""The default output format for a profile that joins files of several formats, and for profiles
that readers of other packages read."""


def load(
    path: str | PathLike[str],
    *,
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    max_size: int = MAX_SIZE,
    progress: Callable[[int, int], None] | None = None,
    inputs: ModelInputs = NO_INPUTS,
    beside: bool = True,
    cache: CacheFolder | None = None,
) -> Profile:
    """Return the profile in the file `path`, plain or compressed; `-` is standard input.

    - `path` may be a URL that fsspec supports, such as `s3://bucket/run.json`.
    - `wanted` names the optional columns and tables to read, such as shapes and parameters.
      `wanted=query.wanted` reads what `query` needs. A query raises an error if it needs a column
      that was not read.
    - `max_size` is the largest allowed size of the decompressed file in bytes, 8 GiB by default.
    - `progress` is called now and then with two numbers: how many bytes of the file have been read,
      and the size of the file. The size is 0 if it is unknown.
    - `inputs` gives sizes to the inputs of a model, such as
      `ModelInputs.of({"data": (1, 3, 224, 224)})` or `ModelInputs.of(dims={"batch": 8})`.
      `ModelInputs.of(tile="64,64,64")` adds the columns on matrix products in tiles.
    - `beside` says whether to read files in the same folder that describe the operators, such as
      the description of a TensorRT engine. Pass False if `with_model` will add another model.
    - `cache` is a folder that keeps the decoded profiles of large files. Reading such a file again
      is then fast. By default, nothing is kept. A `Cache` also sets limits on sizes.

    Raises `UnknownFormatError` if the format is not supported, `MalformedProfileError` for a
    damaged profile, and `InputError` for any other file that cannot be read. Raises `QueryError` if
    `inputs` names inputs or symbols that the file does not have.
    """
    source = Source(
        path,
        max_size=max_size,
        progress=progress,
        inputs=inputs,
        beside=beside,
        cache=cache_of(cache),
    )
    return read_profile(source, wanted)


def cache_of(folder: CacheFolder | None) -> Cache | None:
    """Return the cache in a folder, with the usual limits unless `folder` has its own."""
    return folder if folder is None or isinstance(folder, Cache) else Cache(os.fspath(folder))


def read_profile(source: Source, wanted: Collection[str]) -> Profile:
    """Return the profile in `source`, which is closed afterwards. See `load`."""
    with source:
        cache = source.cache
        if cache is None or source.file_size() < cache.smallest_compressed:
            return _decoded(source, wanted)
        # Imported here, because only large files need the cache.
        from profile_analyze.readers.cache.profiles import through_cache

        return through_cache(source, wanted, _decoded)


def _decoded(source: Source, wanted: Collection[str]) -> Profile:
    """Decode and check the profile in `source`."""
    reader = _reader_of(source)
    if source.inputs != NO_INPUTS and not reader.has_inputs:
        raise QueryError(
            f"{source.name}: has the format {reader.format}, {_advice_on(source.inputs)}"
        )
    profile = reader.read(source, wanted)
    _check(profile, source.name)
    return profile


def _advice_on(inputs: ModelInputs) -> str:
    """Return what to do about options for models that the caller gave with a profile."""
    if inputs.tile is None:
        return "but --input-shape and --dim need a model; leave them out"
    return "but --split-matmul needs a model; name the ONNX model, or add it after --model"


def read_together(sources: Sequence[Source], wanted: Collection[str]) -> ReadTogether | None:
    """Return the profiles in several sources; None if they must be read one by one.

    The sources stay open, so that the caller can then read them one by one.
    """
    if any(source.inputs != NO_INPUTS for source in sources):
        return None  # reading one by one shows which file is not a model
    # Only the first 64 KiB are searched. The few files that need a longer head are read one by one.
    found: Iterator[object] = (first_reader(READERS, one.head(), one.name) for one in sources)
    reader = next(found)
    # If the first reader cannot read several sources, nobody needs the readers of the others.
    if not isinstance(reader, BatchReader) or any(other is not reader for other in found):
        return None
    together = reader.read_together(sources, wanted)
    if together is None:
        return None
    try:
        _check(together.profile, together.profile.file)
    except MalformedProfileError:  # reading one by one shows which file is damaged
        return None
    return together


def default_output_format(profile: Profile) -> str:
    """Return the default output format for a profile."""
    by_format = {reader.format: reader.default_output_format for reader in READERS}
    return by_format.get(profile.origin.format, _FALLBACK_FORMAT)


def default_output_formats() -> tuple[str, ...]:
    """Return all default output formats."""
    formats = (reader.default_output_format for reader in READERS)
    return tuple(dict.fromkeys((*formats, _FALLBACK_FORMAT)))


def _reader_of(source: Source) -> Reader:
    """Return the reader that recognises `source`. Raises `UnknownFormatError` if no reader does."""
    reader = reader_among(READERS, source)
    if reader is not None:
        return reader
    # Imported here, because few files need the module. Compiling its patterns and looking for
    # packages takes 50 ms.
    from profile_analyze.readers.installed import reader_of_a_package

    return reader_of_a_package(source, READERS)


def _check(profile: Profile, file: str) -> None:
    """Raise `MalformedProfileError` about `file` if its profile is inconsistent."""
    findings = profile.check()
    if findings:
        more = f"; and {len(findings) - 1} more" if len(findings) > 1 else ""
        raise MalformedProfileError(file, f"inconsistent: {findings[0]}{more}")
