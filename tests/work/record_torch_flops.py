"""Records what torch's FlopCounterMode counts. This program needs torch.

`python -m tests.work.record_torch_flops` writes `torch_flops.json`, which the tests read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = Path(__file__).parent / "torch_flops.json"

ATTENTION = ("batch", "heads", "query_length", "key_length", "head_size", "value_head_size")


class Case(NamedTuple):
    """A call of torch, and the kind of operator in `KINDS` that counts its work."""

    name: str
    kind: str
    inputs: list[tuple[int, ...]]
    call: Callable[..., Any]
    attributes: dict[str, Any] = {}  # noqa: RUF012  # nothing changes it


def convolution(name: str, data: tuple[int, ...], weight: tuple[int, ...], **options: Any) -> Case:
    function = getattr(functional, name)
    kind = "transposed convolution" if "transpose" in name else "convolution"
    size = "x".join(map(str, weight))
    label = ", ".join([f"{name} {size}", *(f"{key} {value}" for key, value in options.items())])
    attributes = {"groups": options.get("groups", 1)}
    return Case(label, kind, [data, weight], lambda x, w: function(x, w, **options), attributes)


def attention(name: str, sizes: tuple[int, ...], groups: int, **options: Any) -> Case:
    batch, heads, queries, keys, size, values = sizes
    shapes = [(batch, heads, queries, size), (batch, groups, keys, size)]

    def call(q: Any, k: Any, v: Any) -> Any:
        return functional.scaled_dot_product_attention(
            q, k, v, enable_gqa=groups < heads, **options
        )

    return Case(
        name,
        "attention",
        [*shapes, (batch, groups, keys, values)],
        call,
        dict(zip(ATTENTION, sizes, strict=True)),
    )


def recurrent(kind: str, gates: int, *, is_fused: bool = False, directions: int = 1) -> Case:
    width, hidden = 7, 5
    layer = getattr(torch.nn, kind)(width, hidden, bidirectional=directions == 2)

    def call(data: Any, *_: Any) -> Any:
        # Without `requires_grad`, torch would not compute the gradient of the first state.
        state = torch.zeros(directions, 3, hidden, requires_grad=True)
        with torch.backends.mkldnn.flags(enabled=is_fused):
            return layer(data, (state, state) if kind == "LSTM" else state)[0]

    name = f"{kind}{', fused' * is_fused}{', both directions' * (directions == 2)}"
    weights = [(directions, gates * hidden, width), (directions, gates * hidden, hidden)]
    return Case(name, kind, [(4, 3, width), *weights], call)


def einsum(equation: str, *shapes: tuple[int, ...]) -> Case:
    return Case(
        f"einsum {equation}",
        "einsum",
        list(shapes),
        lambda *operands: torch.einsum(equation, *operands),
        {"equation": equation},
    )


CASES = [
    convolution("conv1d", (2, 4, 20), (6, 4, 3)),
    convolution("conv2d", (2, 3, 16, 17), (8, 3, 3, 3)),
    convolution("conv2d", (2, 3, 16, 17), (8, 3, 5, 3), padding=(2, 1)),
    convolution("conv2d", (2, 3, 16, 17), (8, 3, 3, 3), stride=2, padding=1),
    convolution("conv2d", (2, 3, 16, 17), (8, 3, 3, 3), dilation=(2, 3)),
    convolution("conv2d", (2, 6, 16, 17), (8, 6, 1, 1)),
    convolution("conv2d", (2, 6, 16, 17), (9, 2, 3, 3), groups=3),
    convolution("conv2d", (2, 6, 16, 17), (6, 1, 3, 3), groups=6),
    convolution("conv3d", (1, 2, 6, 7, 8), (3, 2, 2, 3, 3), padding=1),
    convolution("conv_transpose1d", (2, 4, 9), (4, 5, 3), stride=2),
    convolution("conv_transpose2d", (2, 4, 9, 8), (4, 5, 3, 3), stride=2, padding=1),
    convolution("conv_transpose2d", (2, 4, 9, 8), (4, 3, 3, 3), groups=2),
    convolution("conv_transpose3d", (1, 2, 4, 5, 3), (2, 3, 2, 2, 2)),
    Case("linear", "matmul", [(2, 5, 7), (7, 3)], lambda x, w: functional.linear(x, w.T)),
    Case("mm", "matmul", [(4, 7), (7, 3)], torch.mm),
    Case("addmm", "matmul", [(4, 7), (7, 3), (3,)], lambda a, b, c: torch.addmm(c, a, b)),
    Case("bmm", "matmul", [(5, 4, 7), (5, 7, 3)], torch.bmm),
    Case(
        "baddbmm", "matmul", [(5, 4, 7), (5, 7, 3), (3,)],
        lambda a, b, c: torch.baddbmm(c.expand(5, 4, 3), a, b),
    ),
    Case("matmul, batch broadcast", "matmul", [(2, 1, 4, 7), (3, 7, 3)], torch.matmul),
    Case("matmul, vector", "matmul", [(4, 7), (7,)], torch.matmul),
    einsum("bij,bjk->bik", (5, 4, 7), (5, 7, 3)),
    einsum("bhqd,bhkd->bhqk", (2, 3, 4, 6), (2, 3, 5, 6)),
    attention("attention", (2, 4, 6, 6, 8, 8), 4),
    attention("attention, causal", (2, 4, 6, 6, 8, 8), 4, is_causal=True),
    attention("attention, cross", (2, 4, 3, 9, 8, 8), 4),
    attention("attention, grouped queries", (2, 4, 6, 6, 8, 8), 2),
    recurrent("LSTM", 4),
    recurrent("LSTM", 4, directions=2),
    recurrent("LSTM", 4, is_fused=True),
    recurrent("GRU", 3),
    recurrent("RNN", 1),
]  # fmt: skip


def recorded(case: Case) -> dict[str, Any]:
    """Return a case with its FLOP forward and backward."""
    tensors = [torch.randn(shape, requires_grad=True) for shape in case.inputs]
    with FlopCounterMode(display=False) as forward:
        output = case.call(*tensors)
    with FlopCounterMode(display=False) as backward:
        output.sum().backward()
    return {
        "name": case.name,
        "kind": case.kind,
        "inputs": case.inputs,
        "output": list(output.shape),
        "attributes": case.attributes,
        "forward": forward.get_total_flops(),
        "backward": backward.get_total_flops(),
    }


if __name__ == "__main__":
    rows = ",\n".join(json.dumps(recorded(case)) for case in CASES)
    text = f'{{"torch": "{torch.__version__.partition("+")[0]}", "cases": [\n{rows}\n]}}\n'
    RECORDED.write_text(text, encoding="utf-8")
