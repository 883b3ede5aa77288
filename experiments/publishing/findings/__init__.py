"""What came out, under the verdicts of its claims; the numbers come from the tables.

A sentence counts or compares what its tables hold; it is left out where they are missing.
"""

from __future__ import annotations

from collections.abc import Callable

from experiments.publishing.findings import descent, functions, others, theory
from experiments.publishing.study import Study
from experiments.tables.reader import Missing

Sentence = Callable[[Study], str]


def findings(study: Study) -> dict[str, list[str]]:
    """The sentences, each with the claims that it is about, under what their verdicts come to: all
    "reproduced", all "not reproduced", or "partly"; where the claims differ, with theirs.
    """
    verdicts = study.claims.set_index("id")["verdict"]
    made: dict[str, list[str]] = {"reproduced": [], "partly": [], "not reproduced": []}
    for sentence, claims in FINDINGS.items():
        judged = set(verdicts.reindex(claims))
        alike = len(judged) == 1
        group = judged.pop() if alike else "partly"
        try:
            text = sentence(study)
        except Missing:
            continue
        links = ", ".join(
            f"[{claim}](#claim-{claim})" + ("" if alike else f" {verdicts.get(claim, '')}").rstrip()
            for claim in claims
        )
        made.setdefault(str(group), []).append(f"{text} ({links})")
    return {group: texts for group, texts in made.items() if texts}


FINDINGS: dict[Sentence, tuple[int, ...]] = {
    functions.linear: (1, 2, 3),
    functions.rastrigin: (10,),
    functions.igo: (4, 5),
    functions.steps: (4, 5, 12),
    functions.starts: (4, 5, 12),
    functions.full_matrix: (29,),
    functions.over_igo: (30,),
    functions.cma_es_fails: (7, 8),
    descent.es_at_its_mean: (9, 11),
    functions.rotation: (13,),
    theory.theorems: (24, 25),
    functions.competitive: (6, 20),
    functions.other_readings: (6, 7),
    functions.faster_than_igo: (12,),
    descent.es_steps: (18,),
    descent.reinforce: (19,),
    descent.step_sizes_of_reinforce: (31,),
    others.binary: (16, 17),
    theory.regret: (21, 22, 28),
    theory.orthogonal: (23,),
    theory.constants: (26,),
    others.rewards: (14, 15),
    theory.bias: (27,),
}
