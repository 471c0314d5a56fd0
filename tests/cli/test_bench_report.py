"""`fedperm bench --json`: exactly the documented keys, and numbers that agree with each other."""

import subprocess
import sys
from typing import Any

import pytest

from tests.cli.command_line import SMALL_KEY, SMALL_ROUND, bench_report, fedperm

KEYS = {
    "k1": None,
    "k2": None,
    "d": None,
    "clients": None,
    "key_bits": None,
    "value_bits": None,
    "slot_bits": None,
    "slots": None,
    "groups": None,
    "ciphertexts_per_client": None,
    "upload_bytes_per_client": None,
    "download_bytes": None,
    "encrypt": {"table_cpu_seconds", "offline_cpu_seconds", "online_cpu_seconds"},
    "validate": {"cpu_seconds"},
    "aggregate": {
        "cpu_seconds",
        "wall_seconds",
        "modmuls",
        "half_size_modmuls",
        "split_bases",
        "modmul_seconds",
        "efficiency",
    },
    "rerandomise": {"cpu_seconds"},
    "decrypt": {"cpu_seconds"},
    "peak_rss_bytes": None,
    "exact": None,
    "phe_ratio": {"encrypt", "aggregate", "decrypt"},
    "paper_seconds": None,
}
SAFETENSORS_HEADER_AT_MOST = 300


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return bench_report(*SMALL_ROUND, "--json")


def shape(report: dict[str, Any]) -> dict[str, set[str] | None]:
    return {name: set(value) if isinstance(value, dict) else None for name, value in report.items()}


def test_has_exactly_the_documented_keys(report: dict[str, Any]) -> None:
    assert shape(report) == KEYS


def test_repeats_what_was_asked_for(report: dict[str, Any]) -> None:
    asked = {"k1": 8, "k2": 2, "d": 100, "clients": 3, "key_bits": 512}
    assert {name: report[name] for name in asked} == asked


def test_is_exact(report: dict[str, Any]) -> None:
    assert report["exact"] is True


def test_efficiency_is_its_formula(report: dict[str, Any]) -> None:
    fold = report["aggregate"]
    expected = fold["modmuls"] * fold["modmul_seconds"] / fold["cpu_seconds"]
    assert fold["efficiency"] == pytest.approx(expected)


def test_slots_hold_the_sum_of_all_clients(report: dict[str, Any]) -> None:
    largest_sum = report["clients"] * (2 ** report["value_bits"] - 1)
    assert report["slot_bits"] == largest_sum.bit_length()
    assert report["slots"] == (report["key_bits"] - 2) // report["slot_bits"]


def test_a_client_sends_its_values_and_a_ciphertext_per_column_and_group(
    report: dict[str, Any],
) -> None:
    ciphertexts = report["k2"] * report["k1"] * report["groups"]
    assert report["ciphertexts_per_client"] == ciphertexts
    ciphertext_bytes, windows = 2 * report["key_bits"] // 8, 13
    value_bytes = 1 if report["value_bits"] <= 8 else 2
    tensors = ciphertexts * ciphertext_bytes + windows * report["k1"] * value_bytes
    assert 0 < report["upload_bytes_per_client"] - tensors < SAFETENSORS_HEADER_AT_MOST


def test_a_client_downloads_a_ciphertext_per_window_and_group(report: dict[str, Any]) -> None:
    tensors = 13 * report["groups"] * 2 * report["key_bits"] // 8
    assert 0 < report["download_bytes"] - tensors < SAFETENSORS_HEADER_AT_MOST


def test_costs_are_positive(report: dict[str, Any]) -> None:
    costs = [report["peak_rss_bytes"]]
    for phase in ("encrypt", "validate", "aggregate", "rerandomise", "decrypt", "phe_ratio"):
        costs += report[phase].values()
    assert min(costs) > 0


def test_the_paper_has_no_number_for_a_short_key() -> None:
    report = bench_report(*SMALL_KEY, "--preset", "light", "--d", "400", "--clients", "1", "--json")
    assert report["paper_seconds"] is None


def test_format_json_is_the_same_as_json() -> None:
    assert shape(bench_report(*SMALL_ROUND, "--format", "json")) == KEYS


@pytest.mark.parametrize("values", ["zeros", "maximum"])
def test_edge_values_are_exact(values: str) -> None:
    assert bench_report(*SMALL_ROUND, "--values", values, "--json")["exact"] is True


def test_edge_geometries_are_exact() -> None:
    fewer_parameters_than_a_window = ("--k1", "8", "--k2", "1", "--d", "3", "--clients", "1")
    assert bench_report(*SMALL_KEY, *fewer_parameters_than_a_window, "--json")["exact"] is True


def test_several_groups_and_processes_are_exact() -> None:
    several = ("--k1", "60", "--k2", "2", "--d", "200", "--clients", "2", "--processes", "2")
    report = bench_report(*SMALL_KEY, *several, "--value-bits", "11", "--json")
    assert report["groups"] == 2
    assert report["exact"] is True


def test_text_names_the_plan_the_phases_and_the_verdict() -> None:
    finished = fedperm("bench", *SMALL_ROUND)
    assert finished.returncode == 0
    assert finished.stderr == ""
    for words in ("100 parameters in 13 windows of 8", "python-paillier", "aggregation",
                  "efficiency", "exact: yes"):  # fmt: skip
        assert words in finished.stdout


def run(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_peak_memory_is_not_that_of_whoever_started_the_command():
    small = "from fedperm_cli.bench.measurement import own_peak_bytes; print(own_peak_bytes())"
    large = f"import subprocess; held = bytearray(300 << 20); subprocess.run({run(small)!r})"
    printed = subprocess.run(run(large), check=True, capture_output=True, text=True)
    assert 1 << 20 < int(printed.stdout) < 300 << 20
