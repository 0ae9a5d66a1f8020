"""Every output format on the same tiny profiles, as whole texts."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

import profile_analyze as pa
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.megengine import MegEngineReader
from tests.conftest import TABLE_FORMATS

AWKWARD = ["a|b", "<b>", "x\ny", "007", "1e5", "卷积", "", "\x1b[31m", "=1+1", "\u202eabc", "'"]


def profile(operators: list[tuple[str, float, int | None]]) -> pa.Profile:
    """Return a profile of (name, microseconds, computation). Each operator has 1 KiB of memory."""
    document: dict[str, Any] = {
        "profiler": {
            "device": {
                str(id_): {"cpu0": {"start": 0, "kern": 0, "end": time * 1e-6}}
                for id_, (_, time, _) in enumerate(operators)
            },
            "opr_footprint": {
                str(id_): {
                    "computation": computation,
                    "memory": 1024,
                    "in_shapes": [[2, 3], [3]],
                    "in_layouts": [[1, 2], None],
                    "out_shapes": [[]],
                }
                for id_, (_, _, computation) in enumerate(operators)
            },
        },
        "graph_exec": {
            "operator": {
                str(id_): {"name": name, "type": f"T{id_ % 2}"}
                for id_, (name, _, _) in enumerate(operators)
            }
        },
    }
    content = Source.of_bytes("tiny", json.dumps(document).encode())
    return MegEngineReader().read(content, OPTIONAL_COLUMNS)


def report(one: pa.Profile, query: pa.Query) -> pa.Report:
    return pa.Report.of(pa.summarise(one, query), (pa.run(query, one),))


EXPECTED = {
    "table": """\
-----------------  ------
total device time  0.0004
total host time    N/A
copy time          N/A
copy wait time     N/A
-----------------  ------

╒════════════════════╤══════════════╤═════════════════╤═══════════════╤═════════╤══════════╤═════════════╤═════════════╤══════════════╕
│ device self time   │ cumulative   │ operator info   │ computation   │ FLOPS   │ memory   │ bandwidth   │ in_shapes   │ out_shapes   │
╞════════════════════╪══════════════╪═════════════════╪═══════════════╪═════════╪══════════╪═════════════╪═════════════╪══════════════╡
│ #0                 │ 0.0003       │ conv            │ 6.00          │ 20.00   │ 1.00     │ 3.26        │ {2,3}       │ {}           │
│ 0.0003             │ 75.0%        │ T0              │ KFLO          │ MFLOPS  │ KiB      │ MiB/s       │ -[1,2]      │              │
│ 75.0%              │              │ 0               │               │         │          │             │ {3}         │              │
├────────────────────┼──────────────┼─────────────────┼───────────────┼─────────┼──────────┼─────────────┼─────────────┼──────────────┤
│ #1                 │ 0.0004       │ relu            │ N/A           │ N/A     │ 1.00     │ 9.77        │ {2,3}       │ {}           │
│ 0.0001             │ 100.0%       │ T1              │ FLO           │ FLOPS   │ KiB      │ MiB/s       │ -[1,2]      │              │
│ 25.0%              │              │ 1               │               │         │          │             │ {3}         │              │
╘════════════════════╧══════════════╧═════════════════╧═══════════════╧═════════╧══════════╧═════════════╧═════════════╧══════════════╛
""",
    "wiki": """\
| name              | value   |
|-------------------|---------|
| total device time | 0.0004  |
| total host time   | N/A     |
| copy time         | N/A     |
| copy wait time    | N/A     |

|   # |   time | ratio   | time bar        |   cum-time |   cum-time ratio | opr name   | opr type   |   opr id | computation (MFLO)   | MFLOPS   | MFLOPS-bar      |   memory (MB) |   bandwidth (MiB/s) | bandwidth bar   | in_shapes         | out_shapes   |
|-----|--------|---------|-----------------|------------|------------------|------------|------------|----------|----------------------|----------|-----------------|---------------|---------------------|-----------------|-------------------|--------------|
|   0 | 0.0003 | 75.0%   | ############### |     0.0003 |             0.75 | conv       | T0         |        0 | 0.0                  | 20.0     | ############### |             0 |                 3.3 | #####           | {2,3} -[1,2], {3} | {}           |
|   1 | 0.0001 | 25.0%   | #####           |     0.0004 |             1    | relu       | T1         |        1 | N/A                  | N/A      |                 |             0 |                 9.8 | ############### | {2,3} -[1,2], {3} | {}           |
""",
    "operators": """\
-----------------  ------
total device time  0.0004
total host time    N/A
copy time          N/A
copy wait time     N/A
-----------------  ------

conv T0 0
relu T1 1
""",
    "plain": """\
total device time  400.000 us
total host time    N/A
copy time          N/A
copy wait time     N/A

device self time (us)  share         flops   bandwidth  type  name
              300.000  75.0%  20.00 MFLOPS  3.26 MiB/s  T0    conv
              100.000  25.0%           N/A  9.77 MiB/s  T1    relu
""",
    "markdown": """\
| total             |      value |
|:------------------|-----------:|
| total device time | 400.000 us |
| total host time   |        N/A |
| copy time         |        N/A |
| copy wait time    |        N/A |

| name   | type   |   device self time (us) |   share |   computation |        flops |   memory |   bandwidth |
|:-------|:-------|------------------------:|--------:|--------------:|-------------:|---------:|------------:|
| conv   | T0     |                 300.000 |   75.0% |     6.00 KFLO | 20.00 MFLOPS | 1.00 KiB |  3.26 MiB/s |
| relu   | T1     |                 100.000 |   25.0% |           N/A |          N/A | 1.00 KiB |  9.77 MiB/s |
""",
    "csv": """\
id,name,type,time_s,share,computation_flo,flops,memory_bytes,bandwidth_bytes_per_s,in_shapes,in_strides,out_shapes,key\r
0,conv,T0,0.0003,0.75,6000.0,20000000.0,1024.0,3413333.3333333335,"{2,3}, {3}","[1,2], contiguous",{},0\r
1,relu,T1,0.00009999999999999999,0.25,,,1024.0,10240000.0,"{2,3}, {3}","[1,2], contiguous",{},1\r
""",
    "json": """\
{"version":2,"profile":null,"base":null,"summary":{"device_time_s":0.00039999999999999996,"host_time_s":null,"thread_wait_s":null,"wall_time_s":null,"outside_operators_s":null,"explained":null,"explained_on":null,"computation_flo":6000.0,"memory_bytes":2048.0,"copy_time_s":null,"copy_time_mean_s":null,"copy_wait_time_s":null,"copy_wait_time_mean_s":null,"runs":1,"spread":null,"recorded":null,"model":null,"comparison":null,"roofline":null},"inspection":null,"sql":null,"tables":[{"name":"operators","measure":"time","query":{"measure":"time","level":null,"types":[],"name":null,"input_dtype":null,"min_time_s":null,"max_time_s":null,"where":[],"by":[],"aggregates":[],"having":[],"order":["time"],"top":0,"peaks":null,"run_statistic":"median","split_by":[],"compared":false,"threshold":0.03,"unit":"process","labels":[],"host_rates":false},"matched":2,"available":2,"shown":2,"columns":[{"name":"id","unit":""},{"name":"name","unit":""},{"name":"type","unit":""},{"name":"time_s","unit":"s"},{"name":"share","unit":"1"},{"name":"computation_flo","unit":"FLO"},{"name":"flops","unit":"FLO/s"},{"name":"memory_bytes","unit":"byte"},{"name":"bandwidth_bytes_per_s","unit":"byte/s"},{"name":"in_shapes","unit":""},{"name":"in_strides","unit":""},{"name":"out_shapes","unit":""},{"name":"key","unit":""}],"rows":[[0,"conv","T0",0.0003,0.75,6000.0,20000000.0,1024.0,3413333.3333333335,[[2,3],[3]],[[1,2],null],[[]],"0"],[1,"relu","T1",0.00009999999999999999,0.25,null,null,1024.0,10240000.0,[[2,3],[3]],[[1,2],null],[[]],"1"]]}],"gate":[],"notes":[],"findings":[]}
""",
    "jsonl": """\
{"measure":"time","id":0,"name":"conv","type":"T0","time_s":0.0003,"share":0.75,"computation_flo":6000.0,"flops":20000000.0,"memory_bytes":1024.0,"bandwidth_bytes_per_s":3413333.3333333335,"in_shapes":[[2,3],[3]],"in_strides":[[1,2],null],"out_shapes":[[]],"key":"0"}
{"measure":"time","id":1,"name":"relu","type":"T1","time_s":0.00009999999999999999,"share":0.25,"computation_flo":null,"flops":null,"memory_bytes":1024.0,"bandwidth_bytes_per_s":10240000.0,"in_shapes":[[2,3],[3]],"in_strides":[[1,2],null],"out_shapes":[[]],"key":"1"}
""",
}


@pytest.mark.parametrize("output_format", EXPECTED)
def test_reports_match_the_expected_texts(output_format: str) -> None:
    two = profile([("conv", 300, 6000), ("relu", 100, None)])
    assert pa.render(report(two, pa.Query()), output_format) == EXPECTED[output_format]


def test_all_formats_are_tested() -> None:
    tested_in_other_files = {"github", "junit", "collapsed"}
    assert set(pa.OUTPUT_FORMATS) == EXPECTED.keys() | tested_in_other_files


@pytest.mark.parametrize("output_format", TABLE_FORMATS)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_awkward_names_cannot_leave_their_cell(output_format: str, encoding: str) -> None:
    one = profile([(name, 10.0, 1) for name in AWKWARD])
    plain = profile([("plain", 10.0, 1) for _ in AWKWARD])
    display = pa.Display(encoding)
    text = pa.render(report(one, pa.Query()), output_format, display=display)
    if output_format not in ("csv", "json", "jsonl"):
        text.encode(encoding)
    assert len(text.splitlines()) == len(
        pa.render(report(plain, pa.Query()), output_format).splitlines()
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    if output_format in ("wiki", "markdown"):
        lines = text.splitlines()[text.splitlines().index("") + 1 :]
        unescaped = {line.replace(r"\|", "").count("|") for line in lines}
        assert unescaped == ({18} if output_format == "wiki" else {9})
    if output_format == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert {len(row) for row in rows} == {13}
        assert rows[9][1] == "'=1+1"
    if output_format in ("json", "jsonl"):
        assert [row["name"] for row in rows_of_json(text)] == AWKWARD


def rows_of_json(text: str) -> list[dict[str, Any]]:
    """Return the rows of json or jsonl as dictionaries."""
    documents = [json.loads(line) for line in text.splitlines()]
    if "version" not in documents[0]:
        return documents
    (table,) = documents[0]["tables"]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def test_an_empty_name_is_an_empty_line() -> None:
    one = profile([("", 1.0, 1), (" padded ", 1.0, 1)])
    table = pa.render(pa.Report.of(None, (pa.run(pa.Query(), one),)))
    assert [line.split("│")[3] for line in table.splitlines() if line.startswith("│")][1:] == [
        "                 ",
        " T0              ",
        " 0               ",
        " padded          ",
        " T1              ",
        " 1               ",
    ]


def test_only_operators_of_the_type_copy_count_as_copies() -> None:
    content = Source.of_bytes(
        "copies",
        b"""{"profiler": {"device": {
            "1": {"cpu0": {"start": 0, "kern": 0.25, "end": 1}},
            "2": {"cpu0": {"start": 1, "kern": 1.5, "end": 3}},
            "3": {"cpu0": {"start": 3, "kern": 3, "end": 9}}}},
        "graph_exec": {"operator": {
            "1": {"name": "a", "type": "Copy"},
            "2": {"name": "b", "type": "Copy"},
            "3": {"name": "c", "type": "Copying"}}}}""",
    )
    copies = MegEngineReader().read(content, OPTIONAL_COLUMNS)
    summary = pa.summarise(copies, pa.Query())
    assert summary.copy == pa.CopyTime(3.0, 1.5, 0.75, 0.375)
    assert pa.summarise(copies, pa.Query(name="a")).copy == pa.CopyTime(1.0, 1.0, 0.25, 0.25)
    assert pa.summarise(copies).copy is None
    assert pa.render(pa.Report.of(summary, ())) == (
        "-----------------  ---------------------\n"
        "total device time  9\n"
        "total host time    N/A\n"
        "copy time          tot=3.0000 avg=1.5000\n"
        "copy wait time     tot=0.7500 avg=0.3750\n"
        "-----------------  ---------------------\n"
    )


def test_copy_times_of_several_runs_use_the_run_statistic() -> None:
    def run_of(kern: float, end: float) -> pa.Profile:
        document = {
            "profiler": {
                "device": {"1": {"cpu0": {"start": 0, "kern": kern, "end": end}}},
                "host": {"1": {"main": {"start": 0, "kern": kern, "end": 10 * end}}},
            },
            "graph_exec": {"operator": {"1": {"name": "a", "type": "Copy"}}},
        }
        return MegEngineReader().read(
            Source.of_bytes("copy", json.dumps(document).encode()), OPTIONAL_COLUMNS
        )

    copies = pa.join_runs([run_of(0.25, 1), run_of(0.5, 4), run_of(1, 2)])
    for statistic, time_s, wait_s in (("median", 2.0, 0.5), ("max", 4.0, 1.0)):
        query = pa.Query(run_statistic=statistic)
        summary = pa.summarise(copies, query, judged_by=query)
        assert summary.copy == pa.CopyTime(time_s, time_s, wait_s, wait_s)
        assert (summary.device_time_s, summary.host_time_s) == (time_s, 10 * time_s)


@pytest.mark.parametrize("output_format", TABLE_FORMATS)
def test_every_format_shows_a_profile_without_operators(output_format: str) -> None:
    text = pa.render(report(profile([]), pa.Query()), output_format)
    assert text[-1:] == ("" if output_format in ("jsonl", "github") else "\n")
    assert "nan" not in text
