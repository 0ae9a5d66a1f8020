"""What a call reads: the files, which part of them, and what is added to them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.inputs.cache_folder import cache_folder
from profile_analyze.cli.inputs.files import find_sources, real_path, real_paths
from profile_analyze.cli.inputs.part import Part
from profile_analyze.errors import QueryError
from profile_analyze.readers.input.companions import descriptions_of
from profile_analyze.readers.input.suffixes import MODEL_SUFFIX, SUFFIXES
from profile_analyze.readers.model_inputs import NO_INPUTS, ModelInputs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.inputs.labels import LabelOptions


class Reading(NamedTuple):
    """What to read. Every check that needs no profile has been made."""

    sources: Sources
    """The files that were found, before the options on labels choose among them."""
    labels: LabelOptions | None
    """The labels of the files, and the conditions on labels; None without any label."""
    max_size: int
    """The largest decompressed size that a file may have, in bytes."""
    cache: str | None
    """The folder that keeps the decoded profiles of large files; None if none are kept."""
    engine: str
    """What reads several files: `local`, `dask` or `dask:ADDRESS`."""
    skip_bad: bool
    skip_runs: int
    part: Part
    """The part of the profile to analyse."""
    inputs: ModelInputs
    """The sizes of a model's inputs, and the tile of `--split-matmul`."""
    model: str | None
    """The file of the model that ran when the profile was recorded (`--model`)."""
    work: str | None
    """The source of computation and memory: see `choose_work`. None if the profile decides."""
    match: str
    """What operators must have in common to be compared."""
    correct_drift: bool

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Reading:
        """Return what the arguments name. The files themselves are not read, only looked up.

        Raises `QueryError` if options contradict each other, and `InputError` if a table of labels
        or a data set is wrong.
        """
        _check_model(arguments)
        _check_baseline(arguments)
        part, cache = Part.of(arguments), cache_folder(arguments)
        sources = find_sources(arguments)
        return cls(
            sources=sources,
            labels=_labels(arguments, sources.data_sets),
            max_size=arguments.max_size,
            cache=cache,
            engine=arguments.engine,
            skip_bad=arguments.skip_bad,
            skip_runs=arguments.skip_runs,
            part=part,
            inputs=ModelInputs.of(arguments.input_shape, arguments.dim, arguments.split_matmul),
            model=arguments.model[0] if arguments.model else None,
            work=arguments.work,
            match=arguments.match,
            correct_drift=arguments.correct_drift,
        )

    def inputs_of_profiles(self, sides: int = 1) -> ModelInputs:
        """Return the input sizes that apply to FILE and to the files of `--compare`.

        With `--model`, the sizes belong to its file, so none apply. In a comparison of models,
        which has two sides, it is not an error if one model lacks an input that the other model
        has.
        """
        if self.model is not None or self.inputs == NO_INPUTS:
            return NO_INPUTS
        return self.inputs._replace(may_lack=sides > 1)


def compares(arguments: argparse.Namespace) -> bool:
    """Return whether the options name a baseline."""
    return bool(arguments.compare or arguments.compare_label)


def _check_model(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if `--model` does not name one file other than the profiles."""
    models = arguments.model
    if len(models) > 1:
        raise QueryError(f"--model names {len(models)} models; name the one that ran")
    model_paths = real_paths(models)
    surplus = [one for one in arguments.files[1:] if one.endswith(MODEL_SUFFIX)]
    surplus = [one for one in surplus if real_path(one) not in model_paths]
    if models and surplus:
        raise QueryError(
            f"--model takes one model, so {surplus[0]} counts as a profile; name the model that ran"
        )
    # Beside other files, the model is left out: a pattern may stand for it, too.
    sides = ({*map(real_path, side)} for side in (arguments.files, arguments.compare))
    if model_paths and model_paths in sides:
        # The suffix chooses the advice, because no file has been read yet.
        own = descriptions_of(os.path.basename(models[0]))  # noqa: PTH119  # may be a URL
        example = own[0] if own else "model.onnx"
        advice = (
            f"this file is a profile, and --model needs the model that ran, such as {example}"
            if models[0].endswith(SUFFIXES)
            else "name a profile of its run, or leave --model out"
        )
        raise QueryError(f"{models[0]}: is named as a profile and as its --model; {advice}")


def _check_baseline(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if two options name the baseline, or `--match` is given without one."""
    if arguments.match != "auto" and not compares(arguments):
        raise QueryError("--match needs --compare, which names what to compare with")
    if arguments.compare_label is not None and arguments.compare:
        raise QueryError(
            "--compare and --compare-label both name the baseline; leave one of them out"
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
