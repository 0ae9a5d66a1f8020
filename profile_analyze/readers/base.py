"""The interfaces of readers and of pools. A reader turns the bytes of an input into a `Profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from os import PathLike
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.errors import InputError
    from profile_analyze.model.joining.runs import RunJoiner
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.input.source import Source

    Paths: TypeAlias = Sequence[str | PathLike[str]]
    # Files are read in steps. A step has the number of its files, and the errors of the files that
    # cannot be read.
    Step: TypeAlias = tuple[int, tuple[InputError, ...]]
    # A function that starts to read files in several processes. It may leave the reading to this
    # process instead, and then returns None.
    Engine: TypeAlias = "Callable[[Paths, ReadFiles], Pool | None]"


class Recogniser(Protocol):
    """Recognises inputs of one format."""

    @property
    def format(self) -> str:
        """The name of the format, for messages."""

    def recognises(self, head: bytes, name: str) -> bool:
        """Return whether an input has this format, even if it is damaged.

        `head` has the first 64 KiB of the input, without leading white space. If no reader
        recognises the input, all readers are asked again with a longer `head`. `name` is the name
        of the input.
        """


class Reader(Recogniser, Protocol):
    """Reads one input format. A reader needs only these members."""

    has_inputs: bool = False
    """Whether files of this format are models. `Source.inputs` gives sizes to a model's inputs."""
    default_output_format: str = "plain"
    """The default output format for profiles of this format. For readers of other packages, it is
    always plain."""

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """Return the profile in `source`, which this reader recognised.

        - A value that the file does not have is N/A, never 0.
        - `computation` and `memory` are of one call. Durations are the sum of the `calls` of a row.
        - If the model ran on a CPU alone, the threads that ran its operators are device tracks. A
          time of a launch on the host is never a device time.
        - Executions that are nested in others (`parent`), or were launched by others
          (`launched_by`), are all rows. `model.levels` makes sure that no time counts twice.

        `wanted` names the optional columns and tables that the question needs. `OPTIONAL_COLUMNS`
        and `TABLES` in `model/` list the names that several formats share. If `wanted` has
        `FRAMES`, the question also needs the executions of Python functions.

        Raises `MalformedProfileError`.
        """


class ReadTogether(NamedTuple):
    """The result of reading several inputs of one format together."""

    profile: Profile
    """The operators of all inputs, one input after another, and a run for each input. The
    notes are not in this profile, but in `notes`."""
    file_of: NDArray[np.int64]
    """For each operator, the index of the input that contains it. Shape (operators,)."""
    notes: Sequence[Sequence[Note]]
    """The notes on each input."""


# `isinstance` finds the readers that have `read_together`, so other readers need not define it.
@runtime_checkable
class BatchReader(Protocol):
    """A reader that can read several small inputs in one call, which is faster than one by one."""

    def read_together(
        self, sources: Sequence[Source], wanted: Collection[str]
    ) -> ReadTogether | None:
        """Return the profiles in `sources`, which this reader recognised.

        Return None if the sources cannot be read together, for example because one is damaged.
        The caller then reads them one by one, and `Reader.read` says what is wrong.
        """


class ReadFiles(Protocol):
    """Reads files in order, and adds them to `joiner`.

    Relative paths are relative to the folder `within`, or else to the current folder.
    """

    def __call__(self, joiner: RunJoiner, paths: Paths, /, *, within: str = "") -> Iterator[Step]:
        """Read some of the files in each step."""


class Pool(Protocol):
    """Processes that read files. The files are divided into parts."""

    def merge_into(self, joiner: RunJoiner) -> Iterator[Step]:
        """Merge the partial results into `joiner`, in the order of the files."""

    def shut_down(self) -> None:
        """End all work, even if files are still being read."""
