"""The workflow, with a word before and while it runs on how long it takes.

    python -m experiments.progress --cores all --configfile config.yaml
    python -m experiments.progress --figure rotated --cores 2

All other arguments are Snakemake's, which does the work as a child process. Shown of what it says
are its errors; all of it is in the log that is named. Ctrl-C, SIGTERM and SIGHUP stop it and its
jobs by SIGINT, since Snakemake may hang on SIGTERM with many short jobs. So does a full disk.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from experiments import config as configs
from experiments.command import parser
from experiments.config import ConfigError
from experiments.expected import OTHER_JOB, Expected
from experiments.failures import HEADING, UPDATE, disk_full, with_logs
from experiments.plan import Plan, load

SNAKEMAKE = (sys.executable, "-m", "snakemake")
SECONDS_BETWEEN_LINES = {True: 2.0, False: 60.0}  # whether it is a terminal, which has one line
PATIENCE = 60.0  # seconds for Snakemake to stop
# Where what is seen counts as much as what was expected: after this share of the work, and seconds.
PRIOR, START = 0.05, 60.0


class Stopped(Exception):
    """A signal asks to stop."""

    def __init__(self, number: int) -> None:
        self.number = number


@dataclass
class Child:
    """Snakemake, in a process group of its own: a signal that stops it stops its jobs too."""

    arguments: list[str]
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [*SNAKEMAKE, *self.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )

    def lines(self, seconds: float) -> Iterator[str]:
        """What it says, line by line, and an empty text when it has said nothing for so long."""
        assert self.process.stdout
        pipe, rest = self.process.stdout.fileno(), b""
        while True:
            if not select.select([pipe], [], [], seconds)[0]:
                yield ""
                continue
            if not (said := os.read(pipe, 1 << 16)):
                break
            *lines, rest = (rest + said).split(b"\n")
            yield from (line.decode(errors="replace") for line in lines if line)
        self.process.wait()

    def stop(self) -> None:
        """Interrupt it and its jobs; kill what is still there after some patience, or at a second
        signal.
        """
        try:
            self._signal(signal.SIGINT)
            self.process.communicate(timeout=PATIENCE)
        except (subprocess.TimeoutExpired, Stopped):
            self._signal(signal.SIGKILL)
            self.process.communicate()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


# The first line of what is not about an error, or says again what an error says.
OTHERS = re.compile(
    r"\[\w{3} \w{3} .* \d{4}\]$|Select jobs|Execute \d|\d+ of \d+ steps|RuleException|CalledProcess"
    r"|Exiting because|The disk that holds|Complete log"
)


def errors(lines: Iterator[str]) -> Iterator[str]:
    """Those of Snakemake's lines that are about an error, with the log of the job that failed, and
    the list of all such jobs at the end; an empty text for each of the others.
    """
    shown = False
    for line, log in with_logs(lines):
        if OTHERS.match(line) or "/slurm_logs/" in log:
            shown = False
        elif re.match(r"Error in|\w*(Error|Exception)\b", line) or HEADING.match(line):
            shown = True
        yield line if shown else ""


# ---- what is to be done --------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """A file that is to be made: a trace, or the first of those of another job."""

    path: Path
    log: Path
    seconds: float  # expected, on one core
    seed: int | None = None  # of a trace


def jobs_to_do(plan: Plan, dry_run: str, expected: Expected) -> tuple[list[Job], int]:
    """The jobs that a dry run of Snakemake names, and how many of them are runs with settings of
    which none is kept.
    """
    specs = {
        plan.trace(name, *cell, seed): (spec, seed)
        for name, experiment in plan.experiments.items()
        for cell, spec in experiment.own.items()
        for seed in range(experiment.runs)
    }
    jobs, guessed = [], 0
    for made, log in re.findall(r"^    output: (.*)\n    log: (.*)$", dry_run, re.MULTILINE):
        paths = made.replace(UPDATE, "").split(", ")
        for path in (path for path in paths if path in specs):
            spec, seed = specs[path]
            seconds, known = expected.seconds(spec)
            guessed += not known
            jobs.append(Job(Path(path), Path(log), seconds, seed))
        if paths[0] not in specs:
            jobs.append(Job(Path(paths[0]), Path(log), OTHER_JOB))
    return jobs, guessed


@dataclass
class Progress:
    """How far the jobs are, by the time that is expected of them."""

    jobs: list[Job]
    cores: int
    began: float = field(default_factory=time.time)
    done: set[Path] = field(default_factory=set)

    @property
    def runs(self) -> tuple[int, int]:
        """How many runs are done, and of how many."""
        runs = [job.path in self.done for job in self.jobs if job.seed is not None]
        return sum(runs), len(runs)

    @property
    def total(self) -> float:
        """Seconds expected of all jobs."""
        return sum(job.seconds for job in self.jobs)

    def left(self) -> list[float]:
        """Seconds expected of what is left of each job by now."""
        for job in self.jobs:
            if job.path not in self.done and self._is_new(job.path):
                self.done.add(job.path)
        jobs = (job for job in self.jobs if job.path not in self.done)
        return [job.seconds * (1.0 - self._share(job)) for job in jobs]

    def wall(self, left: list[float]) -> float:
        """Seconds until all is done; a job takes one core, however many there are."""
        return max(sum(left) / self.cores, *left, 0.0)

    def line(self, failed: int, now: float | None = None) -> str:
        """Share done, runs done, time left."""
        spent = ((now or time.time()) - self.began) * self.cores
        left, total = self.left(), self.total
        done = total - sum(left)
        # What was expected, times how much longer it takes so far.
        prior = START + PRIOR * total
        slower = (spent + prior) / (done + prior)
        runs = "{:,} of {:,} runs".format(*self.runs) + (
            f", {failed} jobs failed" if failed else ""
        )
        time_left = duration(slower * self.wall(left))
        return f"{100 * done / total:.0f} % of the expected time, {runs}, about {time_left} left"

    def _is_new(self, path: Path) -> bool:
        with suppress(OSError):
            return path.stat().st_mtime >= self.began - 1  # clocks of file systems are coarse
        return False

    def _share(self, job: Job) -> float:
        """How far a run is that is under way, as its log says."""
        if job.seed is not None and self._is_new(job.log):
            with suppress(OSError):
                last = job.log.read_text(encoding="utf-8").splitlines()[-1:]
                for found in re.findall(r"seed (\d+): ([\d,]+) of ([\d,]+) eval", "".join(last)):
                    seed, done, of = (int(number.replace(",", "")) for number in found)
                    return done / of if seed == job.seed else 0.0
        return 0.0


def duration(seconds: float) -> str:
    """In the unit that fits: 40 s, 12 min, 3.4 h, 2.1 days."""
    for unit, size, below in (("s", 1, 90), ("min", 60, 5400), ("h", 3600, 48 * 3600)):
        if seconds < below:
            return f"{seconds / size:.{1 if unit == 'h' else 0}f} {unit}"
    return f"{seconds / 86400:.1f} days"


# ---- the command ---------------------------------------------------------------------------------


@dataclass
class Terminal:
    """Lines that stay, and one at the bottom that is written over where that is possible."""

    every: float = field(init=False)
    last: float = 0.0

    def __post_init__(self) -> None:
        self.tty = sys.stdout.isatty()
        self.every = SECONDS_BETWEEN_LINES[self.tty]

    def say(self, *lines: str) -> None:
        for line in lines:
            print("\r\x1b[K" * self.tty + line, flush=True)

    def status(self, line: str) -> None:
        if self.tty:
            width = shutil.get_terminal_size().columns - 1
            print("\r\x1b[K" + line[:width], end="", flush=True)
        else:
            self.say(line)

    @property
    def due(self) -> bool:
        """Whether it is time for the next status; once per time."""
        now = time.monotonic()
        if now - self.last < self.every:
            return False
        self.last = now
        return True


def main(arguments: list[str] | None = None) -> None:
    """Run the workflow; ends with the exit code of Snakemake, or 128 and the signal's number."""
    given = sys.argv[1:] if arguments is None else arguments
    made = parser("experiments.progress", __doc__)
    made.allow_abbrev = False
    made.add_argument("--figure", help="the picture to make, by its name; default: everything")
    made.add_argument("--again", help="the command that goes on after a stop, for the message")
    made.add_argument("--cores", default="all", type=_cores)
    made.add_argument("--configfile", nargs="+", default=[], help="laid over config.yaml")
    made.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE")
    args, others = made.parse_known_args(given)
    again = args.again or shlex.join(["python", "-m", "experiments.progress", *given])
    try:
        keys = dict(word.split("=", 1) for word in args.config)
        keys = {key: configs.value(value) for key, value in keys.items()}
        plan = load("config.yaml", *args.configfile, **keys)
        targets = [plan.picture(args.figure)] if args.figure else []
    except ConfigError as error:
        sys.exit(f"error: {error}")
    # a target after --config would be read as part of it
    words = [*targets, *others, "--cores", args.cores]
    words += ["--configfile", *args.configfile] if args.configfile else []
    words += ["--config", *args.config] if args.config else []
    cores = (os.cpu_count() or 1) if args.cores == "all" else int(args.cores)
    run(plan, words, cores, args.figure, again)


def _cores(text: str) -> str:
    if text != "all" and not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: all, or a number ≥ 1")
    return text


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped(number)


def run(plan: Plan, words: list[str], cores: int, figure: str | None, again: str) -> NoReturn:
    """Say what is to be done, do it, and say what was made of it."""
    terminal, progress, child, failed = Terminal(), None, None, 0
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _stop)
        terminal.status("Checking what is to be done …")
        child = Child([*words, "--dry-run"])
        dry = list(child.lines(60.0))
        if child.process.returncode:
            terminal.say(*([line for line in errors(iter(dry)) if line] or dry))
            terminal.say(*when_full(plan, again))
            sys.exit(child.process.returncode)
        if any("Nothing to be done" in line for line in dry):
            terminal.say("Nothing to do: all is there.", where(plan, figure))
            sys.exit(0)
        expected = Expected.by_kept()
        jobs, guessed = jobs_to_do(plan, "\n".join(dry), expected)
        progress = Progress(jobs, cores)
        terminal.say(*announced(progress, guessed, expected, plan))
        child = Child(words)
        for line in errors(child.lines(1.0)):
            if line:
                terminal.say(line)
            failed += (new := line.startswith("Error in"))
            if due := terminal.due:
                terminal.status(progress.line(failed))
            if (new or due) and (full := when_full(plan, again)):
                child.stop()
                terminal.say(*full)
                sys.exit(1)
        code = child.process.returncode
        if code:
            ended = f"Not complete: {failed} jobs failed, see above. To try again: {again}"
            terminal.say(*(when_full(plan, again) or [ended]))
        else:
            terminal.say(where(plan, figure))
        sys.exit(code if code >= 0 else 128 - code)  # a signal, as shells number it
    except Stopped as stopped:
        if child:
            child.stop()
        terminal.say(f"Stopped: {kept(progress, plan)} To continue: {again}")
        sys.exit(128 + stopped.number)


def announced(progress: Progress, guessed: int, expected: Expected, plan: Plan) -> Iterator[str]:
    """Runs to do, time expected, where results go."""
    cores, runs = progress.cores, progress.runs[1]
    yield f"To do: {runs:,} runs, and {len(progress.jobs) - runs:,} tables and figures"
    hours, wall = progress.total / 3600, duration(progress.wall(progress.left()))
    if guessed < runs:
        how = f"from the kept runs; this machine takes {expected.slower:.2f} times their time"
        how += f"; a guess for {guessed:,} runs with other settings" if guessed else ""
    else:
        how = "a guess: no kept run has these settings" if runs else "a guess"
    yield (
        f"Expected: {hours:,.{1 if hours > 1 else 3}f} core-hours, about {wall} on {cores} "
        f"core{'s' * (cores > 1)} ({how})"
    )
    yield f"Results: {plan.results}/  Full log of Snakemake: .snakemake/log/"


def kept(progress: Progress | None, plan: Plan) -> str:
    """What a stop leaves."""
    if progress is None:
        return "no run had started."
    progress.left()
    done, of = progress.runs
    return (
        f"{done:,} of {of:,} runs are done and kept in {plan.results}/traces, those under way "
        "continue where they stopped, if their optimiser's state can be saved."
    )


def when_full(plan: Plan, again: str) -> list[str]:
    """What is said of a full disk; nothing of another one."""
    full = disk_full(plan.results)
    return [f"{full}, then: {again}"] if full else []


def where(plan: Plan, figure: str | None) -> str:
    """What was made, and where it is."""
    if figure:
        others = "as .gif" if figure == "film" else "as .pdf and .svg"
        return f"Drawn: {plan.picture(figure)}; beside it {others}, and its caption, .md"
    at = plan.results
    last = f"Page: {at}/{plan.study}.md" if plan.study else f"Claims: {at}/claims.md"
    return f"Figures: {at}/figures  Tables: {at}/tables  {last}"


if __name__ == "__main__":
    main()
