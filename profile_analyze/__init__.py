"""Analyse the profile of a neural network's execution: what is slow, and why.

    import profile_analyze as pa

    profile = pa.load("run.json")
    result = pa.run(pa.Query(by="type", top=5), profile)
    result["time"]          # seconds, a NumPy array
    result.rows             # a list of dictionaries with plain Python values
    print(pa.render(result, "plain"))

Each name is imported when it is first used, so that the command line starts fast.
"""

from __future__ import annotations

from importlib import import_module

from profile_analyze.version import VERSION as __version__

TYPE_CHECKING = False  # true for type checkers; the module `typing` takes long to import
# Type checkers and editors read these imports. At run time, `__getattr__` looks up the module of a
# name in `_MODULE_OF` and imports it. A test imports every name of `__all__`.
if TYPE_CHECKING:
    from typing import Any

    from profile_analyze.columns.column import Column
    from profile_analyze.columns.registry import COLUMNS
    from profile_analyze.comparison.comparison import Comparison, compare
    from profile_analyze.comparison.constants import counting_constants
    from profile_analyze.errors import (
        EngineError,
        InputError,
        MalformedProfileError,
        OutputError,
        PatternError,
        PeaksError,
        ProfileAnalyzeError,
        QuantityError,
        QueryError,
        UnknownColumnError,
        UnknownFormatError,
    )
    from profile_analyze.fleet.entry import DaskEngine
    from profile_analyze.gate.conditions import FailCondition
    from profile_analyze.gate.judge import FailVerdict, judge_conditions
    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.executions import Executions, Run, Track
    from profile_analyze.model.graph.with_model import with_model
    from profile_analyze.model.joining.iterations import without_first_runs
    from profile_analyze.model.joining.labels import with_labels
    from profile_analyze.model.joining.runs import join_runs
    from profile_analyze.model.levels.levels import at_level, levels_of
    from profile_analyze.model.levels.regions import with_step_region
    from profile_analyze.model.levels.windows import only_steps, within_times
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.origin import Origin
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.work_sources import choose_work
    from profile_analyze.query.label_conditions import runs_with_labels
    from profile_analyze.query.question import Query
    from profile_analyze.query.run import run
    from profile_analyze.query.table import Table
    from profile_analyze.readers.input.many import load_runs
    from profile_analyze.readers.loading import load
    from profile_analyze.readers.model_inputs import ModelInputs
    from profile_analyze.report.base import Display, Report
    from profile_analyze.report.formats.output_formats import OUTPUT_FORMATS, render
    from profile_analyze.roofline.peaks import Peaks, parse_peaks
    from profile_analyze.units import parse_time
    from profile_analyze.views.comparison_summary import Change, Contribution
    from profile_analyze.views.judgement import Judgement, Winner
    from profile_analyze.views.summary import CopyTime, Summary, summarise

_NAMES_IN_MODULE = {
    "roofline.peaks": ("Peaks", "parse_peaks"),
    "errors": (
        "EngineError",
        "InputError",
        "MalformedProfileError",
        "OutputError",
        "PatternError",
        "PeaksError",
        "ProfileAnalyzeError",
        "QuantityError",
        "QueryError",
        "UnknownColumnError",
        "UnknownFormatError",
    ),
    "fleet.entry": ("DaskEngine",),
    "model.categorical": ("Categorical",),
    "columns.registry": ("COLUMNS",),
    "columns.column": ("Column",),
    "comparison.comparison": ("Comparison", "compare"),
    "comparison.constants": ("counting_constants",),
    "model.work_sources": ("choose_work",),
    "model.executions": ("Executions", "Run", "Track"),
    "model.joining.iterations": ("without_first_runs",),
    "model.joining.labels": ("with_labels",),
    "model.levels.levels": ("at_level", "levels_of"),
    "model.operators": ("Operators",),
    "model.origin": ("Origin",),
    "model.profile": ("Profile",),
    "model.levels.regions": ("with_step_region",),
    "model.joining.runs": ("join_runs",),
    "model.levels.windows": ("only_steps", "within_times"),
    "model.graph.with_model": ("with_model",),
    "views.comparison_summary": ("Change", "Contribution"),
    "gate.judge": ("FailVerdict", "judge_conditions"),
    "gate.conditions": ("FailCondition",),
    "views.judgement": ("Judgement", "Winner"),
    "query.label_conditions": ("runs_with_labels",),
    "query.question": ("Query",),
    "query.run": ("run",),
    "views.summary": ("CopyTime", "Summary", "summarise"),
    "query.table": ("Table",),
    "readers.loading": ("load",),
    "readers.input.many": ("load_runs",),
    "readers.model_inputs": ("ModelInputs",),
    "report.base": ("Display", "Report"),
    "report.formats.output_formats": ("OUTPUT_FORMATS", "render"),
    "units": ("parse_time",),
}
_MODULE_OF = {name: module for module, names in _NAMES_IN_MODULE.items() for name in names}

__all__ = [
    "COLUMNS",
    "OUTPUT_FORMATS",
    "Categorical",
    "Change",
    "Column",
    "Comparison",
    "Contribution",
    "CopyTime",
    "DaskEngine",
    "Display",
    "EngineError",
    "Executions",
    "FailCondition",
    "FailVerdict",
    "InputError",
    "Judgement",
    "MalformedProfileError",
    "ModelInputs",
    "Operators",
    "Origin",
    "OutputError",
    "PatternError",
    "Peaks",
    "PeaksError",
    "Profile",
    "ProfileAnalyzeError",
    "QuantityError",
    "Query",
    "QueryError",
    "Report",
    "Run",
    "Summary",
    "Table",
    "Track",
    "UnknownColumnError",
    "UnknownFormatError",
    "Winner",
    "__version__",
    "at_level",
    "choose_work",
    "compare",
    "counting_constants",
    "join_runs",
    "judge_conditions",
    "levels_of",
    "load",
    "load_runs",
    "only_steps",
    "parse_peaks",
    "parse_time",
    "render",
    "run",
    "runs_with_labels",
    "summarise",
    "with_labels",
    "with_model",
    "with_step_region",
    "within_times",
    "without_first_runs",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
