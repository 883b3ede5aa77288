# The theorems: a table per question, and its picture.


rule theory:
    input:
        lambda w: plan.theory_needs(w.question),
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
        plan.theory_table("{question}"),
    output:
        multiext(f"{plan.results}/figures/theory_{{question}}", ".png", ".pdf", ".svg", ".md"),
    log:
        f"{plan.results}/logs/theory/{{question}}_figure.log",
    conda:
        "../../environment.yml"
    params:
        command=lambda w: str(plan.theory_figure_command(w.question)),
        code=lambda w: fingerprint(f"figures.theory.{w.question}"),
    shell:
        "{params.command} 2> {log}"
