"""Control: gymnasium's environments bit for bit, what roll-outs cost, what must not change them.

gymnasium's own loop is the reference; its policy is written out by hand.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from math import tanh
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

import problems
from experiments.runs.seeds import stream
from experiments.runs.simulate import run
from experiments.runs.spec import Spec
from experiments.timing import rollouts
from problems.control_tasks import TASKS
from problems.policy import Policy
from problems.rollouts import Bodies

ROOT = Path(__file__).parent.parent
BOTH = [(name, version) for name in TASKS for version in ("v4", "v5")]

pytestmark = pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")


def build(task="Swimmer", seed=0, **keys):
    return problems.build("control", {"task": task, **keys}, stream(seed, "instance", task))


def points(n, dim, scale=0.3, seed=1):
    return scale * np.random.default_rng(seed).standard_normal((n, dim))


def environment(name, version):
    """gymnasium's environment, without the wrappers that count and check."""
    return gymnasium.make(f"{name}-{version}").unwrapped


def by_hand(x, observation, action, biases=True, output="linear", limit=1.0):
    """The policy of a point as nested loops, from an observation to an action."""
    x = list(x)
    w1 = [[x.pop(0) for _ in range(observation)] for _ in range(16)]
    b1 = [x.pop(0) if biases else 0.0 for _ in range(16)]
    w2 = [[x.pop(0) for _ in range(16)] for _ in range(action)]
    b2 = [x.pop(0) if biases else 0.0 for _ in range(action)]
    assert not x

    def act(o):
        h = [
            tanh(sum(w * v for w, v in zip(row, o, strict=True)) + b)
            for row, b in zip(w1, b1, strict=True)
        ]
        a = [
            sum(w * v for w, v in zip(row, h, strict=True)) + b
            for row, b in zip(w2, b2, strict=True)
        ]
        return [limit * tanh(v) for v in a] if output == "tanh" else a

    return act


# --- the policy -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "version", "with_biases", "without"),
    [("Swimmer", "v4", 178, 160), ("HalfCheetah", "v4", 390, 368),
     ("InvertedDoublePendulum", "v4", 209, 192), ("HumanoidStandup", "v4", 6321, 6288),
     ("InvertedDoublePendulum", "v5", 177, 160), ("HumanoidStandup", "v5", 5873, 5840)],
)  # fmt: skip
def test_dimensions(name, version, with_biases, without):
    """By hand: 16 (o + a) + 16 + a, for o = 8, 17, 11, 376, 9, 348 and a = 2, 6, 1, 17, 1, 17."""
    assert build(name, version=version).dim == with_biases
    assert build(name, version=version, biases=False).dim == without


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("output", ["linear", "tanh"])
def test_a_policy_equals_its_loop(biases, output):
    policy = Policy(observation=5, action=3, limit=0.4, biases=biases, output=output)
    x, o = points(4, policy.dim, scale=1.0), points(4, 5, scale=2.0, seed=2)
    expected = [
        by_hand(row, 5, 3, biases, output, 0.4)(seen) for row, seen in zip(x, o, strict=True)
    ]
    assert np.allclose(policy.act(policy.weights(x), o), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", TASKS)
def test_sizes_and_limits_are_those_of_the_model(name):
    for version in ("v4", "v5"):
        task, env = TASKS[name](version), environment(name, version)
        assert env.observation_space.shape == (task.observation,)
        assert env.action_space.shape == (task.action,)
        assert np.array_equal(
            env.model.actuator_ctrlrange, [[-task.limit, task.limit]] * task.action
        )
        assert env.frame_skip == task.frame_skip


# --- gymnasium ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "version"), BOTH)
def test_observations_and_rewards_are_gymnasiums(name, version):
    """300 steps of two policies, past falls. Observations are equal to the last bit, so that the
    two closed loops stay together; rewards to 1e-12.
    """
    task = TASKS[name](version)
    seen, paid = [], []

    def observe(states):
        seen.append(task.observe(states).copy())
        return seen[-1]

    def reward(*arguments):
        paid.append(task.reward(*arguments))
        return paid[-1]

    policy = Policy(task.observation, task.action, task.limit)
    bodies = Bodies(replace(task, observe=observe, reward=reward, fallen=None))
    x = points(2, policy.dim)
    rng = np.random.default_rng(3)
    starts = [bodies.start(rng) for _ in x]
    bodies.roll_out(policy, x, starts, 300)

    env, largest = environment(name, version), 0.0
    for i, start in enumerate(starts):
        env.reset()
        mujoco.mj_resetData(env.model, env.data)
        env.set_state(*start)
        observation, weights = env._get_obs(), policy.weights(x[i : i + 1])
        for t in range(300):
            assert np.array_equal(observation, seen[t][i]), f"step {t}"
            action = policy.act(weights, observation[None, :])[0]
            largest = max(largest, abs(action).max())
            observation, r, *_ = env.step(action)
            assert paid[t][i] == pytest.approx(r, rel=1e-12, abs=1e-12), f"step {t}"
    if name in ("HalfCheetah", "HumanoidStandup"):
        assert largest > 2 * task.limit  # so that clipping is seen
    if name == "InvertedDoublePendulum":
        assert np.any(np.abs(seen) == 10.0)


@pytest.mark.parametrize(("name", "version"), BOTH)
def test_starts_are_gymnasiums_from_the_same_stream(name, version):
    env = environment(name, version)
    env.reset(seed=0)
    env.np_random = np.random.default_rng(7)
    rng, bodies = np.random.default_rng(7), Bodies(TASKS[name](version))
    for _ in range(3):
        env.reset()
        positions, velocities = bodies.start(rng)
        assert np.array_equal(positions, env.data.qpos)
        assert np.array_equal(velocities, env.data.qvel)


# --- episodes that end ----------------------------------------------------------------------------


def balancing():
    """A policy that keeps the pendulum up: the linear-quadratic regulator of the upright state, by
    differences of a control step, through a hidden unit that is as good as linear.
    """
    env = environment("InvertedDoublePendulum", "v4")

    def stepped(change):
        env.reset()
        mujoco.mj_resetData(env.model, env.data)
        env.set_state(change[:3], change[3:6])
        env.do_simulation(change[6:], env.frame_skip)
        return np.concatenate([env.data.qpos, env.data.qvel])

    difference = np.array([stepped(1e-5 * e) - stepped(-1e-5 * e) for e in np.eye(7)]).T / 2e-5
    a, b = difference[:, :6], difference[:, 6:]
    p = solve_discrete_are(a, b, np.eye(6), np.eye(1))
    gain = np.linalg.solve(np.eye(1) + b.T @ p @ b, b.T @ p @ a)[0]
    x = np.zeros(209)
    x[[0, 1, 2, 5, 6, 7]] = -1e-4 * gain  # of position, sines of the angles, velocities
    x[16 * 11 + 16] = 1e4
    return x


def episode(env, x, start, horizon=1000):
    """Return and steps of gymnasium's own episode."""
    env.reset()
    env.set_state(*start)
    act, observation, total = by_hand(x, 11, 1), env._get_obs(), 0.0
    for t in range(horizon):
        observation, r, terminated, *_ = env.step(np.array(act(observation)))
        total += r
        if terminated:
            return total, t + 1
    return total, horizon


def test_the_pendulum_pays_for_the_steps_until_it_falls():
    """Three policies that fall soon and one that stays up for all 1000 steps, in one batch."""
    x = points(4, 209)
    x[1] = balancing()
    task, env = TASKS["InvertedDoublePendulum"]("v4"), environment("InvertedDoublePendulum", "v4")
    bodies, rng = Bodies(task), np.random.default_rng(0)
    starts = [bodies.start(rng) for _ in x]
    returns, lengths = bodies.roll_out(Policy(11, 1), x, starts, 1000)
    expected = [episode(env, row, start) for row, start in zip(x, starts, strict=True)]
    assert lengths.tolist() == [steps for _, steps in expected]
    assert np.allclose(returns, [total for total, _ in expected], rtol=1e-9, atol=0)
    assert lengths[1] == 1000
    assert 9000 < returns[1] < 10000
    assert max(lengths[[0, 2, 3]]) < 100


def test_steps_are_charged_as_they_are_taken():
    problem = build("InvertedDoublePendulum", horizon=30)
    assert problem.steps() == 0
    x = points(6, problem.dim)
    problem.evaluate(x)
    after = problem.steps()
    assert 6 <= after < 180
    problem.evaluate(np.tile(balancing(), (2, 1)))
    assert problem.steps() == after + 60
    assert build("Swimmer", horizon=7).steps() == 0


# --- what must not change a roll-out --------------------------------------------------------------


@pytest.mark.parametrize("name", TASKS)
def test_a_return_does_not_depend_on_its_neighbours(name):
    """To the last bit: alone, in pairs, in a batch that moves its weights in memory."""
    x = points(7, build(name).dim)
    whole = build(name, horizon=12).evaluate(x)
    for size in (1, 2, 5):
        problem = build(name, horizon=12)
        parts = [problem.evaluate(x[i : i + size]) for i in range(0, 7, size)]
        assert np.array_equal(np.concatenate(parts), whole)
    problem = build(name, horizon=12, starts="fixed")
    order = [4, 0, 6, 2, 5, 1, 3]
    assert np.array_equal(problem.evaluate(x[order]), problem.evaluate(x)[order])


@pytest.mark.parametrize("name", TASKS)
def test_nothing_is_left_of_the_batch_before(name):
    """The solver of contacts starts from the last forces; a reset has to take them away."""
    problem = build(name, horizon=40, starts="fixed")
    x = points(3, problem.dim)
    first = problem.evaluate(x)
    problem.evaluate(points(3, problem.dim, scale=5.0, seed=9))
    assert np.array_equal(problem.evaluate(x), first)


def test_random_starts_differ_and_fixed_ones_do_not():
    x = np.tile(points(1, 178), (4, 1))
    random, fixed = build(horizon=20), build(horizon=20, starts="fixed")
    assert len(set(random.evaluate(x))) == 4
    assert len({*fixed.evaluate(x), *fixed.evaluate(x), fixed.report(x[0])}) == 1
    assert fixed.evaluate(x)[0] != build(horizon=20, starts="fixed", seed=1).evaluate(x)[0]


@pytest.mark.parametrize("starts", ["random", "fixed"])
def test_a_report_neither_changes_a_run_nor_costs_steps(starts):
    x = points(3, 178)
    with_report, without = (build(horizon=15, starts=starts, report_rollouts=2) for _ in range(2))
    with_report.report(x[0])
    for _ in range(2):
        assert np.array_equal(with_report.evaluate(x), without.evaluate(x))
        assert with_report.report(x[0]) < np.inf
    assert with_report.steps() == without.steps() == 2 * 3 * 15


def test_charged_roll_outs_and_reports_each_have_their_own_stream(monkeypatch):
    """The first and the second that the instance's stream is split into, for good: kept runs have
    their starts from them. Fixed starts are the instance's own.
    """
    drawn = []
    start = Bodies.start
    monkeypatch.setattr(Bodies, "start", lambda self, rng: drawn.append(rng) or start(self, rng))
    x = points(3, 178)
    problem = build(horizon=2)
    problem.evaluate(x)
    problem.report(x[0])
    problem.evaluate(x[:1])
    charged, reported = problem.streams
    assert [rng is charged for rng in drawn] == [True] * 3 + [False] + [True]
    assert drawn[3] is reported
    fresh = stream(0, "instance", "Swimmer").spawn(2)
    bodies = Bodies(TASKS["Swimmer"]("v4"))
    for _ in range(4):
        start(bodies, fresh[0])
    start(bodies, fresh[1])
    for mine, own in zip(problem.streams, fresh, strict=True):
        assert mine.random() == own.random()

    fixed, first = build(horizon=2, starts="fixed"), len(drawn)
    fixed.report(x[0])
    fixed.evaluate(x)
    assert len(drawn) == first + 1
    assert not any(drawn[-1] is own for own in fixed.streams)


def test_a_report_is_a_mean_of_fresh_roll_outs():
    x = points(1, 178)[0]
    one, three = build(horizon=15), build(horizon=15, report_rollouts=3)
    single = [one.report(x) for _ in range(3)]
    assert len(set(single)) == 3
    assert three.report(x) == pytest.approx(np.mean(single), rel=1e-14, abs=0)


def test_another_process_gives_the_same_returns():
    keys = {"task": "HalfCheetah", "horizon": 25}
    code = (
        "import problems; import numpy as np; from experiments.runs.seeds import stream;"
        f"p = problems.build('control', {keys}, stream(0, 'instance', 'HalfCheetah'));"
        "x = 0.3 * np.random.default_rng(1).standard_normal((3, p.dim));"
        "print(p.evaluate(x).tolist())"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    problem = build(**keys)
    assert there.stdout == f"{problem.evaluate(points(3, problem.dim)).tolist()}\n"


def test_a_point_that_is_not_finite_has_no_value_and_no_steps():
    """MuJoCo takes a NaN for a 0, which would be a good policy for the pendulum."""
    problem = build("InvertedDoublePendulum", horizon=5, starts="fixed")
    x = points(3, problem.dim)
    plain = problem.evaluate(x)
    steps = problem.steps()
    x[1, 3], x[2, 0] = np.nan, np.inf
    values = problem.evaluate(x)
    assert values[0] == plain[0]
    assert np.isnan(values[1:]).all()
    assert problem.steps() < 2 * steps
    assert np.isnan(problem.report(x[1]))


# --- as a problem of the project ------------------------------------------------------------------


def test_values_are_minus_returns():
    """Upright, the pendulum earns nearly 10 a step: its value is nearly −10 a step."""
    value = build("InvertedDoublePendulum", horizon=100).evaluate(balancing()[None, :])[0]
    assert -1000 < value < -900


def test_a_run_counts_steps_and_starts_at_zero():
    spec = Spec(
        problem="control", problem_parameters={"task": "Swimmer", "horizon": 10},
        algorithm="fast_ingo", algorithm_parameters={"samples": 8, "initial_std": 0.1},
        budget=40, target=0.0,
    )  # fmt: skip
    (trace, metadata), (again, _) = run(spec, 0), run(spec, 0)
    assert list(trace.rows["environment_steps"]) == [80 * i for i in range(1, 6)]
    assert trace.rows == again.rows
    assert metadata["stop"] == "budget"
    assert not problems.build("control", {"task": "Swimmer"}).start(np.random.default_rng(0)).any()


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [("task", "Ant", "Swimmer, HalfCheetah"), ("task", None, "Swimmer"),
     ("version", "v3", "v4, v5"),
     ("version", 4, "v4, v5"), ("horizon", 0, "a whole number ≥ 1"), ("horizon", 10.0, "a whole"),
     ("biases", 1, "True, False"), ("biases", "on", "True, False"),
     ("output", "relu", "linear, tanh"),
     ("starts", "same", "random, fixed"), ("starts", True, "random, fixed"),
     ("report_rollouts", 0, "a whole number ≥ 1"), ("report_rollouts", True, "a whole number ≥ 1")],
)  # fmt: skip
def test_bad_keys_are_named(key, value, allowed):
    with pytest.raises(ValueError, match=f"{key} is {value!r}; allowed: {allowed}"):
        problems.build("control", {"task": "Swimmer", key: value})


@pytest.mark.parametrize("name", TASKS)
def test_a_body_moves_as_mujoco_moves_it_by_itself(name):
    """Without its clock and its search for islands, which the binding and the model switch on."""
    bodies = Bodies(TASKS[name]("v4"))
    mujoco, task = bodies.mujoco, bodies.task
    policy = Policy(task.observation, task.action, task.limit)
    rng = np.random.default_rng(3)
    x = 0.3 * rng.standard_normal((2, policy.dim))
    starts = [bodies.start(rng) for _ in x]
    returns, steps = bodies.roll_out(policy, x, starts, 60)
    placed = [body.state.timer[0].duration for body in bodies.pool]
    bodies.roll_out(policy, x, starts, 3)
    assert [body.state.timer[0].duration for body in bodies.pool] == [0.0, 0.0]  # no clock ran
    assert placed == [0.0, 0.0]
    returns, steps = bodies.roll_out(policy, x, starts, 60)
    assert bodies.model.opt.disableflags == mujoco.mjtDisableBit.mjDSBL_ISLAND
    plain = Bodies(task)
    plain.__dict__["model"] = mujoco.MjModel.from_xml_path(bodies.file)
    assert plain.model.opt.disableflags == 0
    again = plain.roll_out(policy, x, starts, 60)
    assert (returns.tobytes(), steps.tobytes()) == (again[0].tobytes(), again[1].tobytes())
    for body, other in zip(bodies.pool, plain.pool, strict=True):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(body.parts, other.parts, strict=True))


def test_no_process_loads_mujoco_before_it_moves_a_body():
    code = (
        "import sys, problems, numpy as np;"
        "loaded = lambda: 'mujoco' in sys.modules or 'gymnasium' in sys.modules;"
        "problems.build('ellipsoid', {'dim': 3});"
        "print('problems.control' in sys.modules, loaded());"
        "p = problems.build('control', {'task': 'Swimmer', 'horizon': 1}); print(loaded());"
        "p.evaluate(np.zeros((1, 178)));"
        "from experiments.runs.trace import versions;"
        "print(versions()['mujoco'], versions()['gymnasium'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ["False", "False", "False", "3.3.7", "1.4.0"]


# --- throughput -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TASKS)
def test_the_contenders_of_the_throughput_do_the_same(name, monkeypatch):
    monkeypatch.setattr(rollouts, "HORIZON", 6)
    setting = rollouts.Setting.of(name, samples=3)
    returns, _ = rollouts.ours(setting)()
    ends = [body.state.qpos.copy() for body in setting.bodies.pool]
    assert np.array_equal(rollouts.bare(setting)(), ends)
    assert np.allclose(rollouts.gymnasium_loop(setting)(), returns, rtol=1e-12, atol=0)


def test_ours_is_faster_than_what_takes_longer(monkeypatch):
    """Of 4 s for ours, 3 s for bare physics and 8 s for gymnasium."""
    spent = iter([4.0, 3.0, 8.0] * 2)
    monkeypatch.setattr(rollouts, "HORIZON", 2)
    monkeypatch.setattr(rollouts, "ROUNDS", 2)
    monkeypatch.setattr(rollouts, "seconds", lambda run: next(spent))
    table = rollouts.measure([rollouts.Setting.of("Swimmer", samples=6)])
    assert table["contender"].to_list() == ["ours", "bare", "gymnasium"]
    assert table["ratio"].to_list() == [1.0, 0.75, 2.0]
    assert table["steps_per_second"].to_list() == [3.0, 4.0, 1.5]


def test_a_row_per_task_and_contender(monkeypatch):
    monkeypatch.setattr(rollouts, "HORIZON", 2)
    monkeypatch.setattr(rollouts, "ROUNDS", 2)
    settings = [rollouts.Setting.of(name) for name in ("Swimmer", "InvertedDoublePendulum")]
    assert [len(setting.x) for setting in settings] == [48, 52]
    table = rollouts.measure(settings)
    assert len(table) == 2 * 3
    assert (table["steps_per_second"] > 0).all()
    assert (table.loc[table["contender"] == "ours", "ratio"] == 1.0).all()
    assert "| Swimmer | 178 | 48 |" in rollouts.markdown(table)
