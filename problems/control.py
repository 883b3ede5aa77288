"""The paper's control problems: find the weights of a network that moves a simulated body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from algorithms.settings import check_choice, check_whole
from problems.interface import Array, Problem
from problems.policy import OUTPUTS, Policy

VERSIONS = ("v4", "v5")
STARTS = ("random", "fixed")

Steps = NDArray[np.int64]
Flags = NDArray[np.bool]


@dataclass(frozen=True)
class Task:
    """A gymnasium environment: its model, and what the environment adds to it.

    Physics states are read as rows of numbers, one a body: the parts that ``parts`` names, in this
    order. The other functions take such rows (N, …) and work on a batch at once.
    """

    file: str  # among gymnasium's models
    frame_skip: int  # physics steps in a control step
    observation: int  # numbers in an observation
    action: int  # numbers in an action
    limit: float  # the physics clips actions to ±limit
    noise: float  # of the start: positions are uniform within ±noise of the model's own
    normal: bool  # whether its velocities are normal with σ = noise, and not uniform too
    parts: Callable[[Any], list[Array]]  # of a physics state, views
    observe: Callable[[Array], Array]  # states to observations (N, o)
    reward: Callable[[Array, Array, Array, float], Array]  # before, after, actions, seconds; (N,)
    fallen: Callable[[Array], Flags] | None = None  # states to whether the episode ends (N,)
    forces: bool = False  # whether contact forces are observed: they take a pass of their own


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
    check_choice("task", task, tuple(TASKS))
    check_choice("version", version, VERSIONS)
    check_whole("horizon", horizon, 1)
    check_choice("biases", biases, (True, False))
    check_choice("output", output, OUTPUTS)
    check_choice("starts", starts, STARTS)
    check_whole("report_rollouts", report_rollouts, 1)

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
    )


class Body(NamedTuple):
    """A physics state with views into it, which MuJoCo changes in place."""

    state: Any  # MjData
    ctrl: Array  # (a,) the action
    parts: list[Array]  # as the task names them


@dataclass
class Bodies:
    """The bodies of a task: one model, and physics states that are used again and again.

    MuJoCo is loaded when the first of them moves: a plan builds a problem only to check it.
    """

    task: Task
    pool: list[Body] = field(default_factory=list)

    @cached_property
    def mujoco(self) -> Any:
        """The library, which a process that moves nothing does not load."""
        import mujoco

        return mujoco

    @property
    def file(self) -> str:
        """Where the model is: gymnasium's own file."""
        import gymnasium

        return str(Path(gymnasium.__file__).parent / "envs/mujoco/assets" / self.task.file)

    @cached_property
    def model(self) -> Any:
        """The model, without the search for islands of constraints: a single body is one, and the
        states are the same bit for bit. (Those of HumanoidStandup are not without the midphase of
        collisions, in one roll-out of seventy.)
        """
        model = self.mujoco.MjModel.from_xml_path(self.file)
        model.opt.disableflags |= self.mujoco.mjtDisableBit.mjDSBL_ISLAND
        return model

    def start(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Positions and velocities to start from, drawn in gymnasium's order."""
        noise, model = self.task.noise, self.model
        positions = model.qpos0 + rng.uniform(-noise, noise, model.nq)
        if self.task.normal:
            return positions, noise * rng.standard_normal(model.nv)
        return positions, rng.uniform(-noise, noise, model.nv)

    def roll_out(
        self, policy: Policy, x: Array, starts: list[tuple[Array, Array]], horizon: int
    ) -> tuple[Array, Steps]:
        """Returns Σ r_t and control steps of a roll-out for each point: (N, d) to (N,), (N,).

        The bodies take their control steps in turn, so that all policies, observations and rewards
        of a step are computed at once. No row of any of them depends on another, to the last bit.
        A point that is not finite has the return NaN and no step: physics would take its actions
        for 0, and for the pendulum that is a good return.
        """
        task, model = self.task, self.model
        step, forces = self.mujoco.mj_step, self.mujoco.mj_rnePostConstraint
        seconds, skip, observed = model.opt.timestep, task.frame_skip, task.forces
        finite = np.isfinite(x).all(axis=1)
        returns, lengths = np.where(finite, 0.0, np.nan), np.zeros(len(x), dtype=np.int64)
        going = np.flatnonzero(finite)
        if not len(going):
            return returns, lengths
        bodies, weights = self._placed([starts[i] for i in going]), policy.weights(x[going])
        parts = _parts(bodies)
        after = np.concatenate(parts).reshape(len(bodies), -1)
        for _ in range(horizon):
            before = after
            actions = policy.act(weights, task.observe(before))
            for (state, ctrl, _), action in zip(bodies, actions, strict=True):
                ctrl[:] = action
                step(model, state, skip)
                if observed:
                    forces(model, state)
            after = np.concatenate(parts).reshape(len(bodies), -1)
            returns[going] += task.reward(before, after, actions, seconds)
            lengths[going] += 1
            if task.fallen and (fallen := task.fallen(after)).any():
                up = np.flatnonzero(~fallen)
                if not len(up):
                    break
                bodies, weights, going = [bodies[i] for i in up], weights.of(up), going[up]
                parts, after = _parts(bodies), after[up]
        return returns, lengths

    def _placed(self, starts: list[tuple[Array, Array]]) -> list[Body]:
        """Bodies at these starts, with nothing left of where they were before."""
        while len(self.pool) < len(starts):
            state = self.mujoco.MjData(self.model)
            self.pool.append(Body(state, state.ctrl, self.task.parts(state)))
        bodies = self.pool[: len(starts)]
        for body, (positions, velocities) in zip(bodies, starts, strict=True):
            self.mujoco.mj_resetData(self.model, body.state)
            body.state.qpos[:] = positions
            body.state.qvel[:] = velocities
            self.mujoco.mj_forward(self.model, body.state)
        # Every new MjData has MuJoCo time its own steps, a quarter of the time of a small body's.
        self.mujoco.set_mjcb_time(None)
        return bodies


def _parts(bodies: list[Body]) -> list[Array]:
    """The numbers of all bodies, one body's after the other's."""
    return [part for body in bodies for part in body.parts]


# --- the four tasks -------------------------------------------------------------------------------


def _place(data: Any) -> list[Array]:
    """Positions, then velocities."""
    return [data.qpos, data.qvel]


def _forward(
    skip: int, cost: float, before: Array, after: Array, actions: Array, seconds: float
) -> Array:
    """Speed along x in m/s, less what the action costs: the action as asked for, not as clipped."""
    speed = (after[:, 0] - before[:, 0]) / (seconds * skip)
    reward: Array = speed - cost * np.vecdot(actions, actions)
    return reward


def _swimmer(version: str) -> Task:
    """Three rods in a thick fluid are to swim. v4 and v5 are one."""
    return Task(
        file="swimmer.xml",
        frame_skip=4,
        observation=8,
        action=2,
        limit=1.0,
        noise=0.1,
        normal=False,
        parts=_place,
        observe=lambda state: state[:, 2:],  # all but where it is
        reward=partial(_forward, 4, 1e-4),
    )


def _half_cheetah(version: str) -> Task:
    """A flat cheetah is to run. v4 and v5 are one."""
    return Task(
        file="half_cheetah.xml",
        frame_skip=5,
        observation=17,
        action=6,
        limit=1.0,
        noise=0.1,
        normal=True,
        parts=_place,
        observe=lambda state: state[:, 1:],  # all but how far it is
        reward=partial(_forward, 5, 0.1),
    )


def _pendulum(version: str) -> Task:
    """Two poles on a cart are to stay up; the episode ends when their tip is down at 1 m.

    v4 pays the 10 for the last step, in which it falls, too, and shows the constraint's force on
    all three joints; v5 does not, and shows the cart's.
    """
    shown, old = (3 if version == "v4" else 1), version == "v4"

    def parts(data: Any) -> list[Array]:
        return [data.qpos, data.qvel, data.qfrc_constraint, data.site_xpos[0]]

    def observe(state: Array) -> Array:
        angles = state[:, 1:3]
        bounded = np.minimum(np.maximum(state[:, 3 : 6 + shown], -10.0), 10.0)
        return np.concatenate([state[:, :1], np.sin(angles), np.cos(angles), bounded], axis=1)

    def reward(before: Array, after: Array, actions: Array, seconds: float) -> Array:
        v1, v2, x, y = after[:, 4], after[:, 5], after[:, 9], after[:, 11]
        bonus = 10.0 if old else 10.0 * (y > 1.0)
        paid: Array = bonus - (0.01 * x**2 + (y - 2.0) ** 2) - (1e-3 * v1**2 + 5e-3 * v2**2)
        return paid

    return Task(
        file="inverted_double_pendulum.xml",
        frame_skip=5,
        observation=8 + shown,
        action=1,
        limit=1.0,
        noise=0.1,
        normal=True,
        parts=parts,
        observe=observe,
        reward=reward,
        fallen=lambda state: state[:, 11] <= 1.0,
    )


def _humanoid(version: str) -> Task:
    """A humanoid on its back is to stand up.

    v4 shows the inertias, velocities and contact forces of the world too, and the actuators' forces
    on the six joints of the root; v5 leaves these constants out.
    """
    body, joint = (0, 0) if version == "v4" else (1, 6)
    observation = 376 - body * (10 + 6 + 6) - joint

    def parts(data: Any) -> list[Array]:
        # The world's contact forces come last where they are not shown: they count in the reward.
        return [
            data.qpos[2:],
            data.qvel,
            data.cinert[body:].reshape(-1),
            data.cvel[body:].reshape(-1),
            data.qfrc_actuator[joint:],
            data.cfrc_ext[body:].reshape(-1),
            data.cfrc_ext[:body].reshape(-1),
        ]

    def reward(before: Array, after: Array, actions: Array, seconds: float) -> Array:
        struck = after[:, -84:]
        impact = np.minimum(0.5e-6 * np.vecdot(struck, struck), 10.0)
        effort = 0.1 * np.vecdot(actions, actions)
        paid: Array = after[:, 0] / seconds - effort - impact + 1.0
        return paid

    return Task(
        file="humanoidstandup.xml",
        frame_skip=5,
        observation=observation,
        action=17,
        limit=0.4,
        noise=0.01,
        normal=False,
        parts=parts,
        observe=lambda state: state[:, :observation],
        reward=reward,
        forces=True,
    )


TASKS: dict[str, Callable[[str], Task]] = {
    "Swimmer": _swimmer,
    "HalfCheetah": _half_cheetah,
    "InvertedDoublePendulum": _pendulum,
    "HumanoidStandup": _humanoid,
}
