"""Roll-outs of policies on simulated bodies, a batch at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from problems.control_tasks import Task
from problems.interface import Array
from problems.policy import Policy

Steps = NDArray[np.int64]


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
