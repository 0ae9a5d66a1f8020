"""The options on data sets and SQL. `options.py` adds their group to its table."""

from __future__ import annotations

from typing import Final

from profile_analyze.cli.option_actions import SqlAction, StoreOnce
from profile_analyze.cli.option_types import Option, OptionGroup
from profile_analyze.cli.option_values import time_limit

FLEET: Final = OptionGroup(
    "tables: data sets and SQL",
    (
        Option.of(
            "--export",
            action=StoreOnce,
            metavar="DIR",
            example="profiles.dataset",
            help="instead of an answer, add the profiles to the data set in this folder, which is "
            "made if it does not exist: Parquet files of operators, executions, tracks, runs and "
            "origin; a data set can be named like a FILE, and is read much faster; needs pyarrow "
            "(the extra fleet)",
        ),
        Option.of(
            "--sql",
            action=SqlAction,
            metavar="QUERY",
            example="select type, sum(device_time_s) as total_s from operators group by type",
            help="instead of a summary and tables, show the answer to a SELECT over the tables "
            "operators, executions, tracks, runs and origin; help lists their columns, and exits; "
            "the query cannot read files or change anything; needs duckdb (the extra sql)",
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
