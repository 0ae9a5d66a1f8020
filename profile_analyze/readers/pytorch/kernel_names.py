"""Derives short names and categories of work on a device from its names in the file.

Work on a device is a kernel, a copy (memcpy) or a memset. The names of kernels are C++ names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model import terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST: Final = 60
"""The most characters of a short name. A longer name loses its middle, because variants of a
kernel differ at the end."""
_KEPT_END: Final = 20
_LARGEST_INPUT: Final = 1 << 13
"""How many characters of a name are read. Names with nested templates can be longer."""
_DEEPEST: Final = 6
"""Template arguments at a greater depth are ignored."""

_OPENING: Final = frozenset("<({[")
_CLOSING: Final = frozenset(">)}]")
_AS_IS: Final = ("Memcpy", "Memset")
_ANONYMOUS: Final = "(anonymous namespace)::"
_GENERIC: Final = frozenset(("kernel", "Kernel"))
"""Function names that need their namespace in the short name, such as `sort::kernel`."""
_WRAPPERS: Final = frozenset(
    (
        *("gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel"),
        *("AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor", "ReduceOp", "func_wrapper_t"),
        *("Kernel", "Kernel2", "device_kernel"),
    )
)
"""Templates that only call the function in their template arguments. The short name has the name of
that function instead."""
_NOISE: Final = re.compile(
    r"Array|OffsetCalculator|TrivialOffset|Load|Store|TensorListMetadata|OpaqueType|\w*Policy"
    r"|cublas|ScanTileState|ReduceByKeyScan|FixedDivisor|decltype|nullptr|true$|false$"
)
"""The start of template arguments that do not distinguish kernels."""
_DTYPE: Final = re.compile(
    r"(?:(?:unsigned|signed|long|short) )*(?:float|double|half|bfloat16|Half|BFloat16|int|long"
    r"|short|char|bool|u?int\d+_t|__half|__nv_bfloat16|complex<\w+>|Float8_\w+)\d?"
)
_INTEGER_DTYPE: Final = re.compile(r"unsigned|signed|int|uint|long|short|char|bool")


def short_name(name: str) -> str:
    """Return a readable name of a kernel: the function, and the template arguments that matter.

    Namespaces, parameters, the return type, and template arguments that do not distinguish kernels
    are left out.
    """
    text = name[:_LARGEST_INPUT].strip()
    if name.startswith(_AS_IS):
        return text
    if text.startswith("_Z"):
        return _fitted(_of_mangled(text) or text)
    if "(" not in text and "<" not in text:
        return _fitted(text)
    for noise in (_ANONYMOUS, " const", "c10::"):
        text = text.replace(noise, "")
    # The return type is before the name. Remarks of the compiler are in brackets after the name.
    words = [one for one in _split(text, " ") if not one.startswith("[")]
    declared = [one for one in words if "(" in one or "<" in one]
    return _fitted((_short(declared[-1], _LONGEST, 0) if declared else "") or text)


def _fitted(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - _KEPT_END - 3]}...{name[-_KEPT_END:]}"


def _split(text: str, separator: str) -> Iterator[str]:
    """Split a text at each separator outside brackets, and yield the parts."""
    depth = start = skipped_to = 0
    for index, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth = max(0, depth - 1)
        elif depth == 0 and index >= skipped_to and text.startswith(separator, index):
            yield text[start:index]
            start = skipped_to = index + len(separator)
    yield text[start:]


class _Part(NamedTuple):
    """One part of a qualified name, such as `elementwise_kernel<4, float>(int)`."""

    name: str
    arguments: Sequence[str]
    """The template arguments."""


def _part(text: str) -> _Part:
    end = next((index for index, one in enumerate(text) if one in _OPENING), len(text))
    if text[end : end + 1] != "<":
        return _Part(text[:end], ())
    depth = 0
    for index in range(end, len(text)):
        depth += (text[index] in _OPENING) - (text[index] in _CLOSING)
        if depth == 0:
            return _Part(text[:end], [one.strip() for one in _split(text[end + 1 : index], ",")])
    return _Part(text[:end], [one.strip() for one in _split(text[end + 1 :], ",")])


def _short(text: str, budget: int, depth: int) -> str:
    """Return the short form of a qualified name; empty if no part is a name.

    The short form has at most `budget` characters where possible.
    """
    parts = [_part(one) for one in _split(text, "::")]
    # The name of a lambda is the name of the function around it.
    named = [index for index, one in enumerate(parts) if one.name[:8] not in {"", "operator"}]
    if not named or depth > _DEEPEST:
        return ""
    part = parts[named[-1]]
    name = part.name
    if name in _WRAPPERS:
        found = _arguments(part.arguments, budget, depth, most=1)
        if found:
            return found[0]
    if name in _GENERIC and len(named) > 1:
        name = f"{parts[named[-2]].name}::{name}"
    kept = _arguments(part.arguments, budget - len(name) - 2, depth)
    if not kept and named[-1] < len(parts) - 1:
        kept = _parameter_of_lambda(text)
    return f"{name}<{', '.join(kept)}>" if kept else name


def _parameter_of_lambda(text: str) -> list[str]:
    """Return a list with the type of the last lambda's first parameter.

    The list is empty if the type is not a dtype.
    """
    parameters = text.rpartition("{lambda(")[2].partition(")")[0]
    first = parameters.partition(",")[0].strip()
    return [first] if _DTYPE.fullmatch(first) else []


def _arguments(arguments: Sequence[str], budget: int, depth: int, most: int = 4) -> list[str]:
    """Return the short forms of the template arguments that distinguish kernels.

    These arguments are classes. Return the first one, and more of them while they fit into
    `budget` characters, but at most `most`. Without classes, return one dtype, a float if possible.
    """
    texts = [one.rstrip("*& ") for one in arguments if one[:1].isalpha() or one[:1] == "_"]
    dtypes = [one for one in texts if _DTYPE.fullmatch(one)]
    kept: list[str] = []
    for one in texts:
        if one in dtypes or len(kept) == most:
            continue
        found = _short(one, budget, depth + 1)
        if not found or _NOISE.match(found):
            continue
        if len(found) > budget:
            found = found.partition("<")[0]
        if kept and len(found) > budget:
            break
        kept.append(found)
        budget -= len(found) + 2
    if kept or not dtypes:
        return kept
    return [next((one for one in dtypes if not _INTEGER_DTYPE.match(one)), dtypes[0])]


# In a mangled name, each name follows its length: `4gemm`.
_LENGTH: Final = re.compile(r"\d{1,4}")
_SUBSTITUTION: Final = re.compile(r"S[0-9A-Z]*_|S[a-z]|L(?=\d)")
"""Matches what may be between names: a reference to an earlier name (`S_`, `S1_`), an abbreviation
such as `St` for `std`, or `L` before a name with internal linkage."""
_BEFORE_CLASS: Final = re.compile(r"I(?:L[a-z]n?\d+E|[a-z])*N?")
"""Matches the start of template arguments up to the first class: integers such as `Li4E`, and
built-in types such as `f`."""


def _of_mangled(text: str) -> str:
    """Return the readable part of a mangled name: `f`, or `f<C>` for a template with a class."""
    names: list[str] = []
    start = 3 if text.startswith("_ZN") else 2
    for _ in range(_DEEPEST):
        found, start = _source_names(text, start)
        if not found:
            break
        names.append(found[-1])
        before = _BEFORE_CLASS.match(text, start)
        if before is None or (len(names) > 1 and names[-1] not in _WRAPPERS):
            break
        start = before.end()
    shown = [one for one in names if one not in _WRAPPERS] or names
    return f"{shown[0]}<{shown[1]}>" if len(shown) > 1 else "".join(shown)


def _source_names(text: str, start: int) -> tuple[list[str], int]:
    """Return the consecutive names from index `start`, and the index after the last name."""
    names = []
    while start < len(text):
        length = _LENGTH.match(text, start)
        if length is not None:
            start = length.end() + int(length[0])
            names.append(text[length.end() : start])
            continue
        substitution = _SUBSTITUTION.match(text, start)
        if substitution is None:
            break
        start = substitution.end()
    return names, start


_WORDS: Final = tuple(
    (category, re.compile(words, re.IGNORECASE))
    for category, words in (
        (
            terms.COMMUNICATION,
            r"nccl|rccl|gloo|c10d|all_?reduce|all_?gather|reduce_?scatter|all_?(?:to|2)_?all"
            r"|sendrecv|record_param_comms",
        ),
        (terms.REDUCTION, r"(?:^|[^a-z])reduce_kernel"),
        (terms.ATTENTION, r"flash|fmha|attention|attn|sdpa"),
        (terms.SOFTMAX, r"softmax"),
        (terms.NORMALIZATION, r"norm(?!al_)|(?:^|[^a-z])bn_|RowwiseMoments|GammaBeta"),
        (terms.POOLING, r"pool(?!ed)"),
        (terms.CONTROL, r"TorchDynamo|Cache Lookup"),
        (terms.DATA_MOVEMENT, r"nchwTo|nhwcTo|im2col"),
        (
            terms.CONVOLUTION,
            r"conv(?!ert|ex)|winograd|wgrad|dgrad|fprop|implicit_?gemm|scudnn|cask_cudnn",
        ),
        (
            terms.MATMUL,
            r"(?<!fb)gemm|gemv|cutlass|cublas|cijk_|matmul|nvjet|split_?k|triton_tem"
            r"|(?:^|[^a-z])(?:dot|b?mm|addmm|baddbmm|linear)(?![a-z])",
        ),
        (terms.EMBEDDING, r"embedding"),
        (
            terms.DATA_MOVEMENT,
            r"index|gather|scatter|copy|cat_?array|permute|transpose|fill|arange",
        ),
        (
            terms.ELEMENTWISE,
            r"AccumulateGrad|triton_poi|elementwise|multi_tensor|quantize(?!d::)|dropout",
        ),
        (terms.REDUCTION, r"reduc|triton_red|triton_per|argmax|argmin|scan|cumsum|loss|entropy"),
        (terms.ELEMENTWISE, r"pointwise|functor"),
    )
)
"""Patterns of words in names, by category. The first pattern that matches decides."""
_BETWEEN_DEVICES: Final = re.compile(r"HtoD|DtoH|PtoP|HostToDevice|DeviceToHost")


def category_by_words(name: str) -> str:
    """Return the category of a kernel or an operator by the words in its name."""
    return next((one for one, words in _WORDS if words.search(name)), terms.OTHER)


def kernel_category(name: str, event_category: str) -> str:
    """Return the category of work on a device. `event_category` is the field `cat` of its event."""
    if "memcpy" in event_category.lower():
        return terms.COPY if _BETWEEN_DEVICES.search(name) else terms.DATA_MOVEMENT
    if "memset" in event_category.lower():
        return terms.DATA_MOVEMENT
    # If the short name has no known word, the namespace may have one. Parameters are ignored.
    names = (short_name(name), name.partition("(")[0][:_LARGEST_INPUT])
    return next((one for one in map(category_by_words, names) if one != terms.OTHER), terms.OTHER)
