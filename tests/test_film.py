"""A film is drawn where there is EGL, and where there is none it says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parent.parent
PARAMETERS = '{"task": "Swimmer", "horizon": 12}'


def film(folder, dim=178, parameters=PARAMETERS, **environment):
    np.save(folder / "x.npy", np.zeros(dim))
    return subprocess.run(
        [sys.executable, "-m", "figures.film", "--problem", "control", parameters,
         "--policy", folder / "x.npy", "--to", folder / "film"],
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


def test_without_egl_it_names_the_packages(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['OpenGL.EGL'] = None")
    done = film(tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "apt-get install libegl1 libegl-mesa0" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_policy_of_another_size_is_named(tmp_path):
    done = film(tmp_path, dim=5)
    assert done.stderr == "error: the policy has shape (5,); the problem wants (178,)\n"
