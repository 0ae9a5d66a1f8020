"""Records what torch says about operators. This program needs torch.

`python -m tests.readers.pytorch.record_operators` writes `operators.json`, which the tests read:
for each operator, its arguments in the trace, the outputs that torch really returned, and the
operations that torch counted. The recorded version is 2.8.0.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional  # noqa: F401  # the texts of calls use it
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

RECORDED = Path(__file__).parent / "operators.json"
ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")

rand = torch.rand
whole = torch.randint(0, 4, (2, 3))
image = rand(2, 4, 9, 7)
a, b = rand(4, 6), rand(6, 5)
batch = rand(3, 4, 6)

CALLS = {
    text: eval(f"lambda: {text}", globals())
    for text in """
functional.conv2d(image, rand(8, 4, 3, 3), rand(8))
functional.conv2d(image, rand(8, 2, 3, 3), None, stride=(2, 1), padding=(1, 2), groups=2)
functional.conv2d(image, rand(8, 4, 3, 3), dilation=2, padding=1)
functional.conv2d(image, rand(8, 4, 3, 3), padding="same")
functional.conv2d(image, rand(8, 4, 3, 3), padding="valid", stride=2)
functional.conv2d(rand(4, 9, 7), rand(8, 4, 3, 3))
functional.conv1d(rand(2, 4, 9), rand(6, 4, 3), stride=2)
functional.conv3d(rand(2, 4, 5, 6, 7), rand(6, 4, 3, 3, 3), padding=1)
functional.conv_transpose1d(rand(2, 4, 9), rand(4, 3, 3), stride=2)
functional.conv_transpose2d(image, rand(4, 3, 3, 3), rand(6), stride=2, padding=1, output_padding=1, groups=2)
functional.conv_transpose2d(image, rand(4, 3, 3, 3), dilation=2)
functional.max_pool1d(rand(2, 4, 9), 3)
functional.max_pool2d(image, 3, 2, 1)
functional.max_pool2d(image, (2, 3), (3, 2), ceil_mode=True)
functional.max_pool2d(image, 3, 2, 1, ceil_mode=True)
functional.max_pool2d(rand(4, 9, 7), 3, dilation=2)
functional.max_pool3d(rand(2, 4, 5, 6, 7), 2)
functional.avg_pool2d(image, 3, 2, padding=1, ceil_mode=True)
functional.avg_pool1d(rand(2, 4, 9), 4)
functional.avg_pool3d(rand(2, 4, 5, 6, 7), 2)
functional.adaptive_avg_pool2d(image, 1)
functional.adaptive_avg_pool2d(image, (3, 2))
functional.adaptive_max_pool2d(image, 2)
functional.adaptive_avg_pool1d(rand(2, 4, 9), 3)
torch.mm(a, b)
torch.mm(a, b, out=rand(4, 5))
torch.addmm(rand(5), a, b)
torch.addmm(rand(4, 5), a, b, beta=0.5, alpha=2)
torch.bmm(batch, rand(3, 6, 5))
torch.baddbmm(rand(3, 4, 5), batch, rand(3, 6, 5))
torch.addbmm(rand(4, 5), batch, rand(3, 6, 5))
torch.matmul(batch, b)
torch.matmul(rand(2, 1, 4, 6), rand(3, 6, 5))
torch.matmul(rand(6), b)
torch.matmul(a, rand(6))
torch.matmul(rand(6), rand(6))
torch.matmul(rand(6), rand(3, 6, 5))
torch.mv(a, rand(6))
torch.addmv(rand(4), a, rand(6))
torch.outer(rand(4), rand(5))
torch.addr(rand(4, 5), rand(4), rand(5))
torch.einsum("bij,jk->bik", batch, b)
functional.linear(a, rand(5, 6), rand(5))
functional.linear(batch, rand(5, 6))
functional.linear(a, rand(6))
functional.linear(a.bfloat16(), rand(5, 6).bfloat16(), rand(5).bfloat16())
torch.nn.LSTM(6, 5)(rand(7, 2, 6))
torch.nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)(rand(2, 7, 6))
torch.nn.GRU(6, 5, num_layers=2)(rand(7, 2, 6))
torch.nn.RNN(6, 5, bidirectional=True)(rand(7, 2, 6))
torch.nn.LSTMCell(6, 5)(rand(2, 6))
torch.nn.GRUCell(6, 5)(rand(2, 6))
functional.scaled_dot_product_attention(rand(2, 3, 5, 8), rand(2, 3, 7, 8), rand(2, 3, 7, 8))
functional.scaled_dot_product_attention(rand(2, 3, 5, 8), rand(2, 3, 7, 8), rand(2, 3, 7, 6), rand(5, 7))
functional.scaled_dot_product_attention(rand(2, 3, 5, 8), rand(2, 3, 5, 8), rand(2, 3, 5, 8), is_causal=True)
functional.scaled_dot_product_attention(*(rand(2, 3, 5, 8, requires_grad=True) for _ in "qkv")).sum().backward()
torch.nn.MultiheadAttention(8, 2, batch_first=True)(rand(2, 5, 8), rand(2, 5, 8), rand(2, 5, 8))
a + a
a + rand(6)
a + 1
a * rand(4, 1)
a * 2
torch.add(a, a, alpha=3)
torch.mul(torch.tensor(2.0), torch.tensor(3.0))
whole + 1
whole * rand(2, 3)
whole / 2
torch.div(whole, 2, rounding_mode="floor")
whole.to(torch.float16) + rand(3)
whole.to(torch.float16) + rand(3).bfloat16()
a - 1
1 - a
a.add_(1)
a.mul_(rand(6))
a.clamp_(0, 1)
a == a
a > 0.5
torch.logical_and(a > 0.5, a < 0.7)
torch.where(a > 0.5, a, rand(6))
torch.where(a > 0.5, a, 0.0)
torch.maximum(a, rand(4, 1))
torch.max(a, rand(4, 6))
a ** 2
2 ** a
a.exp()
whole.sqrt()
whole.sigmoid()
functional.relu(image)
functional.relu(image, inplace=True)
functional.gelu(a)
functional.silu(a)
functional.leaky_relu(a)
functional.elu(a)
functional.softplus(a)
functional.hardtanh(a)
functional.relu6(a)
functional.hardswish(a)
functional.threshold(a, 0.1, 2)
functional.dropout(a)
functional.dropout(a, training=False)
torch.lerp(a, a, 0.5)
torch.addcmul(a, a, a)
torch.addcdiv(a, a, a, value=2)
torch.nan_to_num(a)
a.clamp(min=0.1)
a.clamp(0.1, 0.9)
a.masked_fill(a > 0.5, 0)
a.round()
torch.isnan(a)
torch._foreach_add([a, b], 1.0)
torch._foreach_mul_([a.clone(), b.clone()], [b.new_ones(4, 6), b.clone()])
torch._foreach_norm([a, b])
a.sum()
a.sum(1)
a.sum((0, 1), keepdim=True)
whole.sum()
a.mean()
a.mean(-1, keepdim=True)
a.prod(0)
a.max()
a.max(1)
a.amax((0, 1))
a.argmax()
a.argmax(1, keepdim=True)
a.min(0, keepdim=True)
(a > 0.5).any()
(a > 0.5).all(1)
a.std()
a.var(1)
torch.var_mean(a, 1)
a.norm()
a.norm(dim=1)
torch.linalg.vector_norm(a, dim=1)
a.logsumexp(1)
a.cumsum(1)
torch.count_nonzero(a, 1)
torch.aminmax(a)
functional.batch_norm(image, rand(4), rand(4))
functional.batch_norm(image, rand(4), rand(4), rand(4), rand(4), training=True)
functional.layer_norm(batch, (6,), rand(6), rand(6))
functional.layer_norm(batch, (4, 6))
functional.group_norm(image, 2, rand(4), rand(4))
functional.instance_norm(image)
functional.rms_norm(batch, (6,), rand(6))
functional.softmax(batch, -1)
functional.log_softmax(batch, -1)
functional.cross_entropy(a, whole[:, :2].flatten())
functional.cross_entropy(image, torch.zeros(2, 9, 7, dtype=torch.long), reduction="none")
functional.nll_loss(a, whole[:, :2].flatten(), reduction="sum")
functional.mse_loss(a, rand(4, 6))
functional.mse_loss(a, rand(4, 6), reduction="none")
a.clone()
a.to(torch.float16)
a.t().contiguous()
torch.empty(6, 4).copy_(a.t())
torch.cat([a, a])
torch.cat([a, rand(4, 2)], -1)
torch.cat([rand(0), a])
torch.stack([a, a], 1)
a.repeat(2, 1, 3)
functional.pad(a, (1, 2, 3, 0))
functional.pad(image, (1, 2, 3, 0), mode="reflect")
functional.pad(batch, (1, 1), mode="replicate")
a.roll(1, 0)
a.flip(0)
a.tril()
a.fill_(0)
a.zero_()
torch.zeros(2, 3)
torch.ones(2, 3, dtype=torch.int32)
torch.full((2, 3), 1.5)
torch.zeros_like(a)
torch.full_like(a, 2)
a.new_zeros(3, 2)
a.new_full((3, 2), 1.0)
torch.randn(2, 3)
torch.rand(2, 3, generator=torch.Generator())
a.normal_()
a.uniform_()
a.index_select(1, whole[0])
a.gather(1, whole)
a[whole]
a.index_put_((whole[0],), rand(3, 6))
a.index_add_(0, whole[0], rand(3, 6))
a.index_copy_(0, torch.arange(3), rand(3, 6))
a.scatter_(1, whole, rand(2, 6))
a.scatter_(1, whole, 1.0)
a.scatter_add_(1, whole, rand(4, 6))
a.scatter_reduce_(1, whole, rand(4, 6), "sum")
functional.embedding(whole, a)
functional.embedding_bag(whole, a)
functional.embedding_bag(whole.flatten(), a, torch.tensor([0, 2]))
functional.embedding_bag(whole.flatten(), a, torch.tensor([0, 2, 6]), include_last_offset=True)
a.topk(2)
a.sort(0)
a.sort(stable=True)
functional.interpolate(image, scale_factor=2)
functional.interpolate(image, size=(5, 3))
functional.interpolate(image, scale_factor=(1.5, 2.5), mode="bilinear")
functional.interpolate(image, size=(5, 3), mode="bicubic", align_corners=True)
functional.interpolate(rand(2, 4, 9), scale_factor=2, mode="linear")
functional.interpolate(rand(2, 4, 5, 6, 7), scale_factor=2, mode="trilinear")
functional.grid_sample(image, rand(2, 5, 3, 2))
functional.grid_sample(image, rand(2, 5, 3, 2), mode="nearest")
functional.pixel_shuffle(image, 2)
functional.unfold(image, 3)
functional.conv2d(image.clone().requires_grad_(), rand(8, 2, 3, 3, requires_grad=True), rand(8, requires_grad=True), stride=2, groups=2).sum().backward()
functional.conv2d(image, rand(8, 4, 3, 3, requires_grad=True)).sum().backward()
functional.conv_transpose2d(image.clone().requires_grad_(), rand(4, 3, 3, 3, requires_grad=True)).sum().backward()
functional.max_pool2d(image.clone().requires_grad_(), 2).sum().backward()
functional.avg_pool2d(image.clone().requires_grad_(), 3, 2).sum().backward()
functional.adaptive_avg_pool2d(image.clone().requires_grad_(), 2).sum().backward()
functional.batch_norm(image.clone().requires_grad_(), None, None, rand(4, requires_grad=True), rand(4), training=True).sum().backward()
functional.layer_norm(batch.clone().requires_grad_(), (6,), rand(6, requires_grad=True), rand(6)).sum().backward()
functional.group_norm(image.clone().requires_grad_(), 2, rand(4, requires_grad=True)).sum().backward()
functional.softmax(batch.clone().requires_grad_(), -1).sum().backward()
functional.cross_entropy(a.clone().requires_grad_(), whole[:, :2].flatten()).backward()
functional.mse_loss(a.clone().requires_grad_(), rand(4, 6)).backward()
functional.relu(a.clone().requires_grad_()).sum().backward()
functional.gelu(a.clone().requires_grad_()).sum().backward()
functional.elu(a.clone().requires_grad_()).sum().backward()
functional.hardswish(a.clone().requires_grad_()).sum().backward()
functional.embedding(whole, a.clone().requires_grad_()).sum().backward()
a.clone().requires_grad_()[1:3, 2].sum().backward()
torch._fused_adam_([a], [a], [a], [a], [], [torch.tensor(1.0)], lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.0, eps=0.1, amsgrad=False, maximize=False)
torch._fused_sgd_([a], [a], [a], weight_decay=0.0, momentum=0.9, lr=0.1, dampening=0.0, nesterov=False, maximize=False, is_first_step=False)
""".strip().splitlines()
}


class Outputs(TorchDispatchMode):  # type: ignore[misc]  # mypy runs without torch
    """Remembers what operators returned, by their names and the shapes of their inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[Any]] = {}

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        del types
        shapes = sorted(list(one.shape) for one in tensors_in((args, kwargs)))
        result = function(*args, **(kwargs or {}))
        self.found.setdefault(f"{function._schema.name} {shapes}", []).append(described(result))
        return result


def tensors_in(values: Any) -> list[torch.Tensor]:
    return [one for one in tree_leaves(values) if isinstance(one, torch.Tensor)]


def described(values: Any) -> list[Any]:
    return [[list(one.shape), str(one.dtype)] for one in tensors_in(values)]


def flat(dims: list[Any], types: list[str]) -> list[Any]:
    """Return the shapes of all tensors, sorted."""
    shapes: list[Any] = []
    for shape, type_ in zip(dims, types, strict=True):
        if type_ == "TensorList":
            shapes += shape
        elif type_ not in {"Scalar", "ScalarList", ""}:
            shapes.append(shape)
    return sorted(shapes)


def events_of(call: Any) -> list[dict[str, Any]]:
    with profile(
        activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True
    ) as recorded:
        call()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        recorded.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    operators = [one for one in events if one.get("cat") == "cpu_op"]
    operators.sort(key=lambda one: (one["ts"], -one["dur"]))
    counted = sorted(recorded.events(), key=lambda one: one.id)
    by_name: dict[str, list[int]] = {}
    for one in counted:
        by_name.setdefault(one.name, []).append(one.flops or 0)
    # torch merges an operator into an outer operator of the same name. The trace then has more
    # operators of this name than torch has counts. Operators without a count get 0.
    return [{**one, "flops": (by_name.get(one["name"]) or [0]).pop(0)} for one in operators]


def last_outermost(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the last operator that no other operator called: its result is the call's result."""
    end, last = 0.0, events[0]
    for event in events:
        if event["ts"] >= end:
            end, last = event["ts"] + event["dur"], event
    return last


def record() -> list[dict[str, Any]]:
    torch.manual_seed(0)
    rows: dict[str, dict[str, Any]] = {}
    for text, call in CALLS.items():
        outputs = Outputs()
        with outputs:
            call()
        result, events = described(call()), events_of(call)
        # The last operator of these calls does not return the result of the whole call.
        last = None if "backward" in text or "Multihead" in text else last_outermost(events)
        for event in events:
            arguments = [event["args"].get(name) for name in ARGUMENTS]
            if arguments[0] is None:
                continue
            shapes = flat(*arguments[:2])
            key = f"{event['name']} {shapes}"
            returned = outputs.found.get(key)
            from_call = result if event is last else None
            found = returned.pop(0) if returned else from_call
            if not found or not shapes or not event["name"].startswith("aten::"):
                continue
            row = {
                "call": text,
                "name": event["name"],
                "arguments": arguments,
                "outputs": found,
                "flops": event["flops"],
            }
            rows.setdefault(json.dumps([event["name"], arguments]), row)
    return list(rows.values())


if __name__ == "__main__":
    rows = ",\n".join(map(json.dumps, record()))
    RECORDED.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
