"""The four bodies of the paper's control problems, as gymnasium's environments have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.interface import Array

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
