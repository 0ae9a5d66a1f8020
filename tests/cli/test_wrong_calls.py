"""Calls as people write them by mistake: each gets one plain sentence that says what to write.

python -m tests.cli.test_wrong_calls    records the answers anew; review the difference
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze import column_words
from profile_analyze.cli import option_words
from profile_analyze.cli.options import OPTION_GROUPS, OPTIONS
from profile_analyze.query.catalog import CATALOG, find_column
from tests.conftest import PROFILES, run_command, some_of
from tests.recorded_calls import answer, record, recorded
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.cli.option_types import Option

FILE = "profiles/resnet18.json"
NOTES = f"{FILE} --print-only device --format csv --columns type,time -t 1"
"""A call with a short answer, for mistakes that only get a note."""

TRACE = "pytorch/cnn-train.json.gz"
"""A trace of a CPU."""
MODEL = "classifiers/classifier.onnx"
SMALL = "classifiers/smallcnn.onnx"
DYNAMIC = "models/cnn_script.onnx"
"""A model with symbols in the shape of its input."""

CALLS = (
    # names of columns
    *(f"{FILE} --order-by {name}" for name in ("flop", "Time", "duration", "cuda_time", "info")),
    *(f"{FILE} --order-by {name}" for name in ("-time", "time:desc", "'time asc'", "-tiem", "''")),
    *(f"{FILE} --aggregate-by {name}" for name in ("typ", "op_type", "type,nmae", "layer", "time")),
    *(f"{FILE} --order-by {name}" for name in ("time_total", "shape", "lots")),
    rf"{FILE} --aggregate-by 'name=conv\d'",
    *(f"{FILE} --where 'time > 1ms {sign} share > 5%'" for sign in ("&", "|")),
    f"{FILE} --fail-if 'total > 5ms & time > 1ms'",
    *(f"{FILE} {option}" for option in ("--run-statistic mean", "--metrics sm__throughput")),
    f"{FILE} --dump-only-opr --format json",
    f"{NOTES} --where 'flops < 400'",
    f"{NOTES} --type 'Conv.*\\|Pool.*'",
    f"{FILE} --aggregate-by type --having 'cuont > 3'",
    f"{FILE} --aggregate-by type --aggregate avg",
    f"{FILE} --having 'count > 3'",
    *(f"{FILE} --columns {name}" for name in ("nme", "name,gflops", "shapes", "count", "'*'")),
    f"{FILE} --columns efficiency",
    f"{FILE} --order-by ratio",
    f"{FILE} --order-by regression",
    f"{FILE} --order-by regression --compare {FILE}",
    *(f"{FILE} --columns {name}" for name in ("base_time", "p", "verdikt")),
    f"{FILE} --print-only verdict",
    f"{FILE} --explain flop",
    f"{FILE} --explain time --format json",
    # names of other tools' options
    *(f"{FILE} {option}" for option in ("--sort time", "--sort-by=time", "--group-by type")),
    *(f"{FILE} {option}" for option in ("--limit 5", "-n 5", "--top-k 5", "--all", "-5")),
    *(f"{FILE} {option}" for option in ("--filter 'time > 1ms'", "--by type", "--name conv")),
    *(f"{FILE} {option}" for option in ("--json", "--csv", "--md", "--output-format json")),
    *(f"{FILE} {option}" for option in ("--baseline old.json", "--diff old.json", "--gpu a100")),
    *(f"{FILE} {option}" for option in ("--no-color", "--verbose", "-x", "--kernels", "--desc")),
    *(f"{FILE} {option}" for option in ("--agregate-by type", "--Top 5", "--columms name")),
    *(f"{FILE} {option}" for option in ("--alpha 0.05", "--slowest 5", "--html", "--flops 60G")),
    *(f"{FILE} {option}" for option in ("--layers", "--gain", "--share 5%", "--metric flops")),
    *(
        f"{FILE} {option}"
        for option in ("--device gpu0", '--device="it\'s"', "--skip 1", "--run 3")
    ),
    *(f"{FILE} {option}" for option in ("--percentile 95", "--exclude Copy", "--mean", "--skip=x")),
    *(
        f"{FILE} --sort-by {name}"
        for name in ("self_cuda_memory_usage", "cuda_time_total", "name,dur")
    ),
    *(f"{FILE} {option}" for option in ("--cpu", "--cuda", "--trace-handler x", "--view x")),
    *(f"{FILE} --view {name}" for name in ("timeline", "kernels")),
    *(f"{FILE} {option}" for option in ("--group-by-shape", "--by-layer", "--per-type", "--idle")),
    *(
        f"{FILE} {option}"
        for option in ("--no-notes", "--only-summary", "--hide-host", "--percent")
    ),
    *(f"{FILE} {option}" for option in ("--to-csv", "--save-as x.csv", "--inclusive", "--stack")),
    *(f"{FILE} {option}" for option in ("--phase backward", "--rank 0", "--category 'a b'")),
    f"{FILE} --order-by self_cuda_memory_usage",
    f"{FILE} --step-region forward",
    f"{FILE} --level top",
    f"--skip-first {FILE}",
    f"{FILE} -- --skip 1",
    # options without their values
    *(
        f"{FILE} {option}"
        for option in ("--peaks", "--where", "--top", "--format", "--compare -t 1")
    ),
    # values of options
    *(f"{FILE} --format {name}" for name in ("jso", "JSON", "md", "html", "'json '")),
    f"{TRACE} --level kernel",
    *(f"{FILE} --level {name}" for name in ("kernels", "layer", "kernel", "gpu stream")),
    *(f"{FILE} --print-only {name}" for name in ("hots", "both", "all")),
    *(f"{FILE} {option}" for option in ("--run-stat average", "--color no", "--match names")),
    *(f"{FILE} -t {count}" for count in ("five", "1e3", "-1", "5,000", "''")),
    f"{FILE} --top=-1",
    f"{FILE} -t",
    f"{FILE} -t 5 10",
    f"{FILE} --peaks a10080",
    f"{FILE} --fail-if 'totl > +5%' --compare {FILE}",
    f"{FILE} --fail-if 'latency > 5ms'",
    f"{FILE} --fail-if total>5",
    f"{FILE} --min-time 1MS",
    f"{FILE} --min-time -1ms",
    f"{FILE} --max-size 16gib",
    f"{FILE} -o",
    f"{FILE} --print-only gpu",
    f"{FILE} --aggregate type",
    f"{FILE} --min-runs 1",
    f"{FILE} --compare {FILE} --fail-if 'total > +5%;name ~ conv: time > +5%'",
    "'runs/changed/*.json'",
    f"{FILE} -o result.html",
    # conditions
    *(
        f'{FILE} --where "{text}"'
        for text in (
            *("time", "time >", "time > 1MS", "time > 1 sec", "time > 1,5ms", "time > 5%"),
            *("memory > 1mb", "flops > 1gflops", "share > 5", "share > 5 percent"),
            *("type = ConvolutionForward", "type <> Copy", "name =~ conv", "time \u2265 1ms"),
            *("name contains conv", "type in (A, B)", "type is Copy", "name like %conv%"),
            *("name like conv%", "name like '%conv'", "name like a%b"),
            *(
                "name not like '%conv%'",
                "type is not Copy",
                "name is null",
                "in_shapes is null",
                "type in A,B",
            ),
            *("time between 1ms and 2ms", "10MiB/s < bandwidth", "1e-3 < time"),
            *("1ms < time", "1ms < time < 2ms", "time > 1ms and share > 5%", "tme > 1ms"),
            *("type == A or type == B", "not time > 1ms", "count > 1", "name == 'conv", ""),
            "time > \u20181ms\u2019",
            # units of other columns
            *(
                "flops > 40GB/s",
                "bandwidth > 40gflops",
                "memory > 1ms",
                "time > 5e3MB",
                "memory > x",
            ),
            *("share > 2ms", "flops > 2GFLO", "type=Elemwise", "type = 'Elemwise'"),
        )
    ),
    f"{FILE} --where time '>' 1ms",
    # answers that are empty, or the same as without the filter
    *(
        f'{NOTES} --where "{text}"'
        for text in (
            *("flops < 40", "time>1", "time<1", "memory > 5000000000", "type ~ conv", "type ~ Cnv"),
            *("type == conv", "type != conv", "name ~ zzz", "category == conv", "param.mode == x"),
            "time > '1'",
        )
    ),
    f"{NOTES} --type conv",
    f"{NOTES} --opr-name zzz",
    *(f"{FILE} {option}" for option in ("--run-stat p50", "--format yaml", "--inspect Elemwise")),
    f"{MODEL} --model {FILE}",
    f"{TRACE} pytorch/gpu.json",
    *(f"{NOTES} --opr-name '{text}'" for text in ("CONV", ".*CONV", ".*zz", "(?i).*zz")),
    f"{NOTES} --min-time 1",
    f"{NOTES} --max-time 0s --where 'time > 0'",
    f"{NOTES} --aggregate-by type --having 'time > 5'",
    f"{NOTES} --aggregate-by type,'name~LAYER(\\d)'",
    f"{NOTES} --aggregate-by type,name~relu",
    # files
    "",
    "-t 5",
    "nosuch.json",
    "profiles/resnt18.json",
    "profiles/*.jsonx",
    "'runs/bse/*.json.gz'",
    "profiles/resnet18.json --plot bars",
    "reports",
    "@profiles/tiny.json",
    "C:profilestiny.json",
    "'C:\\profiles\\tiny.json'",
    f"{FILE} -o s3://bucket/result.csv",
    f"{FILE} --compare=~/old.json",
    f"{FILE} --compare",
    f"--compare {FILE}",
    f"{FILE} nosuch.json",
    "README.md",
    f"{FILE} \u2013t 5",
    f"{FILE} \u2014top 5",
    f"{FILE} \u2014explain time",
    *(f"{FILE} {words}" for words in ("vs", "changed vs base", "desc", "help")),
    *(f"runs/{name}" for name in ("base..runs/changed", "base:runs/changed", "base...runs/none")),
    "compare old.json new.json",
    "compare new.json old.json",
    "diff a.json b.json",
    "profiles/resnet18",
    f"profiles/tiny.json,{FILE}",
    "file:///tmp/run.json",
    f"'$' profile-analyze {FILE}",
    *(f"{FILE} -o {file}" for file in ("chart.png", "result.xlsx")),
    # options that do not exist, with and without another option that fits
    *(f"{FILE} {option}" for option in ("--unit ms", "-top 5", "--only slower", "--precision 2")),
    *(f"{option} {FILE}" for option in ("--input", "-i", "--file")),
    f"{FILE} --verdict slower --confidence 0.9",
    *(f"{FILE} --peaks {spec}" for spec in ("60G,15G", "60G/15G", "'60G 15G'", "60G", "60g:15g")),
    *(f"{FILE} --peaks {spec}" for spec in ("60:15", "19.5:1555", "here1", "cpu", "v100")),
    *(f"{FILE} --peaks {spec}" for spec in ("60GFLOPS,15GB/s", "'60GFLO/s 15GB/s'", "60GFLOPS")),
    *(f"{FILE} --peaks {spec}" for spec in ("15GB/s:60GFLOPS", "15GiB/s,60gflops", "60g:15gbps")),
    *(f"{FILE} --peaks {spec}" for spec in ("100", "100,20", "4090", "100GB:20GF", "20gf:100gb")),
    *(f"{FILE} --peaks {spec}" for spec in ("60GFLOPS:15GB/s:fp16", "60G:15G:FP16", "60G:15GB")),
    *(
        f"{FILE} --compare {FILE} --fail-if '{text}'"
        for text in (
            *("total > 105%", "total > +0.05", "total > 1.05x", "ratio > 1.05", "total > 3x"),
            *("total > 20x", "total > +5% and time > 1ms"),
            *(
                "Conv > +5%",
                "conv.* > +5%",
                "Conv: time > +5%",
                "ConvolutionForward",
                "5%",
                "total",
            ),
            *("type=ConvolutionForward time > +5%", "type=ConvolutionForward > +5%", "slower"),
            *(
                "type=ConvolutionForward",
                "type=ConvolutionForward:",
                "type=Copy: time",
                "total +5%",
            ),
            *("total > +5%, time > +3%", "time, total > +5%", "efficiency < 50%", "count > 5"),
            *(
                "0.05",
                "+5",
                "-.03",
                "device time > +5%",
                "total device time > +5%",
                "host time > 1s",
            ),
            *("big time > 1s", "total > baseline*1.05", "total > 1.05 * base", "total > base * 20"),
            *("total > baseline + 5%", "total > baseline", "total > +5 percent", "macs > 5pct"),
            *("verdict == slower", "regression > 5%", "total > ++5%", ": total > +5%"),
            *("fps < -5%", "throughput < 30", "p95 > +5%", "baseline > +5%", "colour > +5%"),
            *(
                "+5% < total",
                "5% < total",
                "latency > 5%",
                "Conv > 5%",
                "12.5ms > time",
                "total: time > +5%",
                "Conv: total > +5%",
            ),
            *("type=ConvolutionForward: total > +5%", '"total > +5%"', r"total \> +5%"),
            *("each: time > +5%", "any > +5%", "any layer > +2.5%", "every layer: total > +5ms"),
            *("any: time < -5%", "any", "layers", "each total > +0%", "each: memory > +5%"),
            *("all operators: time > +5%", "*: time > 5ms"),
            *("time > +5%: name ~ conv", "total > +5%: Conv", "time > 1ms: latency > +5%"),
        )
    ),
    f"{FILE} --compare {FILE} --where 'difference > 5%'",
    # lists
    f"{NOTES} --type ConvolutionForward,PoolingForward",
    *(f"{FILE} --columns {names}" for names in ("'name time'", "name, time", "name,")),
    f"{FILE} --explain name,time",
    f"{FILE} --aggregate-by type, name",
    # words for formats, units and times; a picture without a suffix
    *(f"{FILE} {option}" for option in ("--format excel", "--unit runs", "--time-unit millis")),
    *(f"{FILE} {option}" for option in ("--plot times", "--where 'total > 1ms'")),
    f"{FILE} --peaks 100G-20G",
    # per cent without the sign %; notations of shapes, patterns and units
    f"{NOTES} --where 'share >= 1'",
    *(f"{NOTES} --where 'out_shapes == {text}'" for text in ("[1, 64, 56, 56]", "(1,64)", "1x9")),
    *(f"{FILE} --where 'name {text}'" for text in ("starts with conv", "not ends with conv")),
    f"{FILE} --ms",
    f"{MODEL} --print-only device --format csv -t 0 --columns flops,name,share --where 'type == Add'",
    f"{NOTES} --peaks 100G:20G --where 'efficiency < 50'",
    "runs/changed --compare runs/base --print-only device --format csv --columns name,time -t 1 "
    "--notes all --where 'change > 5'",
    # values of conditions
    *(f"{FILE} --where '{text}'" for text in ("flops == null", "flops = null")),
    *(f"{FILE} --where '{text}'" for text in ("name ~ *conv*", "name != ~conv", "name == ~conv")),
    f"{FILE} --opr-name '*conv'",
    *(f"{FILE} --where '{text}'" for text in ("name~", "type ==", "flops >", "param.mode !=")),
    f"{FILE} --aggregate-by name~",
    # patterns where a whole text is compared
    *(f"{NOTES} --type '{text}'" for text in ("Conv*", "*Forward", "conv*", "^Conv|Pool", "zzz*")),
    *(f"{NOTES} --where '{text}'" for text in ("type == Conv*", "type == C?nv*", "name == *zzz")),
    # columns that need another option
    f"{FILE} --order-by lost",
    f"{FILE} --where 'efficiency < 50%'",
    # names with blanks between them, subcommands, several files to write
    *(f"{FILE} {names}" for names in ("--columns name time share", "--aggregate sum p90")),
    f"{FILE} --type Copy Elemwise",
    *(f"{word} {FILE}" for word in ("analyze", "roofline", "Summary")),
    "report",
    *(f"{FILE} {option}" for option in ("--plot a.svg,b.svg", "-o a.csv,b.json")),
    # headings of tables as names of columns, and other separators
    *(f"{FILE} --columns {name}" for name in ("time_s", "'operator info'", "'device self time'")),
    *(f"{FILE} --columns '{names}'" for names in ("name;time", "name:time", "+time")),
    f"{FILE} --order-by bandwidth_bytes_per_s",
    *(f"{FILE} --order-by {names}" for names in ("time,desc", "name,desc", "type,+name,asc")),
    *(
        f"{FILE} {order} --reverse"
        for order in ("--order-by name", "--order-by=+name,time", "--order-by=-time")
    ),
    f"{FILE} --order-by +name --desc",
    *(f"{FILE} --where 'name {text} conv'" for text in ("startswith", "not endswith")),
    # values of the wrong kind
    *(f"{FILE} {option}" for option in ("--force=yes", "--show-host yes", "--time-unit msec")),
    *(f"{FILE} --threshold {share}" for share in ("5", "100", "105%")),
    f"{FILE} --aggregate 90%",
    # options that are given twice
    f"{FILE} --compare runs/base --compare 'old run.json' runs/changed",
    f"{FILE} --columns name --columns time",
    f"{FILE} --aggregate-by type --aggregate-by scope",
    f"{FILE} --aggregate sum --aggregate p90",
    *(f"{FILE} --opr-name {text}" for text in ("conv --opr-name 'a b'", "a --opr-name=b")),
    f"{FILE} --order-by type --order-by +time",
    *(f"{FILE} {option}" for option in ("-o a.csv --output b.csv", "--plot a.svg --plot b.svg")),
    f"{FILE} --peaks a10 --peaks l4",
    f"{FILE} --explain time --explain share",
    f"{FILE} --print-only device --print-only host",
    *(
        f"{FILE} {option}"
        for option in ("--min-time 1ms --min-time 2ms", "--match auto --match=shapes")
    ),
    f"{FILE} --input-dtype Float32 --input-dtype Int8",
    # words for what other options do
    *(f"{FILE} {option}" for option in ("-g type", "--help-columns", "--nocolor", "--title X")),
    *(f"{FILE} {option}" for option in ("--plot-type pie", "--fail-on-regression 5%")),
    *(f"{FILE} --format {name}" for name in ("png", "all", "x")),
    *(f"{FILE} --print-only {name}" for name in ("table", "rows", "none")),
    f"{FILE} --compare {FILE} --match shape",
    f"{FILE} --aggregate-by Layers",
    *(f"{FILE} --order-by {names}" for names in ("type,time,", "type,+")),
    "''",
    f"{FILE} --compare ''",
    # parts of texts where a whole text is compared
    *(f"{NOTES} --where 'name {text}'" for text in ("== conv", "== CONV", "!= FUSE_ADD", "== l[1")),
    *(f"{NOTES} --where 'in_shapes == {text}'" for text in ("1,512,7,7", "1,512,1,1")),
    # folders without profiles
    *("runs", "classifiers"),
    # two values for an option that takes one, and unknown devices
    *(
        f"{FILE} --peaks {spec}"
        for spec in ("here 1", "100G 20G", "h100-sxm fp16", "t4 nosuch", "t4 ''")
    ),
    *(f"{FILE} --peaks {spec}" for spec in ("nvidia-a100", "xeon", "M1", "nvidia")),
    # typographic quotes
    *(f"{FILE} {text}" for text in ("--peaks “100G:20G”", "--where=“time>1ms”", "--where «time")),
    "“profiles/tiny.json”",
    f"{NOTES} --type “Copy”",
    f"{FILE} --opr-name “a” --sort time",
    # options without an effect, and OR between conditions
    *(f"{FILE} --print-only summary {text}" for text in ("--columns name", "--order-by memory")),
    f"{FILE} --print-only summary --aggregate-by type --type Copy",
    f"{FILE} --where 'time > 1ms OR type == Copy'",
    *(f"{FILE} --where '{text}'" for text in ("type is Copy and time > 1ms",)),
    # sizes of models
    *(f"{MODEL} --input-shape '{shape}'" for shape in ("1x3x9x9", "image=1x3x9x9", "image")),
    *(f"{MODEL} --input-shape '{shape}'" for shape in ("image:[1, 3,9,9]", "image (1,3)", "a:1xN")),
    *(f"{MODEL} --dim '{size}'" for size in ("batch:8", "batch 8", "batch", "8", "batch=two")),
    *(f"{MODEL} {option}" for option in ("--batch 8", "--batch-size=8", "--shape image:1x3x9x9")),
    *(f"{DYNAMIC} {option}" for option in ("--batch 8", "--dim 8", "--dim 8 --dim 9", "--dim b=8")),
    *(f"{DYNAMIC} --input-shape {shape}" for shape in ("1,3,32,32", "'(1, 3)'", "8")),
    *(f"{FILE} {option}" for option in ("--batch 8", "--dim 8", "--input-shape 1,3,9,9")),
    *(f"{FILE} {option}" for option in ("--shape 1,3,9,9", f"--model {MODEL} --bs 8")),
    *(f"{DYNAMIC} --dim {sizes}" for sizes in ("batch=8,height=9", "'batch=8; height=9'")),
    f"{DYNAMIC} --input x:8x3x9x9",
    *(f"{FILE} {DYNAMIC}", f"{DYNAMIC} --bs 8"),
    f"{MODEL} --work estimated",
    # times of models, which have no times
    f"{MODEL} --where 'time > 1ms'",
    f"{MODEL} --aggregate-by type --having 'share > 5%'",
    f"{MODEL} --where 'flops > 1G'",
    *(
        f"{MODEL} --format csv --columns name --fail-uncertain no --fail-if '{text}'"
        for text in ("total > 5ms", "time < 1s")
    ),
    *(
        f"{MODEL} --compare {SMALL} --format csv --columns name --fail-uncertain no --fail-if '{text}'"
        for text in ("total > +5%", "type=Conv: time > +3%", "total > +2ms")
    ),
    # options and values that the user made up
    f"{FILE} --compare {FILE} --fail-if 'total > +5%' --fail-uncertain always",
    *(f"{FILE} {option}" for option in ("--only conv", "--exclude ImmutableTensor", "--wide")),
    *(f"{FILE} --order-by {name}" for name in ("slowest", "speed")),
    f"{FILE} --compare {FILE} --fail-if uncertain",
    *(f"{FILE} --show {names}" for names in ("type", "name,time")),
    *(f"{FILE} --fail-on {limit}" for limit in ("5%", "'total > +5%'", "'conv: time > +5%'")),
    *(f"{FILE} {option}" for option in ("--fail-if-slower 5", "--fail-slower +5%", "--fail-above")),
    *(f"{FILE} --gpu-{word} a100-40gb" for word in ("type", "model", "name")),
    *(
        f"{FILE} --dtype {dtype}{peaks}"
        for dtype, peaks in (
            ("fp16", ""),
            ("fp16", " --peaks a100-40gb"),
            ("FP16", " --peaks=auto:fp32"),
            ("fp16", " --peaks 19.5T:1555G"),
            ("fp16", " --peaks here"),
            ("Float32", " --peaks a100-40gb"),
        )
    ),
    *(
        f"{FILE} --min-time {time} --print-only device --format csv --columns time -t 1"
        for time in ("1", "5", "9", "10ms")
    ),
    f"{FILE} --input-dtype fp16 --peaks a100-40gb --print-only device --format csv --columns name",
    *(f"{FILE} {option}" for option in ("--roof 100G:20G", "--roofs", "--threads 1")),
    *(
        f'{FILE} --where "{text}"'
        for text in (
            *("type=Conv or type=Elemwise", "type==Conv||type==Elemwise", "type=Conv or time>1"),
            *("time>1ms&&flops<10G", "\u201ctype=Conv\u201d"),
        )
    ),
    f"{FILE} --where \u201ctype=Conv\u201d",
    f"{FILE} --peaks 100G:20G --where 'gain > 2x'",
    *(f"{FILE} --peaks {spec}" for spec in ("100G:20G:5", "100G,20G,5G,1", "1e9:2:3")),
    f"--compare {FILE} profiles/tiny.json {FILE}",
    *(f"{FILE} --plot {file}" for file in ("-", "out.jpg", "out.svg.gz", "out.html", ".jpg")),
    # options of PyTorch, perf, Nsight Systems and trtexec
    *(f"{FILE} {option}" for option in ("--sort cuda_time_total", "--sort-by=self_cpu_time_total")),
    *(f"{FILE} {option}" for option in ("--row-limit 10", "--group-by-input-shape", "--width 80")),
    *(f"{FILE} {option}" for option in ("--flamegraph", "--stdio", "--no-header", "--delimiter ,")),
    *(f"{FILE} {option}" for option in ("--report cuda_gpu_kern_sum", "--report x")),
    *(f"{FILE} {option}" for option in ("--kernel-regex conv", "--max-name-column-width 50")),
    *(f"{FILE} {option}" for option in ("--avgRuns=10", "--exportProfile=x.json", "--top-10")),
    *(f"{FILE} {option}" for option in ("--loadEngine=x", "--onnx=m.onnx", "--fp16", "-nireq 4")),
    *(f"{FILE} {option}" for option in ("-pc", "--enable_profiling", "--acc-events")),
    f"--loadProfile={FILE} --dumpProfile",
    f"{FILE} --dumpProfile",
    *(f"{FILE} {option}" for option in ("--units us", "--chart bar", "--filter Conv")),
    f"{FILE} --aggregate-by stack",
    *(f"{FILE} --plot {file}" for file in ("png", "pie")),
    f"{FILE} --plot {FILE}",
    f"--plot {FILE}",
    # brackets in patterns, factors in per cent
    *(
        f"{NOTES} --where 'name {text}'"
        for text in (
            "~ ADD(l.2.RELU[1],conv[2241])[3360]",
            "!~ ADD(l.2.RELU[1],conv[2241])[3360]",
            "~ l.2.RELU[1]",
            "~ conv(",
            "~ conv)",
            "~ conv[",
        )
    ),
    *(
        f"{NOTES} --fail-uncertain no --fail-if 'name ~ {text}: time > 1ms'"
        for text in ("l.2.RELU[1]", "conv(l")
    ),
    f"{FILE} --aggregate-by 'name~conv('",
    f"{FILE} --peaks 100G:20G --where 'gain > 5%'",
    *(
        f"{FILE} --compare {FILE} --where 'ratio {text}'"
        for text in ("< 95%", "< 5%", "< -5%", ">= 5%")
    ),
    f"{FILE} --where 'not type ~ Conv'",
    *(f"{NOTES} --input-dtype {dtype}" for dtype in ("fp32", "float32", "Float16")),
    f"{NOTES} --show-host",
    "tflite",
    # peak rates that are too low, or profiles without known work
    "onnxruntime/squeezenet-1.31.json.gz --peaks 100G:20G --print-only summary",
    "tflite/xnnpack-new.txt --peaks 100G:20G --order-by lost --print-only device --format csv "
    "--columns name,lost -t 1",
    "tflite/xnnpack-new.txt --peaks 100G:20G --plot roof.png",
    "migraphx/current.txt --peaks 100G:20G --print-only summary",
    # words and headings of other tools, CPUs, and words for views that do not exist
    *(f"{FILE} --columns {name}" for name in ("self_cuda_time", "'Avg (ns)'", "time%", "start")),
    *(f"{FILE} --columns {names}" for names in ("all,time", "default")),
    *(f"{FILE} --order-by {name}" for name in ("mean_ms", "p99", "'Self CPU %'")),
    *(f"{FILE} --where '{text}'" for text in ("cuda_time > 1ms", "duration > 1ms", "fps < 30")),
    *(f"{FILE} --peaks {spec}" for spec in ("auto", "'Intel Core i9-12900K'", "epyc")),
    *(f"{FILE} {option}" for option in ("--tree", "--timeline", "--stats")),
    *(f"{FILE} --peaks {spec}" for spec in ("100:20", "44:55", "8.1:320", "2:1", "100:2GB/s")),
    *(f"{FILE} {option}" for option in ("--unit run", "--key-averages", "--with-stack")),
    *(f"{FILE} --{option}" for option in ("export-chrome-trace t.json", "sort_by cpu_time_total")),
    *(f"{FILE} --{option}" for option in ("exportProfile x.json", "export-profile x.json")),
    *(
        f"{FILE} --peaks {spec}"
        for spec in (
            *("rtx3090:int8:936G", "int8:284T", "int8=284T:936G", "int8:284TOPS:936GB/s"),
            *("rtx3090:int8", "284tops:936gb/s"),
        )
    ),
    f"{FILE} --group_by_input_shape",
    *(f"{FILE} --{option}" for option in ("group-by-stack-n 5", "top-level-events-only")),
    *(f"{FILE} --{option}" for option in ("group-by-module", "unit steps", "schedule 1")),
    f"{FILE} --compare {FILE} --fail-if 'total > 0.05'",
    f"{FILE} --compare {FILE} --fail-if 'total > 1.05'",
    f"{FILE} --model {FILE}",
    *(f"{FILE} {word}" for word in ("summary", "list")),
    *("version", "columns", "devices", "list"),
    f"{FILE} --aggregate-by type --columns type,time,category",
    f"{FILE} --compare {FILE} --fail-if 'total > 5%, time > 3%'",
    "onnxruntime/squeezenet-1.31.json.gz --dim batch=2",
    "onnxruntime/squeezenet-1.31.json.gz --where 'name ~ fire' -t 1",
    # wildcards of a shell in patterns
    *(f"{NOTES} --opr-name '{text}'" for text in ("conv*", "conv.*", "*", "*conv*bn", "zz*")),
    *(f"{NOTES} --where '{text}'" for text in ("name ~ conv*", "name !~ conv*", "name ~ [a-z]*")),
    f"{NOTES} --where 'type ~ conv\\|Pool'",
    f"{FILE} --compare {FILE} --fail-if 'verdict ~ slower\\|more: time > 0s'",
    f"{FILE} --top-end-key gpu",
    f"{FILE} --work gpu",
    f"{FILE} --aggregate-by 'name~conv*' --columns name~conv*,time --print-only device",
    f"{FILE} --aggregate-by type --having 'type ~ Conv*' --columns type --format csv",
    f"{NOTES} --fail-uncertain no --fail-if 'name ~ conv*: time > 1ms'",
    # options that have no effect, words of other gates, and devices with several models
    f"{NOTES} --engine dask",
    *(f"{FILE} --fail-on {word}" for word in ("regress", "uncertain", "'total > +3%'", "3%")),
    *(f"{FILE} --fail-if {word}" for word in ("regress", "Slow", "worse", "Conv", "slice")),
    f"{FILE} --fail-if 'total > +5%' --fail-uncertain uncertain",
    *(f"{FILE} {option}" for option in ("--gpu-type a100", "--gpu h100:fp16", "--gpu 0")),
    *(f"{FILE} --level {word}" for word in ("step", "steps", "scope", "aten")),
    *(f"{FILE} {option}" for option in ("--chrome", "--chrome-trace x.json", "--perfetto")),
    # words of other tools, and values that look like other values
    *(f"{FILE} --format {word}" for word in ("svg", "cvs", "pretty")),
    *(f"{FILE} {option}" for option in ("--group-by module", "--by layer", "--filter type=Conv")),
    *(
        f"{FILE} --filter {condition}"
        for condition in ("op_type=Conv", "'name = a b'", "type=~Conv", "foo=bar", "'foo == bar'")
    ),
    *(
        f"{FILE} --dtype fp16 --peaks {spec}"
        for spec in (
            "my.toml",
            "my.toml:fp32",
            "my.toml:card",
            "my.toml:card:fp32",
            "my.toml:4090",
            "here:4",
            "x:fp17",
        )
    ),
    *(
        f"{FILE} --gpu {spec}"
        for spec in ("my.toml", "my.toml:card", "list", "lists", "auto", "autox", "here!", "tomls")
    ),
    *(f"{FILE} {option}" for option in ("--strict", "--ci", "--exit-code 1", "--only-changed")),
    *(f"{FILE} --aggregate-by type --aggregate {name}" for name in ("95", "101")),
    *(f"{FILE} --peaks rtx4090:{name}" for name in ("half", "float16", "bfloat16", "fp17")),
    *(f"{FILE} --slow 5", f"{FILE} --compare {FILE} --fail-if 'p < 0.05'"),
    # right calls that look wrong
    f"{NOTES} --order-by time --order-by=time",
    f"{NOTES}2",  # ends with `-t 12`
    f"{NOTES} -t2 --top=1",
)


def test_all_calls_are_recorded() -> None:
    assert list(recorded("wrong")) == list(CALLS)


@pytest.mark.slow
@pytest.mark.parametrize("call", some_of(CALLS, 3))
def test_the_answer_is_the_recorded_one(call: str) -> None:
    assert answer(call) == recorded("wrong")[call]


def test_an_error_is_one_line() -> None:
    lines = {call: text.splitlines() for call, text in recorded("wrong").items()}
    errors = {call: found for call, found in lines.items() if found[-1] != "[exit status 0]"}
    wrong = [
        call
        for call, found in errors.items()
        if not found[0].startswith("profile_analyze: error: ") or len(found) != 2
    ]
    assert not wrong, "\n".join(wrong)


def test_words_of_other_tools_stand_for_columns_and_options_that_exist() -> None:
    columns = {column.name for column in CATALOG}
    assert set(column_words.COLUMN_WORDS.values()) <= columns
    assert not set(column_words.COLUMN_WORDS) & columns
    flags = {flag for group in OPTION_GROUPS for option in group.options for flag in option.flags}
    for word, meant in option_words.OPTION_WORDS.items():
        assert f"--{word.replace('_', '-')}" not in flags
        flag, *value = shlex.split(meant)
        assert flag in flags | {"--help", "--version"}
        if value and value[0].islower():  # a value, not a placeholder
            outcome = run_command("profiles/none.json", flag, value[0])
            assert "invalid choice" not in outcome.err
            assert "there is no option" not in outcome.err


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ("--graph a.graph.json", "--model a.graph.json"),
        ("--graph=x/exec.xml", "--model x/exec.xml"),
        ("--layers a.json.gz", "--model a.json.gz"),
        ("--layer-info a.json", "--model a.json"),
        ("--layer-info", "--model, such as --model model.onnx"),
        ("--exportLayerInfo=a.json", "--model a.json"),
        ("--graph a.svg", "--plot a.svg"),
        ("--layers", "--level operator or --level module"),
    ],
)
def test_an_option_with_the_file_of_a_graph_means_the_model(options: str, meant: str) -> None:
    error = answer(f"{FILE} {options}").splitlines()[0]
    assert error.endswith(f"; did you mean {meant}?")


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("-agg type", "--aggregate-by type"),
        ("--agg in_shapes,type", "--aggregate-by in_shapes,type"),
        ("--func=name", "--aggregate-by name"),
        ("-agg mean", "--aggregate mean"),
    ],
)
def test_a_word_for_aggregates_with_a_group_key_stands_for_groups(option: str, meant: str) -> None:
    name = str(PROFILES / "tiny.json")
    assert run_command(name, *option.split()).err.endswith(f"; did you mean {meant}?\n")
    assert run_command(name, *meant.split()).code == 0


VALUED = [option for option in OPTIONS if option.takes_values]


@pytest.mark.parametrize("option", VALUED, ids=lambda option: str(option.flags[-1]))
def test_a_missing_value_gets_an_example_that_is_valid(option: Option) -> None:
    choices = ", ".join(option.settings.get("choices", ()))
    value = f": {choices}" if choices else f", such as {option.example_call}"
    message = f"argument {'/'.join(option.flags)}: needs a value{value}\n"
    assert run_command("none.json", option.flags[0]).err == f"profile_analyze: error: {message}"
    assert bool(choices) != bool(option.example)
    if option.example:
        needs = {
            "--having": "--aggregate-by=type",
            "--threshold": "--compare=none.json",
            "--fail-if": "--compare=none.json",
            "--sql-timeout": "--sql=from runs",
            "--write-model": "--split-matmul=64,64,64",
            "--compare-label": "--label={date}/*",
        }
        further = [value for flag, value in needs.items() if flag in option.flags]
        outcome = run_command("none.json", *further, *shlex.split(option.example_call))
        assert outcome.code == 0 or outcome.err.startswith(
            "profile_analyze: error: none.json: no such file"
        )


def test_long_texts_are_not_compared_with_known_words() -> None:
    with pytest.raises(pa.UnknownColumnError, match="the columns are"):
        find_column("Time" + " " * 200)
    where = f"name == {'a' * 200} and time > 1"
    assert len(pa.Query(where=where).conditions) == 1
    with pytest.raises(pa.QueryError, match="write COLUMN OPERATOR VALUE"):
        pa.Query(where=f"name contains {'a' * 200}")
    with pytest.raises(pa.QuantityError, match="write seconds"):
        pa.parse_time("1" + "0" * 200 + "MS")
    unknown = run_command("--sort", "a" * 201)
    assert unknown.err.endswith("did you mean --order-by, such as --order-by memory?\n")
    missing = run_command("C:" + "a" * 200)
    assert missing.err.endswith(("no such file\n", "file name too long\n"))


def test_a_file_whose_name_differs_in_case_is_suggested(tmp_path: Path) -> None:
    for name in ("o.json", "o2.json"):
        (tmp_path / name).write_bytes(b"{}")
    assert run_command(f"{tmp_path}/O.JSON").err == (
        f"profile_analyze: error: {tmp_path}/O.JSON: no such file; did you mean {tmp_path}/o.json?\n"
    )


def test_a_link_to_nothing_says_where_it_leads(tmp_path: Path) -> None:
    link = tmp_path / "run.json"
    link.symlink_to(tmp_path / "none.json")
    message = f"{link}: is a link to {tmp_path}/none.json, which does not exist\n"
    assert run_command(str(link)).err == f"profile_analyze: error: {message}"


def test_a_name_with_blanks_needs_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my new run.json").touch()
    monkeypatch.chdir(tmp_path)
    message = "my: no such file; a name with blanks needs quotes: 'my new run.json'\n"
    assert run_command("my", "new", "run.json").err == f"profile_analyze: error: {message}"
    assert run_command("my", "old", "run.json").err == "profile_analyze: error: my: no such file\n"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("runs/nightly/a.json", ""),
        ("run/nightly/a.json", "; there is no folder run; did you mean runs?"),
        ("runs/nightli/x/a.json", "; there is no folder runs/nightli; did you mean runs/nightly?"),
        ("./runs/daily/a.json", "; there is no folder ./runs/daily"),
        ("/no-such-folder/run.json", "; there is no folder /no-such-folder"),
        ("../no-such-file", ""),
        ("noted/a.json", "; there is no folder noted"),  # `notes` is no folder
        ("memory://a/[x].json", ""),
        (
            "notes --format plain",
            "; remove the quotes, which join the file notes and the option --format",
        ),
        ("notes\n  -t5", "; remove the quotes, which join the file notes and the option -t5"),
        ("note --format plain", ""),
        (
            "my notes --where 'name ~ a.*'",
            "; remove the quotes, which join the file my notes and the option --where",
        ),
    ],
)
def test_a_missing_file_gets_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, advice: str
) -> None:
    (tmp_path / "runs" / "nightly").mkdir(parents=True)
    (tmp_path / "notes").touch()
    (tmp_path / "my notes").touch()
    monkeypatch.chdir(tmp_path)
    shown = name.replace("\n", "\\n")
    message = f"profile_analyze: error: {shown}: no such file{advice}\n"
    assert run_command(name).err == message


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ("--aggregate-by type name", ["--aggregate-by type,name"]),
        ("--aggregate-by type, name", ["--aggregate-by type,name"]),
        ("--columns name , time , share", ["--columns name,time,share"]),
        ("--order-by time +calls", ["--order-by time,+calls"]),
        ("--aggregate sum p90", ["--aggregate sum,p90"]),
        ("--aggregate-by type --columns time name",
         ["--aggregate-by type,name", "--columns time,name"]),
    ],
)  # fmt: skip
def test_a_list_that_is_split_by_blanks_is_suggested_as_a_whole(
    options: str, meant: list[str]
) -> None:
    name = str(PROFILES / "tiny.json")
    option = meant[0].partition(" ")[0]
    assert run_command(name, *options.split()).err == (
        f"profile_analyze: error: argument {option}: takes one value; did you mean "
        f"{' or '.join(meant)}?\n"
    )
    for one in meant:
        assert run_command(name, *one.split()).code == 0


def test_the_name_of_a_column_may_be_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "time").write_bytes((PROFILES / "tiny.json").read_bytes())
    assert run_command("time", "--columns", "name").code == 0


@pytest.mark.parametrize("name", ["\\", "\\ ", " ", "\\\\"])
def test_the_end_of_a_continued_line_is_no_file(name: str) -> None:
    message = (
        f"profile_analyze: error: '{name}': no such file; is it the end of a line? A backslash "
        "that continues a line must be its last character, without a blank after it\n"
    )
    assert run_command(str(PROFILES / "tiny.json"), name).err == message


def test_a_call_without_a_file_tells_how_to_read_a_pipe() -> None:
    command = [sys.executable, "-m", "profile_analyze", "-t", "5"]
    piped = subprocess.run(command, input="{}", capture_output=True, text=True, check=False)
    assert "FILE; - reads standard input; see" in piped.stderr
    closed = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert "required: FILE; see" in closed.stderr


def test_only_names_that_nearly_fit_are_suggested() -> None:
    assert "did you mean" not in run_command("none.json", "--confidence", "3").err
    assert run_command("none.json", "--ordr-by", "name").err.endswith("mean --order-by name?\n")


def test_a_name_with_a_hyphen_after_two_hyphens_is_an_unknown_option() -> None:
    assert run_command("--", "-none.json").err.startswith(
        "profile_analyze: error: unrecognized arguments: -none.json; "
    )


def test_no_note_if_only_the_baseline_is_in_the_time_range() -> None:
    fast, slow = (profile_of([Operator("a", "A", time)]) for time in (100, 300))
    query = pa.Query(compared=True, min_time_s=2e-4)
    assert not any("the longest" in note for note in pa.run(query, pa.compare(fast, slow)).notes)


if __name__ == "__main__":
    record("wrong", CALLS)
