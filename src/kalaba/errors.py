"""What can go wrong: one base, one subclass per stage.

A message answers four things on one line: what, where (a dotted path of names), what was expected, what to try.
"""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_MESSAGE = 2000  # letters
SHOWN_NAMES = 12  # how many existing names a message lists before it says how many more there are


def one_line(text: str, longest: int = 10**6) -> str:
    """A text in a message: its line breaks and control codes left out, cut where it is too long."""
    if len(text) > longest:
        text = f"{text[: longest - 3]}..."
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


class KalabaError(Exception):
    """Anything kalaba refuses or fails to do."""

    def __str__(self) -> str:
        """The message, on one line whatever a value in it says of itself; the middle of an endless one is left out."""
        text = one_line(super().__str__())
        return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 400]} ... {text[-390:]}"


class ModelError(KalabaError):
    """A description of a machine that cannot be right."""


class ExpressionError(ModelError):
    """An expression that cannot be read; says which word and where it stands.

    The message is one line; positions count characters from 0::

        unknown word 'crnk.angle' at 5 in "0.2*(crnk.angle)"; did you mean crank.angle?
    """

    def __init__(self, problem: str, text: str, position: int, remedy: str = "") -> None:
        """Compose the message; `position` is where in `text` the problem starts."""
        self.problem = problem
        self.text = text
        self.position = position
        self.remedy = remedy
        message = f'{problem} at {position} in "{text}"'
        super().__init__(f"{message}; {remedy}" if remedy else message)

    def __reduce__(self) -> tuple[type["ExpressionError"], tuple[str, str, int, str]]:
        """Pickle by the parts, so that the error survives the way back from a worker process."""
        return type(self), (self.problem, self.text, self.position, self.remedy)


class DeriveError(KalabaError):
    """Equations that cannot be derived from a System by the chosen method."""


class ConstraintError(KalabaError):
    """Constraints that contradict each other or that no motion can obey."""


class NotFiniteError(ConstraintError):
    """Equations that have no finite value at a state."""


class AssemblyError(ConstraintError):
    """Loops that cannot close near the start that was given."""


class KinematicsError(KalabaError):
    """A pose or a velocity that an arm cannot have."""


class NativeError(KalabaError):
    """Machine code that cannot be emitted, compiled, cached or called."""


class IntegrationError(KalabaError):
    """A simulation that stopped early; `run` holds the part that was integrated."""

    def __init__(self, message: str, run: object | None = None) -> None:
        """Keep the partial run beside the message."""
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> tuple[type["IntegrationError"], tuple[str, object | None]]:
        """Pickle with the partial run."""
        return type(self), (str(self), self.run)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; `run` holds the part that was integrated."""

    def __init__(self, message: str, run: object | None = None) -> None:
        """Keep the partial run beside the message."""
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> tuple[type["Interrupted"], tuple[str, object | None]]:
        """Pickle with the partial run."""
        return type(self), (str(self), self.run)


class ControlError(KalabaError):
    """Goals that the actuators cannot reach, or a controller that cannot be built."""


class FileError(KalabaError):
    """A file that cannot be read or written; the message names the place in it."""


class ViewError(KalabaError):
    """A picture that cannot be drawn because a run or a machine has nothing to show in it."""


class CommandError(KalabaError):
    """A command line that asks for something that does not exist."""


def near(name: object, known: Iterable[str], limit: int = 5) -> str:
    """Say which known names resemble `name`, or which names exist if none does.

    Gives a remedy to end a message with: "did you mean a, b?", "known names: a, b, c" or "there are none".
    A name that matches after its last dot counts as near, so `angle` finds `crank.angle`.
    """
    names = sorted(set(known))
    if not names:
        return "there are none"
    if not isinstance(name, str):
        name = ""
    last_word = name.rpartition(".")[2]
    same_ending = [n for n in names if n.rpartition(".")[2] == last_word]
    close = list(dict.fromkeys(get_close_matches(name, names, n=limit) + same_ending))[:limit]
    if close:
        return f"did you mean {', '.join(close)}?"
    more = len(names) - SHOWN_NAMES
    listed = ", ".join(names[:SHOWN_NAMES])
    return f"known names: {listed} and {more} more" if more > 0 else f"known names: {listed}"
