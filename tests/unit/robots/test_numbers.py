"""Numbers of paths and laws: each that can be chosen reaches what is run, and none changes it unless it is chosen."""

from itertools import islice

import pytest

from kalaba.errors import ModelError
from kalaba.files.named import named
from kalaba.model.options import Amount, OneOf, Positive
from kalaba.robots.catalogue import ENTRIES, load, scenario

NUMERIC = [
    pytest.param(name, key, id=f"{name} {key}")
    for name, entry in ENTRIES.items()
    for key, option in entry.choices.items()
    if isinstance(option.allowed, Positive | Amount)
]
BY_PARAMETERS = {"spinning-beam"}  # its path is rows of the machine, with parameters of their own


def contexts(entry):
    """The entry as it is, and with each word that one of its options can be: some numbers act under one law alone."""
    yield {}
    for key, option in entry.options.items():
        if isinstance(option.allowed, OneOf):
            yield from ({key: value} for value in option.allowed if value != option.default)


def what_is_run(name, options):
    """System, time, control and stepper; without the words about them."""
    made = scenario(name, **options)
    return made.system, made.duration, made.control, made.stepper


def test_every_path_and_law_has_numbers_to_choose():
    with_numbers = {param.values[0] for param in NUMERIC}
    assert with_numbers == set(ENTRIES) - BY_PARAMETERS


@pytest.mark.parametrize(("name", "key"), NUMERIC)
def test_a_number_that_is_chosen_changes_what_is_run_and_its_default_does_not(name, key):
    entry = ENTRIES[name]
    option = entry.choices[key]
    usual = what_is_run(name, {})
    assert what_is_run(name, {key: option.default}) == usual
    others = [value for value in option.allowed if value != option.default]
    assert others
    for value in islice(others, 2):
        changed = (what_is_run(name, {**c, key: value}) != what_is_run(name, c) for c in contexts(entry))
        assert any(changed), value


@pytest.mark.parametrize(("name", "key"), NUMERIC)
def test_a_number_of_the_scenario_alone_leaves_the_machine_as_it_is_and_is_refused_for_it(name, key):
    entry = ENTRIES[name]
    if key in entry.numbers:
        value = next(iter(entry.numbers[key].allowed))
        assert scenario(name, **{key: value}).system == scenario(name).system
        for alone in (load, lambda machine, **options: named(machine).system(options=options)):
            with pytest.raises(ModelError, match=rf"^{name}\.{key}: the machine alone has no {key};.*kb\.scenario"):
                alone(name, **{key: value})


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_numbers_are_told_apart_from_options_and_refuse_what_is_none(entry):
    assert not set(entry.options) & set(entry.numbers)
    for key in entry.numbers:
        for door in (load, scenario):
            with pytest.raises(ModelError, match=rf"^{entry.name}\.{key}: expected a number"):
                door(entry.name, **{key: -1.0})


def test_numbers_reach_the_law_in_full():
    third = 1 / 3
    control = scenario("five-bar", swing=third, rate=2).control
    assert control["left.motor"].startswith(f"60*(2.2 + {third!r}*sin(2*t) - left.crank.angle)")


def test_numbers_reach_the_path_and_its_words():
    made = scenario("planar-parallel", control="servo", stroke=0.02, frequency=30.0)
    assert made.control.goals[0].path.endswith("+ 0.02*cos(t)")
    assert made.control.frequency == 30.0
    assert made.description.startswith("The end point goes 0.02 m to and fro")
    assert not made.published  # the paper has another stroke
    assert scenario("planar-parallel", control="servo").published
    tracked = load("planar-parallel", tracking=True, stroke=0.02)
    assert {p.name: p.value for p in tracked.machine.parameters}["stroke"] == 0.02


def test_a_circle_that_is_not_the_papers_claims_nothing_of_the_paper():
    made = scenario("pus-upu", diameter=0.1)
    assert (made.published, "not the paper's" in made.description) == ("", True)
    assert made.duration < scenario("pus-upu").duration


def test_a_machine_by_its_name_offers_them():
    assert {"rods", "swing", "rate", "stiffness", "damping"} == set(named("delta").options)
