# On a fresh machine, start with `make run` or `make test`: they set up everything they need.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && { echo $$p; break; }; done)
PYTHON310 ?= python3.10
# One Python of each supported version, from PATH and from pyenv.
PYTHONS ?= $(shell for p in python3.10 python3.11 python3.12 python3.13 python3.14 \
	$(wildcard $(HOME)/.pyenv/versions/*/bin/python); do \
	$$p -c 'import sys; v = sys.version_info; v < (3, 10) or print("%d.%d" % v[:2], sys.executable)' \
	2>/dev/null; done | sort -V -u -k1,1 | cut -d' ' -f2)
VENV ?= .venv
BIN := $(VENV)/bin
# With `BIN=PATH`, an environment that is there already is used, and nothing is installed into it.
DEV := $(if $(findstring command,$(origin BIN)),,$(VENV)/dev)
SAMPLE ?= 0
FUZZ_MINUTES ?= 3
FUZZ_PROCESSES ?= 1
FUZZ_SEED ?=
FUZZ_TRUNCATED ?= tests/fixtures/profiles/tiny.json
PROFILE ?= tests/fixtures/profiles/resnet18.json

.PHONY: help run install docs record test test-slow build test-wheel check lint format types cover mutants bench fuzz original test-oldest test-all clean

help: ## list all targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/run ## set up and analyse a shipped profile, or PROFILE=FILE
	$(BIN)/python -m profile_analyze $(PROFILE) -t 5 --aggregate-by type

test: $(DEV) ## set up and run the tests
	$(BIN)/python -m pytest -n auto -q

test-slow: $(DEV) ## the slow tests and the tests with random examples, with all their cases
	TESTS_FOR=ci $(BIN)/python -m pytest -n auto -q -m 'slow or slowest or hypothesis'

docs: $(DEV) ## write the generated pages, and the output of commands in documents, anew
	$(BIN)/python -m tests.generated_parts
	$(BIN)/python -m tests.report.test_facts
	$(BIN)/python -m tests.document_sessions
	$(BIN)/python -m tests.terminal_picture

record: docs ## write everything that is recorded anew: documents, and outputs that tests compare
	for module in columns.test_column_lists cli.test_screens cli.test_explain cli.test_wrong_calls \
		report.test_whole_reports report.test_every_runtime; do \
		$(BIN)/python -m tests.$$module || exit 1; \
	done

install: $(VENV)/dev ## set up for development

check: lint types test test-slow ## lint, types and tests: run this before every commit

lint: $(DEV) ## find mistakes and wrong formatting with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEV) ## fix formatting and simple mistakes with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV) ## check types with mypy
	$(BIN)/mypy

cover: $(DEV) ## run the tests and measure branch coverage; fails under 95 %
	$(BIN)/python -m pytest -n auto -q --cov --cov-report=term

mutants: $(VENV)/mutants ## run the tests against mutants of the code; SAMPLE=1000 draws about 1000
	PATH=$(abspath $(BIN)):$$PATH TESTS_FOR=mutants $(abspath $(BIN))/python -m tests.mutants --sample $(SAMPLE)

bench: $(VENV)/bench ## run the benchmarks; BENCH=--write updates benchmarks/README.md
	$(BIN)/python -m benchmarks $(BENCH)

fuzz: $(DEV) $(VENV)-fuzz/made ## run with random inputs; FUZZ_MINUTES=3, FUZZ_SEED, FUZZ_PROCESSES, FUZZ_TRUNCATED=FILE
	status=0; \
	$(BIN)/python -m fuzz --minutes $(FUZZ_MINUTES) --processes $(FUZZ_PROCESSES) \
		$(if $(FUZZ_SEED),--seed $(FUZZ_SEED)) || status=1; \
	$(BIN)/python -m fuzz.truncation $(FUZZ_TRUNCATED) || status=1; \
	$(BIN)/python -m fuzz.data_sets --minutes $(FUZZ_MINUTES) \
		$(if $(FUZZ_SEED),--seed $(FUZZ_SEED)) || status=1; \
	if test -s $(VENV)-fuzz/made; then for target in reader command; do \
		$(VENV)-fuzz/bin/python -m fuzz.guided $$target --minutes $(FUZZ_MINUTES) \
			$(if $(FUZZ_SEED),--seed $(FUZZ_SEED)) || status=1; \
	done; else echo "not run: coverage-guided inputs (atheris has no wheel for the Pythons of this machine)"; fi; \
	exit $$status

original: ## install the original for `make bench`; needs Python 3.10 (PYTHON310=python3.10)
	$(PYTHON310) -m venv $(VENV)-original
	$(VENV)-original/bin/pip install --quiet --disable-pip-version-check \
		'MegEngine==1.13.0' 'numpy==1.23.5' 'opencv-python<4.8' 'tabulate==0.10.0'

test-oldest: ## run the tests with the lowest dependencies allowed, except onnx and matplotlib
	@test -n "$(PYTHON)" || { echo "no Python 3.10 or later was found; set PYTHON=..."; exit 1; }
	rm -rf $(VENV)-oldest
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/pip install --quiet --disable-pip-version-check -e '.[dev]' \
		$$($(PYTHON) tests/lower_bounds.py)
	$(VENV)-oldest/bin/python -m pytest -n auto -q

test-all: ## run the tests with the lowest and the newest dependencies on every installed Python (PYTHONS="...")
	@mkdir -p $(VENV)-all; failed=0; \
	for python in $(PYTHONS); do for set in oldest newest; do \
		name=$$($$python -c 'import platform; print(platform.python_version())')-$$set; \
		log=$(VENV)-all/$$name.log; target=test; test $$set = newest || target=test-oldest; \
		rm -rf $(VENV)-all/$$name $(VENV)-all/$$name-oldest; \
		$(MAKE) PYTHON=$$python VENV=$(VENV)-all/$$name $$target >$$log 2>&1 && state=ok \
			|| { state="FAILED, see $$log"; failed=1; }; \
		echo "$$name: $$state: $$(tail -n 200 $$log | grep -E '(passed|failed|error).* in ' | tail -n 1)"; \
	done; done; exit $$failed

build: $(VENV)-build/made ## build the wheel and the sdist into dist/, and check their metadata
	rm -rf dist
	$(VENV)-build/bin/python -m build
	$(VENV)-build/bin/twine check --strict dist/*

test-wheel: build ## try the wheel in a clean environment, with and without each extra (PYTHON=...)
	$(PYTHON) tests/wheel.py dist/*.whl

clean: ## remove everything that the other targets made
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-all $(VENV)-build $(VENV)-original $(VENV)-fuzz benchmarks/data fuzz/corpus fuzz/found build dist .coverage .hypothesis mutants .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -exec rm -rf {} +

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.10 or later was found; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/run: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[onnx,zstd]'
	@touch $@

$(VENV)/bench: $(VENV)/dev
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

# Uses the newest Python that atheris has a wheel for. The file stays empty if there is none.
$(VENV)-fuzz/made: pyproject.toml
	mkdir -p $(VENV)-fuzz && : > $@
	for python in python3.14 python3.13 python3.12 python3.11 python3.10 "$(PYTHON)"; do \
		$$python -m venv --clear $(VENV)-fuzz 2>/dev/null \
		&& $(VENV)-fuzz/bin/pip install --quiet --disable-pip-version-check \
			--only-binary atheris -e '.[fuzz]' 2>/dev/null \
		&& $(VENV)-fuzz/bin/python -c 'import atheris' && { echo $$python > $@; break; }; \
	done; touch -a $@

# `build` makes the sdist first, and the wheel from the sdist.
$(VENV)-build/made:
	@test -n "$(PYTHON)" || { echo "no Python 3.10 or later was found; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)-build
	$(VENV)-build/bin/pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6.1'
	@touch $@

$(VENV)/mutants: $(VENV)/dev
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[mutants]'
	@touch $@

$(VENV)/dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/run
