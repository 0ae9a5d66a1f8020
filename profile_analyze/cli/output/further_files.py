"""Makes the files that a call writes besides its answer: a picture, and a model in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.output.plot import picture_of
from profile_analyze.readers.input.source import Source
from profile_analyze.writers import split_model

if TYPE_CHECKING:
    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.options.reading import Reading
    from profile_analyze.cli.request import Request
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.report.base import Report
    from profile_analyze.writers import WrittenModel


class FurtherFiles(NamedTuple):
    """The files that a call writes besides its answer. A file is None without its option."""

    picture: Report | None = None
    model: WrittenModel | None = None


def further_files(source: Profile | Comparison, request: Request, sources: Sources) -> FurtherFiles:
    """Return the picture of `--plot` and the model of `--write-model`.

    Raises `OutputError` if there is nothing to draw, and the errors of `split_model`.
    """
    asking, showing, writing = request.asking, request.showing, request.writing
    return FurtherFiles(
        None if writing.plot is None else picture_of(source, asking, showing, writing.plot),
        None if writing.write_model is None else _model(request.reading, sources),
    )


def _model(reading: Reading, sources: Sources) -> WrittenModel:
    # The model is read once more, because a profile does not keep the values of weights.
    (file,) = sources.files
    # In a comparison, the options may name inputs and symbols that only the baseline has.
    inputs = reading.inputs._replace(may_lack=bool(sources.baseline))
    with Source(file, max_size=reading.max_size, inputs=inputs) as source:
        return split_model(source)
