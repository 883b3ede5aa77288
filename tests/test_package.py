"""The package ``ingo``: what the wheel holds, and that it works where nothing else is."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import algorithms

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# What a user types first; in a folder where nothing of the clone can be found.
FIRST_STEPS = """
import sys
import numpy as np
import ingo
from ingo import minimize

assert type(minimize).__name__ == type(ingo.minimize).__name__ == "function"
result = minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(5), 0.5, target=1e-8, seed=0)
assert result.success, result
assert {"ingo", "fast_ingo", "cma_es", "ga"} <= set(ingo.available())
for name in ingo.available():
    ingo.build(name, {})
optimiser = ingo.build("fast_ingo", {"initial_std": 0.5})
rng = np.random.default_rng(0)
state = optimiser.init(np.zeros(10), rng)
samples = optimiser.ask(state, rng)
state = optimiser.tell(state, samples, (samples.x**2).sum(axis=1))
assert state.ended is None
foreign = {"algorithms", "cma", "pymoo", "pandas", "matplotlib"} & set(sys.modules)
assert not foreign, foreign
print(repr(result.fun), result.nfev)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built by the setuptools at hand from a copy that keeps the clone clean."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    hidden = shutil.ignore_patterns("__pycache__")
    for folder in ("algorithms", "problems", "tests", "figures", "experiments"):
        shutil.copytree(ROOT / folder, source / folder, ignore=hidden)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--no-index", "--disable-pip-version-check", "--wheel-dir", "dist", "."],
        cwd=source, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, f"setuptools {version('setuptools')}: {done.stderr}"
    (built,) = (source / "dist").glob("*.whl")
    return built


def run(python, code, folder):
    """The words that ``code`` prints, from a folder that is not the clone."""
    done = subprocess.run(
        [python, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert wheel.name == f"ingo-{PROJECT['version']}-py3-none-any.whl"
    folder = Path(algorithms.__file__).parent
    code = {f"ingo/{path.relative_to(folder)}" for path in folder.rglob("*.py")}
    about = f"ingo-{PROJECT['version']}.dist-info"
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if not name.startswith(about)} == code | {"ingo/py.typed"}
    assert f"{about}/licenses/LICENSE" in names


def test_what_the_wheel_says_of_itself(wheel):
    archive = zipfile.ZipFile(wheel)
    about = f"ingo-{PROJECT['version']}.dist-info/METADATA"
    lines = archive.read(about).decode().split("\n\n")[0].splitlines()
    needs = [line.split(": ")[1] for line in lines if line.startswith("Requires-Dist: ")]
    assert {need.partition(">")[0] for need in needs if "extra" not in need} == {"numpy", "scipy"}
    extras = [line for line in lines if line.startswith("Provides-Extra: ")]
    assert {line.split(": ")[1] for line in extras} == {"cma", "ga", "replicate"}
    assert "Requires-Python: >=3.11" in lines
    assert "License-Expression: MIT" in lines
    assert any("INGO" in line for line in lines if line.startswith("Summary: "))
    for word in ("://", "file:", str(ROOT)):
        assert not any(word in line for line in lines)


def test_the_pins_of_the_suite_are_those_of_the_lock():
    """And the package's lower bounds allow them."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = [need.split(" ")[0] for need in PROJECT["optional-dependencies"]["replicate"]]
    for pin in pins:
        name, _, pinned = pin.replace("[mujoco]", "").partition("==")
        if pinned:
            assert f"\n{name}=={pinned} " in lock, f"{pin} is not what requirements.lock has"
    assert {"numpy", "scipy", "cma", "pymoo"} <= {pin.partition("==")[0] for pin in pins}
    oldest = dict(need.split(">=") for need in PROJECT["dependencies"])
    for name, bound in oldest.items():
        assert tuple(map(int, bound.split("."))) < tuple(map(int, version(name).split(".")[:3]))


def test_the_package_runs_from_the_wheel(wheel, tmp_path):
    """Without an installation: a wheel without compiled code can be imported as it is."""
    shutil.unpack_archive(wheel, tmp_path, "zip")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{FIRST_STEPS}"
    fun, nfev = run(sys.executable, code, tmp_path)
    here = algorithms.minimize(
        lambda x: np.sum((x - 1) ** 2), np.zeros(5), 0.5, target=1e-8, seed=0
    )
    assert (fun, int(nfev)) == (repr(here.fun), here.nfev)


@pytest.mark.slow
def test_it_installs_where_nothing_is_but_numpy_and_scipy(wheel, tmp_path):
    """In an environment of its own that sees these two by links to the ones at hand."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    (site,) = run(python, "import sysconfig; print(sysconfig.get_path('purelib'))", tmp_path)
    for name in ("numpy", "scipy"):
        installed = Path(__import__(name).__file__).parent
        found = [installed, *installed.parent.glob(f"{name}-*.dist-info")]
        found += installed.parent.glob(f"{name}.libs")
        for path in found:
            (Path(site) / path.name).symlink_to(path)
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check",
         wheel],
        check=True,
    )  # fmt: skip
    code = "from importlib.metadata import version; print(version('ingo'))"
    assert run(python, code, tmp_path) == [PROJECT["version"]]
    assert len(run(python, FIRST_STEPS, tmp_path)) == 2
    cma = "import ingo; ingo.minimize(sum, [1.0, 2.0], 1.0, 'cma_es')"
    done = subprocess.run([python, "-I", "-c", cma], capture_output=True, text=True, check=False)
    assert "No module named 'cma'" in done.stderr
