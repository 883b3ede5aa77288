# Traces: a job runs `seeds_per_job` seeds of a cell.

for job in plan.jobs():

    rule:
        name:
            job.rule
        output:
            [plan.trace("{experiment}", "{problem}", "{algorithm}", seed) for seed in job.seeds],
        log:
            f"{plan.results}/logs/{{experiment}}/{{problem}}/{{algorithm}}/{job.seeds[0]}.log",
        benchmark:
            f"{plan.results}/times/{{experiment}}/{{problem}}/{{algorithm}}/{job.seeds[0]}.tsv"
        wildcard_constraints:
            experiment=job.experiment,
        conda:
            "../../environment.yml"
        params:
            # Texts, since Snakemake compares no other values with those of last time; and functions
            # of wildcards only, hence the class of the code. The trace is stamped with the
            # fingerprint, which takes an output so as not to be compared.
            command=lambda w: str(plan.trace_command(w.experiment, w.problem, w.algorithm)),
            code=lambda w: plan.code(w.experiment, w.problem, w.algorithm),
            fingerprint=lambda w, output: plan.fingerprint(w.experiment, w.problem, w.algorithm),
        shell:
            "{params.command} --code {params.fingerprint} --to {output} 2> {log}"
