"""Calls functions of `onnx` in a child process, because they may crash or never return."""

from __future__ import annotations

import os
import select
import signal
import warnings
from contextlib import suppress
from struct import Struct
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import ModelProto, shape_inference
from onnx.checker import ValidationError
from onnx.inliner import inline_local_functions

from profile_analyze.errors import MalformedProfileError

if hasattr(os, "fork"):
    import resource  # Windows has neither

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

INFER: Final = 0
INLINE: Final = 1
_SECONDS: Final = 60.0
"""The longest time that one call may take. The largest models take a few seconds."""
_MOST_FILES: Final = 1 << 16
"""How many numbers of open files are closed one by one if the system cannot close a range."""
_MOST_CRASHES: Final = 100
"""After this number of crashes, all further calls for the model fail."""
_HEAD: Final = Struct("<BQ")
"""A request or an answer begins with a code and the number of bytes that follow."""
_DONE, _FAILED = 0, 1
_ERRORS: Final = (
    shape_inference.InferenceError,
    ValidationError,
    DecodeError,
    RuntimeError,
    ValueError,
    TypeError,
    MemoryError,
)
"""What `onnx` raises for a model that it cannot use."""


class OnnxError(Exception):
    """A call of `onnx` failed. The text has one line."""


def _inferred(data: bytes) -> ModelProto:
    # `onnx` must not propagate data: for a hostile model, it would compute tensors of any size, in
    # unlimited memory. `folding` computes the tensors that shapes depend on.
    return shape_inference.infer_shapes(ModelProto.FromString(data))


def _inlined(data: bytes) -> ModelProto:
    return inline_local_functions(ModelProto.FromString(data))


_FUNCTIONS: Final[Mapping[int, Callable[[bytes], ModelProto]]] = {
    INFER: _inferred,
    INLINE: _inlined,
}


def packed(model: ModelProto) -> bytes:
    """Return a model as bytes. Raises `OnnxError` if it is too large."""
    try:
        data: bytes = model.SerializeToString()
    except (EncodeError, ValueError):
        raise OnnxError("the model is larger than 2 GiB") from None
    return data


class OnnxCalls:
    """Calls functions of `onnx` for one model. Ends the child process when it exits as a context.

    The child is a fork of this process, which takes two milliseconds. Where no process can be
    forked, as on Windows, the functions are called in this process.
    """

    def __init__(self, file: str, seconds: float = _SECONDS) -> None:
        """`file` is the name of the model in messages; `seconds` limits the time of each call."""
        self._file = file
        self._seconds = seconds
        self._child: _Child | None = None
        self._crashes = 0

    def __enter__(self) -> OnnxCalls:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_child()

    def call(self, function: int, data: bytes) -> ModelProto:
        """Return the model that a function makes of the model in `data`: see `packed`.

        Raises `OnnxError` if the function fails or crashes, and `MalformedProfileError` if it takes
        too long.
        """
        if self._crashes >= _MOST_CRASHES:
            raise OnnxError("onnx crashed too often")
        if self._child is None:
            with suppress(OSError):  # the system has no more processes
                self._child = _Child.start() if hasattr(os, "fork") else None
        if self._child is None:
            code, answer = _answered(function, data)
        else:
            code, answer = self._answer_of_child(self._child, function, data)
        if code == _FAILED:
            raise OnnxError(answer.decode("utf-8", "replace"))
        model: ModelProto = ModelProto.FromString(answer)
        return model

    def _answer_of_child(self, child: _Child, function: int, data: bytes) -> tuple[int, bytes]:
        try:
            child.send(function, data)
            return child.receive(monotonic() + self._seconds)
        except TimeoutError:
            self._end_child()
            reason = (
                f"onnx did not answer within {self._seconds:g} s: the ONNX model may be damaged"
            )
            raise MalformedProfileError(self._file, reason) from None
        except (EOFError, OSError):  # `OSError` if the child ended before it read the request
            self._end_child()
            self._crashes += 1
            raise OnnxError("onnx crashed") from None
        except BaseException:  # such as Ctrl-C
            self._end_child()
            raise

    def _end_child(self) -> None:
        if self._child is not None:
            child, self._child = self._child, None
            child.end()


class _Child(NamedTuple):
    """A process that answers requests, one after another."""

    number: int
    requests: int
    """The end of a pipe that this process writes to."""
    answers: int

    @classmethod
    def start(cls) -> _Child:
        """Start a child. Raises `OSError` if the system cannot start one."""
        (read_request, requests), (answers, write_answer) = os.pipe(), os.pipe()
        # A signal must not reach the child while it has the handlers of this process.
        blocked = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        number = -1
        try:
            with warnings.catch_warnings():
                # Python warns if there are other threads. The child uses nothing that these hold.
                warnings.simplefilter("ignore", DeprecationWarning)
                number = os.fork()
            if number == 0:
                _serve(read_request, write_answer, blocked)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            for end in (read_request, write_answer, *((requests, answers) if number < 0 else ())):
                os.close(end)
        return cls(number, requests, answers)

    def send(self, code: int, data: bytes) -> None:
        _write(self.requests, code, data)

    def receive(self, deadline: float) -> tuple[int, bytes]:
        return _read(self.answers, deadline)

    def end(self) -> None:
        os.close(self.requests)
        os.close(self.answers)
        # If this process ignores SIGCHLD, the system itself waits for the child.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.number, signal.SIGKILL)
            os.waitpid(self.number, 0)


def _serve(requests: int, answers: int, blocked: set[signal.Signals]) -> NoReturn:
    """Answer requests until their pipe closes. This is all that the child does."""
    try:
        for number in blocked:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        _leave_files(requests, answers)
        while True:
            code, data = _read(requests)
            _limit_cpu()
            _write(answers, *_answered(code, data))
    finally:  # also after an error: the code of the parent must not run in the child
        os._exit(0)


def _leave_files(*kept: int) -> None:
    """Close all files of the parent, except `kept`. `onnx` may write to standard error."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in {0, 1, 2}.difference(kept):
        os.dup2(nothing, standard)
    first = 3
    for one in sorted(kept):
        os.closerange(first, one)
        first = max(first, one + 1)
    os.closerange(first, min(os.sysconf("SC_OPEN_MAX"), _MOST_FILES))


def _limit_cpu() -> None:
    """Limit the CPU time of the next call, which must also end if the parent has died."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + 2 * _SECONDS)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = seconds if hard == resource.RLIM_INFINITY else min(seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _answered(function: int, data: bytes) -> tuple[int, bytes]:
    """Call a function. Return whether it failed, and its result or the first line of the error."""
    try:
        return _DONE, _FUNCTIONS[function](data).SerializeToString()
    except _ERRORS as error:
        lines = str(error).splitlines() or [type(error).__name__]
        return _FAILED, lines[0].encode("utf-8", "replace")


def _write(file: int, code: int, data: bytes) -> None:
    left = memoryview(_HEAD.pack(code, len(data)) + data)
    while left:
        left = left[os.write(file, left) :]


def _read(file: int, deadline: float | None = None) -> tuple[int, bytes]:
    """Return the next message, and its code.

    Raises `EOFError` if the pipe is closed, and `TimeoutError` after the deadline.
    """
    data = _read_some(file, deadline)
    size = _HEAD.size
    # The pipe has at most one message: each side waits for the other.
    while len(data) < size or len(data) < (size := _HEAD.size + _HEAD.unpack_from(data)[1]):
        data += _read_some(file, deadline)
    return data[0], bytes(data[_HEAD.size :])


def _read_some(file: int, deadline: float | None) -> bytearray:
    if deadline is not None:
        ready = select.poll()
        ready.register(file, select.POLLIN)
        if not ready.poll(max(deadline - monotonic(), 0.0) * 1000):
            raise TimeoutError
    part = os.read(file, 1 << 20)
    if not part:
        raise EOFError
    return bytearray(part)
