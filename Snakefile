# config.yaml → plan → rules. What runs, and with which command, is decided in experiments/plan.py.

import sys
from os.path import dirname, splitext

from snakemake.exceptions import WorkflowError


configfile: "config.yaml"


sys.path.insert(0, workflow.basedir)

from experiments.fingerprint import fingerprint
from experiments.plan import ConfigError, Plan, lead_jobs_here

lead_jobs_here()
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
            "{results}/tables/{experiment}/statistics.md",
            results=plan.results,
            experiment=plan.experiments,
        ),
        [f"{plan.results}/tables/{experiment}/rewards.md" for experiment in plan.rewarded],
        f"{plan.results}/tables/table_1.md",
        f"{plan.results}/claims.md",
        [f"{plan.results}/readings.md"] if plan.readings else [],
        expand("{results}/figures/theory_{table}.png", results=plan.results, table=plan.theory),


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
        conda:
            "environment.yml"
        params:
            # Snakemake compares what is a function of wildcards only, hence the class of the code; the
            # trace is stamped with its fingerprint, which takes an output so as not to be compared.
            command=lambda w, e=experiment: plan.command(
                w.get("experiment", e), w.problem, w.algorithm
            ),
            code=lambda w, e=experiment: plan.code(w.get("experiment", e), w.problem, w.algorithm),
            fingerprint=lambda w, output, e=experiment: plan.fingerprint(
                w.get("experiment", e), w.problem, w.algorithm
            ),
        shell:
            "{params.command} --code {params.fingerprint} --to {output} 2> {log}"


# The tables of an experiment: a row a run, and statistics over its runs.
rule table:
    input:
        lambda w: plan.traces(w.experiment),
    output:
        plan.tables("{experiment}"),
    log:
        f"{plan.results}/logs/{{experiment}}/table.log",
    conda:
        "environment.yml"
    params:
        command=lambda w: plan.table_command(w.experiment),
        code=fingerprint("experiments.aggregate"),
    shell:
        "{params.command} 2> {log}"


# What a reader looks up: evaluations to fixed targets, final values.
rule statistics:
    input:
        plan.tables("{experiment}")[0],
    output:
        expand(
            "{results}/tables/{{experiment}}/{name}",
            results=plan.results,
            name=["fixed_targets.csv", "final_values.csv", "statistics.md"],
        ),
    log:
        f"{plan.results}/logs/{{experiment}}/statistics.log",
    conda:
        "environment.yml"
    params:
        tables=lambda w, input: dirname(input[0]),
        code=fingerprint("experiments.statistics"),
    shell:
        "python -m experiments.statistics {params.tables} --to {params.tables} 2> {log}"


# Of control: interquartile means, and the probability that one method beats another.
rule rewards:
    input:
        plan.tables("{experiment}")[0],
    output:
        multiext(f"{plan.results}/tables/{{experiment}}/rewards", ".csv", ".md"),
    log:
        f"{plan.results}/logs/{{experiment}}/rewards.log",
    conda:
        "environment.yml"
    params:
        tables=lambda w, input: dirname(input[0]),
        code=fingerprint("experiments.rewards"),
    shell:
        "python -m experiments.rewards {params.tables} --to {params.tables}/rewards 2> {log}"


rule figure:
    input:
        lambda w: plan.tables(plan.figures[w.figure]["experiment"]),
    output:
        multiext(f"{plan.results}/figures/{{figure}}", ".png", ".pdf", ".svg", ".md"),
    log:
        f"{plan.results}/logs/{{figure}}.log",
    conda:
        "environment.yml"
    params:
        command=lambda w: plan.figure_command(w.figure),
        code=lambda w: plan.figure_code(w.figure),
    shell:
        "{params.command} 2> {log}"


rule claims:
    input:
        "experiments/claims.yaml",
        [path for experiment in plan.experiments for path in plan.tables(experiment)],
        expand("{results}/tables/theory/{table}.csv", results=plan.results, table=plan.theory),
    output:
        multiext(f"{plan.results}/claims", ".csv", ".md"),
    log:
        f"{plan.results}/logs/claims.log",
    conda:
        "environment.yml"
    params:
        tables=plan.results / "tables",
        stem=lambda w, output: splitext(output[0])[0],
        code=fingerprint("experiments.claims"),
    shell:
        "python -m experiments.claims --tables {params.tables} --to {params.stem} 2> {log}"


# The claims anew with other readings of the text.
if plan.readings:

    rule readings:
        input:
            "experiments/claims.yaml",
            plan.readings_needs(),
        output:
            multiext(f"{plan.results}/readings", ".csv", ".md"),
        log:
            f"{plan.results}/logs/readings.log",
        conda:
            "environment.yml"
        params:
            command=plan.readings_command(),
            code=fingerprint("experiments.readings"),
        shell:
            "{params.command} 2> {log}"


# The theorems: a table a question, and its picture.
rule theory:
    input:
        lambda w: plan.theory_needs(w.theory),
    output:
        f"{plan.results}/tables/theory/{{theory}}.csv",
    log:
        f"{plan.results}/logs/theory/{{theory}}.log",
    conda:
        "environment.yml"
    params:
        command=lambda w: plan.theory_command(w.theory),
        code=lambda w: plan.theory_code(w.theory),
    shell:
        "{params.command} --to {output} 2> {log}"


rule theory_figure:
    input:
        f"{plan.results}/tables/theory/{{theory}}.csv",
    output:
        multiext(f"{plan.results}/figures/theory_{{theory}}", ".png", ".pdf", ".svg", ".md"),
    log:
        f"{plan.results}/logs/theory/{{theory}}_figure.log",
    conda:
        "environment.yml"
    params:
        stem=lambda w, output: splitext(output[0])[0],
        code=fingerprint("figures.theory"),
    shell:
        "python -m figures.theory {wildcards.theory} {input} --to {params.stem} 2> {log}"


rule table_1:
    output:
        multiext(f"{plan.results}/tables/table_1", ".md", ".tex"),
    log:
        f"{plan.results}/logs/table_1.log",
    conda:
        "environment.yml"
    params:
        stem=lambda w, output: splitext(output[0])[0],
        code=fingerprint("problems.table_1", "problems.synthetic"),
    shell:
        "python -m problems.table_1 --to {params.stem} 2> {log}"


# Ratios of time per iteration; no part of `all`, since they are about a machine.
rule benchmark:
    output:
        multiext(f"{plan.results}/benchmark", ".csv", ".md"),
    log:
        f"{plan.results}/logs/benchmark.log",
    conda:
        "environment.yml"
    threads: workflow.cores  # alone, or the ratios are noise
    params:
        stem=lambda w, output: splitext(output[0])[0],
        code=fingerprint("experiments.benchmark", "algorithms.ingo", "algorithms.cma_es"),
    shell:
        "python -m experiments.benchmark --to {params.stem} 2> {log}"


# What the workflow itself costs, as a share of the runs that were timed so far.
rule overhead:
    output:
        multiext(f"{plan.results}/overhead", ".csv", ".md"),
    log:
        f"{plan.results}/logs/overhead.log",
    conda:
        "environment.yml"
    threads: workflow.cores
    params:
        times=plan.results / "times",
        stem=lambda w, output: splitext(output[0])[0],
        code=fingerprint("experiments.overhead"),
    shell:
        "python -m experiments.overhead --times {params.times} --to {params.stem} 2> {log}"


# Ratios of control steps a second; no part of `all` either.
rule throughput:
    output:
        multiext(f"{plan.results}/throughput", ".csv", ".md"),
    log:
        f"{plan.results}/logs/throughput.log",
    conda:
        "environment.yml"
    threads: workflow.cores  # alone, or the ratios are noise
    params:
        stem=lambda w, output: splitext(output[0])[0],
        code=fingerprint("experiments.throughput"),
    shell:
        "python -m experiments.throughput --to {params.stem} 2> {log}"


# A trained policy at work; no part of `all`, since it needs EGL.
if plan.film:

    rule film:
        input:
            plan.film_needs(),
        output:
            multiext(f"{plan.results}/figures/film", ".gif", ".png", ".md"),
        log:
            f"{plan.results}/logs/film.log",
        conda:
            "environment.yml"
        params:
            stem=lambda w, output: splitext(output[0])[0],
            code=fingerprint("figures.film"),
        shell:
            "python -m figures.film {input} --to {params.stem} 2> {log}"
