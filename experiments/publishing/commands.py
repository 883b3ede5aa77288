"""The command of the manifest, beside the parser of its arguments. Light: no pandas here."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.command import Command, parser
from experiments.paths import ROOT

MANIFEST = "experiments.publishing.manifest"


def laid_over(configs: Sequence[str | Path]) -> list[str]:
    """The config files that Snakemake has read, each once, in the order in which they are laid over
    each other: it names those of the command line first, though they are laid over the others.
    """
    files = dict.fromkeys(os.path.relpath(file) for file in configs)
    return sorted(files, key=lambda file: file != os.path.relpath(ROOT / "config.yaml"))


def manifest(configs: Sequence[str | Path], keys: Mapping[str, Any], to: str) -> Command:
    """What writes the manifest.

    Args:
        configs: the files that Snakemake has read.
        keys: what its command line sets besides.
        to: .json.
    """
    over = json.dumps(dict(keys)) if keys else None
    return Command.of(MANIFEST, config=laid_over(configs), over=over, to=to)


def manifest_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(MANIFEST, about)
    made.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    made.add_argument("--over", type=json.loads, default={}, help="laid over the config, as JSON")
    made.add_argument("--kept", type=Path, help="folder of kept traces, in the place of results")
    made.add_argument("--to", type=Path, required=True, help="the manifest, .json")
    return made
