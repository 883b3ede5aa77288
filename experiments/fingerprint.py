"""A fingerprint of the code that a result depends on, blind to comments, docstrings, layout and the
words of errors.

It goes into the ``params`` of a rule, so that an edit of one optimiser reruns that optimiser and a
better sentence reruns nothing. The versions of the libraries that compute are part of it, of tables
and pictures also those that write them. The version of Python is not, but where numbers hang on it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from experiments.paths import ROOT

LIBRARIES = ("cma", "gymnasium", "mujoco", "numpy", "pymoo", "scipy")  # that numbers hang on
FIELD = {"cocoex": "coco-experiment", "ioh": "ioh"}  # and packages of those not always installed
WRITERS = ("matplotlib", "pandas", "pyarrow")  # that tables and pictures are made with, beside them


def fingerprint(*modules: str, libraries: Sequence[str] = (*LIBRARIES, *FIELD)) -> str:
    """Hash of these modules of the project, of all modules of the project that they import, with
    the packages they are in, and of the versions of ``libraries`` among their imports.
    """
    found: dict[str, str] = {}
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name in libraries:
            found[name] = _version(name)
        elif name not in found and _path(name):
            found[name], imported = _read(name)
            todo += imported
    text = "\n".join(f"{name} {found[name]}" for name in sorted(found))
    return sha256(text.encode()).hexdigest()[:16]


def fingerprint_of_output(*modules: str) -> str:
    """The same for a table or a picture, which WRITERS make and no library of the field."""
    return fingerprint(*modules, libraries=(*LIBRARIES, *WRITERS))


def _version(library: str) -> str:
    """The version of a library, with what its numbers hang on beside; nothing if it is one of the
    field that is not installed.
    """
    if library in FIELD:
        try:
            return version(FIELD[library])
        except PackageNotFoundError:
            return ""
    if library != "cma":
        return version(library)
    # From Python 3.12 on ``sum`` makes up for the rounding of floats, and pycma calls it.
    return f"{version(library)}, {'compensated' if sum([0.1] * 10) == 1.0 else 'plain'} sums"


def canonical(node: object) -> str:
    """A syntax tree as text, the same under every supported Python.

    ``ast.dump`` is not: which empty fields it shows, and which fields there are, differs between
    versions. Here a field that is empty or only repeats the context is left out, and neighbouring
    pieces of text in an f-string are one piece.
    """
    if isinstance(node, ast.JoinedStr):
        node = ast.JoinedStr(_joined(node.values))
    if isinstance(node, ast.AST):
        shown = [
            f"{name}={canonical(value)}"
            for name, value in ast.iter_fields(node)
            if name not in ("ctx", "kind", "type_comment") and value is not None and value != []
        ]
        return f"{type(node).__name__}({', '.join(sorted(shown))})"
    if isinstance(node, list):
        return f"[{', '.join(map(canonical, node))}]"
    return repr(node)


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string: neighbouring texts are one, and an empty one is none."""
    parts: list[ast.expr] = []
    for value in values:
        text = value.value if isinstance(value, ast.Constant) else None
        if text is None:
            parts.append(value)
        elif parts and isinstance(parts[-1], ast.Constant):
            parts[-1] = ast.Constant(str(parts[-1].value) + str(text))
        elif text:
            parts.append(ast.Constant(text))
    return parts


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """The hash of a module's code, and what it imports: modules, and names in them."""
    path = _path(module)
    if path is None:
        raise ValueError(f"the project has no module {module}")
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {module.rpartition(".")[0]}  # the package, whose own module runs first
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body = [ast.Pass()]  # which never runs
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc = node.exc.func  # what an error says is no datum
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # `from ..b import c` in a.x.y is a.b and a.b.c, of which the second may be no module
            above = package[: len(package) + 1 - node.level] if node.level else []
            of = ".".join([*above, *([node.module] if node.module else [])])
            imported |= {of} | {f"{of}.{alias.name}" for alias in node.names}
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, _DOCUMENTED):
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                body[0] = ast.Pass()
    digest = sha256(canonical(tree).encode()).hexdigest()
    return digest, (*imported, *{name.partition(".")[0] for name in imported})


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _path(module: str) -> Path | None:
    """The file of a module of this project, or None."""
    stem = ROOT.joinpath(*module.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None
