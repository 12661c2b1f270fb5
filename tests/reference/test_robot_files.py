"""Files of example-robot-data, where the package is installed: mass matrix and bias are Pinocchio's."""

import sysconfig
from pathlib import Path

import pytest

FOLDER = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
FILES = sorted(FOLDER.rglob("*.urdf"))
NEAR = 1e-9  # of the largest entry; they agree to some 1e-15


@pytest.mark.long
@pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_every_file_that_pinocchio_reads_is_the_same_machine_here(base):
    pytest.importorskip("pinocchio")
    from benchmarks.robot_files import compared

    rows = [row for path in FILES if (row := compared(path, base, ())) is not None]
    assert [row for row in rows if row.problem or not max(row.mass, row.bias) < NEAR] == []
