"""Makes the profile of an ONNX model: a row for each node, without times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.operators import Operators
from profile_analyze.model.profile import Origin, Profile
from profile_analyze.model.terms import ABSENT, DERIVED, OTHER
from profile_analyze.readers.onnx.operations import operation_of
from profile_analyze.work.kinds import KINDS, work_of
from profile_analyze.work.operation import Work

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.readers.onnx.graph import OnnxModel


def profile_of(model: OnnxModel, file: str, wanted: Collection[str]) -> Profile:  # noqa: ARG001
    """Return the profile of `model`, with the optional columns in `wanted`."""
    graph = model.graph
    operations = [operation_of(node, graph.values) for node in graph.nodes]
    work = [Work() if operation is None else work_of(operation) for operation in operations]
    return Profile(
        file=file,
        origin=Origin("ONNX model", model.producer or None, times=ABSENT),
        operators=Operators.of(
            key=np.arange(len(graph.nodes)),
            name=Categorical.of([node.name for node in graph.nodes]),
            type=Categorical.of([node.type for node in graph.nodes]),
            category=Categorical.of(
                [OTHER if one is None else KINDS[one.kind].category for one in operations]
            ),
            computation=np.array([one.computation for one in work]),
            memory=np.array([one.memory for one in work]),
            source=DERIVED,
        ),
        executions=Executions.of([], []),
        tracks=(),
        runs=(Run(),),
        processes=(file,),
    )
