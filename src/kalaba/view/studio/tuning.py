"""Sliders of a machine's numbers, and switches of a catalogue entry's options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kalaba.units import printed

if TYPE_CHECKING:
    from kalaba.view.studio.subject import Subject

FIRST = 4  # sliders that are there at once; others are chosen
SHARES = (0.5, 1.5)  # of its value: how far a number can be moved
STEPS = 200
CHOOSE = "choose ..."

Tune = Callable[[dict[str, float]], None]
Switch = Callable[[dict[str, Any]], None]


class Tuning:
    """The folder in which numbers are changed; `tune` is called with all that differ from the machine's own."""

    def __init__(self, gui: Any, folder: Any, tune: Tune) -> None:
        self._gui, self._folder, self._tune = gui, folder, tune
        self._handles: list[Any] = []
        self.sliders: dict[str, Any] = {}
        self._own: dict[str, tuple[float, str]] = {}

    def put(self, subject: Subject) -> None:
        """Offer the numbers of a machine."""
        for handle in self._handles:
            handle.remove()
        self._handles, self.sliders = [], {}
        self._own = {p.name: (p.value, p.unit) for p in subject.parameters}
        with self._folder:
            if subject.fixed or not self._own:
                why = subject.fixed or "This machine has no numbers to change without a new build."
                self._handles.append(self._gui.add_markdown(why))
                return
            chooser = self._gui.add_dropdown("more", (CHOOSE, *self._own), initial_value=CHOOSE)
            reset = self._gui.add_button("As they were")
        self._handles += [chooser, reset]
        for name in list(self._own)[:FIRST]:
            self.add(name)
        chooser.on_update(lambda event: self._chosen(event, chooser))
        reset.on_click(lambda _: self.reset())

    def add(self, name: str) -> None:
        """Add the slider of a number."""
        if name in self.sliders:
            return
        value, unit = self._own[name]
        low, high = sorted(share * value for share in SHARES)
        with self._folder:
            label = name if unit in {"", "1"} else f"{name} [{printed(unit)}]"
            slider = self._gui.add_slider(label, low, high, (high - low) / STEPS, value)
        slider.on_update(self._moved)
        self.sliders[name] = slider
        self._handles.append(slider)

    def reset(self) -> None:
        """Give every number its own value again."""
        for name, slider in self.sliders.items():
            slider.value = self._own[name][0]
        self._tune({})

    @property
    def changed(self) -> dict[str, float]:
        """The numbers that are not the machine's own."""
        return {name: s.value for name, s in self.sliders.items() if s.value != self._own[name][0]}

    def _chosen(self, event: Any, chooser: Any) -> None:
        if event.client is not None and chooser.value in self._own:
            self.add(chooser.value)
            chooser.value = CHOOSE

    def _moved(self, event: Any) -> None:
        if event.client is not None:
            self._tune(self.changed)


class Switches:
    """The folder in which options of a catalogue entry are chosen: motors, allocation, control and others."""

    def __init__(self, gui: Any, folder: Any, switch: Switch) -> None:
        self._gui, self._folder, self._switch = gui, folder, switch
        self.handles: dict[str, Any] = {}
        self._choices: dict[str, dict[str, Any]] = {}

    def put(self, subject: Subject) -> None:
        """Offer the options of an entry; the folder is hidden where there are none."""
        for handle in self.handles.values():
            handle.remove()
        self.handles, self._choices = {}, {}
        options = subject.named.options if subject.named is not None else {}
        self._folder.visible = bool(options)
        with self._folder:
            for name, option in options.items():
                chosen = subject.options[name]
                allowed = {str(choice): choice for choice in (chosen, *option.allowed)}
                self._choices[name] = dict(sorted(allowed.items(), key=lambda pair: _order(pair[1])))
                handle = self._gui.add_dropdown(
                    name, tuple(self._choices[name]), initial_value=str(chosen), hint=option.description
                )
                handle.on_update(self._moved)
                self.handles[name] = handle

    def _moved(self, event: Any) -> None:
        if event.client is not None:
            self._switch({name: self._choices[name][handle.value] for name, handle in self.handles.items()})


def _order(choice: Any) -> tuple[bool, Any]:
    """Numbers by size, before words as they come."""
    is_word = isinstance(choice, str | bool)
    return is_word, 0 if is_word else choice
