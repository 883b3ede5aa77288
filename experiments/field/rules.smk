# The study `field`: published results to hold ours against, and the page.


rule best_2009:
    output:
        f"{plan.results}/tables/{{experiment}}/best_2009.csv",
    log:
        f"{plan.results}/logs/{{experiment}}/best_2009.log",
    wildcard_constraints:
        experiment="|".join(plan.bbob),
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.best_2009_command(w.experiment)),
        code=fingerprint_of_output("experiments.field.reference"),
    shell:
        "{params.command} 2> {log}"


if plan.study == "field":

    rule golden:
        input:
            folder.records,
            lambda w: folder.needed([plan.tables(e)[0] for e in plan.experiments]),
        output:
            f"{plan.results}/golden.csv",
        log:
            f"{plan.results}/logs/golden.log",
        conda:
            "../../environment.yml"
        params:
            command=str(plan.golden_command()),
            code=fingerprint_of_output("experiments.field.golden"),
        shell:
            "{params.command} 2> {log}"

    rule standing:
        input:
            folder.records,
            lambda w: folder.needed([plan.tables(e)[0] for e in plan.experiments]),
            f"{plan.results}/golden.csv",
            plan.manifest,
        output:
            multiext(f"{plan.results}/field", ".csv", ".md"),
        log:
            f"{plan.results}/logs/field.log",
        conda:
            "../../environment.yml"
        params:
            command=str(plan.standing_command()),
            code=fingerprint_of_output("experiments.field.standing"),
        shell:
            "{params.command} 2> {log}"


# On request: the runs once more, with COCO's observer.
rule observed:
    output:
        directory(f"{plan.results}/coco/{{experiment}}/{{algorithm}}/{{problem}}"),
    log:
        f"{plan.results}/logs/{{experiment}}/{{problem}}/{{algorithm}}/observed.log",
    wildcard_constraints:
        experiment="|".join(plan.bbob),
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.observed_command(w.experiment, w.problem, w.algorithm)),
        code=lambda w: plan.code(w.experiment, w.problem, w.algorithm),
        observer=fingerprint_of_output("experiments.field.observed"),
    shell:
        "{params.command} 2> {log}"
