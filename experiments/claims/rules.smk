# The verdicts on the claims, and those with variants of the optimisers.


rule claims:
    input:
        "experiments/claims/claims.yaml",
        plan.claims_needs(),
    output:
        multiext(f"{plan.results}/claims", ".csv", ".md"),
    log:
        f"{plan.results}/logs/claims.log",
    conda:
        "../../environment.yml"
    params:
        command=str(plan.claims_command()),
        code=fingerprint("experiments.claims.verdicts"),
    shell:
        "{params.command} 2> {log}"


if plan.variants:

    rule variants:
        input:
            "experiments/claims/claims.yaml",
            plan.variants_needs(),
        output:
            multiext(f"{plan.results}/variants", ".csv", ".md"),
        log:
            f"{plan.results}/logs/variants.log",
        conda:
            "../../environment.yml"
        params:
            command=str(plan.variants_command()),
            code=fingerprint("experiments.claims.variants"),
        shell:
            "{params.command} 2> {log}"
