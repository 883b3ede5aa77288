# The theorems: a table per question, and its picture.

from experiments.publishing import report_commands


rule theory:
    input:
        folder.records,
        lambda w: folder.needed(plan.theory_needs(w.question)),
    output:
        plan.theory_table("{question}"),
    log:
        f"{plan.results}/logs/theory/{{question}}.log",
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.theory_command(w.question)),
        code=lambda w: plan.theory_code(w.question),
    shell:
        "{params.command} 2> {log}"


rule theory_figure:
    input:
        folder.records,
        lambda w: folder.needed([plan.theory_table(w.question)]),
    output:
        report(
            f"{plan.results}/figures/theory_{{question}}.png",
            caption="../publishing/captions/figure.rst",
            category=report_commands.THEORY,
            labels=lambda w: {"figure": w.question.replace("_", " ").capitalize()},
        ),
        multiext(f"{plan.results}/figures/theory_{{question}}", ".pdf", ".svg", ".md"),
    log:
        f"{plan.results}/logs/theory/{{question}}_figure.log",
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.theory_figure_command(w.question)),
        code=lambda w: fingerprint_of_output(f"figures.theory.{w.question}"),
    shell:
        "{params.command} 2> {log}"
