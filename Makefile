# Two commands are enough: `make run` and `make test`. Each sets up .venv first if it has to.
#   make run EMBEDDER=no     without the embedded model (words and links only)
PYTHON ?= python3
EMBEDDER ?= yes
BIN := .venv/bin
export DAGSTER_DISABLE_TELEMETRY = yes
export PYTHONWARNINGS = ignore::DeprecationWarning

.PHONY: help setup run test check ui bench clean

help:
	@echo "make run     build and try the sample knowledge base, offline"
	@echo "make test    run the tests"
	@echo "make check   format, lint, types, import rules"
	@echo "make ui      open the Dagster page of the sample on 127.0.0.1:3000"
	@echo "make bench   the measured claims, one JSON line each"
	@echo "make clean   forget the sample's state (store, builds, caches, history)"

setup:
	@$(PYTHON) deploy/set_up.py $(if $(filter no,$(EMBEDDER)),--without-embedder)

run: setup
	@$(BIN)/python -m kb_serve.first_run

test: setup
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

check: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

ui: setup
	@$(BIN)/kb ui --home .

bench: setup
	@$(BIN)/python -m benchmarks.query --chunks 31047 --dims 1024

clean:
	rm -rf data/store data/builds data/cache data/history data/dagster data/CURRENT data/*.json
