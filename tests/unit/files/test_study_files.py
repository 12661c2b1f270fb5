"""Studies as YAML: read as they are written, and refused with file, line and place."""

import pytest

import kalaba as kb

TEXT = """\
kalaba-study: 1
machine: four-bar
options: {control: none}
vary:
  crank.mass: {uniform: {low: 200 g, high: 0.4 kg}}
  coupler.mass: {normal: {mean: 0.8, deviation: 0.05}}
  rocker.mass: {choice: [0.5, 600 g]}
measure:
  speed: peak(abs(rate(rocker.angle)))
samples: 20
sampling: latin-hypercube
seed: 3
duration: 500 ms
stepper: {rk4: 1 ms}
stabilisation: {baumgarte: {frequency: 50}}
control: {motor: 0.1*t}
stop: crank.angle > 4
save_every: 5 ms
max_steps: 100000
"""
PLAIN = TEXT.replace("options: {control: none}\n", "")


def written(folder, text=PLAIN):
    place = folder / "s.yaml"
    place.write_text(text)
    return place


def test_a_study_is_read_as_it_is_written(tmp_path):
    expected = kb.Study(
        "four-bar",
        vary={
            "crank.mass": kb.uniform(0.2, 0.4),
            "coupler.mass": kb.normal(0.8, 0.05),
            "rocker.mass": kb.choice([0.5, 0.6]),
        },
        measure={"speed": "peak(abs(rate(rocker.angle)))"},
        samples=20,
        sampling=kb.studies.LatinHypercube(),
        seed=3,
        duration=0.5,
        stepper=kb.RungeKutta4(1e-3),
        stabilisation=kb.Baumgarte(frequency=50.0),
        control={"motor": "0.1*t"},
        stop="crank.angle > 4",
        save_every=0.005,
        max_steps=100_000,
    )
    assert kb.load_study(written(tmp_path)) == expected


def test_a_machine_that_is_a_file_is_looked_for_beside_the_study(tmp_path):
    kb.scenario("four-bar").save(tmp_path / "mine.yaml")
    study = kb.load_study(written(tmp_path, PLAIN.replace("machine: four-bar", "machine: mine.yaml")))
    assert study.scenario.system == kb.load("four-bar")


def test_options_of_a_machine_are_handed_on(tmp_path):
    text = "kalaba-study: 1\nmachine: n-arm-carry\noptions: {arms: 2}\nvary: {a: {choice: [1]}}\nmeasure: {x: final(t)}"
    with pytest.raises(kb.KalabaError, match="no parameter 'a'"):
        kb.load_study(written(tmp_path, text))
    with pytest.raises(kb.KalabaError, match=r"s\.yaml:2: machine: .*arms"):
        kb.load_study(written(tmp_path, text.replace("2}", "two}")))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{uniform: {low", "{unifrm: {low", r"s\.yaml:4: vary\.crank\.mass\.unifrm: .*did you mean uniform"),
        ("high: 0.4 kg", "high: 0.1 kg", r"s\.yaml:4: vary\.crank\.mass\.uniform: .*smaller number first"),
        ("low: 200 g", "lo: 200 g", r"s\.yaml:4: vary\.crank\.mass\.uniform\.lo: unknown key; did you mean low"),
        ("600 g]", "x]", r"s\.yaml:6: vary\.rocker\.mass\.choice.*expected a number"),
        ("peak(", "peek(", r"s\.yaml:8: measure\.speed: .*did you mean peak"),
        ("crank.mass:", "crnk.mass:", r"s\.yaml:3: vary: .*did you mean crank\.mass"),
        ("samples: 20", "samples: many", r"s\.yaml:9: samples: expected a whole number"),
        ("samples: 20", "samples: 0", r"s\.yaml:9: samples: .*whole number from 1"),
        ("latin-hypercube", "{sobol-indices: 3}", r"s\.yaml:10: sampling.sobol-indices: .*power of 2"),
        ("500 ms", "500 mm", r"s\.yaml:12: duration: expected a time"),
        ("kalaba-study: 1", "kalaba-study: 2", r"s\.yaml:1: kalaba-study: expected kalaba-study: 1"),
        ("machine: four-bar", "machine: fourbar", r"s\.yaml:2: machine: .*did you mean four-bar"),
        ("machine: four-bar", "seeds: 1", r"s\.yaml:2: seeds: unknown key"),
        ("machine: four-bar\n", "", r"s\.yaml:1: expected an entry machine"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(tmp_path, old, new, words):
    assert old in PLAIN
    with pytest.raises(kb.KalabaError, match=words) as refusal:
        kb.load_study(written(tmp_path, PLAIN.replace(old, new)))
    assert "\n" not in str(refusal.value)


def test_what_is_no_study_is_refused(tmp_path):
    with pytest.raises(kb.KalabaError, match="no such file"):
        kb.load_study(tmp_path / "gone.yaml")
    with pytest.raises(kb.KalabaError, match="expected a map"):
        kb.load_study(written(tmp_path, "- 1\n"))
    with pytest.raises(kb.KalabaError, match=r"expected kalaba-study: 1, .* got none"):
        kb.load_study(written(tmp_path, "kalaba: 1\nname: x\n"))
