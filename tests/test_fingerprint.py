"""What the fingerprint of code sees and what not, under whichever Python."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from experiments import fingerprint

ROOT = Path(__file__).parent.parent


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of five modules, of which a imports b, and d both of them, by relative names."""
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    fingerprint._read.cache_clear()
    write(tmp_path, "p/__init__.py", "")
    write(tmp_path, "p/a.py", A)
    write(tmp_path, "p/b.py", "import os\nVALUE = 1\n")
    write(tmp_path, "p/c.py", "OTHER = 1\n")
    write(tmp_path, "p/deep/__init__.py", "")
    write(tmp_path, "p/deep/d.py", "from . import e\nfrom .. import a\n")
    write(tmp_path, "p/deep/e.py", "from ..b import VALUE\n")
    yield tmp_path
    fingerprint._read.cache_clear()


A = '"""Doc."""\nfrom p import b\n\ndef f(x):\n    """Doc."""\n    return x + 1\n'


@pytest.mark.parametrize("module", ["p.a", "p.deep.d"])
@pytest.mark.parametrize(
    ("name", "text", "same"),
    [
        ("p/a.py", A.replace("Doc.", "A better sentence."), True),
        ("p/a.py", A.replace("def", "# why\ndef").replace("x + 1", "(x +\n  1)"), True),
        ("p/a.py", A.replace("x + 1", "x - 1"), False),
        ("p/b.py", "import os\nVALUE = 2\n", False),
        ("p/c.py", "OTHER = 2\n", True),
    ],
)
def test_a_fingerprint_sees_code_and_not_sentences(project, module, name, text, same):
    before = fingerprint.fingerprint(module)
    write(project, name, text)
    fingerprint._read.cache_clear()
    assert (fingerprint.fingerprint(module) == before) is same


def test_a_module_that_is_named_by_a_relative_import_is_seen(project):
    before = fingerprint.fingerprint("p.deep.d")
    write(project, "p/deep/e.py", "from ..b import VALUE as V\n")
    fingerprint._read.cache_clear()
    assert fingerprint.fingerprint("p.deep.d") != before


def test_the_package_of_a_module_is_seen_since_it_runs_first(project):
    before = fingerprint.fingerprint("p.deep.e")
    write(project, "p/deep/__init__.py", "import os\nos.environ['THREADS'] = '2'\n")
    fingerprint._read.cache_clear()
    assert fingerprint.fingerprint("p.deep.e") != before


def test_what_is_imported_for_types_only_is_not_seen(project):
    types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import c\n"
    write(project, "p/a.py", types + A.replace('"""Doc."""\nfrom', "from", 1))
    before = fingerprint.fingerprint("p.a")
    write(project, "p/c.py", "OTHER = 2\n")
    fingerprint._read.cache_clear()
    assert fingerprint.fingerprint("p.a") == before


@pytest.mark.parametrize("library", [*fingerprint.LIBRARIES, *fingerprint.FIELD])
def test_a_fingerprint_sees_the_version_of_a_library_that_is_imported(
    project, monkeypatch, library
):
    (project / "p" / "a.py").write_text(f"def f():\n    import {library}.part\n")
    fingerprint._read.cache_clear()
    before = fingerprint.fingerprint("p.a")
    fingerprint._read.cache_clear()
    package = fingerprint.FIELD.get(library, library)
    monkeypatch.setattr(fingerprint, "version", lambda name: {package: "0.0"}[name])
    assert fingerprint.fingerprint("p.a") != before


def test_a_fingerprint_does_not_need_the_libraries_of_the_field(project, monkeypatch):
    (project / "p" / "a.py").write_text("def f():\n    import cocoex, ioh\n")
    fingerprint._read.cache_clear()

    def not_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(fingerprint, "version", not_installed)
    for made in (fingerprint.fingerprint, fingerprint.fingerprint_of_output):
        assert len(made("p.a")) == 16


def test_what_is_made_of_tables_hangs_on_no_library_of_the_field(project, monkeypatch):
    (project / "p" / "a.py").write_text("def f():\n    import cocoex, ioh\n")
    fingerprint._read.cache_clear()
    before = fingerprint.fingerprint_of_output("p.a")
    monkeypatch.setattr(fingerprint, "version", lambda name: "0.0")
    assert fingerprint.fingerprint_of_output("p.a") == before


# Every kind of syntax that a version of Python is known to parse into another tree.
SOURCE = '''"""A module."""
from __future__ import annotations
import os.path as p, sys
class A(object):
    """Doc."""
    x: int = 1
    def f(self, a, /, b: "int" = 2, *args, c=None, **kw) -> None:
        """Doc."""
        y: float
        return f"{a!r:>{b}} and" f" {c:.3f}" "more" f"{{}}{'q'}", u"text", b"bytes", -1.5e300, 2j
async def g():
    async with a as b, c: pass
    return [i async for i in z if i], {**d}, {1, 2}, lambda *a: (yield), ...
try:
    assert x, "no"
except* (A, B) as e:
    raise e from None
match v:
    case {"a": [1, *_], **rest} if rest: pass
    case A(x=None) | True: pass
while (n := f()): del n
else: pass
'''


def test_one_source_has_one_text_under_every_python():
    """The hash is fixed for good: of this one and of each other Python that is there."""
    code = (
        f"import ast, hashlib, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from experiments.fingerprint import canonical\n"
        "text = canonical(ast.parse(sys.stdin.read()))\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    names = [f"python3.{minor}" for minor in (11, 12, 13, 14)]
    found = {path for name in names if (path := shutil.which(name))}
    for python in {sys.executable, *found}:
        done = subprocess.run(
            [python, "-B", "-c", code], input=SOURCE, capture_output=True, text=True, check=False
        )
        if python != sys.executable and "command not found" in done.stderr:
            continue  # a shim of a Python that is not there
        assert done.stdout.strip() == EXPECTED, (python, done.stderr)


EXPECTED = "cf3b64571623a11c4132ebd2d4aca013e253bf353ec5d87e1b7cdd738d6d6b91"


def test_the_text_tells_trees_apart():
    """A tree that differs in an operator, a name, a constant's type or an order differs in text."""
    pieces = [
        "a + b", "b + a", "a - b", "1", "1.0", "'1'", "True", "None", "(1,)", "[1]", "f(a=1)",
        "f(1)", "f(**a)", "f(*a)", "a.b", "a[b]", "f'{a}'", "f'{a!r}'", "f'{a:1}'", "f'a'",
    ]  # fmt: skip
    texts = {fingerprint.canonical(ast.parse(piece)) for piece in pieces}
    assert len(texts) == len(pieces)
    assert len({sha256(text.encode()).hexdigest() for text in texts}) == len(pieces)
