"""What is said at the end of a workflow that failed: each failed job once, with its reason and the
command that repeats it, and whether the disk is full.
"""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.runs import job

MOST = 20  # jobs that are listed
FULL = job.ROOM  # a disk with fewer bytes free is full: no run starts there either
HEADING = re.compile(r"\d+ jobs? failed:$")
INTERRUPTED = "interrupted (SIGINT)"

UPDATE = " (update)"  # what Snakemake says of an output that a job may find there already

# Of Snakemake's log: what stands before and around the log of a job that it shows.
SHOWN, FENCE = re.compile(r"Logfile (.*):$"), "=" * 80
# A job that failed, how the process of a command ended, a job that was done.
ERROR = re.compile(r"^Error in rule \S+:\n((?: {4,}.*\n)*)", re.MULTILINE)
STATE = re.compile(r"SLURM status is: '\w+'")
ENDED = re.compile(
    r"^Command '.*set -euo pipefail; +(.*)' (?:returned non-zero exit status (\d+)"
    r"|died with <Signals\.\w+: (\d+)>)\.$",
    re.MULTILINE,
)
FINISHED = re.compile(r"^Finished jobid: (\d+)\b", re.MULTILINE)


@dataclass(frozen=True)
class Failure:
    """A job that failed."""

    outputs: tuple[str, ...]
    log: str  # on a cluster also that of the cluster, after a comma
    command: str
    ended: str  # how its process ended, in words; empty if Snakemake does not tell

    @property
    def reason(self) -> str:
        """The last error that its log names; if none, how its process ended, and on a cluster the
        first error of the cluster.
        """
        own, *of_cluster = self.log.split(", ")
        if named := _errors(own):
            return named[-1]
        named = [
            error for log in of_cluster for error in _errors(log) if error.startswith("error:")
        ]
        return ", ".join(filter(None, [self.ended, *named[:1]])) or "none is known"

    def lines(self) -> Iterator[str]:
        """What was to be made; below it why it was not, the log, and what repeats the job."""
        more = len(self.outputs) - 1
        yield f"  {self.outputs[0]}" + (f" and {more} more" if more else "")
        yield f"    reason:  {self.reason}"
        yield f"    log:     {self.log or 'none'}"
        yield f"    command: {self.command}"


def with_logs(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Snakemake's lines, each with the log of a job that it is shown of; empty for its own words.
    The log of a cluster's job is a Snakemake's again, which may show another log.
    """
    logs: list[str] = []
    named = ""
    for line in lines:
        if line == FENCE and named:
            logs.append(named)
        yield line, logs[0] if logs else ""
        if line == FENCE and logs and not named:
            logs.pop()
        named = found[1] if (found := SHOWN.match(line)) else ""


def failed(said: str) -> list[Failure]:
    """The jobs that failed and were not done later, each once, from the text of Snakemake's log."""
    said = "\n".join(line for line, log in with_logs(said.split("\n")) if not log)
    ended = {
        command: exit_in_words(-int(number) if number else int(code))
        for command, code, number in ENDED.findall(said)
    }
    done = {match[1]: match.start() for match in FINISHED.finditer(said)}
    found = {}
    for match in ERROR.finditer(said):
        fields = dict(re.findall(r"^ +(jobid|output|log): (.*)", match[1], re.MULTILINE))
        if done.get(fields["jobid"], 0) < match.start():
            command = re.search(r" shell:\n +(.*)\n", match[1])
            text = command[1] if command else ""
            log = fields.get("log", "").removesuffix(" (check log file(s) for error details)")
            outputs = fields.get("output", "a job without a file").replace(UPDATE, "").split(", ")
            how = ended.get(text) or ", ".join(STATE.findall(match[1]))
            found[fields["jobid"]] = Failure(tuple(outputs), log, text, how)
    return list(found.values())


def exit_in_words(code: int) -> str:
    """What an exit code says: a signal is negative as Python has it, or 128 more as shells do."""
    try:
        number = signal.Signals(-code if code < 0 else code - 128)
    except ValueError:  # no signal
        return f"exit code {code}"
    known = {
        signal.SIGINT: INTERRUPTED,
        signal.SIGKILL: "killed (SIGKILL; the kernel does that when memory runs out)",
        signal.SIGTERM: "ended from outside (SIGTERM)",
    }
    return known.get(number, f"ended by {number.name}")


def _errors(log: str) -> list[str]:
    """The errors that a log names."""
    try:
        text = Path(log).read_text(encoding="utf-8", errors="replace")
    except OSError:  # a job without a log, or one that never began
        return []
    return re.findall(r"\berror: .*|^[\w.]*(?:Error|Exception)\b.*", text, re.MULTILINE)


def listed(failures: list[Failure], most: int = MOST) -> Iterator[str]:
    """The failed jobs, at ``most`` so many, in lines; of those that Ctrl-C ended, how many."""
    stopped = sum(failure.ended == INTERRUPTED for failure in failures)
    failures = [failure for failure in failures if failure.ended != INTERRUPTED]
    if failures:
        yield f"{_jobs(len(failures))} failed:"
    for failure in failures[:most]:
        yield from failure.lines()
    if len(failures) > most:
        yield f"  and {len(failures) - most} more, which Snakemake's log names"
    if stopped:
        yield f"{_jobs(stopped)} {INTERRUPTED}; the same command continues"


def _jobs(count: int) -> str:
    return f"{count} job{'s' * (count > 1)}"


def disk_full(folder: Path) -> str:
    """A sentence if the disk that holds a folder is full; otherwise nothing."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free >= FULL:
        return ""
    return f"The disk that holds {folder} is full ({free / 1e6:.1f} MB free). Free some space"


def at_end(logs: Sequence[str], results: Path) -> Iterator[str]:
    """What is said when Snakemake has ended with an error.

    Args:
        logs: the files that Snakemake wrote its log to.
        results: folder of the results.
    """
    texts = (Path(log).read_text(encoding="utf-8", errors="replace") for log in logs)
    yield from listed(failed("".join(texts)))
    if full := disk_full(results):
        yield f"{full}, then the same command again."
