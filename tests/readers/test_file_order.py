"""The order of the files changes no digit of any number."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import run_command
from tests.small import Operator, document

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = {
    "mean": ("--run-stat", "mean"),
    "groups": ("--run-stat", "mean", "--aggregate-by", "type"),
    "all": ("--run-stat", "mean", "--columns", "name,time,share,spread,time_max,flops"),
    "aggregates": ("--aggregate-by", "type", "--aggregate", "mean,std,p90"),
    "roofline": ("--peaks", "1G:1G", "--aggregate-by", "type", "--show-host", "--copy-time"),
    "runs": ("--aggregate-by", "run", "--columns", "time,count,share"),
    "drift": ("--correct-drift",),
    "gate": ("--fail-if", "total > 1us"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Runs of two models that share most operators."""
    random, folder = Random(1), tmp_path_factory.mktemp("runs")
    return [_written(folder / f"{number}.json", number, random) for number in range(7)]


def _written(path: Path, number: int, random: Random) -> str:
    indices = [index for index in range(44) if number % 2 or index > 3]
    operators = [
        Operator(
            f"op{index}",
            "ABC"[index % 3],
            random.uniform(0.1, 1000),
            shape=[2, 3],
            work=(index * 7919 + 3, index * 104729 + 7),
        )
        for index in indices
    ]
    path.write_text(json.dumps(document(operators)))
    return str(path)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_order_of_files_changes_no_digit(files: list[str], question: str) -> None:
    answers = []
    for seed in range(4):
        shuffled = Random(seed).sample(files, len(files)) if seed else files
        outcome = run_command(*shuffled, "--format=json", "-t0", *QUESTIONS[question])
        assert outcome.code in (0, 3)
        answers.append(_numbers(json.loads(outcome.out)))
    assert all(answer == answers[0] for answer in answers)


def _numbers(answer: dict[str, Any]) -> Any:
    """Return the numbers of an answer. The rows are in no order, because files decide about ties."""
    tables = []
    for table in answer["tables"]:
        names = [column["name"] for column in table["columns"]]
        kept = [index for index, name in enumerate(names) if name not in ("id", "key", "run")]
        tables.append(sorted(json.dumps([row[index] for index in kept]) for row in table["rows"]))
    return tables, answer["summary"], answer["gate"]
