"""Control steps a second against bare physics and gymnasium, as ratios taken in turn on one core.

    python -m experiments.timing.rollouts --to results/rollouts

Contenders, all in the same states, with the policies of a first batch (σ₁ = 0.1 around 0) and the
paper's N: the roll-outs of problems/control.py; the bare loop, which knows the actions beforehand
and does nothing but ``mj_step``, one body after the other; and gymnasium's environment, asked in
turn with the policy. The last two run MuJoCo as its binding sets it up. Here the pendulum goes on
after its fall, or a first batch would measure starts. Time is the processor's for this process:
others on the machine do not count.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import floor, log
from typing import Any

import numpy as np
import pandas as pd

from experiments.tables import files
from experiments.timing import commands
from problems.control_tasks import TASKS
from problems.interface import Array
from problems.policy import Policy
from problems.rollouts import Bodies

ROUNDS = 11
HORIZON = 50  # control steps of a roll-out; a round has N of them for each contender
STD = 0.1  # σ₁ of the paper's control experiments


@dataclass
class Setting:
    """A batch that all contenders roll out."""

    name: str
    version: str
    bodies: Bodies
    policy: Policy
    x: Array  # (N, d)
    starts: list[tuple[Array, Array]]

    @classmethod
    def of(cls, name: str, version: str = "v4", samples: int | None = None) -> Setting:
        """The first batch of a run on this task; its N is the paper's, if it is not given."""
        bodies = Bodies(replace(TASKS[name](version), fallen=None))
        task = bodies.task
        policy = Policy(task.observation, task.action, task.limit)
        # Section 6, "Evaluation on RL test problems"
        n = samples or 20 + 4 * floor(floor(3 * log(policy.dim)) / 2)
        rng = np.random.default_rng(0)
        x = STD * rng.standard_normal((n, policy.dim))
        return cls(name, version, bodies, policy, x, [bodies.start(rng) for _ in x])


def ours(setting: Setting) -> Callable[[], object]:
    """The roll-outs of a batch, as a run does them."""
    s = setting
    return lambda: s.bodies.roll_out(s.policy, s.x, s.starts, HORIZON)


def bare(setting: Setting) -> Callable[[], object]:
    """``mj_step`` and nothing else, with the actions that the policies took, in MuJoCo as its
    binding sets it up.

    A call returns the positions at the ends.
    """
    bodies = setting.bodies
    mujoco, skip, step = bodies.mujoco, bodies.task.frame_skip, bodies.mujoco.mj_step
    model = mujoco.MjModel.from_xml_path(bodies.file)
    actions = _actions(setting)

    def run() -> list[Array]:
        state = mujoco.MjData(model)  # which switches on the clock that ours switches off
        ctrl, ends = state.ctrl, []
        for (positions, velocities), row in zip(setting.starts, actions, strict=True):
            mujoco.mj_resetData(model, state)
            state.qpos[:] = positions
            state.qvel[:] = velocities
            mujoco.mj_forward(model, state)
            for action in row:
                ctrl[:] = action
                step(model, state, skip)
            ends.append(state.qpos.copy())
        return ends

    return run


def gymnasium_loop(setting: Setting) -> Callable[[], object]:
    """gymnasium's own environment, asked step by step with the same policies.

    A call returns the returns.
    """
    import gymnasium

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # v4 is out of date, it says
        env = gymnasium.make(
            f"{setting.name}-{setting.version}",
            max_episode_steps=HORIZON + 1,
            disable_env_checker=True,
        )
    inner: Any = env.unwrapped
    policies = [setting.policy.weights(x[None, :]) for x in setting.x]

    def run() -> list[float]:
        setting.bodies.mujoco.MjData(inner.model)  # the clock, as above
        returns = []
        for start, weights in zip(setting.starts, policies, strict=True):
            env.reset()
            inner.set_state(*start)
            observation, total = inner._get_obs(), 0.0
            for _ in range(HORIZON):
                action = setting.policy.act(weights, observation[None, :])[0]
                observation, reward, *_ = env.step(action)
                total += float(reward)
            returns.append(total)
        return returns

    return run


def _actions(setting: Setting) -> Array:
    """The actions (N, HORIZON, a) of the roll-outs."""
    bodies, taken = setting.bodies, []
    reward = bodies.task.reward

    def noting(before: Array, after: Array, actions: Array, seconds: float) -> Array:
        taken.append(actions)
        return reward(before, after, actions, seconds)

    spy = Bodies(replace(bodies.task, reward=noting))
    spy.roll_out(setting.policy, setting.x, setting.starts, HORIZON)
    return np.stack(taken, axis=1)


CONTENDERS = {"ours": ours, "bare": bare, "gymnasium": gymnasium_loop}


def seconds(run: Callable[[], object]) -> float:
    """Processor time of one call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def measure(settings: list[Setting]) -> pd.DataFrame:
    """A row per task and contender: control steps a second (median over rounds), and how fast ours
    is against it in the same round: median, smallest and largest.
    """
    rows = []
    for setting in settings:
        runs = [make(setting) for make in CONTENDERS.values()]
        for run in runs:
            run()  # first allocations
        times = np.array([[seconds(run) for run in runs] for _ in range(ROUNDS)])
        ratios = times / times[:, :1]
        n = len(setting.x)
        for name, t, r in zip(CONTENDERS, times.T, ratios.T, strict=True):
            rate = n * HORIZON / np.median(t)
            size = (setting.policy.dim, n, name, rate)
            rows.append((setting.name, *size, np.median(r), r.min(), r.max()))
        print(f"{setting.name}: done", file=sys.stderr, flush=True)
    columns = ["task", "dim", "samples", "contender", "steps_per_second"]
    return pd.DataFrame(rows, columns=[*columns, "ratio", "ratio_min", "ratio_max"])


def markdown(table: pd.DataFrame) -> str:
    """The table for reading."""
    names = [name for name in dict.fromkeys(table["contender"]) if name != "ours"]
    lines = [
        "Our control steps a second over those of others, median of rounds (smallest to largest)",
        "",
        "| task | d | N | ours, steps/s |" + "".join(f" ours / {name} |" for name in names),
        "|---|---|---|---|" + "---|" * len(names),
    ]
    for task, cell in table.groupby("task", sort=False):
        of = cell.set_index("contender")
        us = of.loc["ours"]
        entries = [
            f" {row['ratio']:.2f} ({row['ratio_min']:.2f} to {row['ratio_max']:.2f}) |"
            for _, row in of.loc[names].iterrows()
        ]
        lines.append(
            f"| {task} | {us['dim']} | {us['samples']} | {us['steps_per_second']:.0f} |"
            + "".join(entries)
        )
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> None:
    """Measure and write .csv and .md."""
    args = commands.rollouts_parser(__doc__).parse_args(arguments)
    table = measure([Setting.of(name) for name in args.tasks or TASKS])
    files.write(table, markdown(table), args.to)


if __name__ == "__main__":
    main()
