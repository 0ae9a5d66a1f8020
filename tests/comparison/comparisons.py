"""Two small profiles to compare, and values in microseconds, for the tests of comparisons."""

from __future__ import annotations

from typing import Any

import pytest

import profile_analyze as pa
from tests.small import Operator, profile_of

# name, type, microseconds
BASE = [Operator("conv", "Conv", 100), Operator("relu", "Relu", 20), Operator("old", "Add", 5)]
NEW = [Operator("conv", "Conv", 150), Operator("relu", "Relu", 18), Operator("new", "Mul", 7)]

# microseconds of eight runs: those of `SLOW` are about 10 % longer
SLOW = [110, 111, 112, 113, 114, 115, 116, 117]
FAST = [100, 101, 102, 103, 104, 105, 106, 107]


def compared(**options: Any) -> pa.Table:
    """Return the answer to a question about `NEW`, compared with `BASE`."""
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    return pa.run(pa.Query(compared=True, **options), comparison)


def us(microseconds: float) -> Any:
    return pytest.approx(microseconds * 1e-6)


def near(value: float) -> Any:
    return pytest.approx(value)
