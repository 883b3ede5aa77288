"""A film is drawn where there is EGL, and where there is none it says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from tiny import rewrite

from experiments import plan, run
from experiments.paths import KEPT, PUBLISHED
from experiments.publishing import archive
from experiments.runs import record, simulate, trace
from experiments.runs.seeds import stream
from experiments.runs.spec import Spec
from figures import commands
from figures import film as film_module
from figures.film import steps_a_frame

ROOT = Path(__file__).parent.parent
SPEC = Spec(
    "control", "fast_ingo", 12, None, {"task": "Swimmer", "horizon": 24},
    {"samples": 4, "initial_std": 0.1, "step_size": 0.1},
)  # fmt: skip


def train(path, spec=SPEC, **metadata):
    """A trace as a job writes it, but for what ``metadata`` says otherwise."""
    run.command(spec).call("--to", str(path))
    if metadata:
        rewrite(path, **metadata)
    return path


def film_command(path):
    made = commands.film(path, "My walker", path.parent / "film")
    return made.module, *made.arguments


def film(path, **environment):
    return subprocess.run(
        [sys.executable, "-m", *film_command(path)],
        cwd=ROOT, env={**os.environ, "MUJOCO_GL": "egl", **environment},
        capture_output=True, text=True,
    )  # fmt: skip


def test_the_trace_of_a_control_run_holds_the_last_mean(tmp_path):
    means = []
    simulate.run(SPEC, 3, lambda batch: means.append(batch.state.mean))
    assert len(means) == 3
    kept = trace.read(train(tmp_path / "3.parquet"))[1]["last_mean"]
    assert np.array_equal(kept, means[-1])


def test_a_frame_every_other_step_at_25_steps_a_second(tmp_path):
    folder = tmp_path / "es"
    settings = {"samples": 4, "initial_std": 0.1, "optimiser": "sgd"}
    done = film(
        train(folder / "0.parquet", replace(SPEC, algorithm="es", algorithm_parameters=settings))
    )
    if done.returncode:
        assert "apt-get install libegl1 libegl-mesa0" in done.stderr
        pytest.skip("no EGL here")
    with Image.open(folder / "film.gif") as gif:
        assert gif.size == (320, 240)
        assert gif.n_frames in (11, 12)  # equal frames in a row are one
        assert gif.info["duration"] in (80, 160)
    with Image.open(folder / "film.png") as png:
        assert png.size == (5 * 320, 240)
        assert len(np.unique(np.asarray(png.convert("L")))) > 10
    caption = (folder / "film.md").read_text()
    assert "policy around which My walker drew its last batch, iteration 3" in caption
    assert "Swimmer-v4, 0.96 s of an episode" in caption
    assert "Return of the whole episode: " in caption


@pytest.mark.parametrize(("seconds", "steps"), [(0.04, 2), (0.05, 2), (0.015, 6), (0.1, 1)])
def test_a_film_has_12_and_a_half_frames_a_second_at_most(seconds, steps):
    """Of Swimmer, HalfCheetah and the pendulum, HumanoidStandup, and a slower one. A GIF counts
    hundredths of a second."""
    assert steps_a_frame(seconds) == steps
    assert round(1000 * steps * seconds) % 10 == 0


def test_an_episode_starts_where_the_run_did_if_all_of_it_did(tmp_path):
    """With fixed starts the film's return is the last that the run reports of the mean."""
    fixed = replace(SPEC, problem_parameters={**SPEC.problem_parameters, "starts": "fixed"})
    path = train(tmp_path / "3.parquet", fixed)
    done = film(path)
    if done.returncode:
        assert "apt-get install libegl1 libegl-mesa0" in done.stderr
        pytest.skip("no EGL here")
    reported = -trace.read(path)[0]["f_mean"][-1].as_py()
    caption = (tmp_path / "film.md").read_text()
    assert f"Return of the whole episode: {reported:.1f}.\n" in caption
    assert abs(reported) > 0.1


def test_without_egl_it_names_the_packages(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['OpenGL.EGL'] = None")
    done = film(train(tmp_path / "0.parquet"), PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "apt-get install libegl1 libegl-mesa0" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_policy_of_another_size_is_named(tmp_path):
    done = film(train(tmp_path / "0.parquet", last_mean=[0.0] * 5))
    assert done.stderr == "error: the policy has shape (5,); the problem wants (178,)\n"


def test_a_policy_of_a_run_that_diverged_is_named(tmp_path):
    done = film(train(tmp_path / "0.parquet", last_mean=[0.0] * 177 + [float("nan")]))
    assert done.stderr == "error: the policy is not finite: its run diverged\n"


def test_a_run_on_another_problem_is_named(tmp_path):
    done = film(train(tmp_path / "0.parquet", Spec("levy", "ingo", 36, 1e-10, {"dim": 6})))
    assert done.stderr.endswith("0.parquet is of levy, not of control\n")


def test_a_trace_without_a_policy_is_named(tmp_path):
    path = train(tmp_path / "0.parquet")
    rows, found = trace.read(path)
    del found["last_mean"]
    columns = {name: rows[name].to_numpy() for name in record.SCHEMA.names}
    trace.write(path, record.Record.of(columns, found["hits"]), found)
    said = film(path).stderr
    assert f"0.parquet holds no policy\nRedo it: rm -r {path} and start the workflow again" in said


# ---- the kept film, and the kept run that it is of -----------------------------------------------

KEPT_FILM = ROOT / PUBLISHED / "figures" / "film"


@pytest.fixture(scope="module")
def filmed():
    """The run that the config names: its rows, its metadata, and what the config calls it."""
    study = plan.load(ROOT / "config.yaml", ROOT / PUBLISHED / "config.yaml")
    of = study.film
    cells = dict(archive.read(KEPT / of["experiment"] / f"{of['seed']}.parquet"))
    rows, metadata = cells[of["problem"], of["algorithm"]]
    return rows, metadata, study.experiments[of["experiment"]].labels[of["algorithm"]]


def again(metadata):
    """The film and the return of the last policy of a kept run, made again."""
    spec = Spec.recorded(metadata)
    start = stream(spec.root_seed, "instance", spec.problem, metadata["seed"])
    policy = np.array(metadata["last_mean"])
    return film_module.episode(dict(spec.problem_parameters), policy, start)


def kept_frames():
    """The frames of the kept film (T, height, width, 3), and the milliseconds of all of them."""
    frames, milliseconds = [], 0
    with Image.open(KEPT_FILM.with_suffix(".gif")) as gif:
        for i in range(gif.n_frames):
            gif.seek(i)
            milliseconds += gif.info["duration"]
            frames.append(np.asarray(gif.convert("RGB"), dtype=float))
    return np.array(frames), milliseconds


def test_the_kept_caption_has_the_numbers_of_the_kept_run_and_film(filmed, monkeypatch):
    """The return is that of a new roll-out. Over 1,000 steps the last digits of a processor grow to
    some 30 of its 3,000 (standard deviation over policies that were changed by 1e-16 to 1e-8).
    """
    rows, metadata, label = filmed
    blank = SimpleNamespace(
        update_scene=lambda *_: None, render=lambda: np.zeros((1, 1, 3)), close=lambda: None
    )
    monkeypatch.setattr(film_module, "_renderer", lambda _: blank)
    frames, milliseconds, total = again(metadata)
    kept, duration = kept_frames()
    assert (len(kept), duration) == (len(frames), milliseconds * len(frames))
    words, said = (
        KEPT_FILM.with_suffix(".md").read_text().split("\n\n")[0].rsplit(" episode: ", maxsplit=1)
    )
    assert words == (
        f"{metadata['title']}, {duration / 1000:g} s of an episode of the policy around which "
        f"{label} drew its last batch, iteration {len(rows)}, seed {metadata['seed']}. Return of "
        "the whole"
    )
    assert rows["iteration"][-1].as_py() == len(rows)
    assert float(said.removesuffix(".")) == pytest.approx(total, abs=150)


def test_the_kept_film_shows_the_policy_of_the_kept_run(filmed):
    """Frame by frame, up to the colours of a GIF, for as long as last digits do not show."""
    try:
        frames, _, _ = again(filmed[1])
    except RuntimeError as error:
        if "apt-get install libegl1 libegl-mesa0" not in str(error):
            raise
        pytest.skip("no EGL here")
    kept, _ = kept_frames()
    for own, one in zip(frames[:30], kept[:30], strict=True):
        assert np.abs(own - one).mean() < 3  # of 255; of a frame and the next it is 12 and more


def test_the_kept_stills_are_frames_of_the_kept_film():
    kept, _ = kept_frames()
    with Image.open(KEPT_FILM.with_suffix(".png")) as png:
        stills = np.asarray(png.convert("RGB"), dtype=float)
    chosen = [0, 12, 24, 37, 49]
    for still, i in zip(np.split(stills, len(chosen), axis=1), chosen, strict=True):
        assert np.argmin(np.abs(kept - still).mean(axis=(1, 2, 3))) == i
        assert np.abs(kept[i] - still).mean() < 4
