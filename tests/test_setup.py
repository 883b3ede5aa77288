"""The set-up of the environment, with a stub in place of Python: whatever a user has set, wherever
the folder goes. And jobs with Python's own options set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from test_workflow import Project

from experiments.paths import ROOT
from experiments.runs.trace import difference

# Notes what it is called as, and its environment; `-m venv` makes a folder with itself in it.
STUB = """#!/usr/bin/env bash
{ echo "# $(basename "$0") $*"; env; } >> "$LOG"
case "$*" in
"-m venv "*)
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/uv"
    printf 'VIRTUAL_ENV="%s"\\nexport VIRTUAL_ENV\\n' "$3" > "$3/bin/activate" ;;
"-m pip config list") printf '%s' "$SAID" ;;
"pip install "*) exit "${UV_FAILS:-0}" ;;
esac
"""
HARMFUL = (
    "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PYTHONOPTIMIZE", "PYTHONSTARTUP", "MPLBACKEND",
    "MATPLOTLIBRC", "PIP_REQUIRE_VIRTUALENV", "PIP_TARGET", "PIP_PREFIX", "PIP_CONSTRAINT",
    "PIP_REQUIRE_HASHES", "PIP_NO_BINARY", "PIP_PYTHON",
)  # fmt: skip
USEFUL = (
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT", "PIP_PROXY", "PIP_TRUSTED_HOST",
    "PIP_CONFIG_FILE", "PIP_FIND_LINKS",
)  # fmt: skip


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "a project"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "requirements.lock").write_text("")
    os.utime(folder / "requirements.lock", (0, 0))
    stub = tmp_path / "stub"
    stub.write_text(STUB)
    stub.chmod(0o755)
    return folder


def make(folder, ok=True, **env):
    """``make setup``; what the stub was called as, each with its environment."""
    log = folder.parent / "log"
    log.write_text("")
    words = ["make", "--silent", "setup", f"PYTHON={folder.parent / 'stub'}"]
    own = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "LOG": str(log), **env}
    done = subprocess.run(
        words, cwd=folder, env=own, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode == 0) is ok, done.stdout + done.stderr
    calls = {}
    for line in log.read_text().splitlines():
        if line.startswith("# "):
            found = calls[line[2:]] = {}
        else:
            name, _, value = line.partition("=")
            found[name] = value
    return calls, done.stdout


# ---- the user's settings -------------------------------------------------------------------------


def test_a_users_settings_do_not_reach_the_set_up_but_for_where_packages_come_from(project):
    calls, _ = make(project, **dict.fromkeys((*HARMFUL, *USEFUL), "1"), PIP_USER="1")
    assert len(calls) == 5
    for call, env in calls.items():
        assert not env.keys() & set(HARMFUL), call
        assert [env[name] for name in USEFUL] == ["1"] * len(USEFUL), call
    (pip,) = (env for call, env in calls.items() if "pip install --quiet --disable" in call)
    assert pip["PIP_USER"] == "0"  # a file may ask for it too


def uv(calls):
    """The environment of uv."""
    (env,) = (env for call, env in calls.items() if call.startswith("uv pip install"))
    return env


def test_uv_is_told_what_pip_knows_of_a_mirror(project):
    said = (
        ":env:.cert='/a/cert.pem'\n:env:.index-url='https://mirror/simple'\n"
        "global.index-url='https://other'\ninstall.trusted-host='mirror'\ndownload.proxy='none'\n"
    )
    env = uv(make(project, SAID=said)[0])
    assert env["UV_INDEX_URL"] == "https://mirror/simple"
    assert (env["UV_INSECURE_HOST"], env["SSL_CERT_FILE"]) == ("mirror", "/a/cert.pem")
    assert "ALL_PROXY" not in env


def test_where_uv_finds_no_packages_pip_installs_the_same(project):
    """It knows other settings, as further places of packages."""
    calls, _ = make(project, UV_FAILS="1", PIP_EXTRA_INDEX_URL="https://mine")
    last = list(calls)[-1]
    assert last.startswith("python -m pip install ")
    assert last.endswith(" --require-hashes --requirement requirements.lock")
    assert (calls[last]["PIP_EXTRA_INDEX_URL"], calls[last]["PIP_USER"]) == ("https://mine", "0")
    assert make(project) == ({}, "")


def test_what_uv_is_told_itself_comes_before_what_pip_knows(project):
    said = "global.index-url='https://other'\n"
    assert uv(make(project, SAID=said, UV_INDEX_URL="https://own")[0])["UV_INDEX_URL"] == (
        "https://own"
    )


def test_pip_says_its_settings_as_they_are_read(tmp_path):
    """By this environment's pip: the form that the Makefile takes apart."""
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nproxy = https://gate\n")
    env = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": settings, "PIP_INDEX_URL": "https://m"}
    command = [sys.executable, "-m", "pip", "config", "list"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert ":env:.index-url='https://m'\n" in done.stdout
    assert "global.proxy='https://gate'\n" in done.stdout


# ---- the folder ----------------------------------------------------------------------------------


def was_made(calls):
    return any("-m venv" in call for call in calls)


def test_the_environment_is_made_once_and_says_where(project):
    assert was_made(make(project)[0])
    environment = project / ".venv"
    assert (environment / "ready").read_text() == f"{environment.resolve()}\n"
    assert make(project) == ({}, "")
    os.utime(project / "requirements.lock")  # other pins: into the same environment
    os.utime(environment / "ready", (1, 1))
    (environment / "kept").write_text("")
    calls, said = make(project)
    assert was_made(calls)
    assert said == ""
    assert (environment / "kept").exists()


@pytest.mark.parametrize("how", ["moved", "copied", "of an older Makefile"])
def test_the_environment_of_a_folder_that_was_moved_or_copied_is_made_anew(project, how):
    make(project)
    other = project.parent / "other"
    if how == "of an older Makefile":
        (project / ".venv" / "ready").write_text("")
    (shutil.copytree if how == "copied" else shutil.move)(project, other)
    (other / ".venv" / "old").write_text("")
    (other / ".venv" / "cache").mkdir(exist_ok=True)
    calls, said = make(other)
    assert was_made(calls)
    assert "moved or copied" in said
    assert not (other / ".venv" / "old").exists()
    assert (other / ".venv" / "cache").is_dir()  # of packages: no paths there
    assert make(other) == ({}, "")
    if how == "copied":
        assert make(project) == ({}, "")


def test_an_environment_of_an_older_makefile_is_good_where_it_is(project):
    make(project)
    (project / ".venv" / "ready").write_text("")
    assert make(project) == ({}, "")


def test_an_environment_whose_python_is_gone_is_made_anew(project):
    make(project)
    python = project / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3")
    assert was_made(make(project)[0])
    assert make(project) == ({}, "")


def test_an_environment_may_be_linked_to_and_is_not_destroyed_then(project):
    make(project)
    clone = project.parent / "clone"
    clone.mkdir()
    for name in ("Makefile", "requirements.lock"):
        shutil.copy2(project / name, clone)
    (clone / ".venv").symlink_to(project / ".venv")
    assert make(clone) == ({}, "")
    moved = project.rename(project.parent / "moved")
    (clone / ".venv").unlink()
    (clone / ".venv").symlink_to(moved / ".venv")
    calls, said = make(clone, ok=False)
    assert not was_made(calls)
    assert "remove the link" in said
    assert (moved / ".venv" / "bin" / "activate").is_file()


def test_an_environment_is_made_where_a_link_says(project):
    """And holds that path, so that the project can be moved."""
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (project / ".venv").symlink_to(elsewhere)
    calls, _ = make(project)
    assert f"stub -m venv {elsewhere}" in calls
    assert make(project.rename(project.parent / "moved")) == ({}, "")


# ---- Python's own options ------------------------------------------------------------------------

OPTIONS = {"PYTHONSAFEPATH": "1", "PYTHONOPTIMIZE": "1"}


def test_a_run_is_the_same_without_assertions(tmp_path):
    words = ["--problem", "levy", '{"dim": 4}', "--algorithm", "ingo", "{}", "--budget", "200"]
    paths = []
    for name, env in (("plain", {}), ("optimised", OPTIONS | {"PYTHONPATH": str(ROOT)})):
        paths.append(tmp_path / name / "0.parquet")
        command = [sys.executable, "-m", "experiments.run", *words, "--to", paths[-1]]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=True)
    assert difference(*paths) == ""


def test_the_code_of_a_run_has_the_same_fingerprint_without_assertions():
    script = (
        "from experiments.fingerprint import fingerprint; print(fingerprint('experiments.run'))"
    )
    said = [
        subprocess.run(
            [sys.executable, *options, "-c", script],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout
        for options in ([], ["-O"])
    ]  # fmt: skip
    assert said[0] == said[1]


def test_snakemake_that_is_started_by_hand_runs_with_them(tmp_path, monkeypatch):
    for name, value in OPTIONS.items():
        monkeypatch.setenv(name, value)
    Project(tmp_path).snakemake(
        "--cores", "1", "results/figures/tiny_picture.png", "--quiet", "all"
    )
    assert (tmp_path / "results" / "figures" / "tiny_picture.png").is_file()
