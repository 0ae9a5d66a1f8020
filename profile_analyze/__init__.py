"""Analyse the profile of a neural network's execution: what is slow, and why.

    import profile_analyze as pa

    profile = pa.load("run.json")
    result = pa.run(pa.Query(by="type", top=5), profile)
    result["time"]          # seconds, a NumPy array
    result.rows             # plain Python values, a dictionary each
    print(pa.render(result, "plain"))

The names are imported when they are first used, so that the command line starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from profile_analyze.analysis.peaks import Peaks, parse_peaks
    from profile_analyze.errors import (
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
    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.columns import COLUMNS, Column
    from profile_analyze.model.comparison import Comparison, compare
    from profile_analyze.model.executions import Executions, Run, Track
    from profile_analyze.model.iterations import without_first_runs
    from profile_analyze.model.levels import at_level, levels_of
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Origin, Profile
    from profile_analyze.model.runs import join_runs
    from profile_analyze.query.comparison_summary import Change, Contribution
    from profile_analyze.query.gate import FailCondition, FailVerdict, judge_conditions
    from profile_analyze.query.judgement import Judgement, Winner
    from profile_analyze.query.question import Query
    from profile_analyze.query.run import run
    from profile_analyze.query.summary import CopyTime, Summary, summarise
    from profile_analyze.query.table import Table
    from profile_analyze.readers.loading import load
    from profile_analyze.readers.many import load_runs
    from profile_analyze.report.base import Display, Report
    from profile_analyze.report.forms import FORMS, render
    from profile_analyze.units import parse_time
    from profile_analyze.version import VERSION as __version__

_HOME = {
    "Executions": "model.executions",
    "Operators": "model.operators",
    "Origin": "model.profile",
    "Run": "model.executions",
    "Track": "model.executions",
    "at_level": "model.levels",
    "levels_of": "model.levels",
    "without_first_runs": "model.iterations",
    "load_runs": "readers.many",
    "judge_conditions": "query.gate",
    "join_runs": "model.runs",
    "compare": "model.comparison",
    "FailVerdict": "query.gate",
    "FailCondition": "query.gate",
    "Contribution": "query.comparison_summary",
    "Comparison": "model.comparison",
    "Change": "query.comparison_summary",
    "COLUMNS": "model.columns",
    "Categorical": "model.categorical",
    "Column": "model.columns",
    "CopyTime": "query.summary",
    "Display": "report.base",
    "FORMS": "report.forms",
    "InputError": "errors",
    "Judgement": "query.judgement",
    "MalformedProfileError": "errors",
    "OutputError": "errors",
    "PatternError": "errors",
    "Peaks": "analysis.peaks",
    "PeaksError": "errors",
    "Profile": "model.profile",
    "ProfileAnalyzeError": "errors",
    "QuantityError": "errors",
    "Query": "query.question",
    "QueryError": "errors",
    "Report": "report.base",
    "Table": "query.table",
    "Summary": "query.summary",
    "UnknownColumnError": "errors",
    "UnknownFormatError": "errors",
    "Winner": "query.judgement",
    "load": "readers.loading",
    "parse_peaks": "analysis.peaks",
    "parse_time": "units",
    "render": "report.forms",
    "run": "query.run",
    "summarise": "query.summary",
}

__all__ = [
    "COLUMNS",
    "FORMS",
    "Categorical",
    "Change",
    "Column",
    "Comparison",
    "Contribution",
    "CopyTime",
    "Display",
    "Executions",
    "FailCondition",
    "FailVerdict",
    "InputError",
    "Judgement",
    "MalformedProfileError",
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
    "compare",
    "join_runs",
    "judge_conditions",
    "levels_of",
    "load",
    "load_runs",
    "parse_peaks",
    "parse_time",
    "render",
    "run",
    "summarise",
    "without_first_runs",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from profile_analyze.version import VERSION

        return VERSION
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
