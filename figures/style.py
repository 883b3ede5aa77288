"""How every picture looks: one colour, dash and marker an optimiser, readable in grey too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("agg")  # no screen needed
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter
from PIL import Image

from experiments import command as command_line


class Line(NamedTuple):
    """How the line of an optimiser is drawn."""

    label: str
    color: str
    dash: Any
    marker: str


# Colours of Okabe and Ito, told apart with every common kind of colour blindness.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PINK, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"

LINES = {
    "fast_ingo": Line("Fast-INGO", RED, "-", "o"),
    "ingo": Line("INGO", BLUE, "-", "s"),
    "ingo_step": Line("INGOstep", SKY, (0, (5, 1.5)), "D"),
    "igo": Line("IGO", ORANGE, (0, (3, 1, 1, 1)), "^"),
    "cma_es": Line("CMA-ES", GREEN, (0, (6, 1, 1, 1, 1, 1)), "v"),
    "es": Line("ES", BLACK, (0, (1, 1)), "P"),
    "es_sgd": Line("ES, plain descent", PINK, (0, (5, 1.5)), "X"),
    "es_sgd_unscaled": Line("ES, plain descent without 1/σ", GREEN, (0, (3, 1, 1, 1)), "v"),
    "asebo": Line("ASEBO", BLUE, (0, (6, 1, 1, 1, 1, 1)), "s"),
    "bernoulli_ingo": Line("Discrete INGO", RED, "-", "o"),
    "categorical_ingo": Line("Discrete INGO", RED, "-", "o"),
    "ga": Line("GA, pymoo", BLUE, (0, (5, 1.5)), "s"),
    "simple_ga": Line("GA, textbook", GREEN, (0, (3, 1, 1, 1)), "^"),
}

THOUSANDS = EngFormatter(sep="")  # the labels of ticks: 1.8M, 300k, 0

SPARE = [
    Line("", color, dash, marker)
    for dash in ("-", "--")
    for color, marker in zip((PINK, BLUE, GREEN, ORANGE, SKY, RED, BLACK), "XopsvD^", strict=True)
]

NAMES = {
    "reinforce": "Reinforce GD",
    "sep_cma_es": "sep-CMA-ES",
    "active_cma_es": "active CMA-ES",
    "es_std_0.02": "ES, σ = 0.02",
    "fast_ingo_ddof_0": "Fast-INGO, ddof 0",
    "fast_ingo_old": "Fast-INGO, old Σ",
    "ingo_ddof_0": "INGO, ddof 0",
}


def lines(algorithms: Iterable[str], own: dict[str, Line] = LINES) -> dict[str, Line]:
    """The line of each of these optimisers; those without one of their ``own`` get a spare, in a
    colour that none of the others has.
    """
    algorithms = list(algorithms)
    taken = {own[name].color for name in algorithms if name in own}
    spare = cycle([line for line in SPARE if line.color not in taken] or SPARE)
    return {name: own.get(name) or next(spare)._replace(label=label(name)) for name in algorithms}


def label(algorithm: str) -> str:
    """What a picture calls an optimiser; es_0.01, an arm of a sweep, is "ES, 0.01"."""
    if algorithm in LINES:
        return LINES[algorithm].label
    base, _, value = algorithm.rpartition("_")
    if algorithm not in NAMES and base and value[:1].isdigit():
        return f"{label(base)}, {value}"
    return NAMES.get(algorithm, algorithm.replace("_", " "))


def use() -> None:
    """Set matplotlib up: small type, thin axes, text kept as text, no dates in the files."""
    plt.rcParams.update(
        {
            "font.size": 8,
            "axes.titlesize": 9,
            "axes.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "lines.linewidth": 1.4,
            "lines.markersize": 4.5,
            "legend.frameon": False,
            "pdf.fonttype": 42,
            "svg.fonttype": "none",
            "svg.hashsalt": "fixed",
            "savefig.dpi": 200,
        }
    )


def legend(figure: Figure, lines: Iterable[Line], columns: int) -> None:
    """One legend above all panels, and the panels below it."""
    handles = [
        Line2D([], [], color=i.color, linestyle=i.dash, marker=i.marker, label=i.label, mfc="white")
        for i in lines
    ]
    columns = min(columns, len(handles))
    rows = -(-len(handles) // columns)
    figure.legend(handles=handles, loc="upper center", ncols=columns, handlelength=3)
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.1 + 0.2 * rows) / figure.get_figheight()))


def runs_a_cell(runs: pd.DataFrame) -> str:
    """How many runs the cells of a table have: "20 runs", "1 run", or "3 to 5 runs"."""
    return count(runs.groupby(["problem", "algorithm"], sort=False).size())


def setting(runs: pd.DataFrame) -> str:
    """The dimension and the points a batch, as far as all runs share them: "; d = 100, N = 18"."""
    shared = {"d": runs["dim"], "N": runs["evaluations"] // runs["iteration"]}
    known = [f"{name} = {v.iloc[0]}" for name, v in shared.items() if v.nunique() == 1]
    return "; " + ", ".join(known) if known else ""


def count(counts: pd.Series) -> str:
    """Numbers of runs in words."""
    least, most = counts.min(), counts.max()
    return f"{'' if least == most else f'{least} to '}{most} run{'s' if most > 1 else ''}"


def save(figure: Figure, stem: Path, caption: str) -> None:
    """Write the picture as PDF, SVG and PNG, and its caption beside it: first a paragraph that
    says what is drawn, which is all that the README shows, then how to read it.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    # What is drawn, once for all: "tight" would draw all of it for each file once more.
    box = figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
    for suffix, date in ((".pdf", "CreationDate"), (".svg", "Date")):
        figure.savefig(stem.with_suffix(suffix), metadata={date: None}, bbox_inches=box)
    with BytesIO() as drawn:
        figure.savefig(drawn, format="png", bbox_inches=box)
        save_png(Image.open(drawn), stem.with_suffix(".png"))
    stem.with_suffix(".md").write_text(caption + "\n", encoding="utf-8")
    plt.close(figure)


def save_png(image: Image.Image, to: Path) -> None:
    """Write a picture in the 256 colours that suit it: a third of the file, the same to the eye."""
    colours = Image.Quantize.MAXCOVERAGE
    few = image.convert("RGB").quantize(256, colours, kmeans=2, dither=Image.Dither.NONE)
    few.save(to, optimize=True, dpi=image.info.get("dpi"))


def command(
    module: str,
    about: str | None,
    draw: Callable[..., tuple[Figure, str]],
    names: tuple[str, ...],
    arguments: list[str] | None,
    **options: Iterable[str] | float,
) -> None:
    """The command line of a module that draws one picture from the tables of an experiment.

    Args:
        module: its name, for the help.
        about: its docstring, of which the help shows the first line.
        draw: from the tables to the picture and its caption.
        names: of the tables that ``draw`` takes, without suffix.
        arguments: of the command line; None takes the process's own.
        options: further keywords of ``draw``, each with what it may be, of which the first is the
            default, or with a number that is the default.
    """
    parser = command_line.parser(f"figures.{module}", about)
    files = " and ".join(f"{name}.parquet" for name in names)
    parser.add_argument("tables", type=Path, help=f"folder with {files}")
    for option, allowed in options.items():
        if isinstance(allowed, float):
            parser.add_argument(f"--{option}", type=float, default=allowed)
        else:
            choices = tuple(allowed)
            parser.add_argument(f"--{option}", choices=choices, default=choices[0])
    parser.add_argument("--to", type=Path, required=True, help="path without suffix")
    args = parser.parse_args(arguments)
    tables = (pd.read_parquet(args.tables / f"{name}.parquet") for name in names)
    try:
        figure, caption = draw(*tables, **{option: getattr(args, option) for option in options})
    except ValueError as error:
        sys.exit(f"error: {error}")
    save(figure, args.to, caption)
