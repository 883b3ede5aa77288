# The verdicts on the claims, and those with variants of the optimisers.


rule claims:
    input:
        folder.records,
        "experiments/claims/claims.yaml",
        lambda w: folder.needed(plan.claims_needs()),
    output:
        multiext(f"{plan.results}/claims", ".csv", ".md", "_parts.csv"),
    log:
        f"{plan.results}/logs/claims.log",
    conda:
        "../../environment.yml"
    params:
        command=str(plan.claims_command()),
        code=fingerprint_of_output("experiments.claims.verdicts"),
    shell:
        "{params.command} 2> {log}"


if plan.variants:

    rule variants:
        input:
            folder.records,
            "experiments/claims/claims.yaml",
            lambda w: folder.needed(plan.variants_needs()),
        output:
            multiext(f"{plan.results}/variants", ".csv", ".md"),
        log:
            f"{plan.results}/logs/variants.log",
        conda:
            "../../environment.yml"
        params:
            command=str(plan.variants_command()),
            code=fingerprint_of_output("experiments.claims.variants"),
        shell:
            "{params.command} 2> {log}"
