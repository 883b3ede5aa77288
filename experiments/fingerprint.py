"""A fingerprint of the code that a result depends on, blind to comments, docstrings and layout.

It goes into the ``params`` of a rule, so that an edit of one optimiser reruns that optimiser and a
better sentence reruns nothing. The versions of the libraries that compute are part of it, the
version of Python is not.
"""

from __future__ import annotations

import ast
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from experiments.paths import ROOT

LIBRARIES = ("cma", "gymnasium", "mujoco", "numpy", "pymoo", "scipy")  # that numbers hang on


def fingerprint(*modules: str) -> str:
    """Hash of these modules of the project, of all modules of the project that they import, with
    the packages they are in, and of the versions of LIBRARIES among their imports.
    """
    found: dict[str, str] = {}
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name not in found:
            found[name], imported = _read(name)
            todo += imported
    text = "\n".join(f"{name} {found[name]}" for name in sorted(found))
    return sha256(text.encode()).hexdigest()[:16]


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
    """The hash of a module's code, and what it imports of the project and of LIBRARIES; the version
    of one of these, which is followed no further.
    """
    if module in LIBRARIES:
        return version(module), ()
    path = _path(module)
    assert path is not None, f"no module {module}"
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {module.rpartition(".")[0]}  # the package, whose own module runs first
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body = [ast.Pass()]  # which never runs
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
    libraries = {name.partition(".")[0] for name in imported} & set(LIBRARIES)
    return digest, (*(name for name in imported if _path(name)), *libraries)


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _path(module: str) -> Path | None:
    """The file of a module of this project, or None."""
    stem = ROOT.joinpath(*module.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None
