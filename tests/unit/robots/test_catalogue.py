"""The catalogue: every entry says what it is, and mistakes are answered on one line."""

import subprocess
import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest

import kalaba.robots
from kalaba.derive.kinematics import Kinematics
from kalaba.errors import ModelError
from kalaba.model.options import Amount, Option, Positive, Whole
from kalaba.model.text.expressions import parse
from kalaba.plant.laws import Controller
from kalaba.robots import catalogue
from kalaba.robots.catalogue import ENTRIES, catalog, load, scenario
from kalaba.robots.entry import Entry

SUPPORT = {"__init__", "catalogue", "cooperation", "entry", "feedback", "published", "recognise", "summaries"}


MANY = 8  # combinations; above this one option at a time is changed


def choices(entry: Entry) -> list[dict[str, object]]:
    """Every combination of an entry's options; of many, one option changed at a time, ranges by their ends."""
    values = {name: _values(option.allowed) for name, option in entry.options.items()}
    combinations = [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]
    if len(combinations) <= MANY:
        return combinations
    return [{}, *({name: value} for name, found in values.items() for value in found)]


def _values(allowed: Iterable[object]) -> list[object]:
    return [allowed.first, allowed.last] if isinstance(allowed, Whole) else list(allowed)


CASES = [pytest.param(name, o, id=f"{name} {o or ''}") for name, entry in ENTRIES.items() for o in choices(entry)]


def test_every_module_is_listed():
    modules = {path.stem for path in Path(kalaba.robots.__file__).parent.glob("*.py")} - SUPPORT
    assert {name.replace("-", "_") for name in ENTRIES} == modules


def test_the_catalogue_gives_a_name_and_a_line_each():
    assert catalog() == tuple((name, entry.summary) for name, entry in ENTRIES.items())
    assert all(summary and "\n" not in summary for _, summary in catalog())
    assert all(entry.name == name for name, entry in ENTRIES.items())
    assert all(one.source == ENTRIES[one.name].source and one.source for one in catalog())


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_every_entry_says_where_it_comes_from_and_what_can_be_chosen(entry):
    assert entry.source
    assert all(option.description and option.default in option.allowed for option in entry.options.values())
    assert all(all(erratum) for erratum in entry.errata)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_every_machine_loads_and_every_number_has_a_unit_and_a_meaning(name, options):
    system = load(name, **options)
    assert system.name == name
    assert system.machine.parameters
    assert [p.name for p in system.machine.parameters if not (p.unit and p.description)] == []


@pytest.mark.parametrize(("name", "options"), CASES)
def test_every_scenario_drives_motors_that_exist_with_laws_that_can_be_read(name, options):
    found = scenario(name, **options)
    assert found.system == load(name, **options)
    assert found.description
    assert found.duration > 0
    kinematics = Kinematics(found.system.machine)
    control = found.control or {}
    if isinstance(control, Controller):
        return  # it names no motors; it is refused, or not, with the machine that is built
    assert set(control) <= {actuator.name for actuator in found.system.machine.actuators}
    for law in control.values():
        assert kinematics.value(parse(law)).shape == (1, 1)


def test_other_numbers_reach_the_machine_and_the_scenario():
    for system in (load("four-bar", {"crank.mass": 0.5}), scenario("four-bar", {"crank.mass": 0.5}).system):
        assert {p.name: p.value for p in system.machine.parameters}["crank.mass"] == 0.5


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("four-bra", {}, "no machine 'four-bra' in the catalogue; did you mean four-bar?"),
        ("four-bar", {"path": True}, "four-bar: no option 'path'; known names: gain, speed"),
        ("dual-mobile-arm", {"paht": True}, "dual-mobile-arm: no option 'paht'; did you mean path?"),
        (
            "dual-mobile-arm",
            {"closure": "welds"},
            "dual-mobile-arm.closure: expected 'parts' or 'weld', got 'welds'; the paper's rows, or one rigid joint.",
        ),
        (
            "floating-flexible-arm",
            {"carrier": "free"},
            (
                "floating-flexible-arm.carrier: expected a number above 0 or 'fixed', got 'free'; "
                "mass and inertia of the carrier over the paper's."
            ),
        ),
        (
            "floating-flexible-arm",
            {"carrier": -1.0},
            (
                "floating-flexible-arm.carrier: expected a number above 0 or 'fixed', got -1.0; "
                "mass and inertia of the carrier over the paper's."
            ),
        ),
        (
            "five-bar",
            {"motors": 4},
            "five-bar.motors: expected 2 or 3, got 4; motors on the two cranks, and a third at the left elbow.",
        ),
    ],
)
@pytest.mark.parametrize("door", [load, scenario])
def test_a_wrong_name_or_option_is_answered_with_the_right_ones(door, name, options, message):
    with pytest.raises(ModelError) as caught:
        door(name, **options)
    assert str(caught.value) == message


def test_a_name_unlike_all_others_is_answered_with_the_list():
    with pytest.raises(ModelError, match="known names: bennett, delta"):
        load("xyzzy")


@pytest.mark.parametrize("value", [1, 0, "True", None])
def test_only_a_truth_value_is_a_truth_value(value):
    with pytest.raises(ModelError, match="expected True or False"):
        load("dual-mobile-arm", path=value)


def test_a_range_of_numbers_is_told_by_its_ends():
    arms = Option(default=2, allowed=Whole(1, 64), description="how many arms carry the load")
    arms.check("n.arms", 64)
    with pytest.raises(ModelError, match=r"^n\.arms: expected a whole number from 1 to 64, got 65; how many arms"):
        arms.check("n.arms", 65)


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), True, None, "loose"])
def test_a_number_above_zero_is_just_that(value):
    factor = Option(default=1.0, allowed=Positive(("fixed",)), description="how heavy it is")
    for fine in (2, 0.1, "fixed", *factor.allowed):
        factor.check("n.factor", fine)
    assert str(factor.allowed) == "any number above 0, fixed"
    with pytest.raises(ModelError, match=r"^n\.factor: expected a number above 0 or 'fixed', got"):
        factor.check("n.factor", value)


@pytest.mark.parametrize("value", [-1, float("inf"), float("nan"), True, None, "much"])
def test_an_amount_is_a_number_from_zero(value):
    gap = Option(default=0.0, allowed=Amount(), description="how wide it is")
    for fine in (0, 0.1, *gap.allowed):
        gap.check("n.gap", fine)
    assert str(gap.allowed) == "any number from 0"
    with pytest.raises(ModelError, match=r"^n\.gap: expected a number from 0, got"):
        gap.check("n.gap", value)


def test_a_wrong_parameter_names_the_near_ones():
    with pytest.raises(ModelError, match=r"no parameter 'crank\.mas'; did you mean crank\.mass"):
        load("four-bar", {"crank.mas": 1.0})


def test_a_machine_is_imported_without_the_others():
    loaded = "[name for name, module in sys.modules.items() if 'kalaba.robots.' in name and hasattr(module, 'ENTRY')]"
    code = f"import sys; from kalaba.robots.catalogue import ENTRIES; list(ENTRIES), 'x' in ENTRIES; print({loaded})"
    code += f"; ENTRIES['four-bar']; print({loaded})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["[]", "['kalaba.robots.four_bar']"]


def test_the_entries_cannot_be_changed():
    with pytest.raises(TypeError):
        catalogue.ENTRIES["mine"] = None
