"""Advice on conditions of `--fail-if` that break the grammar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.query.catalog import CATALOG
from profile_analyze.query.condition_advice import advice_on_other_grammar
from profile_analyze.query.limit_advice import NUMBER, with_signs
from profile_analyze.query.work_gate import WORK_METRICS
from profile_analyze.suggestions import (
    LONGEST_ADVISED,
    METRIC_WORDS,
    did_you_mean,
    likely_names,
    suggestion,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

TOTAL: Final = "total"
WALL: Final = "wall"
COVERING_ALL: Final = (TOTAL, WALL)
"""The metrics that cover all operators, so that a condition has no selection."""
_EXAMPLES: Final = "'total > +5%', 'type=ConvolutionForward: time > +3%' or 'time > 0.120s'"
_RATIOS: Final = ("ratio", "change", "difference", "speedup", "base", "baseline")
_RATES: Final = ("fps", "throughput", "qps", "ips", "rate", "rps", "inferences_per_second")
_WHOLE_RUN: Final = re.compile(
    r"(?:(?:end_to_end|e2e|inference|total)_)?latency|wall(?:_?clock)?(?:_time)?(?:_of_a_run)?"
    r"|(?:end_to_end|e2e|elapsed|run|inference)(?:_time)?"
)
"""Words for the time of a whole run, which the metric `WALL` limits."""
_PERCENTILE: Final = r"(?:p\d+|median|mean|avg|average|min|max|best|worst)(?:_time|_latency)?"
_CHANGES: Final = (
    *("verdict", "slower", "faster", "worse", "regression", "regressed", "slowdown"),
    *("p", "pvalue", "p_value", "change"),
)
"""Words for a change beyond noise. These are not metrics: every condition tests for noise."""
_SIMILAR: Final = 0.75
"""How similar a misspelt word must be to one of `_CHANGES`. Names of operators are less similar."""
_UNCERTAIN: Final = {
    **dict.fromkeys(("uncertain", "yes"), "yes"),
    **{one: one for one in ("unjudged", "not-ruled-out", "no")},
}
"""Words that belong to the option `--fail-uncertain`, each with the value for that option."""
_ACTIVATIONS: Final = ("peak", "peak_memory", "activation", "activations", "activation_bytes")
"""Words for the memory of activations, which is not a metric of conditions."""
_COLUMNS: Final = frozenset(column.name for column in CATALOG)
_SELECTION: Final = r"[\w.]+\s*(?:!~|[=!<>]=|[=~])\s*[^\s=~<>]+"
"""A condition that selects operators."""
ANY_SLOWER: Final = "verdict ~ slower|more: time > 0s"
"""The condition that is met if any single operator became slower."""
_ANY_FASTER: Final = "verdict ~ faster|less: time > 0s"
ANOTHER_CONDITION: Final = "there is another condition; repeat --fail-if for each"
_ANY_WORDS: Final = frozenset(
    (
        *("any", "each", "every", "single", "one", "all", "per", "by"),
        *("op", "operator", "layer", "node", "row"),
        *("ops", "operators", "layers", "nodes", "rows"),
    )
)
"""The words of subjects such as `any layer`, `each` and `all operators`. Without `all`, they mean
any single operator."""
_DEFAULT: Final = "> +5%"
_LIMIT: Final = re.compile(rf"[<>] *[+-]?(?:{NUMBER}) *(%|s|ms|us|ns)")


def advice_on_form(text: str, metrics: Sequence[str]) -> str:
    """Return what to write instead of `text`, which is not of the form METRIC > LIMIT."""
    stripped = text.strip()
    ways = (
        *(_reversed_order, _spare_signs, _any_single, _whole_run),
        *(_limit_first, _limit_alone, _metric_in_words, _other_form),
    )
    is_short = len(stripped) <= LONGEST_ADVISED
    meant = (way(stripped, metrics) for way in (ways if is_short else ()))
    return next(filter(None, meant), "") or (
        f"write [SELECTION:] METRIC > LIMIT, such as {_EXAMPLES}; METRIC is one of "
        f"{', '.join(metrics)}"
    )


def _reversed_order(text: str, metrics: Sequence[str]) -> str:
    """Return advice on `time > +5%: type=Conv`, in which the selection comes last; else empty."""
    limit = rf"(?:>\s*[+-]?|<\s*-?)\s*(?:{NUMBER})\s*(?:%|[a-zA-Z]+)?"
    match = re.fullmatch(rf"\s*({'|'.join(metrics)})\s*({limit})\s*:\s*([^:<>]+)", text)
    # A selection by verdict cannot limit a change: another message says so.
    if match is None or len(text) > LONGEST_ADVISED or match[3].startswith("verdict"):
        return ""
    metric, limit, selection = (one.strip() for one in match.groups())
    selection = f"name ~ {selection}" if _is_name(selection) else selection
    of_operators = "time" if metric in COVERING_ALL else metric
    meant = f"{selection}: {of_operators} {limit}"
    return f"the selection comes first; {did_you_mean([repr(meant)])}"


def _spare_signs(text: str, _: Sequence[str]) -> str:
    """Return advice on needless characters that a shell did not remove; empty for other texts.

    A second pair of quotes, as in `"'total > +5%'"`, and a backslash before `>` are needless.
    """
    if match := re.fullmatch(r"""(["'])([^"']+)\1""", text):
        return f"leave out one pair of quotes: write {match[2].strip()!r}"
    if re.search(r"\\\s*[<>]", text):
        plain = re.sub(r"\\(?=\s*[<>])", "", text)
        return f"inside of quotes, > needs no backslash; write {plain!r}"
    return ""


def _any_single(text: str, metrics: Sequence[str]) -> str:
    """Return advice on a text such as `any layer > +5%` or `each`; empty for other texts."""
    metric = rf"(?:\b(?:{'|'.join(metrics)})\s*)?"
    match = re.fullmatch(rf"([a-zA-Z_\s-]+?)\s*:?\s*{metric}([<>].*)?", text)
    return _for_any_operator(match[1], "time", match[2] or "") if match else ""


def _for_any_operator(subject: str, metric: str, limit: str) -> str:
    """Return how to write a condition on any single operator; empty if `subject` is something else.

    `limit` begins with `>` or `<`, or is empty.
    """
    if "all" in _words(subject) or not _words(subject) <= _ANY_WORDS or metric in WORK_METRICS:
        return ""
    is_below = limit.startswith("<")
    change, condition = ("faster", _ANY_FASTER) if is_below else ("slower", ANY_SLOWER)
    share = re.fullmatch(rf"[<>]\s*[+-]?\s*({NUMBER})\s*%", limit.strip())
    threshold = f", and {threshold_of(share[1])}" if share and float(share[1]) else ""
    return f"to fail if any single operator became {change}, write {condition!r}{threshold}"


def _words(subject: str) -> set[str]:
    return {*re.split(r"[\s_-]+", subject.strip().lower())}


def threshold_of(share: str) -> str:
    """Return the option that ignores changes below `share` per cent, and what it does."""
    return f"--threshold {share}% to ignore changes below {share}%"


def _whole_run(text: str, _: Sequence[str]) -> str:
    """Return advice on a text such as `wall time > 1s` or `latency`; empty for other texts."""
    words = re.split("[<>]", text, maxsplit=1)[0]
    name = re.sub(r"\s+", "_", words.strip().lower())
    return _advice_on_word(name, text[len(words) :]) if _WHOLE_RUN.fullmatch(name) else ""


def _limit_first(text: str, metrics: Sequence[str]) -> str:
    """Return advice if the limit comes first, as in `+5% < total`; empty otherwise."""
    limit = rf"[+-]?\s*(?:{NUMBER})\s*(?:%|[a-zA-Z]+)?"
    match = re.fullmatch(rf"({limit})\s*([<>])\s*({'|'.join(metrics)})", text)
    if match is None:
        return ""
    mirrored = ">" if match[2] == "<" else "<"
    return did_you_mean([f"'{match[3]} {mirrored} {match[1].strip()}'"])


def _limit_alone(text: str, metrics: Sequence[str]) -> str:
    """Return advice if `text` is a limit without `>`, such as `total +5%` or `5%`; else empty."""
    metric = "|".join(metrics)
    match = re.fullmatch(rf"(?:({metric})\s*:?)?\s*([+-]?)\s*({NUMBER})\s*(%?)", text)
    if match is None or (match[1] and not match[4]):
        return ""
    is_fraction = not match[4] and float(match[3]) < 1
    share = float(match[3]) * (100 if is_fraction else 1)
    return did_you_mean([f"'{match[1] or 'total'} > {match[2] or '+'}{share:.6g}%'"])


def _metric_in_words(text: str, metrics: Sequence[str]) -> str:
    """Return advice if the metric is written with blanks, as in `total device time > 1s`.

    The summary writes metrics this way. Empty for other texts.
    """
    if match := re.fullmatch(r"total[ _]([a-z]+)\s*([<>].+)", text):
        return did_you_mean([f"'{match[1]} {match[2]}'"]) if match[1] in metrics else ""
    match = re.fullmatch(r"(total )?([a-z]+ [a-z]+)\s*([<>].+)", text)
    name = match[2].replace(" ", "_") if match else ""
    if match is None or name not in metrics:
        return ""
    # The device time of all operators is the metric `total`.
    names = [name, "total"] if name == "device_time" else [name]
    return did_you_mean([f"'{one} {match[3]}'" for one in (names[::-1] if match[1] else names)])


def _other_form(text: str, metrics: Sequence[str]) -> str:
    """Return advice on a text such as `regression`, `total` or `Conv > +3%`; empty if none fits."""
    metric = "|".join(metrics)
    if likely_names(text, _CHANGES, {}, cutoff=_SIMILAR):
        return f"every condition asks for a change beyond noise; write 'total {_DEFAULT}'"
    if text.lower() in _UNCERTAIN:
        option = f"--fail-uncertain {_UNCERTAIN[text.lower()]}"
        return f"write 'total {_DEFAULT}', and {option} for changes that are not certain"
    if match := re.fullmatch(rf"(?:(.+?)\s*:\s*)?({metric})\s*>?", text):
        subject = f"{match[1]}: " if match[1] else ""
        return (
            f"write a limit, too, in quotes: '{subject}{match[2]} {_DEFAULT}'; without quotes, a "
            "shell takes > for itself, and writes to a file"
        )
    if match := re.fullmatch(rf"((?:{metric})(?:\s*,\s*(?:{metric}))+)\s*([<>].+)", text):
        return repeat_for([f"{one.strip()} {match[2]}" for one in match[1].split(",")])
    if match := re.fullmatch(rf"({_SELECTION}?)\s*:", text):
        return did_you_mean([f"'{match[1]}: time {_DEFAULT}'"])
    # A name may have blanks around signs, as in `Conv_5 + Relu_6`.
    name = rf"(?!(?:{metric})\b)[^\s:<>=~]+"
    match = re.fullmatch(rf"({name}(?:\s+[^\w\s:<>=~]+\s+{name})*)\s*([<>].*)?:?", text)
    return _colon_after(match[1], match[2]) if match else ""


def advice_on_metric(text: str, name: str, metrics: Sequence[str]) -> str:
    """Return the error message for the condition `text`, whose metric `name` does not exist."""
    metric = "|".join(metrics)
    if advice := _reversed_order(text, metrics):
        return advice
    if name == "verdict" and "<" not in text and ">" not in text:
        return f"a condition has a limit, too; write {f'{text.strip()}: time > 0s'!r}"
    form = rf"\s*({_SELECTION})(?:\s+({metric}))?\s*([<>].*)?"
    # If the condition selects operators, a latency means their time, not the time of a run.
    of_operators = ":" in text and _WHOLE_RUN.fullmatch(name.lower())
    limit = re.search(r"[<>].*", text.rpartition(":")[2], re.DOTALL)
    advice = "" if of_operators else _advice_on_word(name.lower(), limit[0] if limit else "")
    is_column = name in _COLUMNS and not advice
    match = re.fullmatch(form, text) if is_column and len(text) <= LONGEST_ADVISED else None
    if match is not None:
        condition = f"{match[1]}: {match[2] or 'time'} {match[3] or _DEFAULT}"
        return f"a colon separates operators from the metric; {did_you_mean([f'{condition!r}'])}"
    known = f"METRIC is one of {', '.join(metrics)}"
    advice = advice or _for_any_operator(name, "time", limit[0] if limit else "")
    if not advice:
        near = suggestion(name, metrics, METRIC_WORDS)
        if is_column:
            advice = f"a condition is on times or work: {known}"
        elif name.lower() in _ACTIVATIONS:
            advice = f"{known}; the summary has the memory of activations"
        elif near or not name.islower():  # most names of types have a capital letter
            advice = near or _colon_after(name, limit and limit[0])
        else:
            selected = f"name ~ {name}: time {limit[0] if limit else _DEFAULT}"
            advice = f"{known}; {selected!r} selects operators"
    return f"there is no metric {name!r}; {advice}"


def _advice_on_word(word: str, limit: str = "") -> str:
    """Return the advice on a word about times that is not a metric; otherwise empty.

    `limit` is the rest of the condition, such as `> 5ms`; it may be empty or wrong.
    """
    if word in _RATIOS:
        return f"write 'total {_DEFAULT}' for 5% more than the baseline"
    if _WHOLE_RUN.fullmatch(word):
        return did_you_mean([f"'{WALL} {limit if _LIMIT.fullmatch(limit) else _DEFAULT}'"])
    if word in _RATES:
        why = "conditions are on times, which are longer if the model is slower"
    elif re.fullmatch(_PERCENTILE, word):
        why = "conditions are on medians over the runs"
    elif word in _CHANGES:
        why = "every condition asks for a change beyond noise"
    else:
        return ""
    return f"{why}; write 'total {_DEFAULT}'"


def advice_on_subject(subject: str, metric: str, rest: str, metrics: Sequence[str]) -> str:
    """Return advice on the operators that a condition selects; empty if they look right.

    `rest` is the text after the colon, which begins with `metric`. The subject may be just a name,
    as in `Conv: time > +5%`.
    """
    limit = rest.strip().removeprefix(metric).strip()
    of_operators = "time" if metric in COVERING_ALL else metric
    if advice := _several_conditions(subject, metrics) or _for_any_operator(subject, metric, limit):
        return advice
    if subject == "*" or _words(subject) <= _ANY_WORDS:
        return (
            f"without a selection, a condition covers all operators; write {f'{metric} {limit}'!r}"
        )
    if subject in metrics:
        meant = f"{subject} {limit}"
        return f"{subject!r} selects no operators; {did_you_mean([f'{meant!r}'])}"
    if _is_name(subject) and len(subject) <= LONGEST_ADVISED:
        return f"{subject!r} selects no operators; {_selecting(subject, f'{of_operators} {limit}')}"
    if metric in COVERING_ALL:
        condition = f"{subject}: {of_operators} {limit}"
        return f"{metric} covers all operators; write {condition!r}"
    return ""


def _is_name(subject: str) -> bool:
    """Return whether `subject` looks like the name of operators, and not like a condition."""
    first, *others = re.split(r"\s+", subject)
    is_condition = others and (first in _COLUMNS or advice_on_other_grammar(subject))
    return not (is_condition or re.search("[=!~<>]", subject))


def _several_conditions(subject: str, metrics: Sequence[str]) -> str:
    """Return advice if `subject` has another condition of `--fail-if`; otherwise empty.

    In `total > +5% and type=Conv`, the part before `and` is such a condition. `base > 1ms` selects
    operators: a column before the first colon, and a limit that is not a change.
    """
    if re.search("[<>].*;", subject):
        return "a semicolon separates no conditions; repeat --fail-if for each one"
    metric = "|".join(metrics)
    form = rf"(^|:)\s*({metric})\s*[<>]\s*([^\s,&|]+).*?(?:\s(?i:and|or)\s|[,&|])"
    match = re.search(form, subject) if len(subject) <= LONGEST_ADVISED else None
    if match is None:
        return ""
    is_of_change = match[3].startswith(("+", "-")) or match[3].endswith("%")
    return ANOTHER_CONDITION if match[1] or match[2] not in _COLUMNS or is_of_change else ""


def advice_on_inverted(text: str, limit: str) -> str:
    """Return the message about a condition such as `total < +5%`."""
    metric, _, _ = text.rpartition("<")
    meant = f"{metric.strip()} > {limit}"
    return (
        f"every change below {limit} meets this, and so does an unchanged model; "
        f"{did_you_mean([f'{meant!r}'])}"
    )


def repeat_for(conditions: Sequence[str]) -> str:
    """Return the advice to write one `--fail-if` for each of `conditions`."""
    options = " ".join(f"--fail-if {with_signs(one.strip())!r}" for one in conditions)
    return f"there is another condition; write {options}"


def _colon_after(name: str, limit: str | None) -> str:
    """Return how to select operators by `name`, which the user wrote where a metric belongs."""
    return f"operators come before a colon: {_selecting(name, f'time {limit or _DEFAULT}')}"


def _selecting(name: str, rest: str) -> str:
    """Return how to select operators by `name`. Names of types have no blanks."""
    if re.search(r"\s", name):
        return f"write 'name={name}: {rest}'"
    return f"write 'type={name}: {rest}', or 'name ~ {name}: {rest}' for a pattern"
