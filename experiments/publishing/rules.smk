# The pages of Snakemake's own report (`make report`), and what it says first. No part of `all`, and
# made from what is there: `snakemake --report` alone would show the pictures only.

from experiments.publishing import report_commands


report: "captions/report.rst"


rule report_pages:
    input:
        f"{plan.results}/claims.csv",
    output:
        report(
            directory(report_commands.pages_folder(plan.results)),
            patterns=["{page}.html"],
            category=lambda w: report_commands.page_category(w.page),
            labels=lambda w: {"page": report_commands.page_label(plan, w.page)},
        ),
    log:
        f"{report_commands.folder(plan.results)}/logs/report_pages.log",
    conda:
        "../../environment.yml"
    params:
        command=lambda w, output: str(
            report_commands.pages(plan.results, workflow.configfiles, output[0])
        ),
        code=fingerprint("experiments.publishing.report_pages"),
    shell:
        "{params.command} 2> {log}"
