# An index: config.yaml → plan → rules by trade, each beside the modules that it runs. What is made,
# and by which command, is decided in experiments/plan.py.

import sys

from snakemake.exceptions import WorkflowError


configfile: "config.yaml"


sys.path.insert(0, workflow.basedir)

from experiments.config import ConfigError
from experiments.fingerprint import fingerprint
from experiments.plan import Plan, set_job_environment

set_job_environment()
try:
    plan = Plan.from_config(config)
except ConfigError as error:
    raise WorkflowError(f"config: {error}")


wildcard_constraints:
    **plan.wildcards,


localrules:
    all,


rule all:
    input:
        expand("{results}/figures/{figure}.png", results=plan.results, figure=plan.figures),
        expand(
            "{results}/figures/theory_{question}.png", results=plan.results, question=plan.theory
        ),
        [f"{plan.folder(experiment)}/statistics.md" for experiment in plan.experiments],
        [f"{plan.folder(experiment)}/rewards.md" for experiment in plan.rewarded],
        f"{plan.results}/tables/table_1.md",
        f"{plan.results}/claims.md",
        [f"{plan.results}/variants.md"] if plan.variants else [],


include: "experiments/runs/rules.smk"
include: "experiments/tables/rules.smk"
include: "experiments/theory/rules.smk"
include: "experiments/claims/rules.smk"
include: "experiments/timing/rules.smk"
include: "experiments/usage/rules.smk"
include: "figures/rules.smk"
include: "experiments/publishing/rules.smk"
