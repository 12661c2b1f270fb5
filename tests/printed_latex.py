"""A reader of the LaTeX that kalaba prints: letters, + − and products, powers, fractions, brackets, functions.

It knows nothing of how the print was made. Every line `label &= expression` of the align environments is put into
numbers, with the letters' values and with the labels of the lines before it.
"""

import math
import re

FUNCTIONS = {"sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log}
FUNCTIONS |= {"arcsin": math.asin, "arccos": math.acos, "arctan": math.atan, "sinh": math.sinh, "cosh": math.cosh}
FUNCTIONS |= {"tanh": math.tanh, "min": min, "max": max}
NAMED = {"atan2": math.atan2, "sign": lambda x: float((x > 0) - (x < 0))}
SILENT = re.compile(r"\\,|\\quad|&|\\bigl|\\bigr|\\Bigl|\\Bigr|\{\}")
OPEN = {"(": ")", "[": "]", r"\{": r"\}"}


class Reader:
    """Reads one expression with the values of its letters."""

    def __init__(self, text, values):
        self.text = SILENT.sub(" ", text).strip()
        self.place, self.values = 0, values
        self.letters = sorted(values, key=len, reverse=True)

    def _rest(self):
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1
        return self.text[self.place :]

    def _take(self, *words):
        rest = self._rest()
        for word in words:
            if rest.startswith(word):
                self.place += len(word)
                return word
        return ""

    def expression(self):
        total = 0.0
        sign = -1.0 if self._take("-") else 1.0
        while True:
            total += sign * self.product()
            found = self._take("+", "-")
            if not found:
                return total
            sign = -1.0 if found == "-" else 1.0

    def product(self):
        value = self.factor()
        while True:
            self._take(r"\cdot")
            rest = self._rest()
            if not rest or rest[0] in "+-,}]|)<=" or rest.startswith((r"\}", r"\le", r"\ne")):
                return value
            value *= self.factor()

    def factor(self):
        value = self.atom()
        while self._take("^{"):
            exponent = self.expression()
            assert self._take("}")
            value = value**exponent
        return value

    def group(self):
        assert self._take("{")
        value = self.expression()
        assert self._take("}"), self._rest()[:60]
        return value

    def atom(self):
        rest = self._rest()
        for letter in self.letters:
            if rest.startswith(letter) and not re.match(
                r"[A-Za-z]", rest[len(letter) :] if letter[-1].isalpha() and letter[0] == "\\" else ""
            ):
                self.place += len(letter)
                return self.values[letter]
        bracket = self._take(*OPEN)
        if bracket:
            value = self.expression()
            assert self._take(OPEN[bracket]), (bracket, self._rest()[:80])
            return value
        if self._take("{"):
            self.place -= 1
            return self.group()
        number = re.match(r"\d+\.?\d*", rest)
        if number:
            self.place += number.end()
            return float(number.group())
        return self.command()

    def command(self):
        rest = self._rest()
        found = re.match(r"\\([A-Za-z]+)", rest)
        assert found, f"cannot read {rest[:60]!r}"
        self.place += found.end()
        name = found.group(1)
        if name in {"frac", "tfrac"}:
            return self.group() / self.group()
        if name == "sqrt":
            return math.sqrt(self.group())
        if name == "pi":
            return math.pi
        if name == "mathbf":
            return self.condition()
        if name == "operatorname":
            word = re.match(r"\{([^}]*)\}", self._rest())
            self.place += word.end()
            return self.call(NAMED[word.group(1)])
        return self.call(FUNCTIONS[name])

    def condition(self):
        assert self._take("{1}(")
        left = self.expression()
        sign = self._take("<", r"\le", "=", r"\ne")
        right = self.expression()
        assert self._take(")")
        return float({"<": left < right, r"\le": left <= right, "=": left == right, r"\ne": left != right}[sign])

    def call(self, function):
        exponent = None
        if self._take("^{"):
            exponent = self.expression()
            assert self._take("}")
        arguments = []
        if self._take("("):
            arguments.append(self.expression())
            while self._take(","):
                arguments.append(self.expression())
            assert self._take(")")
        else:
            arguments.append(self.atom())
        value = function(*arguments)
        return value if exponent is None else value**exponent


def equations(document):
    """The lines of all align environments, those that go on joined, as (label, text)."""
    found = []
    for block in re.findall(r"\\begin\{align\*\}(.*?)\\end\{align\*\}", document, re.DOTALL):
        for line in block.strip().split("\\\\\n"):
            head, mark, text = line.partition("&=")
            if mark and head.strip():
                found.append([head.strip(), text])
            else:
                found[-1][1] += " " + line
    return found


def numbers(document, letters):
    """All that a document prints, by label, for the values of the letters."""
    values = dict(letters)
    found = {}
    for label, text in equations(document):
        *others, body = text.split(" = ")
        value = Reader(body, values).expression()
        for name in (label, *(other.replace(r"&\quad {}", "").strip() for other in others)):
            found[name] = value
        if not re.match(r"[A-Za-z]_\{\d+,\d+\}$|[Ghkfb]_\{\d+\}$", label):
            values[label] = value
    return found
