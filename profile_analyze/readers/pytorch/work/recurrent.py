"""Computes the work of recurrent layers and cells. A cell is one step of a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.readers.pytorch.work.costs import Cost, Entry, cost, entries, possible
from profile_analyze.work.kinds import work_of
from profile_analyze.work.operation import Operation, Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.readers.pytorch.calls import Call

_MODES: Final = {0: "RNN", 1: "RNN", 2: "LSTM", 3: "GRU"}
"""The kinds of recurrent layer, by the value of the argument `mode`."""
_KINDS: Final = {"lstm": "LSTM", "gru": "GRU"}


def _kind(call: Call) -> str:
    if "mode" not in call.arguments:
        return next((kind for word, kind in _KINDS.items() if word in call.name), "RNN")
    kind = _MODES.get(call.integer("mode"))
    if kind is None:
        raise UnknownError
    return kind


def _units(weights: Sequence[Tensor]) -> int:
    """Return the size of the state.

    The first weight is multiplied with the data, the second with the state.
    """
    shapes = [shape_of(one) for one in weights[:2]]
    if [len(shape) for shape in shapes] != [2, 2]:
        raise UnknownError
    return shapes[1][1]


def _layers(
    kind: str, data: Tensor, weights: Sequence[Tensor], *, others: Sequence[Tensor | None]
) -> Work:
    """Return the work of all layers and directions.

    Each layer has two weight matrices for each direction: for the data and for the state. The call
    also reads or writes the tensors in `others`.
    """
    steps = shape_of(data)[:-1]
    matrices = [shape_of(one) for one in weights if len(shape_of(one)) == 2]
    if not matrices or len(matrices) % 2:
        raise UnknownError
    macs = computation = 0.0
    for of_data, of_state in zip(matrices[::2], matrices[1::2], strict=True):
        # A layer with projections has a third matrix, so two layers have an even number. The third
        # matrix has fewer rows than the others.
        if of_data[0] != of_state[0]:
            raise UnknownError
        one = work_of(
            Operation(
                kind,
                (Tensor((*steps, of_data[1])), Tensor((1, *of_data)), Tensor((1, *of_state))),
                (),
            )
        )
        macs += one.macs
        computation += one.computation
    moved = [data, *weights, *(one for one in others if one is not None)]
    return Work(macs, computation, sum(one.bytes for one in moved))


def _recurrent(call: Call) -> Cost:
    data = call.tensor("input")
    is_one_layer = "weight0" in call.arguments
    if is_one_layer:
        weights = tuple(call.tensor(f"weight{index}") for index in range(4))
    else:
        weights = call.tensors("params")
    # `mkldnn_rnn_layer` computes one layer in one direction, even if the model has two directions.
    is_bidirectional = not is_one_layer and call.flag("bidirectional")
    units = _units(weights) * (1 + is_bidirectional)
    states = [*call.listed("hx"), *call.listed("cx")]
    outputs = possible([Tensor((*shape_of(data)[:-1], units), data.dtype), *states])
    # `weight_buf` is left out, because `params` are views of it.
    others = [*states, *call.listed("batch_sizes"), *call.listed("dropout_state"), *outputs]
    kind = _kind(call)
    return Cost(_layers(kind, data, weights, others=others), outputs, kind)


def _cell(call: Call) -> Cost:
    """Return the cost of one step of a recurrent layer."""
    data = call.tensor("input")
    weights = [call.tensor("w_ih"), call.tensor("w_hh")]
    kind = _kind(call)
    output = Tensor((*shape_of(data)[:-1], _units(weights)), data.dtype)
    biases = [call.optional("b_ih"), call.optional("b_hh")]
    outputs = [output, output] if kind == "LSTM" else [output]
    states = [output] * len(outputs)
    work = _layers(kind, data, weights, others=[*biases, *states, *outputs])
    return Cost(work, possible(outputs), kind)


def _fused_cell(call: Call) -> Cost:
    """Return the cost of the elementwise functions of a cell.

    Separate operators compute the matrix products of the cell.
    """
    state = call.tensor("state")
    outputs = [state, state] if "lstm" in call.name else [state]
    per_unit = 9 if "lstm" in call.name else 8  # as for the kinds LSTM and GRU in `work.products`
    return cost("elementwise", call.every_tensor(), outputs, per_element=per_unit)


_OPTIONS: Final = "has_biases, num_layers, dropout, train, bidirectional"
_PACKED: Final = "Tensor input, Tensor batch_sizes"
_GATES: Final = "Tensor input_gates, Tensor hidden_gates, Tensor state, Tensor? b_ih, Tensor? b_hh"
_WEIGHTS: Final = "Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh"

TABLE: Final[Mapping[str, Entry]] = {
    "lstm": Entry(
        "LSTM",
        (
            f"Tensor input, Tensor[] hx, Tensor[] params, {_OPTIONS}, batch_first",
            f"{_PACKED}, Tensor[] hx, Tensor[] params, {_OPTIONS}",
        ),
        _recurrent,
    ),
    **{
        name: Entry(
            kind,
            (
                f"Tensor input, Tensor hx, Tensor[] params, {_OPTIONS}, batch_first",
                f"{_PACKED}, Tensor hx, Tensor[] params, {_OPTIONS}",
            ),
            _recurrent,
        )
        for name, kind in (("gru", "GRU"), ("rnn_tanh", "RNN"), ("rnn_relu", "RNN"))
    },
    **entries(
        "LSTM",
        "_cudnn_rnn miopen_rnn",
        "Tensor input, Tensor[] params, weight_stride0, Tensor? weight_buf, Tensor hx, "
        "Tensor? cx, mode, hidden_size, proj_size, num_layers, batch_first, dropout, train, "
        "bidirectional, batch_sizes, Tensor? dropout_state",
        "Tensor input, Tensor[] params, weight_stride0, Tensor hx, Tensor? cx, mode, hidden_size, "
        "num_layers, batch_first, dropout, train, bidirectional, batch_sizes, "
        "Tensor? dropout_state",
        translate=_recurrent,
    ),
    "mkldnn_rnn_layer": Entry(
        "LSTM",
        (
            "Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, "
            "Tensor hx, Tensor cx, reverse, batch_sizes, mode, hidden_size, num_layers, "
            "has_biases, bidirectional, batch_first, train",
        ),
        _recurrent,
    ),
    "lstm_cell": Entry("LSTM", (f"Tensor input, Tensor[] hx, {_WEIGHTS}",), _cell),
    "gru_cell": Entry("GRU", (f"Tensor input, Tensor hx, {_WEIGHTS}",), _cell),
    **entries(
        "RNN",
        "rnn_tanh_cell rnn_relu_cell",
        f"Tensor input, Tensor hx, {_WEIGHTS}",
        translate=_cell,
    ),
    **entries(
        "elementwise", "_thnn_fused_lstm_cell _thnn_fused_gru_cell", _GATES, translate=_fused_cell
    ),
    **dict.fromkeys(("_cudnn_rnn_backward", "mkldnn_rnn_layer_backward"), Entry("LSTM")),
}
"""The entry of each operator. Keys are names without the namespace."""
