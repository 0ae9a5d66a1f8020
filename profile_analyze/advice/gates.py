"""What to write instead of a condition of `--fail-if` that breaks the grammar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean, likely_names, suggestion
from profile_analyze.advice.words import METRIC_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

COVERING_ALL: Final = ("total", "wall")
"""The metrics that cover all operators, so that a condition has no selection."""
ANOTHER_CONDITION: Final = "there is another condition; repeat --fail-if for each"
ANY_SLOWER: Final = "verdict ~ slower|more: time > 0s"
"""The condition that is met if any single operator became slower."""
_EXAMPLES: Final = "'total > +5%', 'type=ConvolutionForward: time > +3%' or 'time > 0.120s'"
_CHANGES: Final = ("slower", "faster", "worse", "regression", "verdict", "change", "p_value")
"""Words for a change beyond noise. These are not metrics: every condition tests for noise."""
_SIMILAR: Final = 0.75
"""How similar a misspelt word must be to one of `_CHANGES`. Names of operators are less similar."""
_ANY: Final = re.compile(r"(any|each|every)(\s+(single\s+)?(op|operator|layer|node|row)s?)?")
NUMBER: Final = r"\d+(?:\.\d*)?|\.\d+"
"""A pattern for a number without a sign."""
_DEFAULT: Final = "> +5%"
_AS_CHANGE: Final = "write +5% for 5% more than the baseline, -5% for 5% less"


def advice_on_form(text: str, metrics: Sequence[str]) -> str:
    """Return what to write instead of `text`, which is not of the form METRIC > LIMIT."""
    stripped = text.strip() if len(text) <= LONGEST_ADVISED else ""
    metric = "|".join(metrics)
    if advice := _advice_on_any(re.split("[<>:]", stripped)[0].strip()):
        return advice
    if likely_names(stripped, _CHANGES, {}, cutoff=_SIMILAR):
        return f"every condition asks for a change beyond noise; write 'total {_DEFAULT}'"
    if match := re.fullmatch(
        rf"([+-]?(?:{NUMBER})\s*(?:%|[a-zA-Z]+)?)\s*([<>])\s*({metric})", stripped
    ):
        mirrored = ">" if match[2] == "<" else "<"
        return did_you_mean([f"'{match[3]} {mirrored} {match[1]}'"])
    if match := re.fullmatch(rf"({metric})?\s*([+-]?)((?:{NUMBER})%)", stripped):
        return did_you_mean([f"'{match[1] or 'total'} > {match[2] or '+'}{match[3]}'"])
    if match := re.fullmatch(rf"((?:.+?:\s*)?(?:{metric}))\s*>?", stripped):
        return (
            f"write a limit, too, in quotes, which keep > from the shell: '{match[1]} {_DEFAULT}'"
        )
    known = f"METRIC is one of {', '.join(metrics)}"
    return f"write [SELECTION:] METRIC > LIMIT, such as {_EXAMPLES}; {known}"


def advice_on_metric(text: str, name: str, metrics: Sequence[str], columns: Collection[str]) -> str:
    """Return the error message for the condition `text`, whose metric `name` does not exist."""
    limit = re.search(r"[<>].*", text.rpartition(":")[2], re.DOTALL)
    beyond = limit[0] if limit and len(text) <= LONGEST_ADVISED else _DEFAULT
    known = f"METRIC is one of {', '.join(metrics)}"
    has_selection = ":" in text
    possible = [one for one in metrics if not (has_selection and one in COVERING_ALL)]
    near = suggestion(name, possible, METRIC_WORDS)
    selection = re.match(r"\s*[\w.]+\s*(!~|[=!]=|[=~])\s*[^\s=~<>]+", text)
    if name in _CHANGES:
        advice = f"every condition asks for a change beyond noise; write 'total {_DEFAULT}'"
    elif name in columns and selection:
        advice = f"a colon ends the selection; write {f'{selection[0]}: time {beyond}'!r}"
    elif name in columns:
        advice = f"a condition is on times or work: {known}"
    else:
        selecting = "" if has_selection else f"; {_selecting(name, f'time {beyond}')}"
        advice = _advice_on_any(name) or near or f"{known}{selecting}"
    return f"there is no metric {name!r}; {advice}"


def advice_on_subject(
    subject: str, metric: str, rest: str, metrics: Sequence[str], columns: Collection[str]
) -> str:
    """Return advice on the operators that a condition selects; empty if they look right.

    `rest` is the text after the colon, which begins with `metric`. The subject may be just a name,
    as in `Conv: time > +5%`.
    """
    limit = rest.strip().removeprefix(metric).strip()
    of_operators = "time" if metric in COVERING_ALL else metric
    is_short = len(subject) <= LONGEST_ADVISED
    if is_short and re.search(
        rf"(^|:)\s*({'|'.join(metrics)})\s*[<>]\s*[+-]?[^\s,&|;]+\s*%", subject
    ):
        return ANOTHER_CONDITION
    if advice := _advice_on_any(subject):
        return advice
    if subject in metrics or subject == "*":
        return f"{subject!r} selects no operators; write {f'{metric} {limit}'!r}"
    is_name = not re.search("[=!~<>]", subject) and subject.split(maxsplit=1)[0] not in columns
    if is_short and is_name:
        return f"{subject!r} selects no operators; {_selecting(subject, f'{of_operators} {limit}')}"
    if metric in COVERING_ALL:
        return f"{metric} covers all operators; write {f'{subject}: time {limit}'!r}"
    return ""


def advice_on_inverted(text: str, limit: str) -> str:
    """Return the message about a condition such as `total < +5%`."""
    metric, _, _ = text.rpartition("<")
    meant = f"{metric.strip()} > {limit}"
    return (
        f"every change below {limit} meets this, and so does an unchanged model; "
        f"{did_you_mean([f'{meant!r}'])}"
    )


def advice_on_limit(limit: str) -> str:
    """Return advice on a limit with the word `baseline` or a factor; empty for other limits."""
    if match := re.fullmatch(rf"({NUMBER})\s*[xX\N{{MULTIPLICATION SIGN}}]", limit):
        return advice_on_ratio(float(match[1])) or _AS_CHANGE
    return _AS_CHANGE if re.search(r"\bbase(line)?\b", limit) else ""


def advice_on_ratio(ratio: float) -> str:
    """Return how to write a ratio between 1 and 10 as a change in percent; otherwise empty."""
    if not 1 < ratio < 10:
        return ""
    more = f"{100 * (ratio - 1):.6g}%"
    return f"for {more} more than the baseline write +{more}"


def with_signs(advice: str) -> str:
    """Return the advice with a `+` before each limit in per cent that has no sign.

    Advice repeats limits of the user, and a limit such as `5%` needs a sign.
    """
    return re.sub(r"([<>]\s*)(?=[\d.]+\s*%)", r"\1+", advice)


def threshold_of(share: str) -> str:
    """Return the option that ignores changes below `share` per cent, and what it does."""
    return f"--threshold {share}% to ignore changes below {share}%"


def _advice_on_any(subject: str) -> str:
    """Return how to write a condition on any single operator; empty for other subjects."""
    if not _ANY.fullmatch(subject.lower()):
        return ""
    return f"to fail if any single operator became slower, write {ANY_SLOWER!r}"


def _selecting(name: str, rest: str) -> str:
    """Return how to select operators by `name`."""
    if " " in name:  # types have no blanks
        return f"write {f'name={name}: {rest}'!r}"
    return f"operators come before a colon: 'type={name}: {rest}' or 'name ~ {name}: {rest}'"
