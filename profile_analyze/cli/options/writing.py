"""Where a call writes: the files that it makes, and whether it may replace existing ones."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.errors import QueryError
from profile_analyze.report.formats.output_formats import (
    format_by_suffix,
    output_format_of,
    picture_format_of,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


class Writing(NamedTuple):
    """Where to write. A file is None if its option is not given."""

    output: str | None
    """The file for the answer; None for standard output."""
    force: bool
    """Whether existing files may be replaced."""
    plot: str | None
    """The file for the picture."""
    write_model: str | None
    """The file for the model whose matrix products are split."""
    export: str | None
    """The folder of the data set to add the profiles to, instead of showing an answer."""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Writing:
        """Return the files that the arguments name. Raises `QueryError` for a wrong name."""
        if arguments.plot is not None:
            _check_that_it_is_one_file("--plot", arguments.plot, picture_format_of)
        _check_that_it_is_one_file("-o/--output", arguments.output or "", output_format_of)
        if arguments.export is not None and format_by_suffix(arguments.export) is not None:
            raise QueryError(
                f"argument --export: {arguments.export}: takes the folder of a data set; "
                f"-o {arguments.export} writes an answer"
            )
        return cls(
            output=None if arguments.output == "-" else arguments.output,
            force=arguments.force,
            plot=arguments.plot,
            write_model=arguments.write_model,
            export=arguments.export,
        )

    @property
    def files(self) -> dict[str, str]:
        """The files to write, by option."""
        files = {"-o": self.output, "--plot": self.plot, "--write-model": self.write_model}
        return {option: file for option, file in files.items() if file is not None}


def _check_that_it_is_one_file(
    option: str, file: str, format_of: Callable[[str], str | None]
) -> None:
    """Raise `QueryError` if `file` is a list of files, such as `a.csv,b.json`."""
    first, *further = file.split(",")
    is_several = False
    with suppress(QueryError):  # a part without a suffix
        is_several = bool(further) and all(map(format_of, (first, *further)))
    if is_several:
        raise QueryError(f"argument {option}: {file!r} names several files; name one: {first}")
