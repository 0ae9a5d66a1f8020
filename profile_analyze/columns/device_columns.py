"""Defines the columns about kernels, communication between devices, and ranks."""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.columns.column import AGGREGATED, Column, RatioOfSums
from profile_analyze.model.terms import MESSAGE_TEXTS

_text = partial(Column, unit="", kind="text", is_key=True, worked="as in the file")
_OF_EXECUTIONS: Final = "as in the file; N/A if the executions differ"

_KERNELS: Final = (
    _text(
        "full_name",
        meaning="the name of the kernel in the file, with template arguments and parameters",
        optional="full_name",
    ),
    _text(
        "launched_by",
        meaning="the operator that launched the kernel",
        optional="launched_by",
        worked="the operator around the host call with the kernel's correlation number",
    ),
    _text(
        "grid",
        meaning="the number of blocks of the kernel in each dimension, such as 32x1x1",
        optional="grid",
        worked=_OF_EXECUTIONS,
        has_natural_order=True,
    ),
    _text(
        "block",
        meaning="the number of threads of a block in each dimension, such as 128x1x1",
        optional="block",
        worked=_OF_EXECUTIONS,
        has_natural_order=True,
    ),
    Column(
        "registers",
        "1",
        "the registers that each thread of the kernel uses",
        shown_as="count",
        optional="registers",
        worked=_OF_EXECUTIONS,
    ),
    Column(
        "shared_memory",
        "byte",
        "the shared memory that each block of the kernel uses",
        optional="shared_memory",
        worked=_OF_EXECUTIONS,
    ),
    Column(
        "occupancy",
        "1",
        "the share of the device's warps that the kernel can keep busy, as the profiler estimates",
        optional="occupancy",
        worked=_OF_EXECUTIONS,
    ),
)

_COMMUNICATION: Final = (
    _text(
        "collective",
        meaning="the communication between devices, such as all_reduce",
        optional="collective",
    ),
    _text(
        "group_size",
        meaning="the number of ranks that take part in the communication",
        kind="mixed",
        has_whole_numbers=True,
        optional="group_size",
    ),
    Column(
        "message_bytes",
        "byte",
        "bytes of the messages of all calls in a run; for each message, the larger of the bytes "
        "that a rank sends and the bytes that it receives",
        AGGREGATED,
        timed=True,
        optional="message_bytes",
        worked="{calls_in_a_run} * {message_bytes_of_a_call}; bytes of a call: elements * bytes of "
        "their dtype, the mean over the calls",
    ),
    Column(
        "message_size",
        "byte",
        "message_bytes / calls: bytes of one message",
        RatioOfSums("message_bytes", "calls"),
        optional="message_bytes",
        worked="{message_bytes} / {calls}",
    ),
    Column(
        "bus_bytes",
        "byte",
        "bytes that each rank has to move for its messages in a run, whatever the algorithm: "
        "message_bytes * 2 * (n - 1) / n for all_reduce, * (n - 1) / n for all_gather, "
        "reduce_scatter, all_to_all, gather and scatter, and * 1 for broadcast, reduce, send and "
        "recv, with n = group_size",
        AGGREGATED,
        timed=True,
        optional="bus_bytes",
        worked="message_bytes * the factor of the collective, as in PERFORMANCE.md of nccl-tests",
    ),
    Column(
        "bus_bandwidth",
        "byte/s",
        "bus_bytes / device_time, as nccl-tests computes it; compare it with the bandwidth of the "
        "links between devices",
        RatioOfSums("bus_bytes", "device_time"),
        optional="bus_bytes",
        worked="{bus_bytes} / {device_time}",
    ),
)

_RANKS: Final = (
    Column(
        "rank_spread",
        "1",
        "how much the time differs between the ranks of a distributed job: (longest - shortest) / "
        "mean of the times of the ranks that ran the operator; N/A with one rank",
        needs_times=True,
        worked="(the longest time of a rank - the shortest) / the mean over the ranks",
    ),
)

COLUMNS: Final = (*_KERNELS, *_COMMUNICATION, *_RANKS)

DEVICE_TEXTS: Final = ("full_name", "launched_by", "grid", "block", *MESSAGE_TEXTS)
"""The names of the optional columns that are categorical."""
DEVICE_NUMBERS: Final = ("registers", "shared_memory", "occupancy")
"""The names of the optional columns with numbers that do not add up over calls."""
