"""`--inspect`: all that is known about one operator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.model.measures import MEASURES
from profile_analyze.report.layout.text_layout import text_width
from profile_analyze.report.pages.inspection import inspection_report
from profile_analyze.views.inspection import inspect
from tests.conftest import FIXTURES, FORMATS_FOR_PEOPLE, PROFILES, run_command, without_version
from tests.in_memory import STREAM, THREAD, averages, nested, profile_of, static
from tests.report.json_schema import check_report

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

RESNET = str(PROFILES / "resnet18.json")
MS = 1e-3


def shown(profile: Profile, key: str, output_format: str = "plain", **display: Any) -> str:
    return pa.render(inspection_report(profile, key), output_format, display=pa.Display(**display))


def test_an_operator_has_its_facts_stack_and_kernels() -> None:
    assert (
        shown(nested(), "addmm")
        == """\
name                    addmm
key                     2
type                    addmm
level                   operator
scope                   net
computation of a call   8.00 MFLO (measured)
memory of a call        2.93 KiB (measured)
executions              1
tracks                  thread 1
host time               3.000 ms
own host time           3.000 ms
device time             3.000 ms
own share of host time  25.0%

stack, outermost first:

name    key  level     time (ms)
net     0    module       12.000
linear  1    operator      5.000

parents: what contained or launched the operator:

name    key  level     calls  time (ms)
linear  1    operator      1      3.000

children: what ran inside:

name    key  level    calls  time (ms)  share
launch  4    runtime      1      1.000  33.3%

kernels that the operator launched:

kernel  key  launched by     calls  time (ms)  queue (ms)
gemm    5    addmm > launch      1      3.000           0
"""
    )


def test_one_execution_has_its_neighbours() -> None:
    profile = profile_of(
        [{"name": "a|b", "type": "A"}, {"name": "b"}],
        [
            {"operator": 0, "start_s": 3 * MS, "duration_s": 2 * MS},
            {"operator": 1, "start_s": 2 * MS, "duration_s": 0.5 * MS},
            {"operator": 0, "start_s": 1 * MS, "duration_s": 0.25 * MS},
            {"operator": 1, "start_s": 6 * MS, "duration_s": 1 * MS, "run": 1},
        ],
        runs=(Run(0, 7), Run(0, 8)),
    )
    assert (
        without_version(shown(profile, "0@2", "markdown"))
        == """\
## `made.json`

profile_analyze VERSION

| total                    |                            value |
|:-------------------------|---------------------------------:|
| name                     |                           `a\\|b` |
| key                      |                                0 |
| type                     |                                A |
| level                    |                         operator |
| execution                |                                2 |
| start                    |                         2.000 ms |
| step                     |                                7 |
| tracks                   |                         stream 7 |
| device time              |                         2.000 ms |
| own device time          |                         2.000 ms |
| own share of device time | 53.3% (of the sum over all runs) |

neighbours on the same track:

| side   | name   | key   | level    |   calls |   gap (ms) |
|:-------|:-------|:------|:---------|--------:|-----------:|
| before | b      | 1     | operator |       1 |      0.500 |
| after  | b      | 1     | operator |       1 |      1.000 |
"""
    )
    found = inspect(profile, "0")
    assert [one.name for one in found.listings] == ["neighbours", "executions"]
    names = ("number", "start", "time", "track", "step")
    assert found.listings[1].rows == [
        dict(zip(names, (2, pytest.approx(2 * MS), 2 * MS, "stream 7", 7), strict=True)),
        dict(zip(names, (1, 0.0, 0.25 * MS, "stream 7", 7), strict=True)),
    ]
    assert found.statistics_s() == pytest.approx(
        {
            "time_s": 2.25 * MS, "own_time_s": 2.25 * MS, "time_min_s": 0.25 * MS,
            "time_median_s": 1.125 * MS, "time_p90_s": 1.825 * MS, "time_max_s": 2 * MS,
            "share": 0.6,
        }
    )  # fmt: skip


def test_json_has_the_same_facts_and_lists() -> None:
    text = shown(nested(), "relu_kernel", "json")
    document = json.loads(text)
    check_report(document)
    assert (document["summary"], document["tables"]) == (None, [])
    assert document["inspection"] == {
        "name": "relu_kernel", "key": "6", "type": "relu_kernel", "level": "kernel",
        "execution_count": 1, "tracks": ["stream 7"], "time_s": 1 * MS, "own_time_s": 1 * MS,
        "share": 0.25,
        "stack": [
            {"name": "net", "key": "0", "level": "module", "time_s": 12 * MS},
            {"name": "relu", "key": "3", "level": "operator", "time_s": 2 * MS},
            {"name": "launch", "key": "4", "level": "runtime", "time_s": 0.5 * MS},
        ],
        "parents": [
            {"name": "launch", "key": "4", "level": "runtime", "calls": 1, "time_s": 1 * MS}
        ],
        "neighbours": [
            {
                "side": "before", "name": "gemm", "key": "5", "level": "kernel", "calls": 1,
                "gap_s": pytest.approx(2 * MS),
            }
        ],
    }  # fmt: skip


def test_json_has_the_number_of_executions_beside_their_list() -> None:
    profile = profile_of(
        [{"name": "a"}], [{"operator": 0, "start_s": n, "duration_s": 0.5} for n in range(7)]
    )
    inspection = json.loads(shown(profile, "a", "json"))["inspection"]
    assert inspection["execution_count"] == 7
    assert [one["number"] for one in inspection["executions"]] == [1, 2, 3, 4, 5]


def test_profiles_without_executions_or_start_times_show_their_other_facts() -> None:
    assert (
        shown(static(), "conv2")
        == """\
name                   conv2
key                    conv2
type                   Conv
level                  operator
computation of a call  1.00 GFLO (measured)
memory of a call       1.91 MiB (measured)
executions             0
"""
    )
    assert (
        shown(averages(), "fc", time_unit="us")
        == """\
name                      fc
key                       1
type                      Gemm
category                  matmul
level                     operator
executions                1
tracks                    stream 7
device time               500.000 us
own device time           500.000 us
own share of device time  28.6%
"""
    )


def test_each_time_has_its_side_and_the_times_of_a_run_are_those_of_tables() -> None:
    # In each run, `op` launches two kernels, and `inner`, which runs inside it, one of them.
    executions: list[dict[str, Any]] = []
    for run, times in enumerate(((6.0, 2.0, 1.0), (8.0, 3.0, 4.0), (8.0, 3.0, 2.0))):
        op_s, inner_s, kernel_s = (MS * time for time in times)
        first, start_s = len(executions), 0.1 * run
        for operator, parent, launched_by, duration_s in (
            (0, -1, -1, op_s),
            (1, first, -1, inner_s),
            (2, -1, first, kernel_s),
            (2, -1, first + 1, kernel_s / 2),
        ):
            executions.append(
                {
                    "operator": operator, "run": run, "track": int(operator == 2),
                    "parent": parent, "launched_by": launched_by, "start_s": start_s,
                    "duration_s": duration_s,
                }
            )  # fmt: skip
    operators = [{"name": "op"}, {"name": "inner"}, {"name": "kernel", "level": "kernel"}]
    profile = profile_of(operators, executions, tracks=(THREAD, STREAM), runs=[Run()] * 3)
    facts = shown(profile, "op").split("\n\n")[0].splitlines()[3:]
    assert facts == [
        "executions                 3",
        "tracks                     thread 1",
        "host time                  22.000 ms (sum of 3 executions)",
        "own host time              14.000 ms (sum of 3 executions)",
        "host time, min             6.000 ms (of 3 executions)",
        "host time, median          8.000 ms (of 3 executions)",
        "host time, p90             8.000 ms (of 3 executions)",
        "host time, max             8.000 ms (of 3 executions)",
        "device time                10.500 ms (sum of 3 executions)",
        "own share of host time     63.6% (of the sum over all runs)",
        "host self time of a run    5.000 ms (median of 3 runs)",
        "device self time of a run  2.000 ms (median of 3 runs)",
    ]
    for key, measures in {"op": ("time", "host_time"), "kernel": ("time",)}.items():
        of_run = inspect(profile, key).times_in_runs_s()
        assert len(of_run) == len(measures)
        for name in measures:
            query = pa.Query(measure=name, name=key, level="kernel" if key == "kernel" else None)
            medians = [np.median(of_run[MEASURES[name]])]
            assert pa.run(query, profile)["time"].tolist() == pytest.approx(medians)
    assert inspect(profile, "op@2").times_in_runs_s() == {}


def test_driver_calls_have_no_times_of_a_run() -> None:
    call = {"operator": 0, "duration_s": 1.0, "track": 0}
    profile = profile_of(
        [{"name": "launch", "level": "runtime"}],
        [call, {**call, "run": 1}],
        tracks=(THREAD,),
        runs=[Run()] * 2,
    )
    assert inspect(profile, "launch").times_in_runs_s() == {}


def test_an_execution_without_a_start_has_no_neighbours() -> None:
    found = inspect(averages(), "fc@1")
    assert (found.number, str(found.start_s), found.listings) == (1, "nan", ())


def test_times_of_the_host_and_the_device_are_separate() -> None:
    found = inspect(pa.load(RESNET), "324")
    assert len(found.rows) == 1
    times = found.statistics_s()
    assert times["time_s"] > 100 * times["host_time_s"] > 0
    assert times["share"] == pytest.approx(0.0846, abs=1e-4)
    # The profile does not say which execution on the host belongs to this one on the device.
    assert "host_time_s" not in inspect(pa.load(RESNET), "324@1").statistics_s()


def test_the_share_of_driver_calls_is_of_the_time_of_all_executions() -> None:
    outer = {"operator": 0, "start_s": 0.0, "duration_s": 8.0, "track": 0}
    inner = {"operator": 1, "start_s": 1.0, "duration_s": 4.0, "track": 0, "parent": 0}
    profile = profile_of(
        [{"name": "op"}, {"name": "inner"}, {"name": "launch", "level": "runtime"}],
        [
            outer,
            inner,
            {"operator": 2, "start_s": 2.0, "duration_s": 1.0, "track": 0, "parent": 1},
            {"operator": 2, "start_s": 9.0, "duration_s": 2.0, "track": 0},
        ],
        tracks=(THREAD,),
    )
    # The thread works for 10 s: 8 s in the operators, and 2 s in the call outside of them.
    shares = [inspect(profile, name).statistics_s()["share"] for name in ("op", "inner", "launch")]
    assert shares == [0.4, 0.4, 0.3]


def test_the_title_of_neighbours_says_how_many_more_there_are() -> None:
    # Seven operators run before x, and six after it.
    order = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0]
    profile = profile_of(
        [{"name": "x"}, *({"name": f"other{n}"} for n in range(1, 8))],
        [{"operator": one, "start_s": n * MS, "duration_s": MS} for n, one in enumerate(order)],
    )
    (neighbours,) = (one for one in inspect(profile, "x").listings if one.name == "neighbours")
    assert neighbours["side"].tolist() == ["before"] * 5 + ["after"] * 5
    assert neighbours.available == 7 + 6
    assert "\nneighbours on the same track (3 more):\n" in shown(profile, "x")


FITTED = {
    ("plain", 40): """\
name                      layers.0.atten
                          tion/query_key
                          _value/MatMul
key                       0
level                     operator
executions                1
tracks                    stream 7
device time               500.000 us
own device time           500.000 us
own share of device time  33.3%

neighbours on the same track:

side    name               key  gap (ms)
before  layers.0…tMul/Add  1       1.000
after   layers.0…/Softmax  2       0.500
left out to fit the width: level, calls;
  a wider window or `| less -S` shows
  all
shortened to fit the width: name;
  `| less -S` shows the full texts
""",
    ("plain", 80): """\
name                      layers.0.attention/query_key_value/MatMul
key                       0
level                     operator
executions                1
tracks                    stream 7
device time               500.000 us
own device time           500.000 us
own share of device time  33.3%

neighbours on the same track:

side    name                                      key  level     calls  gap (ms)
before  layers.0.attention/q…ey_value/MatMul/Add  1    operator      1     1.000
after   layers.0.attention/q…alue/MatMul/Softmax  2    operator      1     0.500
shortened to fit the width: name; `| less -S` shows the full texts
""",
    ("table", 40): """\
------------------------  --------------
name                      layers.0.atten
                          tion/query_key
                          _value/MatMul
key                       0
level                     operator
executions                1
tracks                    stream 7
device time               0.0005 s
own device time           0.0005 s
own share of device time  33.3%
------------------------  --------------

neighbours on the same track:

side    name                key  gap (s)
before  layers.0.attent     1      0.001
        -  ion/query_key_v
        -  alue/MatMul/Add
after   layers.0.attent     2     0.0005
        -  ion/query_key_v
        -  alue/MatMul/Sof
        -  tmax
left out to fit the width: level, calls;
  a wider window or `| less -S` shows
  all
""",
    ("table", 80): """\
------------------------  -----------------------------------------
name                      layers.0.attention/query_key_value/MatMul
key                       0
level                     operator
executions                1
tracks                    stream 7
device time               0.0005 s
own device time           0.0005 s
own share of device time  33.3%
------------------------  -----------------------------------------

neighbours on the same track:

side    name                                    key  level     calls  gap (s)
before  layers.0.attention/query_key_value/Mat  1    operator      1    0.001
        -  Mul/Add
after   layers.0.attention/query_key_value/Mat  2    operator      1   0.0005
        -  Mul/Softmax
""",
}
"""What `--inspect` shows at each width."""


@pytest.mark.parametrize(("output_format", "width"), FITTED)
def test_the_answer_is_fitted_to_the_width(output_format: str, width: int) -> None:
    name = "layers.0.attention/query_key_value/MatMul"
    profile = profile_of(
        [{"name": name}, {"name": f"{name}/Add"}, {"name": f"{name}/Softmax"}],
        [
            {"operator": one, "start_s": n * MS, "duration_s": n * MS / 2}
            for n, one in enumerate([1, 0, 2])
        ],
    )
    text = shown(profile, "0", output_format, width=width)
    assert text == FITTED[output_format, width]


@pytest.mark.parametrize("output_format", ["plain", "table"])
@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("profiles/resnet18.json", "324"),
        ("megengine-timeline/train.json.gz", "backward.ConvolutionBackward"),
        ("pytorch/gpu.json", "aten::addmm"),
    ],
)
def test_no_line_is_wider_than_the_display(
    file: str, key: str, width: int, output_format: str
) -> None:
    text = shown(pa.load(FIXTURES / file), key, output_format, width=width)
    assert max(map(text_width, text.splitlines())) <= width


def test_long_texts_are_cut_to_the_width() -> None:
    lines = shown(pa.load(FIXTURES / "megengine-timeline" / "train.json.gz"),
                  "backward.ConvolutionBackward", width=60).split("children")[1]  # fmt: skip
    assert "\N{HORIZONTAL ELLIPSIS}" in lines
    assert max(map(len, lines.splitlines())) <= 60


def test_operators_outside_a_window_have_no_executions_but_stay_in_stacks() -> None:
    found = inspect(pa.within_times(nested(), 6.5 * MS, 6.75 * MS), "gemm")
    stack = found.listings[0]
    assert stack["name"].tolist() == ["net", "linear", "addmm", "launch"]
    assert stack["key"].tolist() == ["0", "1", "2", "4"]
    assert len(inspect(pa.within_times(nested(), 6.5 * MS, 6.75 * MS), "addmm").rows) == 0


def same_names() -> Profile:
    operators = [{"name": "conv", "key": f"{n}/conv"} for n in range(7)]
    executions = [{"operator": n, "duration_s": 1.0} for n in range(7)]
    return profile_of([*operators, {"name": "x@1", "key": "x"}], executions)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            "conv",
            "7 operators have the name 'conv'; write the key of one: 0/conv, 1/conv, 2/conv, "
            "3/conv, 4/conv and 2 more",
        ),
        ("2/conv@2", "2/conv has 1 execution, so there is none with the number 2"),
        ("2/conv@0", "2/conv has 1 execution, so there is none with the number 0"),
        ("con", "no operator 'con' in made.json; did you mean conv, 0/conv or 1/conv?"),
        ("zzzz", "no operator 'zzzz' in made.json; --columns key,name -t 0 lists the keys"),
        (
            "a" * 300,
            f"no operator '{'a' * 300}' in made.json; --columns key,name -t 0 lists the keys",
        ),
    ],
)
def test_a_key_that_does_not_choose_one_operator_is_an_error(key: str, message: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        inspect(same_names(), key)
    assert str(caught.value) == f"inspect: {message}"


def test_a_name_may_end_like_a_number_of_an_execution() -> None:
    assert inspect(same_names(), "x@1").number is None
    assert inspect(same_names(), "2/conv@1").number == 1


def test_the_command_shows_one_operator() -> None:
    outcome = run_command(RESNET, "--inspect", "324", "--format", "json")
    assert outcome.code == 0
    document = json.loads(outcome.out)
    check_report(document)
    assert document["inspection"]["parameters"]["stride_h"] == 1
    wrong = run_command(RESNET, "--inspect", "fc99")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("profile_analyze: error: argument --inspect: no operator 'fc99' in")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--where", "time > 1ms"), "--where"),
        (("--having", "count > 1"), "--having"),
        (("--compare", RESNET), "--compare"),
        (("--max-time", "1ms"), "--max-time"),
        (("--run-stat", "max"), "--run-stat"),
        (("--peaks", "auto"), "--peaks"),
        (("--format", "csv"), "--format csv"),
        (("--format", "github"), "--format github"),
        (("--plot", "a.svg"), "--plot"),
    ],
)
def test_options_about_rows_are_rejected(arguments: tuple[str, ...], option: str) -> None:
    outcome = run_command(RESNET, "--inspect", "324", *arguments)
    assert (outcome.code, outcome.err) == (
        2,
        "profile_analyze: error: --inspect shows one operator and no table, so "
        f"{option} has no effect; leave one out\n",
    )


@pytest.mark.parametrize("output_format", FORMATS_FOR_PEOPLE)
def test_every_format_for_people_has_the_lists(output_format: str) -> None:
    text = shown(nested(), "addmm", output_format)
    assert "kernels that the operator launched" in text
    assert "gemm" in text
