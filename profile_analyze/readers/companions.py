"""The names of files that belong to a profile and are in the same folder."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

_NAME: Final = r"(|.*[._-]){}\.json(\.gz|\.zst)?"
_PROFILE: Final = re.compile(_NAME.format("profile"), re.DOTALL)
_DESCRIPTION: Final = re.compile(_NAME.format("graph"), re.DOTALL)
_FACTS: Final = ("metadata", "build.metadata", "profile.metadata")
"""Files in which trt-engine-explorer describes the build, the run and the device of a TensorRT
profile. No reader reads them."""
_COMPRESSED: Final = ("", ".gz", ".zst")


def companions_of(name: str) -> tuple[str, ...]:
    """Return the names of all files that may belong to the profile `name`."""
    facts = (_beside(_PROFILE, name, one) for one in _FACTS)
    return (*descriptions_of(name), *inference_times_of(name), *chain.from_iterable(facts))


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


def profiles_of(name: str) -> tuple[str, ...]:
    """Return the names of profiles whose operators the file `name` may describe.

    This is the reverse of `descriptions_of`.
    """
    return _beside(_DESCRIPTION, name, "profile")


def _beside(pattern: re.Pattern[str], name: str, content: str) -> tuple[str, ...]:
    """Return `name` with `content`, such as `graph`, in place of the word that `pattern` matches.

    There is a name for each compression, and one for an uncompressed file. The result is empty if
    `name` does not match.
    """
    found = pattern.fullmatch(name)
    return () if found is None else tuple(f"{found[1]}{content}.json{one}" for one in _COMPRESSED)
