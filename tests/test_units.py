"""Reading and writing of quantities."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze import QuantityError, units
from profile_analyze.columns import wording
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.wording import value_text

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0.001", 0.001),
        ("1e-6", 1e-6),
        ("1_000", 1000.0),
        ("0", 0.0),
        ("-1", -1.0),
        (" 2 ", 2.0),
        ("1s", 1.0),
        ("1ms", 0.001),
        ("1.5 ms", 0.0015),
        ("20us", 20e-6),
        ("3us", 3e-6),
        ("1.1ms", 0.0011),
        ("1e-300us", 1e-306),
        ("0.7min", 42.0),
        ("4.35h", 15660.0),
        ("20\N{MICRO SIGN}s", 20e-6),
        ("20\N{GREEK SMALL LETTER MU}s", 20e-6),
        ("3ns", 3e-9),
        ("1e3ns", 1e-6),
        ("2min", 120.0),
        ("1h", 3600.0),
        ("inf", inf),
        ("-Infinity", -inf),
        ("1e999999999", inf),
        ("-1e999999999ms", -inf),
        ("1e9999999999999999999h", inf),
        ("1e-9999999999999999999us", 0.0),
        ("0e9999999999999999999us", 0.0),
        ("1" + "0" * 5000 + "e-5000ms", 0.001),
    ],
)
def test_times_are_read(text: str, seconds: float) -> None:
    assert units.parse_time(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "abc", "ms", "1kg", "1 m s", "nan", "NaN", "-nan", "1..2", "0x10", "5infs"]
)
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(QuantityError) as caught:
        units.parse_time(text)
    assert str(caught.value) == (
        f"{text!r} is not a time; write seconds, or a number with one of s, ms, us, ns, min, h: "
        "0.001, 1ms"
    )


@pytest.mark.parametrize(
    ("text", "unit", "meant"),
    [
        ("1MS", "s", "1ms"),
        ("2 sec", "s", "2s"),
        ("1,5 ms", "s", "1.5ms"),
        ("1,000,000US", "s", "1000000us"),
        ("3 Minutes", "s", "3min"),
        ("10mib", "byte", "10MiB"),
        ("10Mb", "byte", "10MB"),
        ("1gb/s", "byte/s", "1GB/s"),
        ("2gflops", "FLO/s", "2GFLOPS"),
        ("5 percent", "1", "5%"),
        ("2,5%", "1", "2.5%"),
        ("4.5flo/b", "FLO/byte", "4.5FLO/B"),
    ],
)
def test_a_unit_in_another_spelling_is_suggested(text: str, unit: str, meant: str) -> None:
    with pytest.raises(QuantityError) as caught:
        units.parse_quantity(text, unit)
    assert str(caught.value).endswith(f"; did you mean {meant}?")
    units.parse_quantity(meant, unit)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, "FLO", ("0.00", "FLO")),
        (999.0, "FLO", ("999.00", "FLO")),
        (1000.0, "FLO", ("1.00", "KFLO")),
        (999_994.0, "FLO", ("999.99", "KFLO")),
        (999_999.0, "FLO", ("1.00", "MFLO")),
        (-999_999_999.0, "FLO/s", ("-1.00", "GFLOPS")),
        (1024.0**2 - 1, "byte", ("1.00", "MiB")),
        (231_211_008.0, "FLO", ("231.21", "MFLO")),
        (26.3278e9, "FLO/s", ("26.33", "GFLOPS")),
        (3e12, "FLO/s", ("3.00", "TFLOPS")),
        (4e15, "FLO", ("4.00", "PFLO")),
        (5e18, "FLO", ("5.00", "EFLO")),
        (6e21, "FLO/s", ("6.00", "ZFLOPS")),
        (7e24, "FLO", ("7.00", "YFLO")),
        (8e27, "FLO", ("8.00e+27", "FLO")),
        (1023.0, "byte", ("1023.00", "byte")),
        (1024.0, "byte", ("1.00", "KiB")),
        (1024.0**2 * 9.19, "byte", ("9.19", "MiB")),
        (1024.0**3, "byte/s", ("1.00", "GiB/s")),
        (12.0, "byte/s", ("12.00", "byte/s")),
        (-5000.0, "FLO", ("-5.00", "KFLO")),
        (nan, "FLO", ("N/A", "FLO")),
        (nan, "FLO/s", ("N/A", "FLOPS")),
        (nan, "byte", ("N/A", "byte")),
        (nan, "byte/s", ("N/A", "byte/s")),
    ],
)
def test_quantities_are_scaled(value: float, unit: str, text: tuple[str, str]) -> None:
    assert units.scaled(value, unit) == text


def test_values_as_in_the_tool_of_megengine_get_a_prefix_before_rounding() -> None:
    assert units.scaled(999_999.0, "FLO", as_original=True) == ("1000.00", "KFLO")
    column, value = find_column("computation"), 999_999.0
    assert value_text(column, value, "stacked") == "1000.00\nKFLO"
    assert value_text(column, value) == "1.00 MFLO"


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (units.short_time, 0.0122, "12.2 ms"),
        (units.short_time, -1.39e-06, "-1.39 us"),
        (units.short_time, 0.9999, "1.00 s"),
        (units.short_time, 120.4, "120 s"),
        (units.short_time, 0.0, "0 s"),
        (units.short_time, nan, "N/A"),
        (units.short_time, inf, "N/A"),
        (units.three_digits, inf, "N/A"),
        (units.percent, -inf, "N/A"),
        (units.seconds, inf, "N/A"),
        (units.six_digits, -inf, "N/A"),
        (units.seconds_fixed, inf, "N/A"),
        (units.decimal_rate, nan, "N/A"),
        (units.decimal_rate, inf, "N/A"),
        (units.small_percent, inf, "N/A"),
        (units.three_digits, 1.1, "1.10"),
        (units.three_digits, 99.96, "100"),
        (units.three_digits, 2048.0, "2050"),
        (units.three_digits, 1e9, "1.00e+09"),
        (units.three_digits, 0.0, "0"),
        (units.seconds, 0.008782, "0.00878"),
        (units.seconds, 9e-05, "9e-05"),
        (units.seconds, 1234.5, "1.23e+03"),
        (units.seconds, 0.0, "0.0"),
        (units.seconds, 5.0, "5.0"),
        (units.six_digits, 0.1037394, "0.103739"),
        (units.six_digits, 0.0, "0"),
        (units.seconds_fixed, 0.01379, "0.0138"),
        (units.percent, 0.08465, "8.5%"),
        (units.percent, 1.0, "100.0%"),
        (units.small_percent, 0.0004, "<0.1%"),
        (units.small_percent, 0.00051, "0.1%"),
        (units.small_percent, 0.0, "0.0%"),
        (units.percent, -1e308, "-1.0e+310%"),
        (units.six_digits, 0.08465476, "0.0846548"),
        (wording.mega, 231_211_008.0, "231.2"),
        (wording.mebi, 1024.0**2 * 1.25, "1.2"),
    ],
)
def test_numbers_are_formatted(function: Callable[[float], str], value: float, text: str) -> None:
    assert function(value) == text
    assert function(nan) == "N/A"


def test_nouns_of_counts_are_singular_or_plural() -> None:
    assert units.counted(1, "operator") == "1 operator"
    assert units.counted(0, "operator") == "0 operators"
    assert units.counted(2, "entry", "entries") == "2 entries"


def test_rates_of_hardware_are_decimal() -> None:
    assert units.decimal_rate(1555e9) == "1555 GB/s"
    assert units.decimal_rate(20e12) == "20000 GB/s"
    assert units.decimal_rate(30.371234e9) == "30.37 GB/s"


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("10MiB", "byte", 10 * 1024**2),
        ("10 MB", "byte", 10e6),
        ("1kB", "byte", 1000.0),
        ("1.5e3", "byte", 1500.0),
        ("2GFLOPS", "FLO/s", 2e9),
        ("2 GFLO/s", "FLO/s", 2e9),
        ("284TOPS", "FLO/s", 284e12),
        ("5 OP/s", "FLO/s", 5.0),
        ("2G", "FLO/s", 2e9),
        ("7K", "FLO", 7000.0),
        ("1.4TiB/s", "byte/s", 1.4 * 1024**4),
        ("4.5 FLO/byte", "FLO/byte", 4.5),
        ("2054.048kB", "byte", 2_054_048.0),
        ("2.054048 MB", "byte", 2_054_048.0),
        ("1.7e308", "byte", 1.7e308),
        ("1e-300YiB", "byte", float(Fraction("1e-300") * 1024**8)),
        ("1e-999999999999999999999YB", "byte", 0.0),
        ("7%", "1", 0.07),
        ("0.29%", "1", 0.0029),
        (".05", "1", 0.05),
        ("-3", "", -3.0),
        ("1ms", "s", 0.001),
    ],
)
def test_quantities_are_read(text: str, unit: str, value: float) -> None:
    assert units.parse_quantity(text, unit) == value


FACTORS: dict[str, dict[str, str]] = {
    "s": {"s": "1", "ms": "1e-3", "us": "1e-6", "ns": "1e-9", "min": "60", "h": "3600"},
    "1": {"": "1", "%": "1e-2"},
    "byte": {"B": "1", "kB": "1e3", "YB": "1e24", "KiB": "1024", "YiB": str(1024**8)},
    "FLO/s": {"": "1", "T": "1e12"},
}


@given(
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?(e[+-]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from([(unit, word) for unit, words in FACTORS.items() for word in words]),
)
def test_quantities_are_the_nearest_float(number: str, kind: tuple[str, str]) -> None:
    unit, word = kind
    exact = Fraction(number) * Fraction(FACTORS[unit][word])
    assert units.parse_quantity(number + word, unit) == float(exact)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("10Mi", "FLO"),
        ("5%%", "1"),
        ("5 % %", "1"),
        ("1e999", "byte"),
        ("1e308KB", "byte"),
        ("1e999999999%", "1"),
        ("nan", "1"),
        ("inf", ""),
        ("5K", "1"),
        ("3s", ""),
        ("", "byte"),
        ("MiB", "byte"),
        ("1KKB", "byte"),
        ("1 2", ""),
    ],
)
def test_invalid_quantities_are_refused(text: str, unit: str) -> None:
    with pytest.raises(QuantityError, match="is not a number"):
        units.parse_quantity(text, unit)


@pytest.mark.parametrize(
    ("unit", "wanted"),
    [
        ("FLO", "a number with the unit FLO, such as 2GFLO"),
        ("FLO/s", "a number with the unit FLOPS, such as 2GFLOPS"),
        ("byte", "a number with the unit B, such as 10MiB"),
        ("byte/s", "a number with the unit B/s, such as 10GiB/s"),
        ("FLO/byte", "a number with the unit FLO/byte, such as 4.5"),
        ("1", "a number, such as 5%"),
        ("", "a number, such as 12"),
    ],
)
def test_messages_show_an_example(unit: str, wanted: str) -> None:
    with pytest.raises(QuantityError) as caught:
        units.parse_quantity("x", unit)
    assert str(caught.value) == f"'x' is not {wanted}"
