"""A film of a trained policy: a GIF of one episode, and a PNG of a few of its frames.

    python -m figures.film results/traces/figure_2/swimmer/es/0.parquet --to film

films the policy at the mean of the last distribution of a run. It needs no screen, but EGL to draw
with: on Debian, libegl1 and libegl-mesa0.
"""

from __future__ import annotations

import os

os.environ.setdefault("MUJOCO_GL", "egl")  # before MuJoCo is loaded: it looks only once

import sys
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import problems
from experiments.runs import trace
from experiments.runs.seeds import stream
from figures import commands, files
from problems.control_tasks import TASKS
from problems.interface import Array
from problems.policy import Policy
from problems.rollouts import Bodies

Frame = NDArray[np.uint8]  # (height, width, 3)
SIZE = (240, 320)  # height, width in pixels
PER_SECOND = 12.5  # frames, at most; of simulated time
LENGTH = 5.0  # seconds of simulated time, of which the film has frames
COLOURS = 64  # of the GIF, whose size they decide, with the two above
STILLS = 5  # frames in the PNG
PACKAGES = "libegl1 libegl-mesa0"


def episode(
    parameters: dict[str, Any], x: Array, instance: np.random.Generator
) -> tuple[list[Frame], int, float]:
    """The first frames of a roll-out of the policy x (d,), the milliseconds of each, and the return
    of the whole roll-out.

    It starts where ``instance``, the stream of the run's problem, says: where all of its roll-outs
    do with ``starts: fixed``, else from a state that none of them had.

    Raises:
        ValueError: the problem has no such parameters, or x is of another shape or not finite.
        RuntimeError: there is no EGL to draw with.
    """
    problem = problems.build("control", parameters)
    if x.shape != (problem.dim,):
        raise ValueError(f"the policy has shape {x.shape}; the problem wants ({problem.dim},)")
    if not np.isfinite(x).all():
        raise ValueError("the policy is not finite: its run diverged")
    task = TASKS[parameters["task"]](parameters.get("version", "v4"))
    keys = {key: parameters[key] for key in ("biases", "output") if key in parameters}
    policy = Policy(task.observation, task.action, task.limit, **keys)
    bodies, frames = Bodies(task), []
    renderer = _renderer(bodies)
    seconds = bodies.model.opt.timestep * task.frame_skip
    every = steps_a_frame(seconds)
    camera = 0 if bodies.model.ncam else -1  # the model's own, which goes along; else a free one
    steps = 0

    def observe(states: Array) -> Array:
        nonlocal steps
        if steps % every == 0 and steps * seconds < LENGTH:
            renderer.update_scene(bodies.pool[0].state, camera)
            frames.append(renderer.render())
        steps += 1
        return task.observe(states)

    bodies.task = replace(task, observe=observe)
    start = bodies.start(instance)
    returns, _ = bodies.roll_out(policy, x[None, :], [start], parameters.get("horizon", 1000))
    renderer.close()
    return frames, round(1000 * seconds * every), float(returns[0])


def steps_a_frame(seconds: float) -> int:
    """The fewest control steps, of so many seconds each, that make PER_SECOND frames at most."""
    return ceil(round(1 / (PER_SECOND * seconds), 6))  # rounded, or 2.0000000000000004 would be 3


def _renderer(bodies: Bodies) -> Any:
    try:
        return bodies.mujoco.Renderer(bodies.model, *SIZE)
    except Exception as error:  # the import of MuJoCo itself fails, in several ways
        raise RuntimeError(
            f"cannot draw without a screen: {error}\nOn Debian: apt-get install {PACKAGES}"
        ) from error


def save(frames: list[Frame], milliseconds: int, to: Path) -> None:
    """Write the film as .gif and a row of its frames as .png."""
    to.parent.mkdir(parents=True, exist_ok=True)
    first, *others = (Image.fromarray(frame).quantize(COLOURS) for frame in frames)
    first.save(
        to.with_suffix(".gif"), save_all=True, append_images=others, duration=milliseconds, loop=0
    )
    chosen = np.linspace(0, len(frames) - 1, STILLS).round().astype(int)
    files.save_png(Image.fromarray(np.hstack([frames[i] for i in chosen])), to.with_suffix(".png"))


def main(arguments: list[str] | None = None) -> None:
    """Film the policy that the run of a trace came to."""
    args = commands.film_parser(__doc__).parse_args(arguments)
    try:
        table, run = trace.read(args.trace)
        spec = run["spec"]
        if spec["problem"] != "control":
            raise ValueError(f"{args.trace} is of {spec['problem']}, not of control")
        if "last_mean" not in run:
            raise ValueError(f"{args.trace} holds no policy\n{trace.redo(args.trace)}")
        policy = np.array(run["last_mean"])
        instance = stream(spec["root_seed"], "instance", spec["problem"], run["seed"])
        frames, milliseconds, total = episode(spec["problem_parameters"], policy, instance)
        save(frames, milliseconds, args.to)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    files.save_caption(
        f"{run['title']}, {len(frames) * milliseconds / 1000:.2g} s of an episode of the policy "
        f"around which {args.label or spec['algorithm']} drew its last batch, iteration "
        f"{table['iteration'][-1].as_py()}, seed {run['seed']}. Return of the whole episode: "
        f"{total:.1f}.",
        args.to,
    )


if __name__ == "__main__":
    main()
