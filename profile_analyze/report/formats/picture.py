"""Pictures of an answer as SVG, PNG or PDF files. The module `charts` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.errors import OutputError
from profile_analyze.report.formats.programs import TablelessRenderer
from profile_analyze.report.sections import Chart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.base import Display, Need, Report


class PictureRenderer(TablelessRenderer):
    """Base of picture formats; see `Renderer`."""

    name = ""
    has_summary_beside_tables = False
    needs: Need = ""

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield the picture of the report's chart. Raises `OutputError` without matplotlib."""
        try:
            # Imports matplotlib, which is optional.
            from profile_analyze.report.pictures.charts import picture
        except ImportError:
            raise OutputError(
                "--plot needs matplotlib; install the extra plot: pip install "
                "'profile_analyze[plot]'"
            ) from None
        for chart in report.all_of(Chart):
            yield picture(chart, self.name, display.time_unit)


class SvgRenderer(PictureRenderer):
    """Renderer of SVG files; see `Renderer`."""

    name = "svg"
    suffixes = (".svg",)


class PngRenderer(PictureRenderer):
    """Renderer of PNG files; see `Renderer`."""

    name = "png"
    suffixes = (".png",)


class PdfRenderer(PictureRenderer):
    """Renderer of PDF files; see `Renderer`."""

    name = "pdf"
    suffixes = (".pdf",)
