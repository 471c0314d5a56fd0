# FedPerm: everything a person or CI does. Bare `make` prints this help.

PYTHON ?= python3
# another package index, or torch's own index for CPU builds, which are much smaller:
#   make setup PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu"
PIP_ARGS ?=
BENCH ?= --preset light --value-bits 11
# of make demo, e.g. make demo CLIENTS=15 DATASET=mnist ROUNDS=3 DATA=path; those left out are `fedperm demo`'s own
DEMO_VARIABLES := CLIENTS ROUNDS DATASET TASK K1 K2 EPSILON LEARNING_RATE CLIP CLIP_NORM_RECORD KEY_BITS DATA KEEP
DEMO ?=

VENV := .venv
BIN := $(VENV)/bin
PROJECTS := shared/public shared/secret shared/cli services/keyserver services/aggregator services/client
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format bench clean constraints up down logs ps images images-check hashes test-system test-docker load \
  crash-points simulate chaos fuzz fuzz-parsers flood leaks attacks rush cheapest-request mutants paper plan-check walk

help: ## print this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv and install everything, editable, at the versions in constraints.txt

$(READY): constraints.txt requirements-dev.txt $(PROJECTS:%=%/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "FedPerm needs Python 3.11 or newer; choose one with: make setup PYTHON=python3.11")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo 'python3-venv is missing: apt-get install python3-venv'; exit 1; }
	@echo 'installing about 2 GB into $(VENV), which takes minutes'
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check $(strip $(PIP_ARGS)) \
	  -r requirements-dev.txt $(PROJECTS:%=-e %) -e 'shared/cli[figures,tasks]'
	@touch $@

# CLIENTS=15 becomes --clients 15
option = $(if $($(1)),--$(shell echo $(1) | tr 'A-Z_' 'a-z-') $($(1)))

demo: setup ## a whole federation on this machine, about a minute; CLIENTS, ROUNDS, DATASET, K1, K2, EPSILON, DATA, KEEP
	$(BIN)/fedperm demo $(strip $(foreach variable,$(DEMO_VARIABLES),$(call option,$(variable))) $(DEMO))

test: setup ## run the tests, but for those of test-system and test-docker
	$(BIN)/pytest -n 2

lint: setup ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## measure the core against python-paillier; BENCH="--preset heavy" takes 8 minutes
	$(BIN)/fedperm bench $(BENCH)

up: ## a whole federation in containers, in the background; CLIENTS=5; knobs: .env.example
	docker compose up --detach --build --scale client=$(or $(CLIENTS),5)
	docker compose logs --follow operator

down: ## stop the containers and remove what they made, volumes included
	docker compose --profile '*' down --volumes --remove-orphans

logs: ## follow the containers' logs
	docker compose logs --follow keyserver aggregator operator dashboard client

ps: ## what the containers are doing
	docker compose ps --all

images: ## build the images and print their sizes
	docker compose build --quiet
	@docker image ls --filter 'reference=fedperm-*' --format 'table {{.Repository}}\t{{.Size}}'

images-check: setup ## look into the images for what must not be there
	$(BIN)/pytest -m docker tests/docker/test_images.py

test-system: setup ## the longest tests: whole federations of processes, killed at every named moment, searched, watched in a browser
	$(BIN)/pytest -n 2 -m system --timeout 900

test-docker: test-system ## those, and the tests that need a Docker engine with compose
	$(BIN)/pytest -m docker --timeout 1500 tests/docker

load: setup images ## many clients with nothing to learn, in containers; CLIENTS, ROUNDS, K1, K2, D, COMPARE=5,30
	$(BIN)/python -m experiments.load $(strip $(foreach variable,CLIENTS ROUNDS K1 K2,$(call option,$(variable))) $(if $(D),--parameters $(D)) $(if $(COMPARE),--compare $(COMPARE)))

crash-points: setup ## every party is killed at every named moment, with and without a retry
	$(BIN)/pytest -n 2 -m 'not docker' tests/crash_points

simulate: setup ## a federation in one process under every kind of fault; SECONDS=60, SEED
	$(BIN)/python -m tests.simulation --seconds $(or $(SECONDS),60) $(call option,SEED)

chaos: setup ## kill -9 of random processes under load and network faults; KILLS=10, SEED
	$(BIN)/python -m tests.chaos --kills $(or $(KILLS),10) $(call option,SEED)

fuzz: setup ## generated requests to both servers by everybody; REQUESTS, SEED
	$(BIN)/python -m tests.hostile --requests $(or $(REQUESTS),20000) $(call option,SEED)

fuzz-parsers: setup ## mangled octets to every parser; SECONDS=300
	$(BIN)/python -m tests.hostile --parsers $(or $(SECONDS),300)

flood: setup ## connections and nonsense at a real aggregator; CONNECTIONS=10000
	$(BIN)/python -m tests.hostile --flood $(or $(CONNECTIONS),10000)

leaks: setup ## a whole run of real processes, searched for every secret; KEY_BITS=2048
	$(BIN)/python -m tests.leaks $(KEY_BITS)

attacks: setup ## how many attacks the tests try, and how they end
	$(BIN)/python -m tests.adversary

rush: setup ## many idle clients and many uploads at once at one aggregator; IDLE=300, UPLOADS=50
	$(BIN)/python -m experiments.rush $(strip $(foreach variable,IDLE UPLOADS ROUNDS SECONDS,$(call option,$(variable))))

cheapest-request: setup ## what requests of strangers and clients cost the servers, and who is served meanwhile; OUTPUT
	$(BIN)/python -m experiments.cheapest_request $(call option,OUTPUT)

mutants: setup ## break validation, authentication and the state machine on purpose; MODULE
	$(BIN)/pip install --quiet --disable-pip-version-check $(strip $(PIP_ARGS)) --no-deps -r experiments/mutants/requirements-mutmut.txt
	$(BIN)/python -m experiments.mutants $(MODULE)

paper: setup ## the paper's tables and figures, and ours, in docs/results.md; QUICK=1: minutes; AGAIN=1: all anew; FEDPERM_DATA holds mnist/
	$(BIN)/python -m experiments.paper $(if $(QUICK),--quick) $(if $(AGAIN),--again)

plan-check: setup ## fedperm plan beside what is measured: ciphertexts, bytes, CPU seconds
	$(BIN)/python -m experiments.plan_check

walk: setup ## modules and functions that one join, one upload and one settlement pass; SHOW=upload lists them
	$(BIN)/python -m tests.walk $(call option,SHOW)

constraints: setup ## write the versions now installed to constraints.txt
	$(BIN)/pip freeze --all --exclude-editable | sed -e '/^pip==/d' -e '/^uv==/d' -e 's/+cpu$$//' > constraints.txt

# images are built from these files alone; torch's builds for CPUs are found only where PIP_ARGS or pip's settings say
HASHES := deploy/requirements
TORCH := torch==$(shell sed -n 's/^torch==//p' constraints.txt)
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --constraint constraints.txt $(strip $(PIP_ARGS))
NOT_OURS = $(foreach name,torch fedperm fedperm-secret fedperm-cli fedperm-keyserver fedperm-aggregator fedperm-client,--no-emit-package $(name))

hashes: setup ## pin what images are built from, with hashes, in deploy/requirements; PIP_ARGS names further indexes
	$(BIN)/pip install --quiet --disable-pip-version-check $(strip $(PIP_ARGS)) -r $(HASHES)/requirements-uv.txt
	rm -rf $(HASHES)/wheels
	for machine in x86_64 aarch64; do $(BIN)/pip download --quiet --disable-pip-version-check $(strip $(PIP_ARGS)) --no-deps --only-binary :all: \
	  --python-version 3.11 --platform manylinux_2_28_$$machine --dest $(HASHES)/wheels '$(TORCH)+cpu' || echo "no build for CPUs of $$machine"; done
	{ echo '$(TORCH)+cpu'; sha256sum $(HASHES)/wheels/*.whl | sed 's/^\([0-9a-f]*\).*/    --hash=sha256:\1/'; } \
	  | sed '$$!s/$$/ \\/' > $(HASHES)/torch-cpu.txt
	echo '$(TORCH)' | $(COMPILE) --output-file $(HASHES)/torch.txt -
	echo '$(TORCH)+cpu' > $(HASHES)/wheels/override.txt
	$(COMPILE) --find-links $(HASHES)/wheels --override $(HASHES)/wheels/override.txt $(NOT_OURS) \
	  --output-file $(HASHES)/images.txt $(HASHES)/images.in
	rm -rf $(HASHES)/wheels

clean: ## remove what make made
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache out
	find . -depth \( -name __pycache__ -o -name '*.egg-info' -o -name build \) -exec rm -rf {} +
