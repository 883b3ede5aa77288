"""Pictures: drawn from tables alone, and honest about what a log axis drops."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tables
from matplotlib.colors import to_rgb
from PIL import Image

from experiments import plan
from experiments.config import ConfigError
from experiments.paths import PUBLISHED
from experiments.tables import reader
from figures import commands, convergence, ecdf, files, regret, reward, stability, steps, style

ROOT = Path(__file__).parent.parent

LABELS = {"ingo": "INGO", "igo": "IGO", "es_0.1": "ES, 0.1", "es_1": "ES, 1"}


def curves(problem, algorithm, mean, runs=3):
    mean = np.array(mean, dtype=float)
    return pd.DataFrame(
        {
            "problem": problem, "algorithm": algorithm, "quantity": "batch_min",
            "evaluations": 100 * np.arange(1, len(mean) + 1), "runs": runs, "mean": mean,
            "finite": runs,
            "min": mean / 2, "q1": 0.8 * mean, "median": mean, "q3": 1.2 * mean, "max": 2 * mean,
        }
    )  # fmt: skip


@pytest.fixture
def drawn():
    runs = pd.concat(
        [
            tables.cell("levy", "ingo", [300.0] * 3),
            tables.cell("levy", "es_0.1", [np.inf] * 3),
            tables.cell("discus", "ingo", [np.inf] * 3),
            tables.cell("discus", "es_0.1", [np.inf] * 3).assign(stop="flat"),
        ]
    )
    lines = pd.concat(
        [
            curves("levy", "ingo", [1, 1e-5, 1e-11]),
            curves("levy", "es_0.1", [1, 1, 1, 0, -1, np.nan]),
            curves("discus", "ingo", [1, 2, 3, 4, 5, 6]),
            curves("discus", "es_0.1", [1, 2]),
        ]
    )
    figure, caption = convergence.draw(runs, lines, target=1e-10, labels=LABELS)
    yield figure, caption
    style.plt.close(figure)


def test_a_panel_a_problem_and_a_line_an_optimiser(drawn):
    figure, _ = drawn
    assert [ax.get_title() for ax in figure.axes] == ["Levy", "Discus"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["INGO", "ES, 0.1"]
    solid = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    assert np.array_equal(solid[0].get_ydata(), [1, 1e-5, 1e-11])


def band(ax):
    """The least and the largest height of the first shaded area."""
    y = ax.collections[0].get_paths()[0].vertices[:, 1]
    return y.min(), y.max()


@pytest.mark.parametrize(("name", "wanted"), [("range", (1, 12)), ("quartiles", (1.6, 7.2))])
def test_the_band_is_the_one_that_the_caption_names(name, wanted):
    runs = tables.cell("levy", "ingo", [np.inf] * 3)
    figure, caption = convergence.draw(runs, curves("levy", "ingo", [2, 4, 6]), band=name)
    assert band(figure.axes[0]) == pytest.approx(wanted)
    assert f"in a band from {style.BANDS[name][2]}; d = 10, N = 9900.\n" in caption
    style.plt.close(figure)


def test_the_other_bands_go_from_the_smallest_to_the_largest_run():
    runs = tables.cell("noise", "ingo", [np.inf] * 3)
    sigma = curves("noise", "ingo", [2, 4, 6]).assign(quantity="sigma")
    figure, caption = stability.draw(runs, sigma)
    assert band(figure.axes[0]) == pytest.approx((0, 2 * 10 * np.log(12)))  # log det Σ at d = 10
    assert "the band from the smallest to the largest" in caption
    style.plt.close(figure)
    lines = [
        curves("noise", "ingo", [2, 4, 6]).assign(quantity=q)
        for q in ("batch_mean", "best", "f_mean")
    ]
    figure, caption = regret.draw(runs, pd.concat(lines))
    assert all(band(ax) == pytest.approx((1, 12)) for ax in figure.axes)
    assert "in a band from the smallest to the largest run." in caption
    style.plt.close(figure)


def test_the_target_is_that_of_the_experiment(tmp_path):
    """It is drawn and named as the config has it."""
    what = plan.load(ROOT / "config.yaml", figures={"f": {"experiment": "own"}}, experiments={
        "own": {"dim": 4, "budget": 90, "target": 1e-6, "problems": {"levy": {}},
                "algorithms": {"ingo": {}}}})  # fmt: skip
    assert "--target 1e-06" in str(what.figure_command("f"))
    folder = tmp_path / "e"
    tables.write(tmp_path, "e", tables.cell("levy", "ingo", [300.0] * 3))
    curves("levy", "ingo", [1, 1e-5, 1e-7]).to_parquet(folder / "curves.parquet")
    convergence.main([str(folder), "--target", "1e-06", "--to", str(folder / "picture")])
    assert "Dashed: the target 1e-06," in (folder / "picture.md").read_text()


def test_reasons_to_end_name_the_functions_unless_it_is_all_of_them():
    early = {"stop": "flat", "stop_detail": ""}
    runs = pd.concat(
        [
            tables.cell("levy", "ingo", [np.inf] * 2).assign(**early),
            tables.cell("discus", "ingo", [np.inf] * 2),
            tables.cell("levy", "igo", [np.inf] * 2).assign(**early),
            tables.cell("discus", "igo", [np.inf] * 2).assign(**early),
        ],
        ignore_index=True,
    )
    assert convergence._ends(runs, style.lines(["ingo", "igo"], LABELS)).endswith(
        "budget. 2 flat on Levy: INGO. 4 flat: IGO."
    )


def test_d_and_n_are_said_where_all_runs_share_them():
    a = tables.cell("levy", "ingo", [np.inf] * 2).assign(evaluations=1818)  # of 101 iterations
    assert style.setting(a) == "; d = 10, N = 18"
    assert style.setting(pd.concat([a, a.assign(evaluations=2020)])) == "; d = 10"
    assert style.setting(pd.concat([a, a.assign(dim=11, evaluations=2020)])) == ""


def test_a_method_without_a_prediction_is_drawn_without_one():
    sigma = curves("noise", "fast_ingo", [1, 1, 1]).assign(quantity="sigma")
    runs = tables.cell("noise", "fast_ingo", [np.inf] * 3)
    figure, caption = stability.draw(runs, sigma)
    assert len(figure.axes[0].lines) == 1
    assert caption.endswith("from the smallest to the largest. Not in the paper.")
    style.plt.close(figure)


def test_a_cell_without_runs_is_no_line():
    runs = pd.concat(
        [
            tables.cell("noise", "ingo", [np.inf] * 3),
            tables.cell("noise", "igo", [np.inf] * 2),
            tables.cell("levy", "ingo", [np.inf] * 3),
        ]
    )
    sigma = pd.concat(
        curves(*cell, [1, 1, 1]).assign(quantity="sigma")
        for cell in (("noise", "ingo"), ("noise", "igo"), ("levy", "ingo"))
    )
    figure, caption = stability.draw(runs, sigma)
    # a line each, and the two predictions
    assert [len(ax.lines) for ax in figure.axes] == [4, 1]
    assert "over 2 to 3 runs," in caption
    style.plt.close(figure)
    figure, caption = ecdf.draw(runs)
    assert "over 2 functions and 2 to 3 runs each" in caption
    assert "Some optimisers ran on some of the functions only." in caption
    style.plt.close(figure)


def test_reasons_to_end_stand_where_their_problem_does():
    runs = pd.concat(
        [tables.cell("p", "ga", [np.inf] * 2), tables.cell("q", "ingo", [np.inf, 10.0])]
    )
    assert regret._ends(runs, "ga") == "2 budget, —"
    assert regret._ends(runs, "ingo") == "—, 1 budget and 1 target"


def test_a_run_that_was_cut_by_the_budget_of_its_problem_has_no_mark():
    runs = pd.concat(
        [tables.cell("levy", "ingo", [np.inf] * 3), tables.cell("discus", "ingo", [6])]
    )
    lines = pd.concat([curves("levy", "ingo", [1, 2]), curves("discus", "ingo", [3, 2, 1])])
    figure, _ = convergence.draw(runs, lines)
    assert all(len(line.get_xdata()) == 2 for line in figure.axes[0].lines)
    assert len(figure.axes[0].lines) == 1
    style.plt.close(figure)


def test_there_is_a_line_for_any_number_of_optimisers_called_as_the_config_says():
    look = style.lines([f"own_{i}" for i in range(40)], {"own_39": "The last"})
    assert look["own_39"].label == "The last"
    assert look["own_38"].label == "own_38"


def test_what_a_log_axis_drops_is_written_in_the_panel(drawn):
    levy, discus = drawn[0].axes
    assert [t.get_text() for t in levy.texts] == ["ES, 0.1: 3 of 6 points ≤ 0 or not finite"]
    assert not discus.texts


def test_runs_that_are_lost_to_a_mean_and_reasons_to_end_are_said():
    runs = tables.cell("levy", "es_1", [np.inf] * 3, stop="x")
    runs = runs.assign(stop=["budget", "diverged", "diverged"], stop_detail=["", "", "not finite"])
    line = curves("levy", "es_1", [3, 2, 1]).assign(finite=[3, 3, 2])
    figure, caption = convergence.draw(runs, line, labels=LABELS)
    texts = [t.get_text() for t in figure.axes[0].texts]
    assert texts == ["ES, 1: mean over the 2 of 3 runs that are finite"]
    ended = "before target and budget. 1 diverged, 1 diverged (not finite): ES, 1."
    assert caption.endswith(ended)
    style.plt.close(figure)


def test_the_target_is_marked_where_a_line_comes_near_it(drawn):
    levy, discus = (
        any(list(line.get_ydata()) == [1e-10, 1e-10] for line in ax.lines) for ax in drawn[0].axes
    )
    assert levy
    assert not discus
    assert drawn[0].axes[1].get_ylim()[0] > 0.1


def test_a_long_line_keeps_points_that_stand_apart_and_its_ends():
    x = np.arange(1, 10**5)
    rows = regret._thinned(x)
    assert len(rows) <= regret.POINTS + 1
    assert (rows[0], rows[-1]) == (0, len(x) - 1)
    assert np.diff(np.log(x[rows])).max() <= max(np.log(2), 2 * np.log(x[-1]) / regret.POINTS)
    assert regret._thinned(x[:1]).tolist() == [0]
    assert regret._thinned(x[:3]).tolist() == [0, 1, 2]


def test_ends_are_marked_by_reason(drawn):
    """A dot where all runs reached the target, a cross and a level line where they stopped."""
    levy, discus = drawn[0].axes
    assert end_marks(levy) == {"o"}
    assert end_marks(discus) == {"x"}
    assert any(list(line.get_ydata()) == [2, 2] for line in discus.lines)


def end_marks(ax):
    return {line.get_marker() for line in ax.lines if len(line.get_xdata()) == 1}


@pytest.mark.parametrize(
    ("stops", "mark"),
    [(["target"] * 3, "o"), (["target", "flat", "target"], "x"), (["flat"] * 3, "x"),
     (["target", "target", "budget"], None)],
)  # fmt: skip
def test_a_dot_is_for_all_runs(stops, mark):
    runs = pd.concat(
        [
            tables.cell("levy", "ingo", [200.0] * 3).assign(stop=stops),
            tables.cell("levy", "igo", [np.inf] * 3),
        ]
    )
    lines = pd.concat([curves("levy", "ingo", [1, 1e-11]), curves("levy", "igo", [3, 2, 1])])
    figure, _ = convergence.draw(runs, lines)
    assert end_marks(figure.axes[0]) == ({mark} if mark else set())
    style.plt.close(figure)


def test_a_line_of_which_a_log_axis_shows_nothing_is_only_named():
    runs = tables.cell("noise", "ingo", [np.inf] * 3)
    figure, _ = convergence.draw(runs, curves("noise", "ingo", [-1, -2, -3]), labels=LABELS)
    assert not figure.axes[0].lines
    (text,) = figure.axes[0].texts
    assert text.get_text() == "INGO: 3 of 3 points ≤ 0 or not finite"
    style.plt.close(figure)


def test_the_caption_says_how_many_runs_and_which_band(drawn):
    assert "Mean over 3 runs" in drawn[1]
    assert "from the smallest to the largest run" in drawn[1]


@pytest.mark.parametrize(
    "together",
    [
        ["fast_ingo", "ingo", "ingo_step", "igo", "cma_es", "es"],
        ["fast_ingo", "es", "es_sgd", "es_sgd_unscaled", "asebo"],
        ["bernoulli_ingo", "ga", "simple_ga"],
        plan.load(ROOT / "config.yaml").experiments["variants"].algorithms,
    ],
)
def test_every_line_can_be_told_apart_without_colour(together):
    looks = list(style.lines(together).values())
    assert len({(str(i.dash), i.marker) for i in looks}) == len(looks)
    assert len({i.color for i in looks}) == len(looks)


def test_files_are_the_same_twice(drawn, tmp_path):
    figure, caption = drawn
    files.save(figure, tmp_path / "a" / "f", caption)
    files.save(figure, tmp_path / "b" / "f", caption)
    files.save(figure, tmp_path / "f", caption, ["pdf"])
    assert sorted(p.name for p in tmp_path.glob("f.*")) == ["f.md", "f.pdf"]
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert names == ["f.md", "f.pdf", "f.png", "f.svg"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_png_has_256_colours_and_looks_as_it_was_drawn(drawn, tmp_path):
    figure, caption = drawn
    box = figure.get_tightbbox().padded(style.plt.rcParams["savefig.pad_inches"])
    figure.savefig(tmp_path / "drawn.png", bbox_inches=box)
    files.save(figure, tmp_path / "f", caption)
    with Image.open(tmp_path / "drawn.png") as drawn_, Image.open(tmp_path / "f.png") as kept:
        assert len(drawn_.convert("RGB").getcolors(1 << 20)) > len(kept.getcolors(256))
        assert kept.info["dpi"] == pytest.approx(drawn_.info["dpi"])
        were, are = (np.asarray(i.convert("RGB"), dtype=float) for i in (drawn_, kept))
    assert are.shape == were.shape
    assert np.abs(are - were).max() <= 32  # of 255, at the edge of a line
    assert np.abs(are - were).mean() < 1


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], {"x": "linear", "band": "range", "column": "batch_min", "below": "none",
              "target": None}),
        (["--x", "log", "--target", "1e-6", "--below", "best"],
         {"x": "log", "band": "range", "column": "batch_min", "below": "best", "target": 1e-6}),
    ],
)  # fmt: skip
def test_options_of_the_command_line_reach_the_picture(tmp_path, words, wanted):
    tables.write(tmp_path, "e", tables.cell("levy", "ingo", [300.0] * 3))
    curves("levy", "ingo", [1.0, 0.5]).to_parquet(tmp_path / "e" / "curves.parquet")
    seen = {}

    def draw(runs, curves, **options):
        seen.update(options, runs=len(runs), curved=len(curves) > 1)
        return style.plt.figure(), "A caption."

    labels = ["--labels", '{"ingo": "INGO"}']
    arguments = [str(tmp_path / "e"), *words, *labels, "--to", str(tmp_path / "picture")]
    files.draw_tables("convergence", "Doc.", draw, arguments)
    assert seen == {**wanted, "labels": {"ingo": "INGO"}, "runs": 3, "curved": True}
    assert (tmp_path / "picture.md").read_text() == (
        "A caption.\n\nRuns, machine and versions: [manifest.json](../manifest.json).\n"
    )
    with pytest.raises(SystemExit):
        files.draw_tables("convergence", "Doc.", draw, [*arguments, "--x", "cubic"])


@pytest.mark.parametrize("kind", commands.OPTIONS)
def test_the_command_of_a_figure_is_read_as_it_was_meant(kind):
    allowed = {k: v for k, v in commands.OPTIONS[kind].items() if isinstance(v, tuple)}
    options = {option: values[-1] for option, values in allowed.items()}
    labels = {"ingo": 'a "name", and Σ'}
    made = commands.figure(kind, Path("t"), labels, Path("a/b"), **options)
    args = vars(commands.figure_parser(kind, "Doc.").parse_args(list(made.arguments)))
    assert args.items() >= (options | {"labels": labels, "to": Path("a/b")}).items()


def test_the_label_of_the_config_is_in_the_legend_and_in_the_caption(tmp_path):
    tables.write(tmp_path, "e", tables.cell("levy", "mine", [np.inf] * 3, stop="flat"))
    table = pd.read_parquet(tmp_path / "e" / "runs.parquet").assign(stop="flat")
    figure, caption = convergence.draw(
        table, curves("levy", "mine", [1, 2, 3]), labels={"mine": "My own"}
    )
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["My own"]
    assert "3 flat: My own." in caption


# ---- a user's own settings of matplotlib ---------------------------------------------------------

HOSTILE = """
backend: qtagg
text.usetex: true
axes.grid: true
lines.marker: o
lines.linewidth: 7
font.family: serif
figure.facecolor: red
savefig.transparent: true
figure.constrained_layout.use: true
path.simplify: false
axes.formatter.use_locale: true
"""


@pytest.mark.parametrize(
    ("module", "table"), [("convergence", "stability"), ("theory.gap", "theory/gap.csv")]
)
@pytest.mark.parametrize("backend", ["module://matplotlib_inline.backend_inline", "qtagg"])
def test_pictures_do_not_inherit_a_users_matplotlib(tmp_path, module, table, backend):
    (tmp_path / "matplotlibrc").write_text(HOSTILE)
    hostile = {"MATPLOTLIBRC": str(tmp_path), "MPLBACKEND": backend}
    for name, env in (("plain", {}), ("hostile", hostile)):
        command = [sys.executable, "-m", f"figures.{module}", ROOT / PUBLISHED / "tables" / table]
        subprocess.run(
            [*command, "--to", tmp_path / name / "f"],
            cwd=ROOT, env={**os.environ, **env}, check=True, capture_output=True,
        )  # fmt: skip
    for suffix in ("png", "pdf", "svg", "md"):
        plain, other = (tmp_path / name / f"f.{suffix}" for name in ("plain", "hostile"))
        assert plain.read_bytes() == other.read_bytes(), suffix


# ---- values that no axis can show ----------------------------------------------------------------

QUANTITIES = ("batch_min", "best", "f_mean", "batch_mean", "sigma", "environment_steps")
KINDS = {
    "convergence": lambda runs, lines: convergence.draw(runs, lines, target=1e-10),
    "convergence on log x": lambda runs, lines: convergence.draw(runs, lines, x="log"),
    "ecdf": lambda runs, lines: ecdf.draw(runs),
    "regret": regret.draw,
    "reward": reward.draw,
    "stability": stability.draw,
    "steps": lambda runs, lines: steps.draw(runs.assign(algorithm=runs["algorithm"] + "_1")),
}
ODD = {
    "NaN": [np.nan] * 4, "zero": [0.0] * 4, "inf": [np.inf] * 4, "−inf": [-np.inf] * 4,
    "to zero": [1.0, 0.1, 0.01, 0.0], "denormal": [1.0, 1e-100, 1e-314, 5e-324],
    "overflowing": [1.0, 1e90, 1e300, 1.7e308], "negative": [-1.0, -2.0, -1e300, -4.0],
    "one point": [1.0], "one NaN": [np.nan],
}  # fmt: skip


def odd_tables(values, low, high):
    """Tables with one cell of these values, in a band of its own, beside two ordinary cells."""
    values = np.array(values)
    columns = {"sigma": values[-1], "first_sigma": values[0], "first_batch_mean": values[0]}
    odd = tables.cell("noise", "ingo", [np.inf] * 3, best=values[-1], **columns)
    count = len(values)
    odd = odd.assign(evaluations=100 * count, iteration=count, hits=[[] for _ in range(3)])
    ends = {"min": values if low is None else low, "max": values if high is None else high}
    ends |= {"q1": ends["min"], "q3": ends["max"], "finite": np.where(np.isfinite(values), 3, 0)}
    lines = [
        frame.assign(quantity=quantity)
        for quantity in QUANTITIES
        for frame in (
            curves("noise", "ingo", np.ones(count)).assign(mean=values, median=values, **ends),
            curves("noise", "igo", [5, 3, 2, 1]),
            curves("levy", "igo", [5, 3, 2, 1]),
        )
    ]
    others = [tables.cell(problem, "igo", [300.0] * 3) for problem in ("noise", "levy")]
    return pd.concat([odd, *others], ignore_index=True), pd.concat(lines, ignore_index=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", ODD)
@pytest.mark.parametrize("alone", [True, False])
def test_odd_values_are_drawn_without_a_warning_on_an_axis_that_can_be_read(kind, values, alone):
    runs, lines = odd_tables(ODD[values], *((None, None) if alone else (0.0, np.inf)))
    if alone:
        runs, lines = (t[t["algorithm"] == "ingo"] for t in (runs, lines))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure, caption = KINDS[kind](runs, lines)
        box = figure.get_tightbbox()
        figure.canvas.draw()
    assert caption
    assert np.allclose([box.width, box.height], figure.get_size_inches(), rtol=0, atol=1.0)
    for ax in figure.axes:
        low, high = ax.get_ylim()
        assert np.isfinite([low, high]).all()
        assert ax.get_yscale() != "log" or 1e-170 < low < high < 1e120
    style.plt.close(figure)


def notes(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def test_what_an_axis_cannot_show_is_said_in_every_kind():
    runs, lines = odd_tables([1.0, np.nan, np.inf, -1.0], None, None)
    for kind, words in (
        ("convergence", ["INGO: 3 of 4 points ≤ 0 or not finite"]),
        ("regret", ["INGO: 3 of 4 points < 0 or not finite"] * 3),
        ("reward", ["INGO: 2 of 4 points not finite"] * 2),
        ("stability", ["INGO: 3 of 4 points not finite"]),
    ):
        module = import_module(f"figures.{kind}")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure, _ = module.draw(runs, lines, labels=LABELS)
        assert notes(figure) == words, kind
        style.plt.close(figure)


def test_a_run_that_hits_0_does_not_stretch_a_log_axis():
    """The band of the others ends at the lowest point that is shown, and the panel says so."""
    runs = tables.cell("levy", "ingo", [np.inf] * 3)
    line = curves("levy", "ingo", [1, 0.1, 0.02]).assign(min=[0.5, 0.0, 0.0])
    figure, _ = convergence.draw(runs, line, labels=LABELS)
    assert figure.axes[0].get_ylim()[0] > 0.01
    assert band(figure.axes[0])[0] == 0.02
    assert notes(figure) == ["INGO: band cut off at 2 of 3 points, with runs ≤ 0"]
    style.plt.close(figure)


# ---- what is drawn, read back from the axes ------------------------------------------------------

NAMES = {"fast_ingo": "Fast-INGO", "ingo": "INGO", "igo": "IGO", "mine": "Of my own"}
PROBLEMS = ("levy", "discus", "ellipsoid", "rastrigin10")
STATISTICS = {"min": 0.5, "q1": 0.7, "mean": 1.0, "median": 1.3, "q3": 1.8, "max": 2.2}
POINTS_PER_BATCH = 50
# What an axis says of y, and the quantity that it then shows.
SAID = {
    "batch minimum": "batch_min", "best value": "best", "f at the mean": "f_mean",
    "batch mean": "batch_mean",
    "regret, batch mean": "batch_mean", "regret, best so far": "best",
    "regret, recommended": "f_mean",
    "average reward": "batch_mean", "reward of the mean policy": "f_mean",
    "log det Σ": "sigma",
}  # fmt: skip


def told_apart():
    """Tables in which no two cells, quantities or statistics have a number in common."""
    runs, lines = [], []
    for number, (problem, algorithm) in enumerate((p, a) for p in PROBLEMS for a in NAMES):
        end = 800 + 100 * number
        cell = tables.cell(problem, algorithm, [np.inf] * 3, dim=10)
        runs.append(cell.assign(evaluations=end, iteration=end // POINTS_PER_BATCH))
        x = np.array([100, 300, 500, end])
        for place, quantity in enumerate(QUANTITIES):
            mean = (1 + 0.01 * number + 0.001 * place) * np.array([8.0, 4.0, 2.0, 1.0])
            mean = np.cumsum(mean) if quantity == "environment_steps" else mean
            cells = {name: factor * mean for name, factor in STATISTICS.items()}
            frame = pd.DataFrame({"evaluations": x, "runs": 3, "finite": 3, **cells})
            frame = frame.assign(problem=problem, algorithm=algorithm, quantity=quantity)
            lines.append(frame)
    return pd.concat(runs, ignore_index=True), pd.concat(lines, ignore_index=True)


def legend_of(figure):
    """The colour of each label, as a reader of the picture finds it."""
    legend = (figure.legends or [ax.get_legend() for ax in figure.axes if ax.get_legend()])[0]
    handles = zip(legend.get_texts(), legend.legend_handles, strict=True)
    return {text.get_text(): handle.get_color() for text, handle in handles}


def panels(figure):
    """Each panel with the title above it and the labels of its axes, as a reader finds them."""
    places = {ax: ax.get_subplotspec() for ax in figure.axes}
    for ax, place in places.items():
        column = [a for a, p in places.items() if p.colspan == place.colspan]
        row = [a for a, p in places.items() if p.rowspan == place.rowspan]
        above = [a for a in column if places[a].rowspan.start <= place.rowspan.start]
        below = [a for a in column if places[a].rowspan.start >= place.rowspan.start]
        title = [a.get_title() for a in above if a.get_title()][-1]
        y = next(a.get_ylabel() for a in row if a.get_ylabel())
        x = next(a.get_xlabel() for a in below if a.get_xlabel())
        yield ax, title, x, y


def the_line(ax, color):
    """The points of the one thick line of a colour."""
    (line,) = (
        line
        for line in ax.lines
        if (line.get_color(), line.get_linewidth() > 1) == (color, True)
        and len(line.get_xdata()) > 1
        and line.get_linestyle() != "None"
    )
    return line.get_data()


def evaluations(rows, curves_of_cell):
    return rows["evaluations"]


def iterations(rows, curves_of_cell):
    return rows["evaluations"] / POINTS_PER_BATCH


def environment_steps(rows, curves_of_cell):
    return curves_of_cell.loc[curves_of_cell["quantity"] == "environment_steps", "mean"]


READINGS = {
    **{
        f"convergence of {column} over {below}": (
            convergence, {"column": column, "below": below}, "mean", "evaluations", evaluations,
            lambda y: y,
        )
        for column, below in (("batch_min", "none"), ("best", "f_mean"), ("batch_mean", "best"),
                              ("f_mean", "batch_min"))
    },
    "convergence on log x": (
        convergence, {"x": "log"}, "mean", "evaluations", evaluations, lambda y: y
    ),
    "regret": (regret, {}, "mean", "evaluations", evaluations, lambda y: y),
    **{
        f"reward against {x.__name__}": (
            reward, {"x": x.__name__}, "mean", x.__name__.replace("_", " "), x, lambda y: -y
        )
        for x in (iterations, evaluations, environment_steps)
    },
    "stability": (
        stability, {}, "median", "iterations", iterations, lambda y: 2 * 10 * np.log(y)
    ),
}  # fmt: skip


@pytest.mark.parametrize("reading", READINGS)
def test_every_line_is_what_title_labels_and_legend_say(reading):
    module, options, statistic, x_label, x_of, y_of = READINGS[reading]
    runs, lines = told_apart()
    figure, _ = module.draw(runs, lines, labels=NAMES, **options)
    colors = legend_of(figure)
    assert colors.keys() == set(NAMES.values())
    seen = set()
    for ax, title, x, y in panels(figure):
        problem, quantity = title.split("\n")[0].lower(), SAID[y]
        assert x == x_label
        seen.add((problem, quantity))
        for algorithm, label in NAMES.items():
            cell = lines[(lines["problem"] == problem) & (lines["algorithm"] == algorithm)]
            rows = cell[cell["quantity"] == quantity]
            at, height = the_line(ax, colors[label])
            assert np.allclose(at, x_of(rows, cell), rtol=1e-12, atol=0), (title, label)
            assert np.allclose(height, y_of(rows[statistic]), rtol=1e-12, atol=0), (title, label)
    asked = {options.get("column", "batch_min"), options.get("below", "none")} - {"none"}
    drawn = {
        convergence: asked,
        regret: {"batch_mean", "best", "f_mean"},
        reward: {"batch_mean", "f_mean"},
        stability: {"sigma"},
    }[module]
    assert seen == {(problem, quantity) for problem in PROBLEMS for quantity in drawn}
    style.plt.close(figure)


def test_a_share_of_the_ecdf_is_that_of_the_method_that_the_legend_names():
    """The first batches have 1, so that the targets below it count: 50, down to 1e-10."""
    later = {"ingo": [1000.0, 3000.0], "igo": [2000.0, np.inf], "mine": [np.inf, np.inf]}
    runs = pd.concat([tables.cell("levy", name, ends) for name, ends in later.items()])
    figure, _ = ecdf.draw(runs, NAMES)
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("evaluations", "share of targets reached")
    colors = legend_of(figure)
    for name in later:
        x, y = the_line(ax, colors[NAMES[name]])
        hits = np.concatenate([h[41:91] for h in runs.loc[runs["algorithm"] == name, "hits"]])
        for t in (1, 150, 500, 1500, 2500, 3000):
            share = (hits <= t).sum() / (2 * 50)
            assert [0.0, *y[x <= t]][-1] == pytest.approx(share), (name, t)
    style.plt.close(figure)


def test_every_problem_counts_alike_in_the_ecdf_as_in_claim_20():
    """The share at each budget is that of the measure, whose ratios the second panel shows."""
    runs = pd.concat(
        [
            tables.cell("levy", "ingo", [4000.0, np.inf]),
            tables.cell("levy", "cma_es", [np.inf, 900.0]),
            tables.cell("discus", "ingo", [np.inf] * 2, first_batch_min=50.0),
            tables.cell("discus", "cma_es", [np.inf] * 2, first_batch_min=50.0).assign(
                hits=[[1] * 35, [1] * 30 + [700] * 8]
            ),
        ]
    )
    figure, caption = ecdf.draw(runs, NAMES | {"cma_es": "CMA-ES"}, over="cma_es")
    left, right = figure.axes
    colors = legend_of(figure)
    (line,) = [own for own in right.lines if own.get_label() == NAMES["ingo"]]
    assert len([own for own in right.lines if not own.get_label().startswith("_")]) == 1
    spans = {p: reader.spanned(own) for p, own in runs.groupby("problem")}
    assert spans == {"levy": range(41, 91), "discus": range(32, 41)}

    def share(name, t):
        cells = runs[runs["algorithm"] == name].groupby("problem")["hits"]
        return np.mean(
            [
                np.mean([np.sum(np.array(h)[spans[p].start : spans[p].stop] <= t) for h in hits])
                / len(spans[p])
                for p, hits in cells
            ]
        )

    for t in (500, 800, 1500, 3999):
        x, y = the_line(left, colors[NAMES["ingo"]])
        assert y[x <= t][-1] == pytest.approx(share("ingo", t))
        near = np.argmax(line.get_xdata() > t) - 1
        at = line.get_xdata()[near]
        assert line.get_ydata()[near] == pytest.approx(share("ingo", at) / share("cma_es", at))
    assert right.get_ylabel() == "share over that of CMA-ES"
    assert "Right: that share over the one of CMA-ES." in caption
    style.plt.close(figure)


def test_settings_of_methods_have_the_methods_colours_in_tints_and_dashes():
    names = ["ingo_0.05", "ingo_0.5", "ingo_5", "igo_0.05", "igo_0.5", "igo_5"]
    looks = style.lines(names)
    assert (looks["ingo_0.05"].color, looks["igo_0.05"].color) == ("#0072b2", "#e69f00")
    for of in ("ingo", "igo"):
        own = [looks[name] for name in names if name.startswith(of)]
        assert len({look.color for look in own}) == len({str(look.dash) for look in own}) == 3
        red, green, blue = zip(*(to_rgb(look.color) for look in own), strict=True)
        for channel in (red, green, blue):  # lighter and lighter, and never white
            assert sorted(channel) == list(channel)
        assert min(to_rgb(own[-1].color)) < 0.8
    alone = style.lines(names[:3])  # settings of one method: told apart by colours
    assert len({look.color for look in alone.values()}) == 3
    assert alone["ingo_0.05"].color.lower() != "#0072b2"


def draw_kind(kind, runs, lines):
    """A picture of a kind, with NAMES; that of step sizes is of all methods at the paper's."""
    if kind == "ecdf":
        return ecdf.draw(runs, NAMES)[0]
    if kind == "steps":
        labels = {f"{name}_1": f"{label}, 1" for name, label in NAMES.items()}
        return steps.draw(runs.assign(algorithm=runs["algorithm"] + "_1"), labels)[0]
    return import_module(f"figures.{kind}").draw(runs, lines, labels=NAMES)[0]


@pytest.mark.parametrize("order", [["igo", "ingo", "mine", "fast_ingo"], ["fast_ingo", "igo"]])
def test_a_method_has_one_colour_in_all_kinds_whoever_is_beside_it(order):
    """Red, blue and orange of the first picture are those of every other."""
    wanted = {"Fast-INGO": "#D55E00", "INGO": "#0072B2", "IGO": "#E69F00"}
    runs, lines = (pd.concat([t[t["algorithm"] == name] for name in order]) for t in told_apart())
    for kind in commands.OPTIONS.keys() - {"settings"}:  # which has no legend
        figure = draw_kind(kind, runs, lines)
        colors = legend_of(figure)
        assert colors.keys() == {NAMES[name] for name in order}
        for label, color in colors.items():
            assert color == wanted.get(label, color), kind
            assert (color in wanted.values()) is (label in wanted), kind
        style.plt.close(figure)


def test_panels_have_letters_in_the_order_in_which_one_reads():
    runs, lines = told_apart()
    figure, _ = convergence.draw(runs, lines, below="f_mean")
    by_place = sorted(
        (ax.get_subplotspec().rowspan.start, ax.get_subplotspec().colspan.start,
         ax.get_title(loc="left"))
        for ax in figure.axes
    )  # fmt: skip
    assert [letter for *_, letter in by_place] == [f"({i})" for i in "abcdefgh"]
    style.plt.close(figure)
    one = runs["problem"] == "levy"
    figure, _ = convergence.draw(runs[one], lines[lines["problem"] == "levy"])
    assert figure.axes[0].get_title(loc="left") == ""
    style.plt.close(figure)


def test_x_is_labelled_below_the_last_panel_of_each_column():
    runs, lines = told_apart()
    figure, _ = convergence.draw(runs, lines)  # four problems, of which three stand side by side
    figure.canvas.draw()
    labelled = [ax.get_title() for ax in figure.axes if ax.get_xlabel() == "evaluations"]
    numbered = [
        ax.get_title()
        for ax in figure.axes
        if any(tick.label1.get_visible() for tick in ax.xaxis.get_major_ticks())
    ]
    assert labelled == numbered == ["Discus", "Ellipsoid", "Rastrigin10"]
    style.plt.close(figure)


def test_minor_ticks_stand_only_where_a_log_axis_has_few_powers_of_ten():
    runs = tables.cell("levy", "ingo", [np.inf] * 3)
    for mean, minor in (([3, 2, 1], True), ([1e4, 10, 1], False)):
        figure, _ = convergence.draw(runs, curves("levy", "ingo", mean))
        assert bool(len(figure.axes[0].yaxis.get_minorticklocs())) is minor
        style.plt.close(figure)


def test_a_task_with_fewer_iterations_says_so_in_its_title():
    runs, lines = told_apart()
    runs = runs.assign(iteration=np.where(runs["problem"] == "discus", 20, 300))
    runs.loc[runs["problem"] == "levy", "title"] = "InvertedDoublePendulum-v4"
    figure, _ = reward.draw(runs, lines)
    assert [ax.get_title() for ax in figure.axes[:4]] == [
        "InvertedDouble\nPendulum-v4", "Discus\n20 of 300 iterations", "Ellipsoid", "Rastrigin10",
    ]  # fmt: skip
    style.plt.close(figure)


@pytest.mark.parametrize(("name", "wanted"), [("range", (-22, -0.5)), ("quartiles", (-18, -0.7))])
def test_the_band_of_rewards_is_the_one_that_the_caption_names(name, wanted):
    runs = tables.cell("levy", "ingo", [np.inf] * 3)
    values = {key: factor * np.array([10.0, 1.0]) for key, factor in STATISTICS.items()}
    lines = [
        pd.DataFrame({"problem": "levy", "algorithm": "ingo", "quantity": quantity, "runs": 3,
                      "evaluations": [100, 200], **values})
        for quantity in ("batch_mean", "f_mean")
    ]  # fmt: skip
    figure, caption = reward.draw(runs, pd.concat(lines), band=name)
    assert all(band(ax) == pytest.approx(wanted) for ax in figure.axes)
    assert f"mean over runs in a band from {style.BANDS[name][2]}. " in caption
    style.plt.close(figure)


def test_the_caption_of_rewards_names_the_runs_that_ended_early_and_why():
    runs = tables.cell("levy", "ingo", [np.inf] * 4)
    runs["stop"] = ["flat", "budget", "flat", "diverged"]
    line = curves("levy", "ingo", [2, 1])
    lines = pd.concat([line.assign(quantity=name) for name in ("batch_mean", "f_mean")])
    figure, caption = reward.draw(runs, lines, labels=LABELS)
    assert "Levy 4 runs of 101 iterations (INGO 2 flat; INGO 1 diverged)." in caption
    style.plt.close(figure)


def test_runs_that_are_lost_in_their_first_iteration_are_counted_in_the_panel():
    def cells(*stops):
        """Three runs of each; one that is lost is so in its first iteration."""
        return [
            tables.cell("levy", name, [np.inf] * 3, stop=stop).assign(
                stop=stop, iteration=[1, 1, last]
            )
            for name, stop, last in stops
        ]

    lines = pd.concat([curves("levy", "ingo", [2]), curves("levy", "es_1", [3, 2, 1])])
    for stops, words in (
        ([("ingo", "diverged", 1), ("es_1", "diverged", 1)],
         ["all 6 runs lost\nin the first iteration"]),
        ([("ingo", "diverged", 1), ("es_1", "diverged", 2)],
         ["all runs lost in the first iteration:\nINGO"]),
        ([("ingo", "diverged", 2), ("es_1", "diverged", 2)], []),
        ([("ingo", "budget", 1), ("es_1", "target", 1)], []),
    ):  # fmt: skip
        figure, _ = convergence.draw(pd.concat(cells(*stops)), lines, labels=LABELS)
        assert notes(figure) == words
        style.plt.close(figure)


def test_the_caption_names_both_quantities():
    runs, lines = told_apart()
    figure, caption = convergence.draw(runs, lines, below="f_mean", x="log")
    assert caption.startswith(
        "Mean over 3 runs of the minimum f of the current batch (upper panel of each function) and "
        "of f at the mean of the distribution (lower panel), against evaluations, "
    )
    style.plt.close(figure)


def test_a_picture_does_not_depend_on_what_was_drawn_before_it(tmp_path):
    """As it is where a process draws several."""
    runs, lines = told_apart()
    for place in ("first", "again"):
        figure, caption = convergence.draw(runs, lines, x="log")
        files.save(figure, tmp_path / place, caption)
        for kind in ("regret", "stability", "ecdf", "steps"):
            style.plt.close(KINDS[kind](runs, lines)[0])
    for suffix in (".png", ".pdf", ".svg"):
        first, again = ((tmp_path / place).with_suffix(suffix) for place in ("first", "again"))
        assert first.read_bytes() == again.read_bytes(), suffix


# ---- step sizes ----------------------------------------------------------------------------------

STEP_NAMES = {
    f"{method}_{multiple}": f"{label}, {multiple}"
    for method, label in (("ingo", "INGO"), ("ingo_step", "INGOstep"))
    for multiple in ("2", "1", "0.25")
}


@pytest.fixture
def stepped():
    """On Levy, INGO reaches the target with all steps but not in all runs with the largest, and
    INGOstep with none; on Discus it is the other way round, and with one step only.
    """
    never = [np.inf] * 4
    levy = {
        "ingo_2": ([100, 300, np.inf, np.inf], [1e-11, 2e-11, 5.0, 9.0]),
        "ingo_1": ([400, 500, 600, 900], [2e-11, 4e-11, 5e-11, 6e-11]),
        "ingo_0.25": ([2000, 2200, 2600, 4000], [3e-11, 3e-11, 4e-11, 9e-11]),
        "ingo_step_2": (never, [4.0, 5.0, 7.0, 8.0]),
        "ingo_step_1": (never, [1.0, 2.0, 2.5, 4.0]),
        "ingo_step_0.25": (never, [2.0, 3.0, 3.5, 6.0]),
    }
    discus = {name: (never, [20.0, 30.0, 50.0, 60.0]) for name in STEP_NAMES}
    discus["ingo_step_1"] = ([70, 80, 90, 100], [1e-11] * 4)
    return pd.concat(
        [
            tables.cell(problem, name, ends, best=best, dim=10)
            for problem, cells in (("levy", levy), ("discus", discus))
            for name, (ends, best) in cells.items()
        ],
        ignore_index=True,
    )


def test_step_sizes_are_drawn_as_title_labels_and_legend_say(stepped):
    figure, caption = steps.draw(stepped, STEP_NAMES)
    colors = legend_of(figure)
    assert colors == {"INGO": style.LOOKS["ingo"].color, "INGOstep": style.LOOKS["ingo_step"].color}
    to_target, final = "evaluations to 1e-10", "final best value"
    none = [np.nan] * 3
    wanted = {
        ("Levy", to_target): {"INGO": [2400, 550, 200], "INGOstep": none},
        ("Levy", final): {"INGO": [3.5e-11, 4.5e-11, 2.5], "INGOstep": [3.25, 2.25, 6.0]},
        ("Discus", to_target): {"INGO": none, "INGOstep": [np.nan, 85, np.nan]},
        ("Discus", final): {"INGO": [40.0] * 3, "INGOstep": [40.0, 1e-11, 40.0]},
    }
    found = set()
    for ax, title, x, y in panels(figure):
        found.add((title, y))
        assert x == "multiple of the paper's β"
        assert ax.get_xscale() == ax.get_yscale() == "log"
        for label, values in wanted[title, y].items():
            multiples, heights = the_line(ax, colors[label])
            assert list(multiples) == [0.25, 1, 2]
            assert np.allclose(heights, values, rtol=1e-9, atol=0, equal_nan=True), (title, y)
        assert any(list(line.get_xdata()) == [1, 1] for line in ax.lines)  # the paper's
    assert found == wanted.keys()
    figure.canvas.draw()
    lowest = figure.axes[-1].xaxis.get_major_ticks()
    assert [tick.label1.get_text() for tick in lowest] == ["1/4", "1", "2"]
    assert "Medians over 4 runs; d = 10" in caption
    style.plt.close(figure)


def test_a_full_marker_is_for_all_runs_and_an_open_one_says_how_many(stepped):
    figure, _ = steps.draw(stepped, STEP_NAMES)
    ax = figure.axes[0]
    marks = {
        tuple(line.get_xdata()): line.get_markerfacecolor()
        for line in ax.lines
        if line.get_linestyle() == "None" and line.get_color() == style.LOOKS["ingo"].color
    }
    assert marks == {(0.25, 1): style.LOOKS["ingo"].color, (2,): "white"}
    (share,) = ax.texts
    assert (share.get_text(), share.xy) == ("2/4", (2, 200))
    style.plt.close(figure)


def test_a_panel_that_no_run_is_in_says_so(stepped):
    levy = stepped[(stepped["problem"] == "levy") & stepped["algorithm"].str.contains("step")]
    figure, _ = steps.draw(levy, STEP_NAMES)
    assert notes(figure) == ["no run reached 1e-10"]
    assert not figure.axes[0].get_yticks().size
    style.plt.close(figure)


def test_the_band_of_final_values_goes_over_all_runs(stepped):
    figure, _ = steps.draw(stepped[stepped["algorithm"].str.startswith("ingo_step")], STEP_NAMES)
    assert band(figure.axes[2]) == (1.0, 8.0)
    style.plt.close(figure)


def test_the_best_step_size_is_that_of_most_runs_then_the_fastest_then_the_lowest(stepped):
    table = steps.best(steps.points(stepped)).set_index(["problem", "method"])
    assert table["multiple"].to_dict() == {
        ("levy", "ingo"): 1, ("levy", "ingo_step"): 1, ("discus", "ingo"): 2,
        ("discus", "ingo_step"): 1,
    }  # fmt: skip
    two = stepped[stepped["algorithm"] != "ingo_1"]  # without the paper's: all runs at 1/4
    row = steps.best(steps.points(two)).iloc[0]
    assert (row["multiple"], row["reached"], row["evaluations"]) == (0.25, 4, 2400)
    assert np.isnan(row["final_paper"])


def test_step_sizes_from_the_command_line(stepped, tmp_path):
    tables.write(tmp_path, "e", stepped)
    made = commands.figure("steps", tmp_path / "e", STEP_NAMES, tmp_path / "f" / "of_steps")
    made.call()
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == [
        "of_steps.md", "of_steps.pdf", "of_steps.png", "of_steps.svg", "of_steps_best.csv",
        "of_steps_best.md",
    ]  # fmt: skip
    lines = (tmp_path / "f" / "of_steps_best.md").read_text().splitlines()
    assert lines[-4:] == [
        "| Levy | INGO | 1 | 550 (4/4) | 4.5e-11 | 550 (4/4) | 4.5e-11 |",
        "| Levy | INGOstep | 1 | — | 2.25 | — | 2.25 |",
        "| Discus | INGO | 2 | — | 40 | — | 40 |",
        "| Discus | INGOstep | 1 | 85 (4/4) | 1e-11 | 85 (4/4) | 1e-11 |",
    ]
    table = pd.read_csv(tmp_path / "f" / "of_steps_best.csv")
    assert table["multiple"].tolist() == [1, 1, 2, 1]


@pytest.mark.parametrize("name", ["ingo", "ingo_step", "ingo_0", "ingo_-1", "ingo_1x", "_2"])
def test_a_name_without_a_multiple_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match="does not end in a multiple of a step size"):
        commands.step(name)
    if name in ("ingo", "ingo_step"):
        own = {"dim": 4, "budget": 90, "target": 1e-6, "problems": {"levy": {}},
               "algorithms": {name: {}}}  # fmt: skip
        with pytest.raises(ConfigError, match=f"figures.f: '{name}' does not end in a multiple"):
            plan.load(
                ROOT / "config.yaml",
                figures={"f": {"experiment": "own", "kind": "steps"}}, experiments={"own": own},
            )  # fmt: skip


def test_a_name_with_a_multiple_is_read():
    assert commands.step("ingo_step_0.125") == ("ingo_step", 0.125)
    assert commands.step("es_4") == ("es", 4)


OF_THEORY = {
    "regret": ("regret", "theorem_4", "theorem_5", "slope"),
    "growth": ("regret", "bound", "slope"),
    "variance": ("second_moment", "bound"),
    "unbiased": ("z", "estimate", "exact"),
    "trust_region": ("error", "gap"),
    "gap": ("measured", "exact", "bound", "repaired"),
}


@pytest.mark.parametrize("question", OF_THEORY)
@pytest.mark.parametrize("value", [np.nan, 0.0, np.inf, -1.0, 1e300])
@pytest.mark.parametrize("everywhere", [True, False])
def test_odd_values_in_a_table_of_the_theory(question, value, everywhere):
    table = pd.read_csv(ROOT / PUBLISHED / "tables" / "theory" / f"{question}.csv")
    rows = table.index if everywhere else table.index[:3]
    for name in OF_THEORY[question]:
        for column in {name, f"{name}_low", f"{name}_high"} & set(table):
            table.loc[rows, column] = value
    style.use()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure, caption = import_module(f"figures.theory.{question}").draw(table)
        box = figure.get_tightbbox()
        figure.canvas.draw()
    assert caption
    assert np.allclose([box.width, box.height], figure.get_size_inches(), rtol=0, atol=1.0)
    said = any("not finite" in note for note in notes(figure))
    shown = value in (0.0, -1.0) and question in ("unbiased", "trust_region")  # 0 is 1e-16 there
    assert said is not shown
    style.plt.close(figure)
