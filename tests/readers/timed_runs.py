"""Runs of two operators, and approximate times, for tests of several runs."""

from __future__ import annotations

from typing import Any

import pytest

import profile_analyze as pa
from tests.small import Operator, profile_of


def runs(*times: tuple[float | None, float | None]) -> pa.Profile:
    """Return runs of two operators, conv and relu, with their times in microseconds."""
    return pa.join_runs(
        profile_of(
            [Operator("conv", "Conv", conv), Operator("relu", "Relu", relu)], f"{index}.json"
        )
        for index, (conv, relu) in enumerate(times)
    )


def us(microseconds: float) -> Any:
    """Return a number of microseconds as an approximate value in seconds."""
    return pytest.approx(microseconds * 1e-6)


def near(value: float) -> Any:
    """Return an approximate value."""
    return pytest.approx(value)
