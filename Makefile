# `make demo` and `make test` set everything up by themselves, in .venv. `make check` is the quick loop while coding.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Versions that were tried together, for all Pythons; CONSTRAINTS= takes the newest of everything instead.
CONSTRAINTS := requirements/constraints.txt
# What a machine without builds of a package leaves out, for example TRAIN= where there is no torch; its tests then skip.
TRAIN := train
SPARK := spark
# Three sets of packages, each with all of the one before: for the demonstration, the quick loop and the whole gate.
LIGHT := $(VENV)/.light
QUICK := $(VENV)/.quick
READY := $(VENV)/.ready

# Compiled modules are kept: each worker and each process that a test starts would compile them again.
export PYTHONDONTWRITEBYTECODE :=

comma := ,
extras = $(subst $() $(),$(comma),$(strip $(1)))
named = @command -v $(PYTHON) >/dev/null || { echo "there is no $(PYTHON) here; name a Python from 3.11 on, for example: make PYTHON=python3.13" >&2; exit 1; }
# Most modules of torch and Spark are never imported; what is imported is compiled then, and kept.
install = $(PYTHON) tools/environment.py $(VENV) --no-compile $(if $(CONSTRAINTS),--constraints $(CONSTRAINTS))
# One worker per core, and each file in one of them, as what its tests share may take a minute to make; threads of
# numerical libraries on top of that only wait for each other. Files come in the order that tests/conftest.py gives them,
# and all that needs Spark goes to one worker.
pytest = OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: page demo test check setup lint types layers tests quick docs newest lowest kernels coverage constraints reproduce benchmark clean

demo: $(LIGHT)
	$(BIN)/xorder demo -o xorder-demo --force

# Types and documentation take a core each, so they are checked side by side; the tests have both.
test: setup
	@$(MAKE) --no-print-directory lint layers
	@$(MAKE) --no-print-directory --jobs=2 types docs
	@$(MAKE) --no-print-directory tests

check: lint types layers quick

setup: $(READY)

# Installed again whenever these files change; the source itself is linked, not copied.
$(LIGHT): pyproject.toml $(CONSTRAINTS) tools/environment.py
	$(named)
	@$(install) --clear --editable '.[plot,parquet,report]'
	@touch $@

$(QUICK): $(LIGHT)
	@$(install) --editable '.[plot,parquet,report,data,duckdb,polars]' --group check
	@touch $@

# All at once, as each time pip is called it resolves everything and builds xorder anew.
$(READY): pyproject.toml $(CONSTRAINTS) tools/environment.py
	$(named)
	@$(install) --clear --editable '.[$(call extras,plot parquet report data duckdb polars $(SPARK) $(TRAIN))]' --group dev $(if $(TRAIN),--group torch)
	@touch $(LIGHT) $(QUICK) $@

lint: $(QUICK)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(QUICK)
	$(BIN)/mypy

layers: $(QUICK)
	$(BIN)/lint-imports

quick: $(QUICK)
	$(pytest) -q -m "not slow" tests

tests: setup
	$(pytest)

# Strict: a warning is an error; then every link, and that nothing is loaded from elsewhere.
docs: setup
	rm -rf docs/_build
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# Run the blocks of a page and put what they print into it: make page PAGE=README.md; read the difference before it is kept.
page: setup
	PYTHONPATH=tests $(BIN)/python -m support.rewrite_pages $(PAGE)

# The whole gate with the newest version of everything, in an environment of its own.
newest:
	$(MAKE) test CONSTRAINTS= VENV=.venv-newest

# The tests with the lowest versions that pyproject.toml allows. Old versions warn of things to come, which is not news.
lowest: VENV := .venv-lowest
lowest:
	$(PYTHON) tools/lowest.py pyproject.toml > requirements/.lowest.txt
	@$(PYTHON) tools/environment.py $(VENV) --clear --constraints requirements/.lowest.txt --editable '.[plot,parquet,report,data,duckdb,polars]' --group check
	$(pytest) -q -m "not slow" -W default -W error::xorder.exceptions.XorderWarning tests

# The tests that count with floating-point numbers, under each kernel of OpenBLAS that this processor can run.
kernels: setup
	$(BIN)/python tools/kernels.py

# Lines and branches of src that the tests reach; fails below the floor in pyproject.toml.
coverage: setup
	$(pytest) -q --cov --cov-report=term:skip-covered --cov-report=html

# Write the constraints file anew, for Python 3.11 to 3.14 on all systems; try it with `make test` before it is committed.
constraints: setup
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --all-extras --group dev --group torch \
	  --upgrade --quiet --no-annotate --custom-compile-command 'make constraints' -o requirements/constraints.txt

# Every table and figure of the paper, on the open data; about an hour on two cores. It goes on where it stopped.
reproduce: setup
	$(BIN)/python -m experiments run
	$(BIN)/python -m experiments run --splits random --dataset german framingham --metric xauc --method unadjusted post-logit xorder-dp xorder-frontier fair-ranker
	$(BIN)/python -m experiments timing
	$(BIN)/python -m experiments distributions
	$(BIN)/python -m experiments pack
	$(BIN)/python -m experiments tables
	$(BIN)/python -m experiments figures

benchmark: setup
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) .venv-* .venv.log xorder-demo dist docs/_build docs/api/names htmlcov .coverage
