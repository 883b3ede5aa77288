# `make` lists the targets. Each sets up what it needs: a private environment in .venv with the
# pinned packages of requirements.lock. Nothing but Python ≥ 3.11 has to be there.

PYTHON ?= python3
# how jobs are run if not on this machine: PROFILE=profiles/slurm, which says how many at once
PROFILE ?=
JOBS := $(if $(PROFILE),$(shell sed -n 's/^jobs: *\([0-9]*\).*/\1/p' $(PROFILE)/config.yaml))
CORES ?= $(or $(JOBS),all)
UV := uv==0.13.9
# where the packages are; another place that has them already: make replicate VENV=$$CONDA_PREFIX
VENV ?= .venv
READY := $(if $(filter .venv,$(VENV)),.venv/ready $(if $(PROFILE),.venv/slurm))
FIELD := $(if $(filter .venv,$(VENV)),.venv/field) # the packages of the benchmarks of the field
KEPT_FIELD := $(if $(wildcard results/published/field),$(FIELD)) # where there are results of them
BIN := $(VENV)/bin
# laid over config.yaml, one over the other: CONFIG="results/published/config.yaml mine.yaml"
CONFIG ?= config.yaml
CONFIGS := config.yaml $(filter-out config.yaml,$(CONFIG))
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
# the same with a word on the time that it takes, and on how to continue after a stop
AGAIN = $(strip make $@ $(MAKEOVERRIDES))
REPLICATE = $(BIN)/python -m experiments.progress --again '$(AGAIN)' --cores $(CORES) \
	$(if $(PROFILE),--profile $(PROFILE) $(if $(JOBS),--jobs $(CORES)))
# RUNS=2 asks for two seeds per cell, in place of the number in config.yaml
FEWER = $(if $(STUDY)$(RUNS),--config $(STUDY) $(if $(RUNS),runs=$(RUNS)))
# of the tests, at once; what one file needs is made once
WORKERS = auto --dist loadfile --no-loadscope-reorder
# how many of them go into a job of a cluster
SEEDS = $(if $(PROFILE),$(wildcard $(PROFILE)/seeds.yaml))
SETTINGS = --configfile $(CONFIGS) $(SEEDS) $(FEWER)
# where the config has results go, asked for by the shell of the targets that name a file there
RESULTS = $$($(BIN)/python -m experiments.config results $(CONFIGS))

# what the workflow and `make interim` make there
MADE := traces tables figures logs interim report.html manifest.json .lock .records .unfit \
	$(foreach name,claims variants iteration rollouts updates workflow usage,$(name).csv $(name).md)

# Caches stay here, and text is UTF-8: for users whose home cannot be written, whatever LANG is.
export XDG_CACHE_HOME := $(CURDIR)/.venv/cache
export MPLCONFIGDIR := $(XDG_CACHE_HOME)/matplotlib
export UV_CACHE_DIR ?= $(XDG_CACHE_HOME)/uv
export PYTHONUTF8 := 1
# What a user has set for other work: of pip only where packages come from, and how they get here.
unexport PYTHONPATH PYTHONHOME PYTHONSAFEPATH PYTHONOPTIMIZE PYTHONSTARTUP MPLBACKEND MATPLOTLIBRC
unexport $(filter-out $(addprefix PIP_,INDEX_URL EXTRA_INDEX_URL FIND_LINKS NO_INDEX CERT CLIENT_CERT \
	PROXY TRUSTED_HOST KEYRING_PROVIDER CONFIG_FILE CACHE_DIR TIMEOUT DEFAULT_TIMEOUT RETRIES), \
	$(filter PIP_%,$(.VARIABLES)))
# uv, which is fast, does not read pip's settings: what it calls those of a mirror
FOR_UV := index-url=UV_INDEX_URL trusted-host=UV_INSECURE_HOST cert=SSL_CERT_FILE proxy=ALL_PROXY

# a command that fails in the middle of a pipe is a failure
SHELL := bash
.SHELLFLAGS := -o pipefail -c

# The environment holds its own path, so that one that was moved or copied is made anew. .venv/ready
# says where it was made; if it is empty, as an older Makefile left it, the environment itself does.
MOVED := $(shell [ -e .venv/ready ] || exit 0; here=$$(cd .venv && pwd -P); made=$$(cat .venv/ready); \
	[ -n "$$made" ] || made=$$(sed -E "s/.*VIRTUAL_ENV=//; s/[\"']//g" .venv/bin/activate | grep -xF "$$here"); \
	[ -x .venv/bin/python ] && [ "$$made" = "$$here" ] || echo moved)

.PHONY: help setup quick replicate figure field publish_field interim benchmark throughput usage film figures report publish restore \
	certify test lint lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_0-9%]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  Options: CORES=4 (default: all), PYTHON=python3.12, CONFIG=mine.yaml (laid over"
	@echo "  config.yaml); of quick, replicate, figure, figure_% and film: RUNS=2 (seeds per cell),"
	@echo "  PROFILE=profiles/slurm (on a cluster)"

setup: $(READY) ## make the environment in .venv (the other targets do so by themselves)

quick: $(READY) ## the whole workflow on tiny budgets, into results/quick (some minutes)
	@$(REPLICATE) --configfile config.yaml tests/quick.yaml $(SEEDS) $(FEWER)

replicate: $(READY) ## everything, at the paper's size (days; Ctrl-C stops, the same again continues)
	@$(REPLICATE) $(SETTINGS)

figure: $(READY) ## one figure of the config and the runs it needs: make figure FIGURE=rotated
	@$(REPLICATE) --figure $(or $(FIGURE),$(error say which: make figure FIGURE=rotated)) $(SETTINGS)

figure_%: $(READY) ## the same for the paper's: make figure_1, make figure_1 RUNS=2
	@$(REPLICATE) --figure $@ $(SETTINGS)

field: STUDY = study=field
field: $(READY) $(FIELD) ## the optimisers on COCO's bbob and on pseudo-Boolean problems (hours)
	@$(REPLICATE) $(SETTINGS)

publish_field: $(READY) $(FIELD) ## keep what `make field` made, show it in the README
	$(BIN)/python -m experiments.field.keep --config $(CONFIGS)
	$(BIN)/python -m experiments.publishing.readme

interim: $(READY) ## figures, tables and verdicts of the runs done so far, into results/interim
	$(BIN)/python -m experiments.publishing.interim --config $(CONFIGS)

benchmark: $(READY) ## time per iteration against others, and the workflow's own (minutes)
	$(SNAKEMAKE) --force iteration workflow --configfile $(CONFIGS)
	@cat $(RESULTS)/iteration.md $(RESULTS)/workflow.md

throughput: $(READY) ## control steps a second against bare physics, and the optimisers' own time (minutes)
	$(SNAKEMAKE) --force rollouts updates --configfile $(CONFIGS)
	@cat $(RESULTS)/rollouts.md $(RESULTS)/updates.md

usage: $(READY) ## INGO beside CMA-ES, L-BFGS-B and random search at equal budgets (ten minutes)
	$(SNAKEMAKE) --force usage --configfile $(CONFIGS)
	@cat $(RESULTS)/usage.md

film: $(READY) ## a trained policy at work (needs EGL, and one run of Figure 2)
	@$(REPLICATE) --figure film $(SETTINGS)

figures: $(READY) $(KEPT_FIELD) ## figures, tables and verdicts anew from the kept tables, without a run
	$(BIN)/python -m experiments.publishing.redraw results/published
	[ ! -d results/published/field ] || \
		$(BIN)/python -m experiments.publishing.redraw results/published/field --study field
	$(BIN)/python -m experiments.publishing.readme

report: $(READY) ## the kept results as one HTML file, results/report.html (OF=results: your own)
	$(BIN)/python -m experiments.publishing.report $(OF) --config $(CONFIGS)

publish: $(READY) ## keep what is in results (TABLES=results/interim/tables), show it in the README
	$(BIN)/python -m experiments.publishing.publish --config $(CONFIGS) \
		$(if $(TABLES),--tables $(TABLES))

restore: $(READY) ## the kept traces into results, so that `make replicate` runs only the rest
	$(BIN)/python -m experiments.publishing.archive restore --config $(CONFIGS) > /dev/null

certify: $(READY) $(KEPT_FIELD) ## show that this commit makes the data of another: make certify BASE=HEAD~1 (minutes)
	$(BIN)/python -m experiments.certify $(or $(BASE),$(error say which commit: make certify BASE=HEAD~1))

test: $(READY) $(FIELD) ## the test suite
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --durations 40 --durations-min 5

lint: .venv/ready ## style, types and the workflow's own checks
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/snakemake --lint
	.venv/bin/uv tool run --quiet --from snakefmt==2.1.0 snakefmt --line-length 100 --check Snakefile \
		experiments/*/rules.smk figures/rules.smk

COMPILE = .venv/bin/uv pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --quiet

lock: .venv/ready ## renew requirements.lock, -field.lock and -slurm.lock from pyproject.toml
	$(COMPILE) pyproject.toml --extra replicate --group dev --output-file requirements.lock
	for group in field slurm; do $(COMPILE) --group $$group --constraint requirements.lock \
		--output-file requirements-$$group.lock; done

# Of results that the config has elsewhere, only what is made there; `figures` is a folder here too.
clean: ## remove the environment and all results but the kept ones
	@folder=results; if [ -x $(BIN)/python ]; then folder=$(RESULTS) || exit 1; fi; \
		if ! [ "$$folder" -ef . -o "$$folder" -ef results/published ]; then \
			for made in $(MADE); do rm -rf "$${folder:?}/$$made"; done; fi
	rm -rf .venv .snakemake build *.egg-info
	find results -mindepth 1 -maxdepth 1 ! -name published -exec rm -rf {} +

.PHONY: $(MOVED)
.venv/ready: requirements.lock $(MOVED)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than 3.11; name another one: make PYTHON=python3.12 …"; exit 1; }
	@if [ "$(MOVED)" ] && [ -L .venv ]; then \
		echo ".venv is a link to an environment that was made in another folder; remove the link"; exit 1; fi
	@if [ "$(MOVED)" ]; then echo "The folder was moved or copied, so that its environment is made anew."; \
		find .venv -mindepth 1 -maxdepth 1 ! -name cache -exec rm -rf {} +; fi
	@mkdir -p .venv
	$(PYTHON) -m venv "$$(cd .venv && pwd -P)"
	PIP_USER=0 .venv/bin/python -m pip install --quiet --disable-pip-version-check $(UV)
	@settings=$$(.venv/bin/python -m pip config list); for pair in $(FOR_UV); do \
		value=$$(sed -nE "s/^(:env:|global|install)\.$${pair%=*}='(.*)'$$/\2/p" <<< "$$settings" | head -n 1); \
		name=$${pair#*=}; [ -z "$$value" ] || export "$$name=$${!name:-$$value}"; done; \
	.venv/bin/uv pip install --quiet --python .venv --require-hashes --compile-bytecode \
		--requirements requirements.lock || { echo "uv cannot install them; pip, with its own settings:"; \
	PIP_USER=0 .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--requirement requirements.lock; }
	@(cd .venv && pwd -P) > $@

# Groups that are not for all; each names what it needs of requirements.lock too, at the same pins.
.venv/slurm .venv/field: .venv/%: .venv/ready requirements-%.lock
	.venv/bin/uv pip install --quiet --python .venv --require-hashes --compile-bytecode \
		--requirements requirements-$*.lock
	@touch $@
