# Tables: a row per run and statistics over runs, and what a reader looks up in them.


rule table:
    input:
        folder.records,
        lambda w: folder.needed(plan.traces(w.experiment)),
    output:
        plan.tables("{experiment}"),
    log:
        f"{plan.results}/logs/{{experiment}}/table.log",
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.table_command(w.experiment)),
        code=fingerprint_of_output("experiments.tables.aggregate"),
    shell:
        "{params.command} 2> {log}"


# Evaluations to fixed targets, final values.
rule summaries:
    input:
        folder.records,
        lambda w: folder.needed(plan.tables(w.experiment)[:1]),
    output:
        [
            f"{plan.folder('{experiment}')}/{name}"
            for name in ("fixed_targets.csv", "final_values.csv", "statistics.md")
        ],
    log:
        f"{plan.results}/logs/{{experiment}}/summaries.log",
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.summaries_command(w.experiment)),
        code=fingerprint_of_output("experiments.tables.summaries"),
    shell:
        "{params.command} 2> {log}"


# Of control: interquartile means, and the probability that one method beats another.
rule rewards:
    input:
        folder.records,
        lambda w: folder.needed(plan.tables(w.experiment)[:1]),
    output:
        multiext(f"{plan.folder('{experiment}')}/rewards", ".csv", ".md"),
    log:
        f"{plan.results}/logs/{{experiment}}/rewards.log",
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.rewards_command(w.experiment)),
        code=fingerprint_of_output("experiments.tables.rewards"),
    shell:
        "{params.command} 2> {log}"


rule table_1:
    input:
        folder.records,
    output:
        multiext(f"{plan.results}/tables/table_1", ".md", ".tex"),
    log:
        f"{plan.results}/logs/table_1.log",
    conda:
        "../../environment.yml"
    params:
        command=str(plan.table_1_command()),
        code=fingerprint_of_output("problems.table_1", "problems.synthetic"),
    shell:
        "{params.command} 2> {log}"
