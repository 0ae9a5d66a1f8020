"""The options on data sets and SQL. `options.py` adds their group to its table."""

from __future__ import annotations

from typing import Final

from profile_analyze.cli.options.actions import SqlAction
from profile_analyze.cli.options.types import Option, OptionGroup
from profile_analyze.cli.options.values import time_limit

FLEET: Final = OptionGroup(
    "tables: data sets and SQL",
    (
        Option.of(
            "--export",
            metavar="DIR",
            example="profiles.dataset",
            help="instead of an answer, add the profiles to the data set in this folder, which is "
            "created if it does not exist. A data set is a folder of Parquet files. To analyse "
            "a data set, name it as FILE: it is read much faster than the profiles. Needs pyarrow "
            "(the extra fleet)",
        ),
        Option.of(
            "--sql",
            action=SqlAction,
            metavar="QUERY",
            example="select type, sum(device_time_s) as total_s from operators group by type",
            help="instead of a summary and tables, show the answer to a SELECT over the tables "
            "operators, executions, tracks, runs and origin. 'help' lists their columns, and exits."
            " The query cannot read files or change anything. Needs duckdb (the extra sql)",
        ),
        Option.of(
            "--sql-timeout",
            type=time_limit,
            default=60.0,
            metavar="TIME",
            example="5min",
            help="how long the query of --sql may take, in seconds or as 5min (default: 60)",
        ),
    ),
)
