"""Random valid profiles of a few operators, some with hostile texts."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

HOSTILE_TEXTS: Final = (
    "",
    " ",
    "a\nb",
    "a\r\nb\tc",
    "\x1b[2J\x1b]0;title\x07",
    "\x1b[31mred",
    "\x9b31m",
    "\x00",
    "\x7f\x85\u2028\u2029",
    "\u202egnp.\u2066x\u2069",
    "\u200b\u200f\ufeff",
    "\ud800",
    "\udfff\ud800",
    "\ufffe\uffff",
    "a|b||",
    "\\|\\",
    "`a``b`",
    "<script>alert(1)</script>",
    "&lt;\"'>]]>",
    "=1+2",
    "+1",
    "-1",
    "@SUM(A1)",
    ",\",\"\"",
    "::error::x%0A",
    "{1,2}",
    "卷积层" * 12,
    "e\u0301\u0302\u0303" * 9,
    "\U0001f469\u200d\U0001f52c",
    "\u0644\u0627 \u05d0",
    "long " * 60,
    "x" * 300,
    "a-b-" * 40,
    "12345",
    "007",
    "1e5",
    "N/A",
    "None",
    "$(id)",
    "%s{0}",
    "*a*_b_~c~",
    "[a](http://b)",
)  # fmt: skip
"""Texts with a special meaning, such as for a terminal, table, spreadsheet or workflow."""

_NAMES: Final = ("conv1", "conv2:bias", "relu(conv1)", "add[12]", "block.0/pool", "reshape-3", "fc")
_TYPES: Final = ("ConvolutionForward", "Elemwise", "Reduce", "Copy", "Subtensor")
_COMP_NODES: Final = (
    'CompNode("cpu0:0" from "xpux:0")',
    'CompNode("gpu0:1" from "gpux:1")',
    "worker",
)
_DTYPES: Final = ("Float32", "Float16", "QuantizedS8", "Int32")
_COUNTS: Final = (0, 1, 1, 2, 3, 3, 5, 8, 12)
_HOSTILE_SHARE: Final = 0.08


def make_document(random: Random, operators: int | None = None) -> dict[str, Any]:
    """Return a decoded profile of `operators` operators, by default up to twelve."""
    count = random.choice(_COUNTS) if operators is None else operators
    ids = [str(id_) for id_ in random.sample(range(3 * count + 1), count)]
    variables = {str(1000 + index): _variable(random) for index in range(random.randrange(4))}
    graph = {id_: _operator(random, id_, list(variables)) for id_ in ids}
    profiler: dict[str, Any] = {
        "opr_internal_pf": {},
        "host": dict(_times(random, ids)),
        "device": dict(_times(random, ids)),
        "opr_footprint": {id_: _footprint(random) for id_ in ids if random.random() < 0.9},
    }
    for section in ("host", "device", "opr_footprint"):
        if random.random() < 0.04:
            del profiler[section]
    return {
        "profiler": profiler,
        "graph_exec": {"comp_seq": ids, "mem_chunk": {}, "var": variables, "operator": graph},
    }


def another_run(random: Random, first: dict[str, Any]) -> dict[str, Any]:
    """Return the same graph with other times, and sometimes without one of its operators."""
    document = deepcopy(first)
    for side in ("host", "device"):
        for comp_nodes in document["profiler"].get(side, {}).values():
            for comp_node in comp_nodes:
                comp_nodes[comp_node] = _interval(random)
    operators = document["graph_exec"]["operator"]
    if operators and random.random() < 0.2:
        del operators[random.choice(list(operators))]
    return document


def text(random: Random, usual: tuple[str, ...]) -> str:
    """Return one of the usual texts, or sometimes a hostile one."""
    return random.choice(HOSTILE_TEXTS if random.random() < _HOSTILE_SHARE else usual)


def _operator(random: Random, id_: str, variables: list[str]) -> dict[str, Any]:
    return {
        "node_type": "operator",
        "id": id_,
        "name": text(random, _NAMES),
        "type": text(random, _TYPES),
        "input": random.sample(variables, random.randrange(len(variables) + 1)),
        "output": random.sample(variables, min(1, len(variables))),
    }


def _times(random: Random, ids: list[str]) -> Iterator[tuple[str, Any]]:
    for id_ in random.sample(ids, len(ids)):
        if random.random() < 0.95:
            comp_nodes = random.sample(_COMP_NODES, random.choice((1, 1, 1, 2)))
            yield id_, {text(random, (node,)): _interval(random) for node in comp_nodes}


def _interval(random: Random) -> dict[str, Any]:
    start = random.choice((0, round(random.random(), 6)))
    length = random.choice((0, random.randrange(2000) * 1e-6, random.random()))
    kern = random.choice((start, start + length / 2, -1))
    end: float | str = random.choice((start + length,) * 19 + ("inf",))
    return {"start": start, "kern": kern, "end": end}


def _footprint(random: Random) -> dict[str, Any]:
    shapes = _shapes(random)
    footprint: dict[str, Any] = {
        "computation": random.choice((None, 0, 6, random.randrange(10**9), 1e12)),
        "memory": random.choice((0, 4, random.randrange(10**8), 2**40)),
        "in_shapes": shapes,
        "out_shapes": _shapes(random),
        "param": {
            name: random.choice((0, 1, -1, 2.5, "ADD", None, True, {"deep": [1]}))
            for name in random.sample(("mode", "stride_h", "axis", "a b"), random.randrange(3))
        },
    }
    if random.random() < 0.2:
        footprint["in_layouts"] = [random.choice((None, [6, 1, 0])) for _ in shapes]
    return footprint


def _shapes(random: Random) -> list[list[int]]:
    return [
        [random.choice((0, 1, 3, 224, 2048)) for _ in range(random.randrange(5))]
        for _ in range(random.randrange(3))
    ]


def _variable(random: Random) -> dict[str, Any]:
    plan = {"mem_chunk_id": "chk1", "layout": {"dtype": text(random, _DTYPES), "shape": [1]}}
    shape = random.choice((None, [1], [2, 3]))
    return {
        "node_type": "var",
        "mem_plan": random.choice((None, plan, plan)),
        "static_infer_tags": {"SHAPE": {"inferred_result": shape}},
    }
