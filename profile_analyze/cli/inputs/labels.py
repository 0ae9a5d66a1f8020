"""The options on labels: which files are read, and which of them are the baseline.

Data sets store labels, too: a call with `--export` and `--label` stores the labels of its files.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import QueryError
from profile_analyze.fleet import entry
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.labels import labels_of_processes, shared_labels, with_labels
from profile_analyze.model.natural_order import natural_sort_key
from profile_analyze.query.label_conditions import (
    is_about_label,
    meets_all,
    name_of,
    parse_label_conditions,
    runs_meeting,
)
from profile_analyze.query.question_fields import is_label_name, label_names
from profile_analyze.readers.input.content import display_name
from profile_analyze.readers.input.paths import absolute_path
from profile_analyze.readers.labels import Labels, LabelTable
from profile_analyze.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from profile_analyze.fleet.loading import LabelledFiles
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.conditions import Condition

_MOST_VALUES: Final = 5
"""The most values of a label that a message lists."""


class LabelOptions(NamedTuple):
    """The labels of files, and the conditions that choose files by label."""

    labels: Labels
    """The labels that `--label` gives."""
    data_sets: Mapping[str, Sequence[LabelledFiles]]
    """The files in each data set among the inputs, with the labels that it stores."""
    names: tuple[str, ...]
    """The names of all labels: first the names in `labels`, then the names in data sets."""
    chosen: tuple[Condition, ...]
    """The conditions of `--where` on labels. A file must meet all of them."""
    baseline: tuple[Condition, ...] = ()
    """With `--compare-label date=VALUE`, the condition that a file of the baseline meets."""
    candidate: tuple[Condition, ...] = ()
    """With `--compare-label date=VALUE`, the condition that a file of the candidate meets."""

    @classmethod
    def of(cls, arguments: argparse.Namespace, paths: Iterable[str]) -> LabelOptions:
        """Return the labels that the options and data sets give, and the conditions on them.

        `paths` are the data sets among the inputs. The labels that they store are used, too.

        Raises `QueryError` for wrong options, and `InputError` for a wrong table of labels.
        """
        data_sets = {name: entry.labelled_files(name, arguments.max_size) for name in paths}
        try:
            labels = Labels.of(arguments.label, arguments.max_size)
            names = label_names((*labels.names, *_stored_label_names(data_sets)))
        except QueryError as error:
            raise QueryError(f"argument --label: {str(error).removeprefix('labels: ')}") from None
        on_labels = [text for text in arguments.where if is_about_label(text, names)]
        try:
            chosen = parse_label_conditions(on_labels, names)
        except QueryError as error:
            raise QueryError(f"argument --where: {error}") from None
        if arguments.compare_label is None:
            return cls(labels, data_sets, names, chosen)
        name, _, value = arguments.compare_label.partition("=")
        if not names:
            raise QueryError(
                "--compare-label needs --label, because the data set has no labels: --label "
                "'nightly/{date}/*.json'"
            )
        if name not in names:
            raise QueryError(
                f"argument --compare-label: there is no label {name!r}; the labels are "
                f"{', '.join(names)}"
            )
        quote = '"' if "'" in value else "'"
        baseline, candidate = (
            parse_label_conditions([f"{name} {operator} {quote}{value}{quote}"], names)
            for operator in ("==", "!=")
        )
        return cls(labels, data_sets, names, chosen, baseline, candidate)

    def about_rows(self, conditions: Iterable[str]) -> list[str]:
        """Return the conditions of `--where` that are not about labels."""
        return [text for text in conditions if not is_about_label(text, self.names)]

    def choose(self, files: list[str]) -> list[str]:
        """Return the files that `--where` chooses. Raises `QueryError` if no file is left."""
        self._check_that_labels_fit(files)
        found = self._meeting(files, self.chosen)
        if not found:
            asked = _quoted(self.chosen)
            values = "; ".join(self._values_text(files, name_of(one)) for one in self.chosen)
            raise QueryError(f"argument --where: no file meets {asked}; {values}")
        return found

    def sides(self, files: list[str]) -> tuple[list[str], list[str]]:
        """Return the files of the candidate and of the baseline. Raises `QueryError`."""
        if not self.baseline:
            return files, []
        candidate, baseline = (
            self._meeting(files, conditions) for conditions in (self.candidate, self.baseline)
        )
        (condition,) = self.baseline
        name = name_of(condition)
        if not baseline:
            values = self._values_text(files, name)
            raise QueryError(
                f"argument --compare-label: no file has {name} {condition.value}; {values}"
            )
        if not candidate:
            raise QueryError(
                f"argument --compare-label: no file has another {name} than {condition.value}, so "
                "there is nothing to compare"
            )
        return candidate, baseline

    def _meeting(self, files: Iterable[str], conditions: tuple[Condition, ...]) -> list[str]:
        """Return the files that may meet all conditions, and the data sets with such files.

        A folder that is not a data set may be one input with many files. The labels of these files
        are known only after reading, so the folder is kept.
        """
        return [
            file
            for file in files
            if self._is_other_folder(file)
            or any(meets_all(labels, conditions) for _, labels in self._labels_in(file))
        ]

    def _labels_in(self, name: str) -> list[tuple[str, dict[str, str | None]]]:
        """Return each file that `name` stands for, with its labels. A label that is N/A is None.

        `name` is a file or a data set. The result is empty for any other folder.
        """
        if self._is_other_folder(name):
            return []
        if name not in self.data_sets:
            return [(name, self._labels_of_file(name, stored={}))]
        return [
            (file, self._labels_of_file(file, part.labels))
            for part in self.data_sets[name]
            for file in part.files
        ]

    def _is_other_folder(self, name: str) -> bool:
        return name not in self.data_sets and Path(name).is_dir()

    def _labels_of_file(self, file: str, stored: Mapping[str, str]) -> dict[str, str | None]:
        """Return each label of a file. `stored` has the labels that a data set gives the file."""
        return self._merged(self.labels.values_of(file), stored)

    def _merged(
        self, given: Mapping[str, str | None], stored: Mapping[str, str]
    ) -> dict[str, str | None]:
        """Return each label: the value from `--label`, or else the value from a data set."""
        return {name: given.get(name) or stored.get(name) for name in self.names}

    def _conditions_of_side(self, *, is_baseline: bool) -> tuple[Condition, ...]:
        """Return the conditions that a file of one side must meet."""
        return (*self.chosen, *(self.baseline if is_baseline else self.candidate))

    def _values_text(self, files: Iterable[str], name: str) -> str:
        """Return a sentence part with the values that a label has in `files`."""
        return _listed_values(
            name, (one[name] for file in files for _, one in self._labels_in(file))
        )

    def _check_that_labels_fit(self, files: Sequence[str]) -> None:
        """Raise `QueryError` if no file has a label: the pattern or the table is probably wrong."""
        # The files in a folder are not known yet.
        if not self.labels.sources or any(Path(file).is_dir() for file in files):
            return
        if any(
            value is not None for file in files for value in self.labels.values_of(file).values()
        ):
            return
        source = self.labels.sources[0]
        path = absolute_path(files[0])
        if isinstance(source, LabelTable):
            reason = f"{source.text} names none of {counted(len(files), 'file')}, such as {path}"
            advice = "its file names are relative to the current folder"
        else:
            reason = f"{source.text!r} fits none of {counted(len(files), 'file')}, such as {path}"
            advice = "write a pattern for the end of this path"
        raise QueryError(f"argument --label: {reason}; {advice}")

    def left_out_notes(self, named: Iterable[str]) -> Iterator[Note]:
        """Yield a note if `--where` chooses only some of the `named` files."""
        labels = [one for name in named for _, one in self._labels_in(name)]
        read = sum(meets_all(one, self.chosen) for one in labels)
        if read < len(labels):
            conditions = _quoted(self.chosen)
            yield Finding.of(
                "files-by-label", Kind.CONTEXT, read=read, files=len(labels), conditions=conditions
            )

    def on_neither_side_notes(self, chosen: Iterable[str]) -> Iterator[Note]:
        """Yield a note if some of the chosen files are on neither side of a comparison."""
        label = name_of(self.baseline[0])
        left_out = [
            display_name(file)
            for name in chosen
            for file, one in self._labels_in(name)
            if one[label] is None and meets_all(one, self.chosen)
        ]
        if left_out:
            first, files = left_out[0], len(left_out)
            yield Finding.of(
                "on-neither-side", Kind.INCOMPLETE, files=files, label=label, first=first
            )

    def keeps(self, part: LabelledFiles, *, is_baseline: bool) -> bool:
        """Return whether the files in a part of a data set are read, for one side.

        Raises `QueryError` if only some of them meet the conditions.
        """
        conditions = self._conditions_of_side(is_baseline=is_baseline)
        outcomes = {
            file: meets_all(self._labels_of_file(file, part.labels), conditions)
            for file in part.files
        }
        if len({*outcomes.values()}) > 1:
            left_out = next(file for file, is_met in outcomes.items() if not is_met)
            kept = next(file for file, is_met in outcomes.items() if is_met)
            raise QueryError(
                f"a data set can be divided only by the labels that its files had when they were "
                f"exported: {kept} meets {_quoted(conditions)} and {left_out} does not, but both "
                "are in one part; export the files to a new data set with --label"
            )
        return all(outcomes.values())

    def labelled(self, profile: Profile, files: Sequence[str], *, is_baseline: bool) -> Profile:
        """Return the profile of `files` with their labels, and with only the chosen runs.

        Raises `QueryError` if no run is left.
        """
        given = self._given_labels(profile, files)
        stored = labels_of_processes(profile) or ({},) * len(given)
        labels = [self._merged(one, own) for one, own in zip(given, stored, strict=True)]
        labelled = with_labels(
            profile, {name: [one[name] for one in labels] for name in self.names}
        )
        conditions = self._conditions_of_side(is_baseline=is_baseline)
        chosen = runs_meeting(labelled, conditions)
        missing = _missing_label_notes(profile.processes, labels, self.names)
        return chosen.changed(notes=(*chosen.notes, *missing))

    def _given_labels(
        self, profile: Profile, files: Sequence[str]
    ) -> Sequence[Mapping[str, str | None]]:
        """Return the labels that `--label` gives each process. `profile` was read from `files`."""
        files_of: dict[str, list[str]] = {}
        for file in files:
            files_of.setdefault(display_name(file), []).append(file)
        first = profile.processes[0]
        if len(profile.processes) == 1 < len(files) and first not in files_of:
            # These files are the ranks of one job. The job has the labels that all of them share.
            return [self._shared_labels(files)]
        # URLs are shown without their queries, so several files may have the same name. Processes
        # are in the order of the files. If a file of such a name was left out, nobody knows which.
        counts = Counter(profile.processes)
        in_order = {
            name: iter(named) for name, named in files_of.items() if len(named) == counts[name]
        }
        return [
            self.labels.values_of(next(in_order[process]))
            if process in in_order
            else self._shared_labels(files_of.get(process, [process]))
            for process in profile.processes
        ]

    def _shared_labels(self, files: Iterable[str]) -> Mapping[str, str]:
        """Return the labels of `--label` that have the same value for all of the files."""
        return shared_labels([self.labels.values_of(file) for file in files])

    def exported(self, files: list[str]) -> tuple[dict[str, dict[str, str]], tuple[Note, ...]]:
        """Return the labels of each file to export, and notes on missing labels.

        Raises `QueryError` if no file has a label.
        """
        self._check_that_labels_fit(files)
        labels = [self.labels.values_of(file) for file in files]
        known = {
            file: {name: value for name, value in one.items() if value is not None}
            for file, one in zip(files, labels, strict=True)
        }
        shown = [display_name(file) for file in files]
        return known, tuple(_missing_label_notes(shown, labels, self.labels.names))


def _stored_label_names(data_sets: Mapping[str, Sequence[LabelledFiles]]) -> list[str]:
    """Return the names of the labels in data sets.

    A label is left out if a column has the same name, because a question could mean either.
    """
    parts = chain.from_iterable(data_sets.values())
    names_in_parts = dict.fromkeys(name for part in parts for name in part.labels)
    return [name for name in names_in_parts if is_label_name(name)]


def _quoted(conditions: Iterable[Condition]) -> str:
    """Return conditions as the user wrote them: `'date >= 2026-11-01' and 'host == a'`."""
    return " and ".join(f"'{one.text}'" for one in conditions)


def _listed_values(label: str, values: Iterable[str | None]) -> str:
    """Return a sentence part with the values of a label: `the values of date are ...`."""
    known = {value for value in values if value is not None}
    if not known:
        return f"no file has the label {label}"
    listed = sorted(known, key=natural_sort_key)
    more = len(listed) - _MOST_VALUES
    last = f" and {more} more" if more > 0 else ""
    return f"the values of {label} are {', '.join(listed[:_MOST_VALUES])}{last}"


def _missing_label_notes(
    files: Sequence[str], labels: Sequence[Mapping[str, str | None]], names: Iterable[str]
) -> Iterator[Note]:
    """Yield notes on the files that lack some of the labels `names`.

    `labels` are the labels of each file. Labels that the same files lack share a note.
    """
    names_of: dict[tuple[int, ...], list[str]] = {}
    for name in names:
        missing = tuple(index for index, one in enumerate(labels) if one[name] is None)
        if missing:
            names_of.setdefault(missing, []).append(name)
    for missing, lacking in names_of.items():
        yield Finding.of(
            *("missing-labels", Kind.INCOMPLETE),
            labels=lacking, missing=len(missing), files=len(files), first=files[missing[0]],
        )  # fmt: skip
