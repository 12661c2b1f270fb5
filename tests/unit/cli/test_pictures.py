"""The bar of a film: shown on a terminal, and nowhere else."""

import io
import sys

from kalaba.cli.terminal import picture_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_many_pictures_are_drawn(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with picture_bar("four-bar") as progress:
        progress(3, 40)
    assert "drawing four-bar" in stream.getvalue()
    assert "3/40" in stream.getvalue()


def test_a_pipe_sees_nothing(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with picture_bar("four-bar") as progress:
        assert progress is None
    assert stream.getvalue() == ""
