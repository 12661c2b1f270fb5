"""Machines read from MJCF have the equations that MuJoCo has for them."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.files.mjcf import read

mujoco = pytest.importorskip("mujoco")
from benchmarks.peers.mujoco_files import Peer, differences  # noqa: E402  (needs MuJoCo)

# Of the largest entry: both sum some hundred products.
ROUNDING = 1e-11
AXES = 1e-7  # the same for meshes: MuJoCo finds their axes of inertia to some 1e-8 (their moments agree to rounding)

ORIENTATIONS = """<mujoco>
  <compiler angle="radian" eulerseq="zYx"/>
  <worldbody>
    <body pos="0 0 1" quat="1 2 0 1"><joint axis="1 1 0"/><geom type="box" size=".1 .2 .3" euler=".1 .2 .3"/>
      <body pos="1 0 0" axisangle="1 2 3 .7"><joint/><geom type="cylinder" size=".1 .4" xyaxes="1 1 0 0 1 1"/>
        <body pos="0 1 0" zaxis="1 -1 .5"><joint axis="0 1 0"/><geom type="ellipsoid" size=".1 .2 .3" zaxis="0 0 -1"/>
          <site name="tool" pos="0 0 .1" xyaxes="0 1 0 0 0 1"/></body></body></body>
  </worldbody></mujoco>"""
CLASSES = """<mujoco>
  <default><joint damping="1" armature=".1"/><geom density="500" type="capsule" size=".05 .2"/>
    <default class="light"><geom density="100"/><default class="stiff"><joint stiffness="7" springref="20"/></default>
    </default></default>
  <default><joint damping="2"/></default>
  <worldbody><body name="a" childclass="light"><joint name="j"/><geom/>
    <body name="b" pos="0 0 1"><joint name="k" class="stiff" axis="0 1 0"/><geom class="main"/>
      <body pos="0 1 0" childclass="stiff"><joint axis="1 0 0" ref="30" range="-90 90"/><geom fromto="0 0 0 1 1 0"/>
      </body></body></body></worldbody></mujoco>"""
FRAMES = """<mujoco>
  <worldbody><frame pos="0 0 1" euler="0 0 90"><body name="a"><joint axis="1 0 0"/><geom size=".2" pos="0 1 0"/>
    <frame euler="0 90 0" pos="1 0 0"><joint axis="0 0 1" pos=".1 .2 .3"/><geom type="box" size=".1 .2 .3"/>
      <body pos="0 0 1"><joint type="slide" axis="0 1 1"/><geom size=".1"/></body></frame></body></frame>
    <replicate count="3" offset="0 2 0" euler="0 0 30" sep="-"><body name="p" pos="1 0 0"><joint name="q" axis="0 1 0"/>
      <geom size=".1" pos="0 0 -.5"/></body></replicate></worldbody></mujoco>"""
CHAINS = """<mujoco><option gravity="0 1 -5"/>
  <worldbody><body name="cart" pos="1 2 3" euler="20 30 0"><joint type="slide" axis="1 0 0" ref=".3"/>
    <joint type="hinge" axis="0 1 0" pos="0 0 .4" ref="15" springref="10" stiffness="3"/>
    <joint type="hinge" axis="1 0 1" pos=".1 0 0"/><geom type="box" size=".3 .2 .1" mass="3"/>
    <body name="ball" pos="0 0 1"><joint type="slide" axis="0 0 1" damping=".3"/>
      <joint type="ball" pos="0 .2 0" damping=".4"/><geom type="capsule" size=".1 .3" pos=".1 0 0"/></body></body>
  </worldbody></mujoco>"""
FLOATING = """<mujoco>
  <worldbody><body name="base" pos="0 0 2" euler="10 20 30" gravcomp=".4">
    <joint type="free" damping=".2" armature=".3" name="root"/>
    <inertial pos=".1 .2 .3" mass="4" fullinertia="2 3 4 .1 .2 .3"/>
    <body pos="1 0 0"><joint axis="0 1 0" name="wing"/>
      <inertial pos="0 .1 0" euler="40 0 0" mass="1" diaginertia="1 2 2.5"/>
      <body gravcomp="1" pos="0 0 1"><geom size=".2"/></body></body></body>
    <body><freejoint/><geom type="cylinder" size=".1 .2" shellinertia="true"/></body></worldbody></mujoco>"""
SHELLS = """<mujoco><compiler inertiagrouprange="1 2" settotalmass="12" boundmass=".01" boundinertia=".001"/>
  <worldbody><body><joint axis="1 2 3"/><geom group="1" type="box" size=".1 .2 .3" shellinertia="true" density="30"/>
      <geom group="2" type="capsule" size=".1 .3" pos="1 0 0" shellinertia="true" density="20" euler="30 0 0"/>
      <geom group="0" size="5"/><geom group="1" size=".3" pos="0 1 0" shellinertia="true" mass="2"/>
      <body pos="0 0 1"><joint axis="0 1 0"/><geom group="1" size=".01" type="sphere" mass=".001"/></body></body>
  </worldbody></mujoco>"""
LINES = """<mujoco><worldbody>
    <body name="a" pos="0 0 1"><joint name="x" axis="0 1 0" range="-1 1"/><geom size=".1" pos=".3 0 0"/>
      <site name="s" pos=".2 0 0"/>
      <body name="b" pos=".6 0 0"><joint name="y" axis="0 1 0" ref="30" springdamper=".4 .7"/>
        <geom size=".1" pos=".3 0 0"/><site name="p" pos=".4 .1 0"/></body></body>
    <body name="c" pos="0 2 0"><joint name="z" type="slide"/><geom size=".1"/><site name="t"/></body><site name="o"/>
  </worldbody>
  <tendon><fixed name="pair" stiffness="4" damping="2" armature=".3"><joint joint="x" coef="2"/>
    <joint joint="y" coef="-1"/></fixed>
    <spatial name="rope" stiffness="5" damping="1" springlength=".5"><site site="o"/><site site="s"/>
      <site site="p"/><pulley divisor="2"/><site site="p"/><site site="t"/></spatial>
    <spatial name="heavy" armature=".2"><site site="o"/><site site="p"/></spatial></tendon>
  <actuator><motor name="m" joint="x" gear="3" armature=".2" damping=".3"/></actuator></mujoco>"""
MESH = """<mujoco><asset>
    <mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .2 .3 .1" scale="10 20 5" refpos=".1 0 0" refquat="1 0 1 0"/>
    <mesh name="n" vertex="0 0 0 9 0 0 0 8 0 0 0 7" face="0 2 1 0 1 3 1 2 3 0 3 2" inertia="{rule}"/></asset>
  <worldbody><body><joint axis="1 1 0"/><geom type="mesh" mesh="m" pos="1 0 0" euler="0 40 0"/>
    <body pos="1 0 0"><joint/><geom type="mesh" mesh="n" mass="2"/></body></body></worldbody></mujoco>"""
MODELS = {
    "orientations": ORIENTATIONS,
    "classes": CLASSES,
    "frames": FRAMES,
    "chains": CHAINS,
    "floating": FLOATING,
    "shells": SHELLS,
    "lines": LINES,
    **{f"mesh {rule}": MESH.format(rule=rule) for rule in ("legacy", "exact", "convex", "shell")},
}


def both(tmp_path, text):
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    return Peer(mujoco.MjModel.from_xml_path(str(path))), read(path)


@pytest.mark.filterwarnings("ignore")  # of MuJoCo, which gives settotalmass up
@pytest.mark.parametrize("name", MODELS)
def test_mass_matrix_and_bias_are_those_of_mujoco(tmp_path, name):
    peer, described = both(tmp_path, MODELS[name])
    mass, bias = differences(peer, described.system)
    assert max(mass, bias) < (AXES if name.startswith("mesh") else ROUNDING)


@pytest.mark.parametrize("name", ["orientations", "frames", "chains", "floating"])
def test_frames_of_bodies_and_sites_are_where_mujoco_has_them(tmp_path, name):
    peer, described = both(tmp_path, MODELS[name])
    plant = kb.build(described.system, backend=kb.Interpreted())
    q, _ = peer.random_state(np.random.default_rng(2))
    for kind, count, positions, rotations in (
        (mujoco.mjtObj.mjOBJ_BODY, peer.model.nbody, peer.data.xpos, peer.data.xmat),
        (mujoco.mjtObj.mjOBJ_SITE, peer.model.nsite, peer.data.site_xpos, peer.data.site_xmat),
    ):
        for index in range(count):
            label = mujoco.mj_id2name(peer.model, kind, index)
            if label and label != "world":
                position, rotation = plant.pose(label.replace("-", "_"), q)
                assert position == pytest.approx(positions[index], abs=1e-12)  # of some metres
                assert rotation == pytest.approx(rotations[index].reshape(3, 3), abs=1e-12)


EQUALITIES = """<mujoco><worldbody>
    <body name="a" pos="0 0 1" euler="10 0 20"><joint name="x" axis="0 1 0" ref="12"/><geom size=".1" pos=".3 0 0"/>
      <site name="s" pos=".5 .1 0" euler="30 0 0"/></body>
    <body name="b" pos="1 0 1"><joint name="y" axis="1 1 0" ref="-20"/><joint name="z" type="slide" ref=".2"/>
      <geom size=".1" pos=".1 0 0"/><site name="t" pos="-.3 0 0"/></body>
    <body name="c" pos="0 1 1" euler="0 0 50"><freejoint/><geom type="box" size=".1 .2 .3"/></body></worldbody>
  <tendon><fixed name="f"><joint joint="x" coef="2"/><joint joint="z" coef="-1"/></fixed>
    <spatial name="r"><site site="s"/><site site="t"/></spatial></tendon>
  <equality><connect name="pin" body1="a" body2="b" anchor=".3 .2 .1"/><connect name="sites" site1="s" site2="t"/>
    <connect name="ground" body1="c" anchor=".1 0 0"/>
    <joint name="cam" joint1="x" joint2="y" polycoef=".1 .2 .3 .4 .5"/><joint name="lock" joint1="z" polycoef=".3"/>
    <tendon name="line" tendon1="f" tendon2="r" polycoef=".1 2 -.3 0 0"/><tendon name="taut" tendon1="r"/></equality>
</mujoco>"""


def test_rows_are_the_residuals_of_mujocos_equalities(tmp_path):
    peer, described = both(tmp_path, EQUALITIES)
    plant = kb.build(described.system, backend=kb.Interpreted())
    q, _ = peer.random_state(np.random.default_rng(4))
    there = peer.data.efc_pos[: peer.data.ne]
    signs = np.array([-1.0] * 9 + [1.0] * 4)  # points: child less seat here, body 1 less body 2 there
    assert plant.residual(q) == pytest.approx(signs * there, abs=1e-12)  # of metres and radians


WELDS = """<mujoco><worldbody>
    <body name="a" pos="0 0 1" euler="10 0 20"><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
      <site name="s" pos=".5 .1 0" euler="30 0 0"/></body>
    <body name="c" pos="0 1 1" euler="0 0 50"><freejoint/><geom size=".1"/>
      <site name="t" pos=".1 0 0" euler="0 9 0"/></body>
  </worldbody><equality><weld {}/></equality></mujoco>"""


@pytest.mark.parametrize(
    "weld",
    [
        'body1="a" body2="c"',
        'body1="c"',
        'body1="a" body2="c" relpose=".1 .2 .3 1 .2 .3 0"',
        'body1="a" body2="c" anchor=".1 .2 .3" relpose=".1 .2 .3 1 .2 .3 0"',
        'site1="s" site2="t"',
    ],
)
def test_a_weld_that_is_closed_here_is_closed_in_mujoco(tmp_path, weld):
    peer, described = both(tmp_path, WELDS.format(weld))
    plant = kb.build(described.system, backend=kb.Interpreted())
    peer.data.qpos[peer.q] = plant.start.q
    mujoco.mj_forward(peer.model, peer.data)
    assert peer.data.ne == len(plant.constraints) == 6
    assert np.abs(peer.data.efc_pos[:6]).max() < 1e-12  # m, rad: the start closes to rounding
