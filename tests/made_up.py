"""A made-up view and a made-up output format, each with one entry in its register.

python -m tests.made_up CALLS    runs the command as if the package had both

CALLS and the output are JSON: a list of the arguments of each call, and a list of outcomes.
"""

from __future__ import annotations

import json
import sys
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.columns.column import Column
from profile_analyze.report.base import encoded
from profile_analyze.report.formats.programs import ProgramRenderer, program_values, shown_columns
from profile_analyze.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from profile_analyze.columns.rows import Values
    from profile_analyze.model.profile import Profile
    from profile_analyze.report.base import Display, Report


def _values(profile: Profile) -> Mapping[str, Values]:
    executions = profile.executions
    return {
        "operator": profile.operators.name.take(executions.operator),
        "start": executions.start_s,
        "time": executions.duration_s,
    }


VIEW: Final = View(
    "executions",
    (
        Column("operator", "", "the name of the operator", kind="text"),
        Column("start", "s", "when the execution started", measured=True),
        Column("time", "s", "how long the execution took", measured=True),
    ),
    _values,
)


class MadeUpRenderer(ProgramRenderer):
    """Renderer of a line of Python for each row; see `Renderer`."""

    name = "made-up"
    suffixes = (".made",)

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # part of `Renderer`
        """Yield the rows; see `Renderer.pieces`."""
        rows: list[tuple[Any, ...]] = []
        for section in report.tables:
            columns = (program_values(section.table, name) for name in shown_columns(section))
            rows += zip(*columns, strict=True)
        return encoded((f"{row}\n" for row in rows), "utf-8")


def add_to_register(module: str, register: str, entry: str) -> None:
    """Import `module` as if its source had one more entry in the dictionary `register`.

    The entry names the module `made_up` beside it, which is this module.
    """
    sys.modules[f"{module.rpartition('.')[0]}.made_up"] = sys.modules[__name__]
    spec = util.find_spec(module)
    assert spec is not None, module
    assert spec.origin is not None, module
    source = Path(spec.origin).read_text(encoding="utf-8")
    (line,) = (one for one in source.splitlines() if one.startswith(f"{register}: Final"))
    longer = source.replace(line, line.replace("{", "{" + entry, 1))
    sys.modules[module] = util.module_from_spec(spec)
    exec(compile(longer, spec.origin, "exec"), vars(sys.modules[module]))  # our own


if __name__ == "__main__":
    add_to_register(
        "profile_analyze.views.register",
        "VIEWS",
        "'executions': ('made_up', 'what ran, one by one'), ",
    )
    add_to_register(
        "profile_analyze.report.formats.output_formats",
        "_RENDERERS",
        "'made-up': ('made_up', 'MadeUpRenderer'), ",
    )
    # Imported here, because the table of options reads the registers when it is imported.
    from tests.conftest import run_command

    outcomes = [run_command(*call) for call in json.loads(sys.argv[1])]
    json.dump([(one.code, one.out, one.err) for one in outcomes], sys.stdout)
