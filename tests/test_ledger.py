"""Which fingerprints are of one class, and what a ledger may hold."""

from __future__ import annotations

import pytest

from experiments import ledger


def classes(*pairs):
    return ledger.Classes.of([{"equal": [pair]} for pair in pairs])


def test_a_fingerprint_that_nothing_is_known_of_is_a_class_of_its_own():
    assert classes()["a"] == "a"
    assert classes(("b", "a"))["c"] == "c"


def test_a_class_is_named_by_its_oldest_member():
    chain = classes(("b", "a"), ("c", "b"), ("d", "c"))
    assert {chain[name] for name in "abcd"} == {"a"}


def test_two_classes_that_are_found_equal_are_one_with_all_their_members():
    joined = classes(("b", "a"), ("y", "x"), ("y", "b"))
    assert {joined[name] for name in "abxy"} == {"a"}
    assert {classes(("b", "a"), ("y", "x"), ("b", "y"))[name] for name in "abxy"} == {"a"}


def test_code_that_comes_back_is_what_it_was():
    assert classes(("b", "a"), ("a", "b"))["b"] == "a"


def test_lines_are_added_and_earlier_ones_stay(tmp_path):
    path = tmp_path / "deep" / "ledger.jsonl"
    assert ledger.read(path) == []
    ledger.append({"equal": [["b", "a"]]}, path)
    first = path.read_bytes()
    ledger.append({"equal": [["c", "b"]]}, path)
    assert path.read_bytes().startswith(first)
    assert ledger.Classes.of(ledger.read(path))["c"] == "a"


@pytest.mark.parametrize("line", ["{", "{}", "[]", '{"equal": ["a"]}', '{"equal": 1}'])
def test_a_line_that_is_no_certificate_is_named(tmp_path, line):
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"equal": [["b", "a"]]}\n' + line + "\n")
    with pytest.raises(ValueError, match=r"ledger\.jsonl, line 2 is no certificate"):
        ledger.read(path)


def test_the_projects_ledger_says_what_was_compared():
    certificates = ledger.read()
    assert certificates
    for certificate in certificates:
        assert all(len(commit) == 40 for commit in (certificate["base"], certificate["head"]))
        assert certificate["cells"] >= len(certificate["equal"]) > 0
        assert {"python", "numpy", "scipy", "mujoco"} <= certificate["versions"].keys()
        assert certificate["machine"]
        assert certificate["cpu_seconds"] > 0
