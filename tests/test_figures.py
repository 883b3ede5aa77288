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
from PIL import Image

from experiments import plan
from experiments.paths import PUBLISHED
from figures import commands, convergence, ecdf, files, regret, reward, stability, style

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
    assert f"in a band from {convergence.BANDS[name][2]}; d = 10, N = 9900.\n" in caption
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
    marks = {line.get_marker() for line in levy.lines if len(line.get_xdata()) == 1}
    assert marks == {"o"}
    marks = {line.get_marker() for line in discus.lines if len(line.get_xdata()) == 1}
    assert marks == {"x"}
    assert any(list(line.get_ydata()) == [2, 2] for line in discus.lines)


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
        ([], {"x": "linear", "band": "range", "column": "batch_min", "target": None}),
        (["--x", "log", "--target", "1e-6"],
         {"x": "log", "band": "range", "column": "batch_min", "target": 1e-6}),
    ],
)  # fmt: skip
def test_options_of_the_command_line_reach_the_picture(tmp_path, words, wanted):
    tables.write(tmp_path, "e", tables.cell("levy", "ingo", [300.0] * 3))
    seen = {}

    def draw(runs, **options):
        seen.update(options, runs=len(runs))
        return style.plt.figure(), "A caption."

    labels = ["--labels", '{"ingo": "INGO"}']
    arguments = [str(tmp_path / "e"), *words, *labels, "--to", str(tmp_path / "picture")]
    files.draw_tables("convergence", "Doc.", draw, ("runs",), arguments)
    assert seen == {**wanted, "labels": {"ingo": "INGO"}, "runs": 3}
    assert (tmp_path / "picture.md").read_text() == (
        "A caption.\n\nRuns, machine and versions: [manifest.json](../manifest.json).\n"
    )
    with pytest.raises(SystemExit):
        files.draw_tables("convergence", "Doc.", draw, ("runs",), [*arguments, "--x", "cubic"])


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
