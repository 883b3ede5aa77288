# `make` lists the targets. Each sets up what it needs: a private environment in .venv with the
# pinned packages of requirements.lock. Nothing but Python ≥ 3.11 has to be there.

PYTHON ?= python3
CORES ?= all
UV := uv==0.13.9
# several files are laid over one another: CONFIG="config.yaml results/published/config.yaml"
CONFIG ?= config.yaml
SNAKEMAKE := .venv/bin/snakemake --cores $(CORES)
# RUNS=2 asks for two seeds per cell, in place of the number in config.yaml
FEWER = $(if $(RUNS),--config runs=$(RUNS))
SETTINGS = --configfile $(CONFIG) $(FEWER)
# where the config has results go, asked for by the shell of the targets that name a file there
RESULTS = $$(.venv/bin/python -m experiments.config results $(CONFIG))

# a command that fails in the middle of a pipe is a failure
SHELL := bash
.SHELLFLAGS := -o pipefail -c

.PHONY: help setup quick replicate interim benchmark throughput film figures publish restore certify test lint lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_0-9%]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  Options: CORES=4 (default: all), PYTHON=python3.12; of quick, replicate, figure_% and"
	@echo "  film: RUNS=2 (seeds per cell)"

setup: .venv/ready ## make the environment in .venv (the other targets do so by themselves)

quick: .venv/ready ## the whole workflow on tiny budgets, into results/quick (some minutes)
	$(SNAKEMAKE) --configfile config.yaml tests/quick.yaml $(FEWER)
	@echo "Figures: results/quick/figures  Tables: results/quick/tables  Claims: results/quick/claims.md"

replicate: .venv/ready ## everything, at the paper's size (days; stop with Ctrl-C, the same again goes on)
	$(SNAKEMAKE) $(SETTINGS)
	@echo "Figures: $(RESULTS)/figures  Tables: $(RESULTS)/tables  Claims: $(RESULTS)/claims.md"

figure_%: .venv/ready ## one figure and the runs it needs: make figure_1, make figure_1 RUNS=2
	$(SNAKEMAKE) $(RESULTS)/figures/$@.png $(SETTINGS)
	@echo "Drawn: $(RESULTS)/figures/$@.png, .pdf and .svg; its numbers: $(RESULTS)/tables"

interim: .venv/ready ## figures, tables and verdicts of the runs done so far, into results/interim
	.venv/bin/python -m experiments.publishing.interim --config $(CONFIG)

benchmark: .venv/ready ## time per iteration against others, and the workflow's own (minutes)
	$(SNAKEMAKE) --force iteration workflow --configfile $(CONFIG)
	@cat $(RESULTS)/iteration.md $(RESULTS)/workflow.md

throughput: .venv/ready ## control steps a second against bare physics and gymnasium (minutes)
	$(SNAKEMAKE) --force rollouts --configfile $(CONFIG)
	@cat $(RESULTS)/rollouts.md

film: .venv/ready ## a trained policy at work (needs EGL, and one run of Figure 2)
	$(SNAKEMAKE) film $(SETTINGS)

figures: .venv/ready ## figures, tables and verdicts anew from the kept tables, without a run
	.venv/bin/python -m experiments.publishing.redraw results/published
	.venv/bin/python -m experiments.publishing.readme

publish: .venv/ready ## keep what is in results (TABLES=results/interim/tables), show it in the README
	.venv/bin/python -m experiments.publishing.publish --config $(CONFIG) \
		$(if $(TABLES),--tables $(TABLES))

# --force --touch has Snakemake note the code and settings they are of, which restore has checked;
# it pauses a tenth of a second after each trace, hence several at once
restore: .venv/ready ## the kept traces into results, so that `make replicate` runs only the rest
	.venv/bin/python -m experiments.publishing.archive restore --config $(CONFIG) \
		| xargs -r -n 200 -P 8 $(SNAKEMAKE) --configfile $(CONFIG) --quiet all --force --touch

certify: .venv/ready ## show that this commit makes the data of another: make certify BASE=HEAD~1 (minutes)
	.venv/bin/python -m experiments.certify $(or $(BASE),$(error say which commit: make certify BASE=HEAD~1))

test: .venv/ready ## the test suite
	.venv/bin/python -m pytest

lint: .venv/ready ## style, types and the workflow's own checks
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/snakemake --lint
	.venv/bin/uv tool run --quiet --from snakefmt==2.1.0 snakefmt --line-length 100 --check Snakefile \
		experiments/*/rules.smk figures/rules.smk

lock: .venv/ready ## renew requirements.lock from pyproject.toml
	.venv/bin/uv pip compile pyproject.toml --group dev --universal --generate-hashes \
		--no-emit-index-url --no-annotate --quiet --output-file requirements.lock

clean: ## remove the environment and all results but the kept ones
	rm -rf .venv .snakemake
	find results -mindepth 1 -maxdepth 1 ! -name published -exec rm -rf {} +

.venv/ready: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than 3.11; name another one: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check $(UV)
	.venv/bin/uv pip install --quiet --python .venv --require-hashes --compile-bytecode \
		--requirements requirements.lock
	@touch $@
