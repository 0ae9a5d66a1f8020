"""The names of files that belong to a profile and are in the same folder."""

from __future__ import annotations

import os
import re
from itertools import chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME: Final = r"(|.*[._-]){}\.json(\.gz|\.zst)?"
_PROFILE: Final = _NAME.format("profile")
_DESCRIPTION: Final = _NAME.format("graph")
_METADATA: Final = ("profile.metadata", "metadata")
"""Files in which trt-engine-explorer describes the run and the device of a TensorRT profile."""
_BUILD: Final = "build.metadata"
"""The file in which trt-engine-explorer describes how the engine was built. No reader reads it: an
engine may run on another device than the device that built it."""
_COMPRESSED: Final = ("", ".gz", ".zst")


def companions_of(name: str) -> tuple[str, ...]:
    """Return the names of all files that may belong to the profile `name`."""
    build = _beside(_PROFILE, name, _BUILD)
    metadata = chain.from_iterable(metadata_of(name))
    return (*descriptions_of(name), *inference_times_of(name), *metadata, *build)


def companions_among(files: Iterable[str]) -> dict[str, str]:
    """Return the files that belong to another of the `files`, each with the profile it belongs to.

    `files` may have folders in their names.
    """
    files = [*files]
    among = {*files}
    found: dict[str, str] = {}
    for file in files:
        name = os.path.split(file)[1]
        folder = file[: len(file) - len(name)]
        for companion in companions_of(name):
            if folder + companion in among:
                found[folder + companion] = file
    return found


def descriptions_of(name: str) -> tuple[str, ...]:
    """Return the names of files that may describe the operators of the profile `name`.

    `X.graph.json` describes the layers in `X.profile.json`, a profile of TensorRT.
    """
    return _beside(_PROFILE, name, "graph")


def inference_times_of(name: str) -> tuple[str, ...]:
    """Return the names of files that may have the times of whole inferences.

    `X.times.json` or `X.timing.json` has the times for `X.profile.json`, a profile of TensorRT.
    """
    return (*_beside(_PROFILE, name, "times"), *_beside(_PROFILE, name, "timing"))


def metadata_of(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of files that may describe the run and the device, for each kind of file.

    `X.profile.metadata.json` and `X.metadata.json` do so for `X.profile.json`, a profile of
    TensorRT. The first kind is the more exact one.
    """
    return tuple(_beside(_PROFILE, name, one) for one in _METADATA)


def profiles_of(name: str) -> tuple[str, ...]:
    """Return the names of profiles whose operators the file `name` may describe.

    This is the reverse of `descriptions_of`.
    """
    return _beside(_DESCRIPTION, name, "profile")


def _beside(pattern: str, name: str, word: str) -> tuple[str, ...]:
    """Return `name` with `word` instead of the word that `pattern` describes, plain or compressed.

    For example, `_PROFILE`, `X.profile.json` and `graph` give `X.graph.json`, `X.graph.json.gz` and
    `X.graph.json.zst`. The result is empty if `name` does not match `pattern`.
    """
    found = re.fullmatch(pattern, name, re.DOTALL)
    return () if found is None else tuple(f"{found[1]}{word}.json{one}" for one in _COMPRESSED)
