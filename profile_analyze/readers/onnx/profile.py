"""Makes the profile of an ONNX model: a row for each node, without times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.operators import Operators
from profile_analyze.model.profile import Origin, Profile
from profile_analyze.model.static_columns import ONNX_TOOL_NAMES, SPARSITY_NAMES
from profile_analyze.model.terms import ABSENT, DERIVED, OTHER
from profile_analyze.readers.onnx.onnx_tool_columns import onnx_tool_columns
from profile_analyze.readers.onnx.operations import operation_of
from profile_analyze.readers.onnx.sparsity import sparsity_columns
from profile_analyze.work.kinds import KINDS, work_of
from profile_analyze.work.operation import Work

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from profile_analyze.model.notes import Note
    from profile_analyze.model.operators import OptionalValues
    from profile_analyze.readers.onnx.graph import OnnxModel


def profile_of(
    model: OnnxModel, file: str, folder: Path | None, wanted: Collection[str]
) -> Profile:
    """Return the profile of `model`, with the optional columns in `wanted`.

    `folder` has the files with external data; it is None if there is no such folder.
    """
    graph = model.graph
    operations = [operation_of(node, graph.values) for node in graph.nodes]
    work = [Work() if operation is None else work_of(operation) for operation in operations]
    rows = [(node, graph) for node in graph.nodes]
    optional: dict[str, OptionalValues] = {}
    notes: tuple[Note, ...] = ()
    if not frozenset(wanted).isdisjoint(ONNX_TOOL_NAMES):
        optional |= onnx_tool_columns(graph, rows)
    if not frozenset(wanted).isdisjoint(SPARSITY_NAMES):
        columns, notes = sparsity_columns(rows, folder)
        optional |= columns
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
            optional=optional,
            not_loaded=frozenset((*ONNX_TOOL_NAMES, *SPARSITY_NAMES)) - optional.keys(),
        ),
        executions=Executions.of([], []),
        tracks=(),
        runs=(Run(),),
        processes=(file,),
        notes=notes,
    )
