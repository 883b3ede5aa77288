# When to use INGO. No part of `all`, since it is about other problems than the paper's.

from importlib.metadata import version

from experiments.usage.commands import compare


rule usage:
    output:
        multiext(f"{plan.results}/usage", ".csv", ".md"),
    log:
        f"{plan.results}/logs/usage.log",
    conda:
        "../../environment.yml"
    params:
        command=str(compare(plan.root_seed, plan.results / "usage")),
        code=fingerprint_of_output(
            "experiments.usage.compare", "algorithms.ingo", "algorithms.fast_ingo"
        ),
        # whose SVM and data it is; the other libraries are in the fingerprint
        library=lambda w: version("scikit-learn"),
    shell:
        "{params.command} 2> {log}"
