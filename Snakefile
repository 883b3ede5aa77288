# An index: config.yaml → plan → rules by trade, each beside the modules that it runs. What is made,
# and by which command, is decided in experiments/plan.py.

import os
import re
import sys

from snakemake.exceptions import WorkflowError


configfile: "config.yaml"


sys.path.insert(0, workflow.basedir)

from experiments.config import ConfigError
from experiments.failures import at_end
from experiments.fingerprint import fingerprint_of_output
from experiments.plan import load, set_job_environment
from experiments.results_folder import InUse, ResultsFolder, keep_done_seeds, lock

set_job_environment()
keep_done_seeds()
settings = workflow.config_settings
config_files = ["config.yaml", *map(os.path.relpath, settings.configfiles)]
try:
    # read once more, by stricter rules than Snakemake's
    plan = load(*config_files, **settings.config)
    folder = ResultsFolder(plan)
    if workflow.is_main_process:
        if not workflow.dryrun:
            results_lock = lock(plan.results)
        folder.prepare()
except ConfigError as error:
    raise WorkflowError(f"config: {error}")
except InUse as error:
    raise WorkflowError(str(error))


wildcard_constraints:
    **plan.wildcards,


rule all:
    input:
        expand("{results}/figures/{figure}.png", results=plan.results, figure=plan.figures),
        expand(
            "{results}/figures/theory_{question}.png", results=plan.results, question=plan.theory
        ),
        [f"{plan.folder(experiment)}/statistics.md" for experiment in plan.experiments],
        [f"{plan.folder(experiment)}/rewards.md" for experiment in plan.rewarded],
        [f"{plan.results}/field.md", *plan.all_observed()] if plan.study == "field" else [],
        [] if plan.study else [f"{plan.results}/tables/table_1.md", f"{plan.results}/claims.md"],
        plan.manifest,
        [f"{plan.results}/variants.md"] if plan.variants else [],


onerror:
    print(*at_end(log, plan.results), sep="\n", file=sys.stderr)


include: "experiments/runs/rules.smk"
include: "experiments/tables/rules.smk"
include: "experiments/theory/rules.smk"
include: "experiments/claims/rules.smk"
include: "experiments/timing/rules.smk"
include: "experiments/usage/rules.smk"


if plan.bbob or plan.study == "field":

    include: "experiments/field/rules.smk"


include: "figures/rules.smk"
include: "experiments/publishing/rules.smk"


# Where jobs go to a cluster, runs and tables of the theory do; all else takes seconds.
workflow.localrules(
    *(rule.name for rule in workflow.rules if not re.match("trace|theory$", rule.name))
)
