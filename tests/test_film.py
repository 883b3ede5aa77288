"""A film is drawn where there is EGL, and where there is none it says what to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from experiments import single
from experiments.single import Spec

ROOT = Path(__file__).parent.parent
PARAMETERS = '{"task": "Swimmer", "horizon": 12}'


def film(folder, *options, parameters=PARAMETERS, **environment):
    return subprocess.run(
        [sys.executable, "-m", "figures.film", "--problem", "control", parameters,
         "--algorithm", "fast_ingo", '{"samples": 4, "initial_std": 0.1, "step_size": 0.3}',
         "--budget", "12", "--target=-1", "--to", folder / "film", *options],
        cwd=ROOT, env={**os.environ, "MUJOCO_GL": "egl", **environment},
        capture_output=True, text=True,
    )  # fmt: skip


def test_a_frame_a_step_at_25_steps_a_second(tmp_path):
    done = film(tmp_path)
    if done.returncode:
        assert "apt-get install libegl1 libegl-mesa0" in done.stderr
        pytest.skip("no EGL here")
    with Image.open(tmp_path / "film.gif") as gif:
        assert gif.size == (320, 240)
        assert gif.n_frames in (11, 12)  # equal frames in a row are one
        assert gif.info["duration"] in (40, 80)
    with Image.open(tmp_path / "film.png") as png:
        assert png.size == (5 * 320, 240)
        assert len(np.unique(np.asarray(png.convert("L")))) > 10
    means = []
    spec = Spec(
        "control", "fast_ingo", 12, -1.0, json.loads(PARAMETERS),
        {"samples": 4, "initial_std": 0.1, "step_size": 0.3},
    )  # fmt: skip
    single.run(spec, 0, lambda batch: means.append(batch.state.mean))
    assert len(means) == 3
    assert np.array_equal(np.load(tmp_path / "film.npy"), means[-1])
    caption = (tmp_path / "film.md").read_text()
    assert "Swimmer-v4, an episode of the policy that Fast-INGO came to" in caption
    assert "budget of 12 roll-outs, seed 0: return " in caption


def test_without_egl_it_names_the_packages(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['OpenGL.EGL'] = None")
    done = film(tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "apt-get install libegl1 libegl-mesa0" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_policy_of_another_size_is_named(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(5))
    done = film(tmp_path, "--policy", tmp_path / "x.npy")
    if "apt-get" in done.stderr:
        pytest.skip("no EGL here")
    assert done.stderr == "error: the policy has shape (5,); the problem wants (178,)\n"


def test_a_task_that_does_not_exist_is_named(tmp_path):
    done = film(tmp_path, parameters='{"task": "Walker"}')
    assert done.returncode == 1
    assert done.stderr.startswith("error: task is 'Walker'; allowed: ")
