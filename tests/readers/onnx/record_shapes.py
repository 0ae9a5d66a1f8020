# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, T201
"""Makes the models in tests/fixtures/models, and records the shapes of their values.

ONNX Runtime computes the shapes: it runs each model without optimization, and returns the outputs
of all nodes outside the bodies of If, Loop and Scan. The models are then stored without their
weights. Run the script from the root of the repository, after `pip install torch onnx onnxscript
onnxruntime`. The arguments name the models to make. Without arguments, the script makes all models.
The tests need neither torch nor ONNX Runtime.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper, parser
from onnx.inliner import inline_local_functions
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    quantize_dynamic,
    quantize_static,
)
from torch import nn

FOLDER = Path("tests/fixtures/models")
LARGEST_KEPT = 64
"""Tensors with more elements than this are stored without values: no shape depends on them."""


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, groups=8, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.linear = nn.Linear(4, 10)

    def forward(self, x):
        y = torch.relu(self.norm(self.first(x)))
        y = torch.cat([y, self.depthwise(y)], 1)[:, ::2]
        y = nn.functional.max_pool2d(self.up(y), 3, 2, 1)
        y = nn.functional.interpolate(y, scale_factor=2.0, mode="bilinear")
        y = nn.functional.adaptive_avg_pool2d(y, 1)
        return self.linear(y.view(y.shape[0], -1)).softmax(-1)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 12)
        self.lstm = nn.LSTM(12, 16, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(32, 8, batch_first=True)

    def forward(self, ids):
        y, _ = self.lstm(self.words(ids))
        y, last = self.gru(y)
        return y.mean(1), last


class Encoder(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, x):
        return self.layers(x)


class Attention(nn.Module):
    def __init__(self, *, fused: bool) -> None:
        super().__init__()
        self.fused = fused
        self.qkv = nn.Linear(16, 48)

    def forward(self, x):
        batch, length, size = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 4, size // 4).permute(2, 0, 3, 1, 4)
        if self.fused:
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mask = torch.ones(length, length, dtype=torch.bool).tril()
            weights = (q @ k.transpose(-1, -2)) / 2
            y = weights.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        return y.transpose(1, 2).reshape(batch, length, size)


class Decoder(nn.Module):
    """One layer of a decoder with a cache of keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.places = nn.Embedding(32, 16)
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.head = nn.Linear(16, 40, bias=False)

    def forward(self, ids, past_key, past_value):
        batch, length = ids.shape
        before = past_key.shape[2]
        places = torch.arange(before, before + length)
        x = self.words(ids) + self.places(places)
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (one.reshape(batch, length, 2, 8).transpose(1, 2) for one in (q, k, v))
        k, v = torch.cat([past_key, k], 2), torch.cat([past_value, v], 2)
        total = k.shape[2]
        mask = torch.arange(total)[None, :] > places[:, None]
        weights = (q @ k.transpose(2, 3) / 8**0.5).masked_fill(mask, -1e9).softmax(-1)
        x = x + (weights @ v).transpose(1, 2).reshape(batch, length, 16)
        return self.head(x[:, -1:]), k, v


def exported(model: nn.Module, inputs: dict[str, torch.Tensor], axes: Any, **options: Any) -> Any:
    """Return the model as one of torch's exporters writes it."""
    dynamo = options.pop("dynamo")
    if dynamo:
        shapes = {
            name: dict.fromkeys(axes.get(name, {}), torch.export.Dim.DYNAMIC) for name in inputs
        }
        program = torch.onnx.export(
            model.eval(),
            tuple(inputs.values()),
            dynamo=True,
            dynamic_shapes=tuple(shapes.values()),
            input_names=list(inputs),
            verbose=False,
            **options,
        )
        return program.model_proto
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            model.eval(),
            tuple(inputs.values()),
            path,
            dynamo=False,
            input_names=list(inputs),
            dynamic_axes=axes,
            verbose=False,
            **options,
        )
        return onnx.load(path)


class Calibration(CalibrationDataReader):
    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.left = [{"x": rng.random((2, 3, 16, 16), np.float32)} for _ in range(2)]

    def get_next(self) -> Any:
        return self.left.pop() if self.left else None


def quantized(how: str) -> Any:
    model = exported(Convolutions(), {"x": torch.rand(2, 3, 16, 16)}, {}, dynamo=False)
    with tempfile.TemporaryDirectory() as folder:
        plain, result = Path(folder) / "plain.onnx", Path(folder) / "quantized.onnx"
        onnx.save(model, plain)
        if how == "dynamic":
            quantize_dynamic(plain, result)
        else:
            quantize_static(plain, result, Calibration(), quant_format=QuantFormat[how])
        return onnx.load(result)


def parsed(text: str) -> Any:
    return parser.parse_model(text)


HEAD = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1, "local" : 1]>\n'

BRANCHES = (
    HEAD
    + """
g (float[N, 8] x) => (float[A, B] y, float[C, 4] z) {
    n = Shape <start = 0, end = 1> (x)
    four = Constant <value = int64[1] {4}> ()
    is_large = Greater (n, four)
    flag = Squeeze (is_large)
    y = If (flag) <then_branch = g1 () => (float[a, b] t) { t = Concat <axis = 0> (x, x) },
        else_branch = g2 () => (float[c, d] e) { e = Transpose (x) }>
    even = CastLike (flag, flag)
    z = If (even) <then_branch = g3 () => (float[p, q] u) {
            half = Constant <value = int64[1] {4}> ()
            parts, rest = Split <axis = 1, num_outputs = 2> (x)
            u = Relu (parts) },
        else_branch = g4 () => (float[r, s] w) { w0, w = Split <axis = 1, num_outputs = 2> (x) }>
}"""
)

LOOPS = (
    HEAD
    + """
g (float[N, 4] x) => (float[A, 4] grown, float[T, N, 4] steps) {
    trips = Constant <value = int64 {3}> ()
    go = Constant <value = bool {1}> ()
    grown, steps = Loop (trips, go, x) <body = b (int64 i, bool c, float[P, 4] state)
            => (bool c2, float[Q, 4] state2, float[R, 4] step) {
        c2 = Identity (c)
        state2 = Concat <axis = 0> (state, x)
        step = Relu (x)
    }>
    after = MatMul (grown, weight)
    same = Loop (trips, go, after) <body = b2 (int64 i2, bool d, float[U, 4] s2)
            => (bool d2, float[V, 4] s3) {
        d2 = Identity (d)
        s3 = Tanh (s2)
    }>
    last = Softmax (same)
}"""
)

SCANS = (
    HEAD
    + """
g (float[T, 5] x, float[5] start) => (float[5] final, float[S, 5] all) {
    final, all = Scan <num_scan_inputs = 1, body = b (float[5] s, float[5] one)
            => (float[5] s2, float[5] out) {
        s2 = Add (s, one)
        out = Sigmoid (s2)
    }> (start, x)
    rows = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1],
        scan_input_directions = [1], body = b3 (float[K] column) => (float[L] scaled) {
        scaled = Exp (column)
    }> (all)
    joined = Concat <axis = 1> (all, rows)
}"""
)

FUNCTIONS = (
    HEAD
    + """
g (float[N, 8] x) => (float[N, M] y) {
    a = local.block <times = 2> (x, weight)
    y = local.block <times = 3> (a, weight)
    size = local.rows (y)
    flat = local.flat (y, size)
}
<domain: "local", opset_import: ["" : 18, "local" : 1]>
block <times> (p, w) => (q) {
    m = MatMul (p, w)
    r = local.activation (m)
    n = Constant <value_int: int = @times> ()
    one = Constant <value = int64[1] {0}> ()
    n1 = Unsqueeze (n, one)
    k = Constant <value = int64[1] {1}> ()
    reps = Concat <axis = 0> (k, n1)
    tiled = Tile (r, reps)
    b = Constant <value = int64[1] {0}> ()
    e = Constant <value = int64[1] {8}> ()
    q = Slice (tiled, b, e, k)
}
<domain: "local", opset_import: ["" : 18]>
activation (c) => (d) { s = Sigmoid (c) d = Mul (c, s) }
<domain: "local", opset_import: ["" : 18]>
rows (c) => (d) { s = Shape (c) z = Constant <value = int64[1] {0}> () d = Gather (s, z) }
<domain: "local", opset_import: ["" : 18]>
flat (c, n) => (d) { o = Constant <value = int64[1] {-1}> () s = Concat <axis = 0> (n, o) d = Reshape (c, s) }
"""
)

SHAPE_ARITHMETIC = (
    HEAD
    + """
g (float[N, 6, H] x) => (float[A, B] y) {
    shape = Shape (x)
    size = Size (x)
    last = Shape <start = -1> (x)
    zero = Constant <value = int64[1] {0}> ()
    one = Constant <value = int64[1] {1}> ()
    two = Constant <value = int64[1] {2}> ()
    n = Gather (shape, zero)
    at_one = Constant <value_int = 1> ()
    six = Gather (shape, at_one)
    sixes = Unsqueeze (six, zero)
    start = Constant <value_int = 0> ()
    n0 = Squeeze (n)
    step = Constant <value_int = 2> ()
    range = Range (start, six, step)
    steps = Range (start, n0, at_one)
    filled = ConstantOfShape <value = int64[1] {1}> (shape)
    cast = Cast <to = 1> (last)
    scale = Constant <value_float = 0.3> ()
    less = Mul (cast, scale)
    floored = Floor (less)
    whole = Cast <to = 7> (floored)
    at_least = Max (whole, two)
    rest = Mod (size, two)
    halves = Div (shape, two)
    bigger = Where (bools, halves, shape)
    bools = Greater (shape, shape)
    product = ReduceProd <keepdims = 0> (shape)
    p = Unsqueeze (product, zero)
    target = Concat <axis = 0> (p, one)
    column = Reshape (x, target)
    wide_shape = Concat <axis = 0> (n, sixes, last)
    expanded = Expand (one, wide_shape)
    front = Slice (shape, zero, two)
    front_sum = ReduceSum <keepdims = 1> (front)
    some = Slice (column, zero, front_sum)
    padded_by = Concat <axis = 0> (zero, at_least, at_least, zero)
    y = Pad (some, padded_by)
    tiles = Concat <axis = 0> (at_least, one)
    tiled = Tile (y, tiles)
    ones = NonZero (two)
    first, others = Split <num_outputs = 2> (front)
    pooled = Resize (x, , , sizes)
    sizes = Concat <axis = 0> (n, sixes, at_least)
    top, places = TopK (x, one)
    hot_depth = Max (at_least, front_sum)
    values = Constant <value = float[2] {0.0, 1.0}> ()
    hot = OneHot (steps, hot_depth, values)
}"""
)

MICROSOFT = (
    HEAD
    + """
g (float[B, S, 16] x, uint8[B, 8] q, int32[B, S] ids) => (float[B, S, 16] y) {
    n, mean, deviation, sum = com.microsoft.SkipLayerNormalization (x, x, gamma, gamma)
    a, present = com.microsoft.Attention <num_heads = 2> (n, weight48, bias48)
    y = com.microsoft.MultiHeadAttention <num_heads = 2> (x, x, x)
    g1 = com.microsoft.Gelu (a)
    g2 = com.microsoft.FastGelu (g1, gamma)
    g3 = com.microsoft.BiasGelu (g2, gamma)
    m = com.microsoft.FusedMatMul <transB = 1> (x, x)
    d = com.microsoft.DynamicQuantizeMatMul (x, weight_q, scale)
    quantized = com.microsoft.QuantizeLinear (x, scale, zero)
    back = com.microsoft.DequantizeLinear (quantized, scale, zero)
    added = com.microsoft.QLinearAdd (q, scale, zero, row_q, scale, zero, scale, zero)
    gemm = com.microsoft.QGemm (added, scale, zero, weight8_q, scale, zero, , scale, zero)
    floats = com.microsoft.QGemm (added, scale, zero, weight8_q, scale, zero)
    joined = com.microsoft.QLinearConcat <axis = 1> (scale, zero, gemm, scale, zero, q, scale, zero)
    image = com.microsoft.QLinearSigmoid (joined, scale, zero, scale, zero)
    conv = com.microsoft.FusedConv <activation = "Relu"> (picture, kernel)
    flat = com.microsoft.FusedGemm <activation = "Relu"> (floats, square, gamma4)
    e, mask, more = com.microsoft.EmbedLayerNormalization (ids, , words, words, , gamma, gamma)
    simple = SimplifiedLayerNormalization (x, gamma)
    grouped, key, value = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1> (x, half, half, , , lengths, total)
    half, rest = Split <axis = 2, num_outputs = 2> (x)
}"""
)

OLD = """<ir_version: 3, opset_import: ["" : 7]>
g (float[2, 3, 8, 8] x, float[4, 3, 3, 3] w) => (float[2, 4] y) {
    c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)
    d, mask = Dropout (c)
    p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (d)
    s = Slice <axes = [2, 3], starts = [0, 0], ends = [3, -1]> (p)
    u = Unsqueeze <axes = [0]> (s)
    q = Squeeze <axes = [0]> (u)
    y = ReduceMean <axes = [2, 3], keepdims = 0> (q)
}"""


def with_weights(model: Any, **shapes: Any) -> Any:
    """Add initializers. Each is given as an array, or as a shape to fill with random floats."""
    rng = np.random.default_rng(0)
    for name, shape in shapes.items():
        array = shape if isinstance(shape, np.ndarray) else rng.random(shape, np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


def sorted_nodes(model: Any) -> Any:
    """Put each node after the nodes whose outputs it reads. The texts above are not sorted."""
    known = {one.name for one in (*model.graph.input, *model.graph.initializer)} | {""}
    nodes, left = [], list(model.graph.node)
    while left:
        ready = [node for node in left if set(node.input) <= known]
        assert ready, [node.input for node in left]
        nodes += ready
        known.update(name for node in ready for name in node.output)
        left = [node for node in left if node not in ready]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def of_microsoft() -> Any:
    ones = np.ones
    return with_weights(
        parsed(MICROSOFT),
        gamma=(16,),
        weight48=(16, 48),
        bias48=(48,),
        weight_q=ones((16, 5), np.uint8),
        scale=ones((), np.float32),
        zero=ones((), np.uint8),
        row_q=ones((1, 8), np.uint8),
        weight8_q=ones((8, 16), np.uint8),
        picture=(1, 2, 6, 6),
        kernel=(4, 2, 3, 3),
        square=(16, 16),
        gamma4=(16,),
        words=(20, 16),
        lengths=ones((2,), np.int32) * 4,
        total=np.array(5, np.int32),
    )


IMAGE = {"x": torch.rand(2, 3, 16, 16)}
IDS = {"ids": torch.randint(0, 40, (2, 7))}
SEQUENCE = {"x": torch.rand(2, 5, 16)}
BATCH = {"x": {0: "batch"}}
BOTH = {"x": {0: "batch", 1: "sequence"}}
CACHE = {
    "ids": torch.randint(0, 40, (2, 3)),
    "past_key": torch.rand(2, 2, 4, 8),
    "past_value": torch.rand(2, 2, 4, 8),
}
CACHE_AXES = {
    "ids": {0: "batch", 1: "new"},
    "past_key": {0: "batch", 2: "past"},
    "past_value": {0: "batch", 2: "past"},
}
MODELS: dict[str, Any] = {
    "cnn_dynamo": (lambda: exported(Convolutions(), IMAGE, BATCH, dynamo=True), {"x": (3, 3, 16, 16)}),
    "cnn_script": (lambda: exported(Convolutions(), IMAGE, {"x": {0: "batch", 2: "height"}}, dynamo=False), {"x": (3, 3, 20, 16)}),
    "lstm_dynamo": (lambda: exported(Recurrent(), IDS, {}, dynamo=True), {"ids": (2, 7)}),
    "lstm_script": (lambda: exported(Recurrent(), IDS, {"ids": {0: "batch", 1: "length"}}, dynamo=False), {"ids": (3, 9)}),
    "encoder_dynamo": (lambda: exported(Encoder(2), SEQUENCE, BOTH, dynamo=True), {"x": (3, 6, 16)}),
    "encoder_script": (lambda: exported(Encoder(1), SEQUENCE, BATCH, dynamo=False), {"x": (2, 5, 16)}),
    "attention_fused": (lambda: exported(Attention(fused=True), SEQUENCE, BOTH, dynamo=True, opset_version=23), {"x": (3, 6, 16)}),
    "attention_unfused_dynamo": (lambda: exported(Attention(fused=False), SEQUENCE, BOTH, dynamo=True), {"x": (3, 6, 16)}),
    "attention_unfused_script": (lambda: exported(Attention(fused=False), SEQUENCE, BOTH, dynamo=False), {"x": (3, 6, 16)}),
    "attention_expanded_script": (lambda: exported(Attention(fused=True), SEQUENCE, BOTH, dynamo=False), {"x": (3, 6, 16)}),
    "decoder_dynamo": (lambda: exported(Decoder(), CACHE, CACHE_AXES, dynamo=True), {"ids": (1, 5), "past_key": (1, 2, 2, 8), "past_value": (1, 2, 2, 8)}),
    "decoder_empty_cache": (lambda: exported(Decoder(), CACHE, CACHE_AXES, dynamo=False), {"ids": (1, 5), "past_key": (1, 2, 0, 8), "past_value": (1, 2, 0, 8)}),
    "quantized_qdq": (lambda: quantized("QDQ"), {"x": (2, 3, 16, 16)}),
    "quantized_qoperator": (lambda: quantized("QOperator"), {"x": (2, 3, 16, 16)}),
    "quantized_dynamic": (lambda: quantized("dynamic"), {"x": (2, 3, 16, 16)}),
    "branches": (lambda: parsed(BRANCHES), {"x": (6, 8)}),
    "loops": (lambda: with_weights(parsed(LOOPS), weight=(4, 4)), {"x": (2, 4)}),
    "scans": (lambda: parsed(SCANS), {"x": (7, 5), "start": (5,)}),
    "functions": (lambda: with_weights(parsed(FUNCTIONS), weight=(8, 8)), {"x": (3, 8)}),
    "shape_arithmetic": (lambda: parsed(SHAPE_ARITHMETIC), {"x": (3, 6, 10)}),
    "microsoft": (of_microsoft, {"x": (2, 5, 16), "q": (2, 8), "ids": (2, 5)}),
    "old": (lambda: parsed(OLD), {"x": (2, 3, 8, 8), "w": (4, 3, 3, 3)}),
}  # fmt: skip


def recorded(model: Any, shapes: dict[str, Any]) -> dict[str, Any]:
    """Return the shape of every output of every node outside of bodies."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    names = [name for node in whole.graph.node for name in node.output if name]
    del whole.graph.output[:]
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options)
    inputs = {value.name: value.type.tensor_type.elem_type for value in whole.graph.input}
    feed = {
        name: np.ones(shape, helper.tensor_dtype_to_np_dtype(inputs[name]))
        for name, shape in shapes.items()
    }
    found = session.run(names, feed)
    return {name: list(value.shape) for name, value in zip(names, found, strict=True)}


def light(model: Any) -> Any:
    """Remove what does not affect the shapes: weights, texts, and types that an exporter stored."""
    del model.graph.value_info[:]
    del model.metadata_props[:]
    for graph in (model.graph, *model.functions):
        del graph.metadata_props[:]
        for node in graph.node:
            node.ClearField("doc_string")
            del node.metadata_props[:]
    for tensor in model.graph.initializer:
        if np.prod(tensor.dims) > LARGEST_KEPT:
            small = TensorProto(
                name=tensor.name,
                dims=tensor.dims,
                data_type=tensor.data_type,
                data_location=TensorProto.EXTERNAL,
            )
            small.external_data.add(key="location", value="weights.bin")
            tensor.CopyFrom(small)
        tensor.ClearField("doc_string")
    return model


def main() -> None:
    for name in sys.argv[1:] or MODELS:
        make, shapes = MODELS[name]
        try:
            torch.manual_seed(0)
            model = sorted_nodes(make())
            found = recorded(inline_local_functions(model), shapes)
        except Exception as error:  # the other models are still made
            print(name, type(error).__name__, str(error)[:600])
            continue
        (FOLDER / f"{name}.onnx").write_bytes(light(model).SerializeToString())
        text = {"inputs": shapes, "shapes": found}
        lines = json.dumps(text).replace('], "', '],\n"').replace('}, "', '},\n"')
        (FOLDER / f"{name}.json").write_text(lines + "\n")
        print(name, len(found), (FOLDER / f"{name}.onnx").stat().st_size)


if __name__ == "__main__":
    main()
