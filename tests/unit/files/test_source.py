"""Files are read within their folders, of a sane size, and never in circles."""

from pathlib import Path

import pytest

from kalaba.errors import FileError
from kalaba.files.source import MOST_BYTES, Notes, Source


def file(folder: Path, name: str, text: str = "x") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_beside_is_found(tmp_path):
    source = Source(file(tmp_path, "a.urdf"))
    mesh = file(tmp_path, "meshes/b.stl")
    assert source.find("meshes/b.stl", "here") == mesh.resolve()


@pytest.mark.parametrize("name", ["../secret.txt", "meshes/../../secret.txt", "link.txt", "file://{}/secret.txt"])
def test_a_name_that_leads_out_is_refused(tmp_path, name):
    inside = tmp_path / "model"
    source = Source(file(inside, "a.urdf"))
    (inside / "meshes").mkdir()
    secret = file(tmp_path, "secret.txt")
    (inside / "link.txt").symlink_to(secret)
    with pytest.raises(FileError, match="leads out"):
        source.find(name.format(tmp_path), "here")


def test_a_root_opens_its_folder(tmp_path):
    shared = file(tmp_path, "shared/b.stl")
    source = Source(file(tmp_path, "model/a.urdf"), roots=(tmp_path / "shared",))
    assert source.find("../shared/b.stl", "here") == shared.resolve()


@pytest.mark.parametrize("root", ["", "robot_description"])
def test_packages_are_found_below_a_root_or_as_one(tmp_path, root):
    mesh = file(tmp_path, "robot_description/meshes/b.stl")
    source = Source(file(tmp_path, "elsewhere/a.urdf"), roots=(tmp_path / root,))
    assert source.find("package://robot_description/meshes/b.stl", "here") == mesh.resolve()


def test_a_package_that_the_file_is_in_is_found_within_the_roots(tmp_path):
    mesh = file(tmp_path, "robot_description/meshes/b.stl")
    source = Source(file(tmp_path, "robot_description/urdf/a.urdf"), roots=(tmp_path / "robot_description",))
    assert source.find("package://robot_description/meshes/b.stl", "here") == mesh.resolve()


def test_circles_are_refused(tmp_path):
    a, _ = file(tmp_path, "a.xml"), file(tmp_path, "b.xml")
    with pytest.raises(FileError, match="includes itself"):
        Source(a).including("b.xml", "a.xml:1").including("a.xml", "b.xml:1")


def test_large_and_binary_files_are_refused(tmp_path):
    large = tmp_path / "large.xml"
    with large.open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)
    with pytest.raises(FileError, match="MB"):
        Source(large).text()
    binary = tmp_path / "binary.xml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="UTF-8"):
        Source(binary).text()


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "", "."])
def test_names_that_are_no_files_are_not_found(tmp_path, name):
    assert Source(file(tmp_path, "a.xml")).look_for(name, "here") is None


def test_a_note_stands_once_with_its_places():
    notes = Notes()
    for i in range(9):
        notes.add("no meshes", f"link{i}")
    assert notes.lines == ("no meshes: link0, link1, link2, link3, link4, link5 and 3 more",)


def test_a_file_that_is_not_there_is_answered_with_those_of_a_similar_name(tmp_path):
    file(tmp_path, "gripper.loops.yaml")
    with pytest.raises(FileError, match=r"gripper\.loop\.yaml: no such file; did you mean gripper\.loops\.yaml\?$"):
        Source(tmp_path / "gripper.loop.yaml").text()
    with pytest.raises(FileError, match=r"no such file\. Check the path\.$"):
        Source(tmp_path / "nowhere" / "x.yaml").text()
