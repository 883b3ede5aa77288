"""A small study for the tests of what is done with its runs."""

from __future__ import annotations

import yaml

from experiments.runs import trace
from experiments.runs.record import SCHEMA, Record

CONFIG = {
    "root_seed": 5,
    "runs": 2,
    "seeds_per_job": 1,
    "experiments": {
        "tiny": {
            "dim": 4,
            "budget": 2000,
            "target": 1e-10,
            "problems": {"ellipsoid": {}, "noise": {}},
            "algorithms": {"fast_ingo": {}, "es": {"step_size": 0.01}},
        }
    },
    "figures": {"picture": {"experiment": "tiny"}},
}


def write_config(folder, **keys):
    """CONFIG with these keys, in a folder that its results go to as well."""
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({**CONFIG, "results": str(folder / "results"), **keys}))
    return path


def do_run(plan, problem, algorithm, seed):
    """Make one trace, as a job of the workflow does."""
    cell = ("tiny", problem, algorithm)
    path = plan.trace(*cell, seed)
    plan.trace_command(*cell).call("--code", plan.fingerprint(*cell), "--to", path)


def rewrite(path, rows=slice(None), **changes):
    """Write a trace again with fewer rows or other metadata."""
    table, metadata = trace.read(path)
    columns = {name: table[name].to_numpy()[rows] for name in SCHEMA.names}
    trace.write(path, Record.of(columns, metadata["hits"]), metadata | changes)
