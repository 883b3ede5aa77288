"""One spelling of each symbol, in plain Unicode: readable where no LaTeX is rendered."""

from __future__ import annotations

import re

SUBSCRIPTS = str.maketrans("0123456789i=", "₀₁₂₃₄₅₆₇₈₉ᵢ₌")
SUPERSCRIPTS = str.maketrans("0123456789-d", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵈ")
WORDS = {
    r"\ell_{1/2}": "ℓ½", r"\ell_1": "ℓ₁", r"\left": "", r"\right": "",
    r"\lvert ": "|", r" \rvert": "|", r"\pi": "π", r"\sin": "sin", r"\cos": "cos", r"\ ": "  ",
}  # fmt: skip
PLAIN = {  # how texts without LaTeX spell them
    r"\bl1/2-": "ℓ½-",
    r"\bl1-": "ℓ₁-",
    r"\bl½-": "ℓ½-",
    r"\b([dT])\^2\b": r"\1²",
    r"\bsigma\b": "σ",
}
FRACTION = re.compile(r"\\frac\{((?:[^{}])*)\}\{((?:[^{}])*)\}")


def plain(text: str) -> str:
    """A text with its $LaTeX$ and its makeshift symbols as Unicode."""
    text = re.sub(r"\$([^$]+)\$", lambda m: formula(m[1]), text)
    for pattern, symbol in PLAIN.items():
        text = re.sub(pattern, symbol, text)
    return text


def formula(latex: str) -> str:
    """A formula of the problem records as Unicode, as far as there are characters for it."""
    for word, symbol in WORDS.items():
        latex = latex.replace(word, symbol)
    while FRACTION.search(latex):
        latex = FRACTION.sub(lambda m: f"{_group(m[1])}/{_group(m[2])}", latex)
    latex = re.sub(r"\\sum_\{([^}]*)\}\^(?:\{([^}]*)\}|(\w))", _sum, latex)
    latex = re.sub(r"_\{?([0-9i])\}?", lambda m: m[1].translate(SUBSCRIPTS), latex)
    latex = latex.replace("^{1/2}", "^½")
    latex = re.sub(r"\^(?:\{([0-9])\}|([0-9]))", _power, latex)
    latex = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", latex)
    return latex.replace("-", "−").replace("{", "").replace("}", "").strip()


def _group(part: str) -> str:
    """A numerator or denominator, in brackets where it is a sum."""
    return f"({part})" if re.search(r"\w[-+]", re.sub(r"\([^()]*\)", "", part)) else part


def _power(found: re.Match[str]) -> str:
    return (found[1] or found[2]).translate(SUPERSCRIPTS)


def _sum(found: re.Match[str]) -> str:
    upper = found[2] or found[3]
    return "Σ" + found[1].translate(SUBSCRIPTS) + upper.translate(SUPERSCRIPTS)
