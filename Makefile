# `make` prints the targets. Everything is installed below this folder; the system's Python is not touched.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
VENV ?= .venv
BIN := $(VENV)/bin
COMPILE := pip compile pyproject.toml --python-version 3.12 --python-platform x86_64-manylinux_2_35 --generate-hashes \
	--no-annotate --no-header --quiet
ARGS ?=
DEMO ?= scenarios/demo

.PHONY: help setup setup-all demo test check bench lock clean

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install the core into .venv (no torch)
	@requirements/install.sh core $(VENV)

setup-all: ## install every extra as well: Isaac Lab, viewers, tools for development (8 GB)
	@requirements/install.sh all $(VENV)

demo: setup ## make a few hundred checked USD scenes in ./scenarios/demo, and a picture of them
	$(BIN)/scenegen expand --axis pose --axis lighting --axis tilt --axis misplacement --n 300 --library $(DEMO)
	$(BIN)/scenegen library sheet $(DEMO) -o $(DEMO).png
	@echo "scenes: $(DEMO)   picture: $(DEMO).png   one scene in words: $(BIN)/scenegen library list $(DEMO)"

test: setup-all ## run the tests (ARGS="-k name" chooses)
	$(BIN)/python -m pytest $(ARGS)

check: setup-all ## lint, formatting, types, architecture
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_locks.py

bench: setup-all ## run the benchmarks in a short form; results are written beside them
	$(BIN)/python benchmarks/run.py $(ARGS)

lock: ## resolve requirements/*.lock anew (ARGS=--upgrade takes newer versions)
	uv=$$(requirements/install.sh uv); \
	$$uv $(COMPILE) $(ARGS) -o requirements/core.lock; \
	$$uv $(COMPILE) $(ARGS) --all-extras -o requirements/all.lock

clean: ## remove the environments, caches and ./scenarios
	rm -rf $(VENV) .venv-tools .venv-bench .pytest_cache .ruff_cache .hypothesis build dist scenarios
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
