"""From the files of tables to the files of a picture, with its caption beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from figures import commands


def save(
    figure: Figure, stem: Path, caption: str, formats: Collection[str] = commands.FORMATS
) -> None:
    """Write the picture in these formats, and its caption beside it: first a paragraph that says
    what is drawn, which is all that the README shows, then how to read it.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    # What is drawn, once for all: "tight", and an engine of layout, as tight_layout leaves one
    # behind, would draw all of it for each file once more.
    figure.set_layout_engine(None)
    box = figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
    for suffix, date in (("pdf", "CreationDate"), ("svg", "Date")):
        if suffix in formats:
            file = stem.with_suffix(f".{suffix}")
            figure.savefig(file, metadata={date: None}, bbox_inches=box)
    if "png" in formats:
        with BytesIO() as drawn:
            figure.savefig(drawn, format="png", bbox_inches=box, pil_kwargs={"compress_level": 0})
            save_png(Image.open(drawn), stem.with_suffix(".png"))
    save_caption(caption, stem)
    plt.close(figure)


def save_caption(caption: str, stem: Path) -> None:
    """Write a caption, and where to read what the results come from."""
    text = f"{caption}\n\n{commands.MANIFEST}\n"
    stem.with_suffix(".md").write_text(text, encoding="utf-8")


def save_png(image: Image.Image, to: Path) -> None:
    """Write a picture in the 256 colours that suit it: a third of the file, the same to the eye."""
    colours, none = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    # kmeans counts pixels: once fewer than so many change their colour, it is good enough.
    few = image.convert("RGB").quantize(256, colours, kmeans=1000, dither=none)
    few.save(to, optimize=True, dpi=image.info.get("dpi"))


def draw_tables(
    kind: str,
    about: str | None,
    draw: Callable[..., tuple[Figure, str]],
    arguments: list[str] | None,
) -> None:
    """What a module does that draws one picture from the tables of an experiment.

    Args:
        kind: the module, a key of ``commands.OPTIONS``.
        about: its docstring.
        draw: from ``commands.tables`` of this kind, ``labels`` and the options of the kind to the
            picture and its caption.
        arguments: of the command line; None takes the process's own.
    """
    args = commands.figure_parser(kind, about).parse_args(arguments)
    names = commands.tables(kind)
    tables = (pd.read_parquet(args.tables / f"{name}.parquet") for name in names)
    options = {option: getattr(args, option) for option in ("labels", *commands.OPTIONS[kind])}
    try:
        figure, caption = draw(*tables, **options)
    except ValueError as error:
        sys.exit(f"error: {error}")
    save(figure, args.to, caption, args.formats)
