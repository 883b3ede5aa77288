# What takes how long, as ratios. No part of `all`, since they are about a machine; each runs alone,
# or the ratios are noise.


rule iteration:
    output:
        multiext(f"{plan.results}/iteration", ".csv", ".md"),
    log:
        f"{plan.results}/logs/iteration.log",
    conda:
        "../../environment.yml"
    threads: lambda w: workflow.cores
    params:
        command=str(plan.timing_command("iteration")),
        code=fingerprint_of_output(
            "experiments.timing.iteration", "algorithms.ingo", "algorithms.cma_es"
        ),
    shell:
        "{params.command} 2> {log}"


rule rollouts:
    output:
        multiext(f"{plan.results}/rollouts", ".csv", ".md"),
    log:
        f"{plan.results}/logs/rollouts.log",
    conda:
        "../../environment.yml"
    threads: lambda w: workflow.cores
    params:
        command=str(plan.timing_command("rollouts")),
        code=fingerprint_of_output("experiments.timing.rollouts"),
    shell:
        "{params.command} 2> {log}"


rule updates:
    output:
        multiext(f"{plan.results}/updates", ".csv", ".md"),
    log:
        f"{plan.results}/logs/updates.log",
    conda:
        "../../environment.yml"
    threads: lambda w: workflow.cores
    params:
        command=str(plan.timing_command("updates")),
        code=fingerprint_of_output(
            "experiments.timing.updates",
            *(f"algorithms.{name}" for name in ("fast_ingo", "es", "asebo", "cma_es")),
        ),
    shell:
        "{params.command} 2> {log}"


# What the workflow itself costs, as a share of the runs that were timed so far.
rule workflow:
    output:
        multiext(f"{plan.results}/workflow", ".csv", ".md"),
    log:
        f"{plan.results}/logs/workflow.log",
    conda:
        "../../environment.yml"
    threads: lambda w: workflow.cores
    params:
        command=str(plan.timing_command("workflow")),
        code=fingerprint_of_output("experiments.timing.workflow"),
    shell:
        "{params.command} 2> {log}"
