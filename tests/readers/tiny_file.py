"""The smallest real profile, files made from it, and the reason why a file cannot be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from tests.conftest import PROFILES, run_command

if TYPE_CHECKING:
    from pathlib import Path

TINY = (PROFILES / "tiny.json").read_bytes()


def write_bytes(tmp_path: Path, content: bytes, name: str = "run.json") -> str:
    """Write a file and return its path."""
    path = tmp_path / name
    path.write_bytes(content)
    return str(path)


def document_with(value: Any, *path: str) -> bytes:
    """Return the tiny profile with `value` at `path`."""
    document = json.loads(TINY)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(document).encode()


def failure(path: str, kind: type[pa.InputError] = pa.InputError) -> str:
    """Return why a file cannot be read. The library and the command give the same reason."""
    with pytest.raises(pa.InputError) as caught:
        pa.load(path)
    assert type(caught.value) is kind
    assert caught.value.file == path
    assert str(caught.value) == f"{path}: {caught.value.reason}"
    assert caught.value.exit_code == 1
    outcome = run_command(path)
    assert (outcome.code, outcome.out) == (1, "")
    message = str(caught.value).replace("\0", r"\x00")
    assert outcome.err == f"profile_analyze: error: {message}\n"
    return caught.value.reason
