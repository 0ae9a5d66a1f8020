"""The options on labels: which files are read, and which of them are the baseline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import QueryError
from profile_analyze.model.labels import with_labels
from profile_analyze.model.natural_order import natural_sort_key
from profile_analyze.model.notes import Importance, Note
from profile_analyze.query.label_conditions import (
    is_about_label,
    meets_all,
    name_of,
    parse_label_conditions,
    runs_with_labels,
)
from profile_analyze.query.question_fields import label_names
from profile_analyze.readers.content import display_name
from profile_analyze.readers.labels import Labels, LabelTable
from profile_analyze.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.conditions import Condition

_MOST_VALUES: Final = 5
"""The most values of a label that a message lists."""


class LabelOptions(NamedTuple):
    """The labels of files, and the conditions that choose files by label."""

    labels: Labels
    chosen: tuple[Condition, ...]
    """The conditions of `--where` on labels. A file must meet all of them."""
    baseline: tuple[Condition, ...] = ()
    """With `--compare-label date=VALUE`, the condition that a file of the baseline meets."""
    candidate: tuple[Condition, ...] = ()
    """With `--compare-label date=VALUE`, the condition that all other files meet."""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> LabelOptions:
        """Return what the options say, and take the conditions on labels out of `--where`.

        Raises `QueryError` for wrong options, and `InputError` for a wrong table of labels.
        """
        try:
            labels = Labels.of(arguments.label, arguments.max_size)
            names = label_names(labels.names)
        except QueryError as error:
            raise QueryError(f"argument --label: {str(error).removeprefix('labels: ')}") from None
        on_labels = [text for text in arguments.where if is_about_label(text, names)]
        arguments.where = [text for text in arguments.where if text not in on_labels]
        try:
            chosen = parse_label_conditions(on_labels, names)
        except QueryError as error:
            raise QueryError(f"argument --where: {error}") from None
        if arguments.compare_label is None:
            return cls(labels, chosen)
        name, _, value = arguments.compare_label.partition("=")
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
        return cls(labels, chosen, baseline, candidate)

    def choose(self, files: list[str]) -> list[str]:
        """Return the files that `--where` chooses. Raises `QueryError` if no file is left."""
        self._check_that_labels_fit(files)
        found = self._meeting(files, self.chosen)
        if not found:
            asked = " and ".join(f"'{one.text}'" for one in self.chosen)
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
        """Return the files that may meet all conditions.

        A folder that is read as one input has the labels of the files in it. These are known only
        after reading, so the folder is kept.
        """
        return [
            file
            for file in files
            if Path(file).is_dir() or meets_all(self.labels.values_of(file), conditions)
        ]

    def _values_text(self, files: Iterable[str], name: str) -> str:
        """Return a sentence part with the values of a label: `the values of date are ...`."""
        values = {self.labels.values_of(file)[name] for file in files} - {None}
        listed = sorted((value for value in values if value is not None), key=natural_sort_key)
        if not listed:
            return f"no file has the label {name}"
        more = len(listed) - _MOST_VALUES
        last = f" and {more} more" if more > 0 else ""
        return f"the values of {name} are {', '.join(listed[:_MOST_VALUES])}{last}"

    def _check_that_labels_fit(self, files: Sequence[str]) -> None:
        """Raise `QueryError` if no file has a label: the pattern or the table is probably wrong."""
        if any(Path(file).is_dir() for file in files):  # the files in it are not known yet
            return
        if any(
            value is not None for file in files for value in self.labels.values_of(file).values()
        ):
            return
        source = self.labels.sources[0]
        path = os.path.abspath(files[0])  # noqa: PTH100  # `Path.resolve` follows links
        if isinstance(source, LabelTable):
            reason = f"{source.text} names none of {counted(len(files), 'file')}, such as {path}"
            advice = "names in it are relative to the current folder"
        else:
            reason = f"{source.text!r} fits none of {counted(len(files), 'file')}, such as {path}"
            advice = "write a pattern for the end of this path"
        raise QueryError(f"argument --label: {reason}; {advice}")

    def left_out_notes(self, read: int, named: int) -> Iterator[Note]:
        """Yield a note if `--where` chooses only `read` of the `named` files."""
        if read < named:
            conditions = " and ".join(f"'{one.text}'" for one in self.chosen)
            yield Note(
                f"read {read} of {counted(named, 'file')}: those that meet {conditions}",
                Importance.CONTEXT,
            )

    def on_neither_side_notes(self, chosen: Sequence[str], used: Sequence[str]) -> Iterator[Note]:
        """Yield a note if some of the chosen files are on neither side of a comparison."""
        known = frozenset(used)
        left_out = [file for file in chosen if file not in known]
        if left_out:
            yield Note(
                f"left out {counted(len(left_out), 'file')} without the label "
                f"{name_of(self.baseline[0])}, such as {left_out[0]}",
                Importance.INCOMPLETE,
            )

    def labelled(self, profile: Profile, files: Sequence[str], *, is_baseline: bool) -> Profile:
        """Return the profile of `files` with their labels, and with only the chosen runs.

        Raises `QueryError` if no run is left.
        """
        file_of = {display_name(file): file for file in files}
        first = profile.processes[0]
        if len(profile.processes) == 1 < len(files) and first not in file_of:
            # The ranks of one job: the job has the labels that all of its files share.
            of_files = [self.labels.values_of(file) for file in files]
            of_processes = [_shared_values(of_files)]
        else:
            of_processes = [
                self.labels.values_of(file_of.get(process, process))
                for process in profile.processes
            ]
        labelled = with_labels(
            profile, {name: [one[name] for one in of_processes] for name in self.labels.names}
        )
        of_side = self.baseline if is_baseline else self.candidate
        chosen = runs_with_labels(labelled, [one.text for one in (*self.chosen, *of_side)])
        return chosen.changed(notes=(*chosen.notes, *_missing_label_notes(chosen)))


def _shared_values(of_files: Sequence[dict[str, str | None]]) -> dict[str, str | None]:
    """Return the labels that are equal for all files, and None for all other labels."""
    return {
        name: value if all(one[name] == value for one in of_files) else None
        for name, value in of_files[0].items()
    }


def _missing_label_notes(profile: Profile) -> Iterator[Note]:
    """Yield a note for the files that lack labels. Labels that the same files lack share a note."""
    names_of: dict[tuple[int, ...], list[str]] = {}
    for name, values in profile.labels.items():
        missing = tuple(index for index, code in enumerate(values.codes.tolist()) if code < 0)
        if missing:
            names_of.setdefault(missing, []).append(name)
    for missing, names in names_of.items():
        noun = "label" if len(names) == 1 else "labels"
        yield Note(
            f"without the {noun} {' and '.join(names)}: {len(missing)} of "
            f"{counted(len(profile.processes), 'file')}, such as {profile.processes[missing[0]]}",
            Importance.INCOMPLETE,
        )
