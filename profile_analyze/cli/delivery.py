"""Delivers the answer to standard output or to a file, and draws the picture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from profile_analyze.cli.output import NewFiles, check_destination, show
from profile_analyze.errors import OutputError
from profile_analyze.report.output_formats import find_renderer, picture_format_of

if TYPE_CHECKING:
    from profile_analyze.cli.request import Request
    from profile_analyze.cli.sources import Sources
    from profile_analyze.report.base import Renderer, Report


def check_destinations(request: Request, sources: Sources) -> None:
    """Raise `OutputError` for a problem with the output files that can be found before reading."""
    files = [file for file in (request.output, request.plot) if file is not None]
    for file in files:
        check_destination(file, [*sources.all, *sources.lists], force=request.force)
    if len(files) == 2 and os.path.realpath(files[0]) == os.path.realpath(files[1]):
        raise OutputError(f"{files[1]}: -o and --plot name the same file; name two")


def deliver(report: Report, picture: Report | None, request: Request, renderer: Renderer) -> None:
    """Print or write the report, and draw the picture. Files appear together or not at all.

    Raises `OutputError`. Raises `QueryError` if the picture cannot be drawn.
    """
    display = request.appearance.display(request.output)
    with NewFiles(force=request.force) as files:
        if request.plot is not None and picture is not None:
            # The picture comes first, because printing cannot be undone if drawing fails.
            drawer = find_renderer(picture_format_of(request.plot))
            files.write(request.plot, drawer.pieces(picture, display))
        pieces = renderer.pieces(report, display)
        if request.output is None:
            show(pieces, paged=request.appearance.paged)
        else:
            files.write(request.output, pieces)
