# config.yaml → plan → rules. What runs, and with which command, is decided in experiments/plan.py.

import os
import sys

from snakemake.exceptions import WorkflowError


configfile: "config.yaml"


# The jobs use this Python and import this project, whatever folder or shell they start from.
sys.path.insert(0, workflow.basedir)
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
os.environ["PYTHONPATH"] = workflow.basedir

from experiments.plan import ConfigError, Plan
from experiments.sources import fingerprint

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
        f"{plan.results}/tables/table_1.md",


# A job runs `seeds_per_job` seeds of a cell: one rule for single seeds, else one a chunk of them.
for experiment, seeds in plan.chunks():
    rule:
        name:
            f"trace_{experiment}_{seeds[0]}".replace("_{experiment}_{seed}", "")
        output:
            [plan.trace(experiment, "{problem}", "{algorithm}", seed) for seed in seeds],
        log:
            f"{plan.results}/logs/{experiment}/{{problem}}/{{algorithm}}/{seeds[0]}.log",
        benchmark:
            f"{plan.results}/times/{experiment}/{{problem}}/{{algorithm}}/{seeds[0]}.tsv"
        params:
            command=lambda w, output: plan.command(output[0]),
            code=lambda w, output: plan.code(output[0]),
        conda:
            "environment.yml"
        shell:
            "{params.command} --to {output} 2> {log}"


# The tables of an experiment: a row a run, and statistics over its runs.
rule table:
    input:
        lambda w: plan.traces(w.experiment),
    output:
        multiext(f"{plan.results}/tables/{{experiment}}/", "runs.parquet", "curves.parquet"),
    log:
        f"{plan.results}/logs/{{experiment}}/table.log",
    params:
        command=lambda w: plan.table_command(w.experiment),
        code=fingerprint("experiments.aggregate"),
    conda:
        "environment.yml"
    shell:
        "{params.command} 2> {log}"


rule figure:
    input:
        lambda w: plan.tables_of(w.figure),
    output:
        multiext(f"{plan.results}/figures/{{figure}}", ".png", ".pdf", ".svg", ".md"),
    log:
        f"{plan.results}/logs/{{figure}}.log",
    params:
        command=lambda w: plan.figure_command(w.figure),
        code=lambda w: plan.figure_code(w.figure),
    conda:
        "environment.yml"
    shell:
        "{params.command} 2> {log}"


rule table_1:
    output:
        multiext(f"{plan.results}/tables/table_1", ".md", ".tex"),
    log:
        f"{plan.results}/logs/table_1.log",
    params:
        code=fingerprint("problems.table_1", "problems.synthetic"),
    conda:
        "environment.yml"
    shell:
        "python -m problems.table_1 --to {plan.results}/tables/table_1 2> {log}"
