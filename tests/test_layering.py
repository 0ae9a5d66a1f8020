"""Which package may import which, and which package may act on the world outside."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import profile_analyze

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(profile_analyze.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# The packages of ours that each package may import, besides itself. A module at the top counts
# as a package.
MAY_IMPORT = {
    "errors": set(),
    "gc_pause": set(),
    "large_arrays": set(),
    "termination": set(),
    "version": set(),
    "advice": set(),
    "units": {"errors", "advice"},
    "model": {"errors", "large_arrays", "units"},
    "work": {"errors", "units", "model"},
    "readers": {"errors", "gc_pause", "termination", "units", "model", "work"},
    "writers": {"errors", "units", "model", "work", "readers"},
    "columns": {"advice", "errors", "large_arrays", "units", "model"},
    "comparison": {"errors", "large_arrays", "units", "model", "columns"},
    "roofline": {"advice", "errors", "units", "model", "columns"},
    "query": {
        *("advice", "errors", "large_arrays", "units"),
        *("model", "columns", "comparison", "roofline"),
    },
    "gate": {
        *("advice", "errors", "large_arrays", "units"),
        *("model", "columns", "comparison", "roofline", "query"),
    },
    "findings": {"advice", "errors", "units", "model"},
    "views": {
        *("advice", "errors", "large_arrays", "units"),
        *("model", "columns", "comparison", "roofline", "query"),
    },
    "report": {
        *("advice", "errors", "units", "version"),
        *("model", "columns", "comparison", "roofline", "query", "gate", "views", "findings"),
    },
    "fleet": {
        *("advice", "errors", "termination", "units", "version"),
        *("model", "readers", "columns", "comparison", "query"),
    },
    "cli": {
        *("advice", "errors", "termination", "units", "version"),
        *("model", "readers", "writers", "columns", "comparison", "roofline", "query", "gate"),
        *("views", "findings", "report", "fleet"),
    },
    "__main__": {"cli"},
    "__init__": {
        *("errors", "units", "version"),
        *("model", "readers", "columns", "comparison", "roofline", "query", "gate", "views"),
        *("findings", "report", "fleet"),
    },
}

# Which of our packages may import a dependency. Modules of the standard library may be
# imported anywhere, except those that are listed here.
USERS_OF = {
    "compression": {"readers"},  # in the standard library from Python 3.14 on
    "dask": {"fleet"},
    "distributed": {"fleet"},
    "duckdb": {"fleet"},
    "fsspec": {"readers"},
    "google": {"readers", "writers"},  # protobuf, a dependency of onnx
    "matplotlib": {"report"},
    "msgspec": {"readers", "fleet"},
    "numpy": {
        *("large_arrays", "model", "readers", "columns", "comparison", "roofline", "query"),
        *("gate", "views", "report", "fleet", "cli"),
    },
    "onnx": {"readers", "writers"},
    "orjson": {"report"},
    "pyarrow": {"report", "fleet"},
    "regex": {"columns"},
    "tabulate": {"report"},
    "tomli": {"roofline"},
    "tomllib": {"roofline"},
    "wcwidth": {"report"},
    "zstandard": {"readers"},
}

# Which of our packages may use a name that acts on the world outside.
ACTORS = {
    "environ": {"cli", "large_arrays"},
    "exit": {"__main__", "cli"},
    "getenv": {"cli"},
    "isatty": {"cli", "readers"},
    "open": {"large_arrays", "readers", "cli", "fleet"},
    "print": {"cli"},
    "stderr": {"cli"},
    "stdin": {"readers", "cli"},  # cli only checks whether it is a terminal: a pager needs one
    "stdout": {"cli"},
}


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class Facts(NamedTuple):
    """The facts that the rules check, from one pass through the syntax tree of a module."""

    imported: list[tuple[int, str]]
    """The modules that are imported, also in functions and for type checkers, with their lines."""
    names: list[tuple[int, str]]
    """The variables and attributes that may act on the world outside, with their lines."""
    functions: list[tuple[int, int, str]]
    """The first line, the last line and the name of each function."""

    @property
    def imported_in_functions(self) -> list[tuple[int, str]]:
        bodies = [range(first, last + 1) for first, last, _ in self.functions]
        return [one for one in self.imported if any(one[0] in body for body in bodies)]


@cache
def facts_of(code: str) -> Facts:
    facts = Facts([], [], [])
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import():
                facts.imported.extend((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom():
                facts.imported.append((node.lineno, "." * node.level + (node.module or "")))
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in ACTORS:
                facts.names.append((node.lineno, name))
            case ast.FunctionDef(end_lineno=int(last)):
                facts.functions.append((node.lineno, last, node.name))
    return facts


@cache
def code_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def is_allowed(package: str, module: str) -> bool:
    """Return whether a package of ours may import a module, our own or a dependency."""
    top, _, rest = module.partition(".")
    if top == "profile_analyze":
        return rest.partition(".")[0] in MAY_IMPORT[package] | {package}
    if top in USERS_OF:
        return package in USERS_OF[top]
    return top in sys.stdlib_module_names


def forbidden_imports(package: str, code: str) -> list[str]:
    modules = [module for _, module in facts_of(code).imported]
    return [module for module in modules if not is_allowed(package, module)]


def none_found(findings: dict[Path, list[str]]) -> None:
    """Fail if there are findings, and show them all. A test for each file would be much slower."""
    lines = [f"{label(path)}: {finding}" for path, found in findings.items() for finding in found]
    assert not lines, "\n".join(lines)


def test_modules_import_only_what_their_package_may() -> None:
    none_found({path: forbidden_imports(package_of(path), code_of(path)) for path in MODULES})


@pytest.mark.parametrize(
    ("code", "module"),
    [
        ("import requests", "requests"),
        ("from requests.models import Response", "requests.models"),
        ("def late():\n    import requests", "requests"),
        ("if TYPE_CHECKING:\n    import requests", "requests"),
        ("import tests.conftest", "tests.conftest"),
        ("from fuzz import invariants", "fuzz"),
        ("from benchmarks.cases import SIZES", "benchmarks.cases"),
        ("import profile_analyze", "profile_analyze"),
        ("from profile_analyze import Query", "profile_analyze"),
        ("from profile_analyze.unknown import value", "profile_analyze.unknown"),
        ("from . import base", "."),
        ("from .base import Reader", ".base"),
    ],
)
def test_no_package_may_import_an_unlisted_module(code: str, module: str) -> None:
    found = {package: forbidden_imports(package, code) for package in MAY_IMPORT}
    assert found == {package: [module] for package in MAY_IMPORT}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_listed_packages_may_import_a_listed_module(package: str) -> None:
    assert forbidden_imports(package, "from __future__ import annotations\nimport json") == []
    for module, users in USERS_OF.items():
        assert (forbidden_imports(package, f"import {module}") == []) == (package in users)
    for ours in MAY_IMPORT:
        code = f"from profile_analyze.{ours} import anything"
        assert (forbidden_imports(package, code) == []) == (ours in {package, *MAY_IMPORT[package]})


def test_every_package_is_listed() -> None:
    assert {package_of(path) for path in MODULES} == set(MAY_IMPORT)


def test_the_import_rules_have_no_cycle() -> None:
    left = {package: set(imported) for package, imported in MAY_IMPORT.items()}
    while left:
        free = {package for package, imported in left.items() if not imported & left.keys()}
        assert free, f"these packages may import each other: {left}"
        left = {package: imported for package, imported in left.items() if package not in free}


def acts(package: str, code: str) -> list[str]:
    """Return the lines of `code` that act on the world outside although `package` may not."""
    names = facts_of(code).names
    return sorted(f"{line}: {name}" for line, name in names if package not in ACTORS[name])


def test_only_some_packages_act_on_the_world() -> None:
    none_found({path: acts(package_of(path), code_of(path)) for path in MODULES})


def test_acting_on_the_world_is_detected() -> None:
    code = "import sys\nprint('a', file=sys.stderr)\nPath('a').open()\nopen('a')"
    assert acts("model", code) == ["2: print", "2: stderr", "3: open", "4: open"]
    assert acts("cli", code) == []


NEUTRAL = (
    *("model", "columns", "comparison", "roofline", "query", "gate", "views", "report", "fleet"),
)
"""The packages that know nothing of any particular runtime."""
NEUTRAL_MODULES = [path for path in MODULES if package_of(path) in NEUTRAL]

# Terms that only MegEngine has, in upper and lower case. Other runtimes have `kernel`, too.
TERMS_OF_MEGENGINE = re.compile(
    r"megengine|comp[ _-]?node|opencl|footprint|graph_exec|in_layouts"
    r"|(?<![a-z])(?:kern|lanes?|opr)(?![a-z])",
    re.IGNORECASE,
)

# Tables for wiki pages have the headings of the original tool: see docs/compatibility.md.
HEADINGS = {Path("report/formats/wiki.py"): ('"opr name"', '"opr type"', '"opr count"', '"opr id"')}


def lines_with_terms_of_megengine(text: str) -> list[str]:
    """Return each line with a term of MegEngine, with its number."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{number}: {line}" for number, line in lines if TERMS_OF_MEGENGINE.search(line)]


def test_neutral_packages_have_no_term_of_megengine() -> None:
    found = {}
    for path in NEUTRAL_MODULES:
        text = code_of(path)
        for heading in HEADINGS.get(path.relative_to(ROOT), ()):
            assert heading in text
            text = text.replace(heading, "")
        found[path] = lines_with_terms_of_megengine(f"{path.name}\n{text}")
    none_found(found)


def test_the_modules_with_headings_of_the_original_exist() -> None:
    assert {path.relative_to(ROOT) for path in NEUTRAL_MODULES} >= set(HEADINGS)


@pytest.mark.parametrize(
    ("text", "is_detected"),
    [
        *((text, True) for text in ("MegEngine", "a megengine.tools", "kern", "KERN_S", "kern_s")),
        *((text, True) for text in ("comp node", "comp_node", "CompNode", "compNode", "OpenCL")),
        *((text, True) for text in ("enable_opencl_profile", "footprints", "OprFootprint")),
        *((text, True) for text in ("graph_exec", "in_layouts", "a lane", "lanes", "by_lane")),
        *((text, True) for text in ("opr_id", "opr id", "--opr-name", "per opr ", "OPR_name")),
        *((text, False) for text in ("kernel", "first_kernel_s", "plane", "explanes", "planes")),
        *((text, False) for text in ("operator", "component", "layout", "improper", "in_strides")),
    ],
)
def test_terms_of_megengine_are_detected(text: str, *, is_detected: bool) -> None:
    assert bool(lines_with_terms_of_megengine(text)) == is_detected


def test_neutral_packages_have_only_python_files() -> None:
    """The search for terms of MegEngine reads only Python files."""
    found = {
        path
        for package in NEUTRAL
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == set(NEUTRAL_MODULES)


def test_few_imports_are_inside_functions() -> None:
    """An import in a function loads a module only when it is needed: see docs/architecture.md."""
    found = {
        f"{label(path)}: {line}"
        for path in MODULES
        for line, _ in facts_of(code_of(path)).imported_in_functions
    }
    assert len(found) <= 31, "\n".join(sorted(found))


def test_an_import_inside_a_function_has_its_reason() -> None:
    def without_reason(code: str) -> Iterator[str]:
        lines = code.splitlines()
        for number, module in facts_of(code).imported_in_functions:
            near = lines[max(0, number - 10) : number]
            if not any("# " in line or "import" in line.partition('"""')[2] for line in near):
                yield f"{number}: {module}"

    none_found({path: list(without_reason(code_of(path))) for path in MODULES})


def test_tests_that_mutation_testing_leaves_out_exist() -> None:
    settings = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
    left_out = re.findall(r'"--deselect=([^:"]+)::(\w+)"', settings)
    assert left_out
    for file, name in left_out:
        assert f"def {name}(" in (TESTS.parent / file).read_text(encoding="utf-8")
    for file in re.findall(r'"--ignore=([^"]+)"', settings):
        assert (TESTS.parent / file).exists()
