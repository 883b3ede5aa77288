# What the results come from, and the pages of Snakemake's own report.

import hashlib
import json

from experiments.publishing import commands as publishing
from experiments.publishing import report_commands


localrules:
    manifest,


rule manifest:
    input:
        lambda w: folder.needed(plan.manifest_needs()),
        "requirements.lock",
    output:
        plan.manifest,
    log:
        f"{plan.results}/logs/manifest.log",
    conda:
        "../../environment.yml"
    params:
        command=str(publishing.manifest(config_files, settings.config, plan.manifest)),
        # the command names files only, and not all that they say shows in a table
        config=hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest(),
        code=fingerprint_of_output("experiments.publishing.manifest"),
    shell:
        "{params.command} 2> {log}"


# The pages of the report (`make report`), and what it says first. No part of `all`, and made from
# what is there: `snakemake --report` alone would show the pictures only.


report: "captions/report.rst"


rule report_pages:
    input:
        folder.records,
        multiext(f"{plan.results}/claims", ".csv", "_parts.csv"),
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
        command=lambda w, output: str(report_commands.pages(plan.results, config_files, output[0])),
        code=fingerprint_of_output("experiments.publishing.report_pages"),
    shell:
        "{params.command} 2> {log}"
