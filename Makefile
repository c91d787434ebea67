# One door for people and for CI. Every target sets up what it needs, and only once.
# PYTHON=python3.13 chooses the interpreter that .venv is made from.

PYTHON ?=
FUZZ_SECONDS ?= 600
SOAK_MINUTES ?= 3

BIN := .venv/bin
STAMP := .venv/.stamp
# The rules of redaction are compiled into the recorder.
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) src/blackbox/redaction/rules.toml \
	$(wildcard src/blackbox/redaction/rulesets/*.toml)

# rustup's own folder, for a shell that was opened before Rust was installed.
export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup run test lint rust pytest test-clients format docs bench fuzz soak coverage wheel clean FORCE

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Create .venv and install everything, the Rust recorder included

# A virtual environment remembers absolute paths, so the stamp says where it was made: a moved or copied tree is set
# up again.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
$(STAMP): FORCE
endif
$(STAMP): pyproject.toml setup.py constraints.txt Cargo.toml Cargo.lock $(RUST_SOURCES) tools/setup.sh
	@PYTHON='$(PYTHON)' bash tools/setup.sh
	@printf '%s\n' '$(CURDIR)' > $@

run: $(STAMP) ## Record a small scripted agent, and show what was recorded
	@$(BIN)/blackbird demo

test: lint rust pytest ## Run every check that CI runs
	@echo "make test: lint, Rust and Python checks all passed."

lint: $(STAMP) ## Formatting, style, types, import contracts, dependencies
	@echo "== ruff format"; $(BIN)/ruff format --check .
	@echo "== ruff check"; $(BIN)/ruff check .
	@echo "== mypy"; $(BIN)/mypy
	@echo "== import contracts"; $(BIN)/lint-imports
	@echo "== deptry"; $(BIN)/deptry .

rust: $(STAMP) ## cargo fmt, clippy and test
	@echo "== cargo fmt"; cargo fmt --all --check
	@echo "== cargo clippy"; cargo clippy --quiet --locked --workspace --all-targets -- --deny warnings
	@echo "== cargo test"; cargo test --quiet --locked --workspace

pytest: $(STAMP) ## All Python tests, on all cores; ARGS="-k word" narrows them
	@echo "== pytest"; $(BIN)/pytest -n auto $(ARGS)

test-clients: $(STAMP) ## Install real agents, run them with and without the recorder; ARGS="-k claude" narrows it
	@$(BIN)/python tests/agents/install.py
	@$(BIN)/python -m tests.agents $(ARGS)

format: $(STAMP) ## Rewrite files into the project's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .
	@cargo fmt --all

docs: $(STAMP) ## Write the generated pages anew
	@$(BIN)/python docs/generate.py

bench: $(STAMP) ## Measure beside other tools; ARGS="size --readme" measures and publishes one subject
	@$(BIN)/pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[bench]'
	@$(BIN)/python bench/run.py $(ARGS)

fuzz: $(STAMP) ## Feed random bytes to parsers, redactor, forms, conversations, MCP and recorder, FUZZ_SECONDS (600) each
	@$(BIN)/pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[fuzz]'
	@$(BIN)/python tests/fuzz/fuzz_parse.py -max_total_time=$(FUZZ_SECONDS)
	@$(BIN)/python tests/fuzz/fuzz_redact.py -max_total_time=$(FUZZ_SECONDS)
	@$(BIN)/python tests/fuzz/fuzz_formats.py -max_total_time=$(FUZZ_SECONDS)
	@$(BIN)/python tests/fuzz/fuzz_wal.py -max_total_time=$(FUZZ_SECONDS)
	@$(BIN)/python tests/fuzz/fuzz_canon.py -max_total_time=$(FUZZ_SECONDS)
	@$(BIN)/python tests/fuzz/fuzz_mcp.py -max_total_time=$(FUZZ_SECONDS)
	@$(BIN)/python tests/fuzz/fuzz_http.py --seconds $(FUZZ_SECONDS)

soak: $(STAMP) ## Hundreds of streams and one memory for minutes, and hundreds of kills; SOAK_MINUTES (3)
	@$(BIN)/python -m tests.soak.soak --minutes $(SOAK_MINUTES) --streams 256
	@$(BIN)/python -m tests.soak.crash --rounds 100
	@$(BIN)/python -m tests.soak.memory --minutes $(SOAK_MINUTES)

coverage: $(STAMP) ## Say which lines the tests do not reach
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest --quiet
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

wheel: $(STAMP) ## Build dist/*.tar.gz, and from it dist/*.whl
	@rm -rf dist
	@CARGO_PROFILE_RELEASE_LTO=thin $(BIN)/python -m build --no-isolation

clean: ## Remove all that the targets above have made
	@rm -rf .venv target build dist src/*.egg-info .coverage .coverage.* .hypothesis
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find src tests bench docs tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
