"""What to write after `--peaks` instead: rates of another dtype, device or thread count."""

from __future__ import annotations


def missing_rate_advice(rates: str, dtype: str) -> str:
    """Return how to give the rate of a dtype that a device lacks. `rates` has its bandwidth."""
    return f"two rates apply to every dtype: --peaks {rates} with the FLO/s in {dtype}"


def tf32_advice(option: str) -> str:
    """Return the advice for operators in FP32 that are faster than their roof.

    `option` chooses the rate of TF32.
    """
    return f"operators in fp32 probably ran in tf32, and {option} uses the rate of tf32"


def threads_advice(threads: int) -> str:
    """Return how to measure the rates of a number of threads."""
    counted = "1 thread" if threads == 1 else f"{threads} threads"
    return f"on the machine of the profile, --peaks here:{threads} measures the rates of {counted}"


def highest_rates_advice(highest: str) -> str:
    """Return which rates to give if the peaks do not fit; empty if the profile has no rates.

    The highest rates of the operators are a lower limit of the peaks, unless data was in caches,
    which are faster than memory.
    """
    return highest and (
        f"the highest rates in this profile are --peaks {highest}, a lower limit unless data was "
        "in caches"
    )


def cpu_peaks_advice(highest: str) -> str:
    """Return how to find the peaks of a CPU. `highest` are the highest rates; empty if unknown."""
    advice = (
        "on the machine of the profile, --peaks here measures that CPU; elsewhere, give its two "
        "rates"
    )
    return (
        f"{advice}; {highest_rates_advice(highest)}"
        if highest
        else (f"{advice}, as in --peaks 768G:51G")
    )
