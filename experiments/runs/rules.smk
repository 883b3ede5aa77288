# Traces: a job runs `seeds_per_job` seeds of a cell. Of several seeds the command skips those that
# are done, so Snakemake must not remove them first: update().

from experiments.expected import minutes


def unfit_traces(seeds):
    """An input of a job with these seeds, which is newer than its traces if one is another's."""

    def of_job(w):
        asked = [int(w.get("seed", seed)) for seed in seeds]
        return folder.newer(folder.has_unfit(w.experiment, w.problem, w.algorithm, asked))

    return of_job


def traces_of(seeds):
    """The outputs of a job with these seeds."""
    paths = [plan.trace("{experiment}", "{problem}", "{algorithm}", seed) for seed in seeds]
    return [update(path) for path in paths] if len(paths) > 1 else paths


for job in plan.jobs():

    rule:
        name:
            job.rule
        input:
            unfit_traces(job.seeds),
        output:
            traces_of(job.seeds),
        log:
            f"{plan.results}/logs/{{experiment}}/{{problem}}/{{algorithm}}/{job.seeds[0]}.log",
        wildcard_constraints:
            experiment=job.experiment,
        conda:
            "../../environment.yml"
        resources:
            # Of a cluster. A run takes up to 190 MB, and the two Snakemakes around it 140 MB each.
            mem_mb=lambda w, attempt: 1000 * attempt,
            # to know it takes half a second and 190 MB: only for those who ask
            runtime=lambda w, attempt, seeds=len(job.seeds): (
                attempt
                * minutes(plan.experiments[w.experiment].cells[w.problem, w.algorithm], seeds)
                if workflow.is_main_process and workflow.non_local_exec_or_dryrun
                else 0
            ),
        params:
            # Texts, since Snakemake compares no other values with those of last time; and functions
            # of wildcards only, hence the class of the code. What decides no data takes an output
            # so as not to be compared. The line of the shell is compared: edit the command instead.
            command=lambda w: str(plan.trace_command(w.experiment, w.problem, w.algorithm)),
            code=lambda w: plan.code(w.experiment, w.problem, w.algorithm),
            fingerprint=lambda w, output: plan.stamp(w.experiment, w.problem, w.algorithm),
        shell:
            "{params.command} --code {params.fingerprint} --to {output} 2> {log}"
