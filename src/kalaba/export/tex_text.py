"""Words as LaTeX: what TeX reads as commands is escaped, and signs that are not ASCII become mathematics."""

from __future__ import annotations

import re
import unicodedata

PLAIN = str.maketrans(
    {
        **{sign: rf"\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
    }
)
SIGNS = {"−": "$-$", "–": "--", "—": "---", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$"}
SIGNS |= {"≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$", "≈": r"$\approx$", "→": r"$\to$", "∞": r"$\infty$"}
SIGNS |= {"½": r"$\frac12$", "¼": r"$\frac14$", "⅓": r"$\frac13$", "°": r"$^{\circ}$", "′": r"$'$", "‖": r"$\|$"}
SIGNS |= {"²": "$^2$", "³": "$^3$", "⁴": "$^4$", "⁺": "$^+$", "⁻": "$^-$", "¹": "$^1$", "ᵀ": "$^{T}$", "ℓ": r"$\ell$"}
SIGNS |= {"“": "``", "”": "''", "…": r"\dots{}", "µ": r"$\mu$", "∫": r"$\int$", "∑": r"$\sum$", "∂": r"$\partial$"}
SIGNS |= {"\u2018": "`", "\u2019": "'", "∈": r"$\in$"}
ACCENTS = {"̇": "dot", "̈": "ddot", "̂": "hat", "̃": "tilde", "̄": "bar"}
UNIT = re.compile(r"[A-Za-z0-9*/^()+. -]+")
ACCENTED = re.compile(rf"(.)([{''.join(ACCENTS)}])")


def tex_text(words: str) -> str:
    """Words for the text of a LaTeX document; letters that it cannot set are left out."""
    marked = ACCENTED.sub(_accented, unicodedata.normalize("NFD", words))
    return re.sub(r" {2,}", " ", "".join(_sign(piece) for piece in re.split(r"(\x00[^\x00]*\x00)", marked)))


def _accented(match: re.Match[str]) -> str:
    letter, mark = match.groups()
    return f"\x00$\\{ACCENTS[mark]}{{{_greek(letter) or letter}}}$\x00"


def _sign(piece: str) -> str:
    if piece.startswith("\x00"):
        return piece.strip("\x00")
    return "".join(_letter(letter) for letter in piece)


def _letter(letter: str) -> str:
    if letter.isascii():
        return letter.translate(PLAIN)
    if letter in SIGNS:
        return SIGNS[letter]
    greek = _greek(letter)
    if greek:
        return f"${greek}$"
    return "".join(c for c in unicodedata.normalize("NFKD", letter) if c.isascii()).translate(PLAIN)


def _greek(letter: str) -> str:
    """The command of a Greek letter, or nothing."""
    words = unicodedata.name(letter, "").split()
    if len(words) != 4 or words[0] != "GREEK" or words[2] != "LETTER":
        return ""
    name = {"LAMDA": "LAMBDA"}.get(words[3], words[3]).lower()
    if name == "omicron" or (words[1] == "CAPITAL" and name in LATIN_CAPITALS):
        return LATIN_CAPITALS[name] if words[1] == "CAPITAL" else "o"
    return rf"\{name if words[1] == 'SMALL' else name.capitalize()}"


LATIN_CAPITALS = {"alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I", "kappa": "K"}
LATIN_CAPITALS |= {"mu": "M", "nu": "N", "omicron": "O", "rho": "P", "tau": "T", "chi": "X"}


def tex_unit(unit: str) -> str:
    """A unit such as kg*m^2, upright."""
    if not unit or unit == "1":
        return "1" if unit else ""
    if not UNIT.fullmatch(unit):  # in words, or something else
        return tex_text(unit)
    powers = re.sub(r"\^(-?\d+)", r"^{\1}", unit).replace("*", r"\,")
    return rf"$\mathrm{{{powers}}}$"
