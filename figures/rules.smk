# Pictures, each from the tables of an experiment.

from experiments.publishing import report_commands


rule figure:
    input:
        folder.records,
        lambda w: folder.needed(plan.figure_needs(w.figure)),
    output:
        report(
            f"{plan.results}/figures/{{figure}}.png",
            caption="../experiments/publishing/captions/figure.rst",
            category=lambda w: report_commands.figure_category(w.figure),
            labels=lambda w: {"figure": report_commands.figure_label(plan, w.figure)},
        ),
        multiext(f"{plan.results}/figures/{{figure}}", ".pdf", ".svg", ".md"),
    log:
        f"{plan.results}/logs/{{figure}}.log",
    conda:
        "../environment.yml"
    params:
        command=lambda w: str(plan.figure_command(w.figure)),
        code=lambda w: plan.figure_code(w.figure),
    shell:
        "{params.command} 2> {log}"


# Of step sizes, with a table of the best ones beside the picture.
if stepped := [name for name, own in plan.figures.items() if own.get("kind") == "steps"]:

    use rule figure as figure_of_steps with:
        output:
            report(
                f"{plan.results}/figures/{{figure}}.png",
                caption="../experiments/publishing/captions/figure.rst",
                category=lambda w: report_commands.figure_category(w.figure),
                labels=lambda w: {"figure": report_commands.figure_label(plan, w.figure)},
            ),
            multiext(
                f"{plan.results}/figures/{{figure}}",
                ".pdf",
                ".svg",
                ".md",
                "_best.csv",
                "_best.md",
            ),
        wildcard_constraints:
            figure="|".join(stepped),

    ruleorder: figure_of_steps > figure


# A trained policy at work; no part of `all`, since it needs EGL.
if plan.film:

    rule film:
        input:
            folder.records,
            lambda w: folder.needed([plan.film_needs()]),
        output:
            multiext(f"{plan.results}/figures/film", ".gif", ".png", ".md"),
        log:
            f"{plan.results}/logs/film.log",
        conda:
            "../environment.yml"
        params:
            command=str(plan.film_command()),
            code=fingerprint_of_output("figures.film"),
        shell:
            "{params.command} 2> {log}"
