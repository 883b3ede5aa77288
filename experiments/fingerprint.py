"""A fingerprint of the code that a result depends on, blind to comments, docstrings and layout.

It goes into the ``params`` of a rule, so that an edit of one optimiser reruns that optimiser and a
better sentence reruns nothing. The versions of the libraries that compute are part of it.
"""

from __future__ import annotations

import ast
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIBRARIES = ("cma", "gymnasium", "mujoco", "numpy", "pymoo", "scipy")  # that numbers hang on


def fingerprint(*modules: str) -> str:
    """Hash of these modules of the project, of all modules of the project that they import, and of
    the versions of LIBRARIES among their imports.
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


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """The hash of a module's code, and what it imports of the project and of LIBRARIES; the version
    of one of these, which is followed no further.
    """
    if module in LIBRARIES:
        return version(module), ()
    path = _path(module)
    assert path is not None, f"no module {module}"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, _DOCUMENTED):
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                body[0] = ast.Pass()
    digest = sha256(ast.dump(tree).encode()).hexdigest()
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
