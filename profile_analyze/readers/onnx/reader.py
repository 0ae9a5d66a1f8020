"""The reader of ONNX models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.onnx.profile import profile_of
from profile_analyze.readers.onnx.safety.external_data import ModelFolder

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.input.source import Source


def read(source: Source, wanted: Collection[str]) -> Profile:
    """Return the profile of the model in `source`. See `Reader.read`."""
    return profile_of(read_model(source), source.name, ModelFolder.of(source), wanted)
