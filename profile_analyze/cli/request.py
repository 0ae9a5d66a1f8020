"""The checked arguments of one call: queries and output settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from profile_analyze.cli.inputs.cache_folder import cache_folder
from profile_analyze.cli.inputs.files import find_sources
from profile_analyze.cli.inputs.missing_files import check_that_lists_are_not_split
from profile_analyze.cli.inputs.part import Part
from profile_analyze.cli.options.checks import check_options, check_tiles
from profile_analyze.cli.output.appearance import Appearance
from profile_analyze.cli.output.progress import status_line
from profile_analyze.cli.output.requested_format import requested_output_format
from profile_analyze.cli.queries import queries_of
from profile_analyze.columns.catalog import check_columns, find_column, split_names
from profile_analyze.errors import QueryError
from profile_analyze.readers.model_inputs import ModelInputs
from profile_analyze.report.formats.output_formats import find_renderer
from profile_analyze.report.sections import ALL_COLUMNS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.inputs.labels import LabelOptions
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side
    from profile_analyze.query.question import Query
    from profile_analyze.roofline.peaks import Peaks

    Judge: TypeAlias = Callable[[Query, Profile | Comparison], tuple[FailVerdict, ...]]


_NOT_RULED_OUT: Final = "not-ruled-out"
_FAILING_OUTCOMES: Final[Mapping[str | None, frozenset[str]]] = {
    # With this value, a condition is `uncertain` unless a change beyond the limit is ruled out.
    _NOT_RULED_OUT: frozenset({"uncertain", "unjudged"}),
    "yes": frozenset({"uncertain", "unjudged"}),
    "unjudged": frozenset({"unjudged"}),
    "no": frozenset(),
    # `uncertain` is not in the default: by chance, a median is often slightly beyond the limit,
    # and this must not make a pipeline fail.
    None: frozenset({"unjudged"}),
}
"""For each value of `--fail-uncertain`, the outcomes that lead to exit code 4."""


class Request(NamedTuple):
    """One call of the command. Every check that needs no file has been made."""

    sources: Sources
    """The files that were found, before the options on labels choose among them."""
    max_size: int
    """The largest decompressed size that a file may have, in bytes."""
    cache: str | None
    """The folder that keeps the decoded profiles of large files; None if none are kept."""
    inputs: ModelInputs
    """The sizes of a model's inputs, and the tile of `--split-matmul`."""
    model: str | None
    """The file of the model that ran when the profile was recorded (`--model`)."""
    write_model: str | None
    """The file for the model whose matrix products are split (`--write-model`)."""
    engine: str
    """What reads several files: `local`, `dask` or `dask:ADDRESS`."""
    skip_bad: bool
    skip_runs: int
    labels: LabelOptions | None
    """The labels of the files, and the conditions on labels; None without any label."""
    part: Part
    """The part of the profile to analyse."""
    match: str
    correct_drift: bool
    queries: Mapping[Side, Query]
    """The query of each side."""
    measure_peaks: Callable[[], Peaks] | None
    """With `--peaks here`, a function that measures the peaks of this machine; None otherwise.

    Until the measurement, `queries` have placeholder peaks.
    """
    peaks_of_profile: Callable[[Profile], Peaks] | None
    """With `--peaks auto`, a function that returns the peaks of the device that a profile names.

    Until the profile is read, `queries` have placeholder peaks.
    """
    asked_side: Side
    """The side whose times `--fail-if` and the chart of times use: `host` with `--print-only host`,
    `device` otherwise."""
    sides: tuple[Side, ...]
    """The sides that have a table, in the order of the tables."""
    chooses_side: bool
    """Whether the call chooses the sides. Otherwise, the table has host times if no operator has a
    device time."""
    leaves_out_host: bool
    """Whether `--print-only` leaves out the host times that `--show-host` asks for."""
    shows_summary: bool
    shows_copy_time: bool
    columns: tuple[str, ...]
    """The columns that the tables show; empty for the default columns of the output format."""
    judge: Judge
    """A function that returns the verdict on each condition of `--fail-if`."""
    failing_outcomes: frozenset[str]
    """The outcomes of conditions that lead to exit code 4."""
    output_format: str | None
    """The output format; None if the profile's format decides."""
    output: str | None
    """The file to write; None for standard output."""
    force: bool
    """Whether existing files may be replaced."""
    plot: str | None
    """The file of the picture to draw."""
    most_rows: int
    """The largest number of rows that `--top` allows in a chart; 0 if `--top` sets no limit."""
    appearance: Appearance
    work: str | None
    """The source of computation and memory: see `choose_work`. None if the profile decides."""
    explain: str | None
    """The column to explain instead of showing tables."""
    export: str | None
    """The folder of the data set to add the profiles to, instead of showing an answer."""
    sql: str | None
    """The SQL query to answer instead of showing tables."""
    sql_timeout: float
    """How long the SQL query may take, in seconds."""
    inspect: str | None
    """The operator to show instead of tables: its key or name. `@N` at the end chooses its N-th
    execution."""

    @property
    def has_stacks(self) -> bool:
        """Whether the output format shows stacks."""
        return self.output_format is not None and find_renderer(self.output_format).has_stacks

    @property
    def query(self) -> Query:
        """The query of `asked_side`."""
        return self.queries[self.asked_side]


_AS_GIVEN: Final = (
    *("work", "inspect", "engine", "skip_bad", "skip_runs", "match", "max_size"),
    *("correct_drift", "force", "plot", "write_model"),
    *("export", "sql", "sql_timeout"),
)
"""The fields of `Request` whose options have the same name and value."""


def request_of(arguments: argparse.Namespace) -> Request:
    """Check the arguments and return the request.

    Raises `QueryError` if options contradict each other, or an expression or the peaks are wrong,
    and `InputError` if a table of labels or a data set is wrong.
    """
    check_options(arguments)
    check_that_lists_are_not_split(arguments)
    sources = find_sources(arguments)
    labels = _labels(arguments, sources.data_sets)
    peaks, measure_peaks, peaks_of_profile = _peaks(arguments.peaks, arguments.files)
    queries = queries_of(arguments, peaks, () if labels is None else labels.names)
    asked_side = _asked_side(arguments)
    columns = _columns(arguments.columns, queries["device"])
    check_tiles(columns, queries["device"], arguments.split_matmul)
    return Request(
        sources=sources,
        cache=cache_folder(arguments),
        inputs=ModelInputs.of(arguments.input_shape, arguments.dim, arguments.split_matmul),
        model=arguments.model[0] if arguments.model else None,
        labels=labels,
        part=Part.of(arguments),
        queries=queries,
        measure_peaks=measure_peaks,
        peaks_of_profile=peaks_of_profile,
        asked_side=asked_side,
        sides=_sides(arguments),
        chooses_side=arguments.print_only is not None or arguments.show_host,
        leaves_out_host=arguments.show_host and arguments.print_only in ("summary", "device"),
        shows_summary=arguments.print_only in (None, "summary"),
        shows_copy_time=arguments.copy_time,
        columns=columns,
        judge=_judge(arguments, queries[asked_side]),
        failing_outcomes=_FAILING_OUTCOMES[arguments.fail_uncertain],
        output_format=requested_output_format(arguments),
        output=None if arguments.output == "-" else arguments.output,
        most_rows=arguments.top or 0,
        appearance=Appearance.of(arguments),
        **{name: getattr(arguments, name) for name in _AS_GIVEN},
        explain=_explain(arguments, queries[asked_side]),
    )


def _labels(arguments: argparse.Namespace, data_sets: Sequence[str]) -> LabelOptions | None:
    """Return the options on labels; None without any label."""
    if not (arguments.label or data_sets):
        if arguments.compare_label is not None:
            raise QueryError(
                "--compare-label needs --label, which says where labels come from: "
                "--label 'nightly/{date}/*.json'"
            )
        return None
    # Imported here, because only calls with `--label` or a data set need it.
    from profile_analyze.cli.inputs.labels import LabelOptions

    labels = LabelOptions.of(arguments, data_sets)
    return labels if labels.names else None


def _explain(arguments: argparse.Namespace, query: Query) -> str | None:
    """Return the column to explain; None without `--explain`. Raises `QueryError`."""
    if arguments.explain is None:
        return None
    # Imported here, because only calls with `--explain` need it.
    from profile_analyze.cli.options.explain import column_to_explain

    return column_to_explain(arguments, query)


def _asked_side(arguments: argparse.Namespace) -> Side:
    return "host" if arguments.print_only == "host" else "device"


def _peaks(
    spec: str | None, files: Sequence[str]
) -> tuple[Peaks | None, Callable[[], Peaks] | None, Callable[[Profile], Peaks] | None]:
    """Return the peaks, and the functions of `Request` that find them later.

    Measuring takes seconds, so `measure_peaks` is called after all checks that need no profile. The
    device of the profile is known only after reading. Until then, the peaks are a placeholder.
    """
    if spec is None:
        return None, None, None
    # Imported here, because only calls with `--peaks` need the roofline.
    from profile_analyze.cli.inputs.peaks import check_that_value_is_not_split, find_peaks

    check_that_value_is_not_split(spec, files)
    peaks, measure, of_profile = find_peaks(spec)

    def measured() -> Peaks:
        assert measure is not None, "these peaks need no measuring"
        with status_line("measuring ", _MEASURING) as show:
            return measure(show)

    return peaks, measured if measure else None, of_profile


_MEASURING: Final = (
    "measuring the peaks takes up to 10 s for each number of threads that is tried; leave the "
    "machine idle"
)


def _columns(names: str | None, query: Query) -> tuple[str, ...]:
    """Return the columns that the tables show; empty for the default columns of the output format.

    If a column is named several times, perhaps by an alias, only its first position counts.

    Raises `QueryError` for a column that the answer to `query` does not have.
    """
    if names is None:
        return ()
    if (names,) == ALL_COLUMNS:
        return ALL_COLUMNS
    wanted = split_names(names)
    check_columns(wanted, query.kind)
    return tuple(dict.fromkeys(find_column(name, query.labels).name for name in wanted))


def _judge(arguments: argparse.Namespace, query: Query) -> Judge:
    """Return the function that judges the conditions of `--fail-if`. Raises `QueryError`."""
    if not arguments.fail_if:
        return lambda _query, _source: ()
    # Imported here, because only calls with `--fail-if` need the statistics.
    from profile_analyze.gate import conditions, judge

    parse = conditions.FailCondition.parse
    try:
        # A repeated condition counts once: p-values are corrected for the number of conditions.
        parsed = [parse(text, query) for text in dict.fromkeys(arguments.fail_if)]
    except QueryError as error:
        raise QueryError(f"argument --{error}") from None  # the message begins with `fail-if`
    strict = arguments.fail_uncertain == _NOT_RULED_OUT

    # The peaks of the query may be known only later, so the query is passed once more.
    def judged(query: Query, source: Profile | Comparison) -> tuple[FailVerdict, ...]:
        verdicts = judge.judge_conditions(parsed, query, source, strict=strict)
        return verdicts if arguments.fail_uncertain else tuple(map(_with_option, verdicts))

    return judged


def _with_option(verdict: FailVerdict) -> FailVerdict:
    """Return the verdict. If it is uncertain, its reason names the option that fails the call."""
    if verdict.outcome != "uncertain":
        return verdict
    option = "--fail-uncertain yes makes the exit status 4"
    return verdict._replace(reason=f"{verdict.reason}; {option}")


def _sides(arguments: argparse.Namespace) -> tuple[Side, ...]:
    """Return the sides that have a table, in the order of printing."""
    if arguments.print_only == "summary":
        return ()
    if arguments.print_only is not None:
        return (arguments.print_only,)
    return ("device", "host") if arguments.show_host else ("device",)
