"""The paper's control problems: find the weights of a network that moves a simulated body."""

from __future__ import annotations

import numpy as np

from algorithms.shared import checks
from problems.control_tasks import TASKS
from problems.interface import Array, Problem
from problems.policy import OUTPUTS, Policy
from problems.rollouts import Bodies

VERSIONS = ("v4", "v5")
STARTS = ("random", "fixed")


def control(
    instance: np.random.Generator,
    task: str,
    version: str = "v4",
    horizon: int = 1000,
    biases: bool = True,
    output: str = "linear",
    starts: str = "random",
    report_rollouts: int = 1,
) -> Problem:
    """−Σ_t r_t of one roll-out of the policy with these weights, at most ``horizon`` steps long.

    The value is minus the return: the return is negated here, once, and figures negate it back,
    once. It is random where starts are: roll-out k of a run has the start k of its stream, whatever
    the optimiser and N, so that optimisers are paired.

    Args:
        instance: stream of the starts; the same for all optimisers of a seed.
        task: Swimmer, HalfCheetah, InvertedDoublePendulum or HumanoidStandup.
        version: of gymnasium's environment; v4 has the observations of the paper's time.
        horizon: control steps ≥ 1; an episode that ends before costs the steps that it took.
        biases: whether the layers of the policy have them.
        output: the policy's actions are ``linear``, and clipped to their range by the physics, or
            scaled to it by ``tanh``.
        starts: ``random``, a fresh one for each roll-out, or ``fixed``, one drawn for the run.
        report_rollouts: roll-outs ≥ 1 of the mean that ``report`` averages. They have a stream of
            their own and are not charged.

    The first mean is 0, as in the paper; no minimum is known, the record says −∞.

    Raises:
        ValueError: a key has a value that is not allowed.

    Source: Section 6, "Evaluation on RL test problems", and gymnasium 1.4.0, whose environments the
        roll-outs equal: observations bit for bit, rewards to rounding.
    Differs: the paper does not name versions, biases, the last layer, starts, or the horizon.
    """
    checks.choice("task", task, tuple(TASKS))
    checks.choice("version", version, VERSIONS)
    checks.whole("horizon", horizon, 1)
    checks.choice("biases", biases, (True, False))
    checks.choice("output", output, OUTPUTS)
    checks.choice("starts", starts, STARTS)
    checks.whole("report_rollouts", report_rollouts, 1)

    chosen = TASKS[task](version)
    policy = Policy(chosen.observation, chosen.action, chosen.limit, biases, output)
    bodies = Bodies(chosen)
    charged, reported = instance.spawn(2)
    fixed: list[tuple[Array, Array]] = []
    steps = 0

    def start(rng: np.random.Generator) -> tuple[Array, Array]:
        if starts == "random":
            return bodies.start(rng)
        if not fixed:
            # of the parent's stream: the same whether a roll-out or a report comes first
            fixed.append(bodies.start(instance))
        return fixed[0]

    def evaluate(x: Array) -> Array:
        nonlocal steps
        returns, lengths = bodies.roll_out(policy, x, [start(charged) for _ in x], horizon)
        steps += int(lengths.sum())
        return -returns

    def report(mean: Array) -> float:
        x = np.tile(mean, (report_rollouts, 1))
        returns, _ = bodies.roll_out(policy, x, [start(reported) for _ in x], horizon)
        return -float(returns.mean())

    return Problem(
        dim=policy.dim,
        evaluate=evaluate,
        minimum=-np.inf,
        minimiser=np.full(policy.dim, np.nan),
        start=lambda rng: np.zeros(policy.dim),
        title=f"{task}-{version}",
        report=report,
        steps=lambda: steps,
        streams=(charged, reported),
    )
