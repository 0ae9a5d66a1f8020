"""Finds the inputs of a call: the files that the arguments name, and the data sets among them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.options.values import DEVICE_FILE, LOCAL
from profile_analyze.errors import InputError, QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.companions import companions_among
from profile_analyze.readers.input.content import display_name
from profile_analyze.readers.input.paths import LIST, Inputs, inputs_in, without_repeats
from profile_analyze.readers.input.suffixes import is_label_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

    from profile_analyze.errors import ProfileAnalyzeError
    from profile_analyze.model.notes import Note


class Sources(NamedTuple):
    """The files to read."""

    named: tuple[str, ...]
    """The profiles as the user named them, but with file names in place of patterns."""
    named_baseline: tuple[str, ...]
    """The names of the baseline, as in `named`."""
    files: list[str]
    baseline: list[str]
    data_sets: list[str]
    """The data sets among `files` and `baseline`."""
    models: list[str]
    """The file that `--model` names; empty without `--model`."""
    others: list[str]
    """The other files to read: lists of files (`@FILE`), the tables of `--label`, and the TOML file
    of `--peaks`."""
    error: ProfileAnalyzeError | None
    """The first error about files that cannot be found or read; None without such an error. Wrong
    options are reported first, so `answer` raises this error."""
    left_out: list[str]
    """Files in named folders that the folders do not stand for, because of their suffixes."""
    listed: list[tuple[str, str]]
    """Each name in a list, with the name of the list."""
    notes: tuple[Note, ...] = ()
    """Notes on the choice of the files."""

    @property
    def all(self) -> list[str]:
        """All profiles and models."""
        return [*self.files, *self.baseline, *self.models]

    @property
    def not_to_replace(self) -> list[str]:
        """All files that the call names as inputs. No output may replace them."""
        return [*self.all, *self.others]


def find_sources(arguments: argparse.Namespace) -> Sources:
    """Return the files to read: the named files, and the files in named folders and lists.

    Each name is looked up once, because asking a remote store takes time, and a pipe can be read
    only once.
    """
    errors: list[ProfileAnalyzeError] = []
    profiles, baseline = (
        _found(names, arguments.max_size, errors) for names in (arguments.files, arguments.compare)
    )
    models = arguments.model[:1]
    companions = [companions_among(side.files) for side in (profiles, baseline)]
    (files, repeats), (base_files, base_repeats) = (
        without_repeats(
            _without_models([file for file in side.files if file not in unneeded], models)
        )
        for side, unneeded in zip((profiles, baseline), companions, strict=True)
    )
    read = [*files, *base_files, *models]
    if read.count("-") > 1:
        errors.append(InputError("standard input", "is named twice; it can be read once"))
    if "-" in read and arguments.engine != LOCAL:
        errors.append(
            QueryError(
                "argument --engine: the workers of Dask cannot read standard input; save it to a "
                "file, or leave --engine out"
            )
        )
    return Sources(
        named=tuple(profiles.names),
        named_baseline=tuple(baseline.names),
        files=files,
        baseline=base_files,
        data_sets=[*profiles.data_sets, *baseline.data_sets],
        models=models,
        others=_other_files(arguments, (*profiles.names, *baseline.names)),
        error=next(iter(errors), None),
        left_out=[*profiles.left_out, *baseline.left_out],
        listed=[*profiles.listed, *baseline.listed],
        notes=(
            *(_note_on_companions(one) for one in companions if one),
            *(_note_on_repeats(one) for one in (repeats, base_repeats) if one),
        ),
    )


def _other_files(arguments: argparse.Namespace, named: Iterable[str]) -> list[str]:
    """Return `Sources.others`. `named` are the inputs as the user named them."""
    lists = [name.removeprefix(LIST) for name in named if name.startswith(LIST)]
    tables = filter(is_label_table, arguments.label)
    devices = DEVICE_FILE.fullmatch(arguments.peaks or "")
    return [*lists, *tables] if devices is None else [*lists, *tables, devices["file"]]


def _found(names: Iterable[str], max_size: int, errors: list[ProfileAnalyzeError]) -> Inputs:
    """Return the inputs that `names` stand for. Add the error of each wrong name to `errors`."""
    found = (_inputs_or_none(name, max_size, errors) for name in names)
    return Inputs.joined(filter(None, found))


def _without_models(files: list[str], models: list[str]) -> list[str]:
    """Return the files without the file of `--model`, which a folder or a pattern may stand for.

    If no other file would remain, return all files: reading them then reports the error.
    """
    paths = real_paths(models)
    others = [one for one in files if real_path(one) not in paths] if paths else []
    return others or files


def real_paths(files: list[str]) -> set[str]:
    """Return the real paths of the files that are not standard input."""
    return {real_path(one) for one in files if one != "-"}


def real_path(file: str) -> str:
    """Return the real path of a file, or `file` if no file can have this name."""
    try:
        return os.path.realpath(file)
    except ValueError:  # a lone surrogate, or a NUL
        return file


def _inputs_or_none(name: str, max_size: int, errors: list[ProfileAnalyzeError]) -> Inputs | None:
    try:
        return inputs_in([name], max_size=max_size)
    except InputError as error:
        errors.append(error)
        return None


def _note_on_repeats(repeats: Mapping[str, str]) -> Note:
    """Return the note on further names of files, which maps each to the name that is read."""
    name, file = (display_name(one) for one in next(iter(repeats.items())))
    return Finding.of("repeated-names", Kind.ANSWER, name=name, file=file, names=len(repeats))


def _note_on_companions(companions: Mapping[str, str]) -> Note:
    """Return the note on files that are not read, because they belong to a named profile.

    `companions` maps each of these files to its profile. For example, the pattern `trt/*.json` also
    matches the description of a TensorRT engine.
    """
    file, profile = (display_name(one) for one in next(iter(companions.items())))
    return Finding.of(
        "files-of-profiles", Kind.CONTEXT, file=file, profile=profile, files=len(companions)
    )
