"""Real processes that get a real Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120.0  # s of wall time


@dataclass(frozen=True)
class Ended:
    """How a process ended, and the processor time that it took from the interruption to its end, s."""

    code: int
    out: str
    err: str
    took: float


def interrupted(arguments, delay, *, line="", **environment):
    """Start Python, wait for a line that it prints and then some, and interrupt it once."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    try:
        while line and (said := process.stdout.readline()) and line not in said:
            pass
        time.sleep(delay)
        before = spent(process.pid)
        assert process.poll() is None, f"it has ended already: {process.stderr.read()}"
        process.send_signal(signal.SIGINT)
        took, until = 0.0, time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < until:
            took = max(took, spent(process.pid) - before)
            time.sleep(0.02)
        assert process.poll() is not None, "it goes on"
        out, err = process.communicate()
    finally:
        process.kill()
        process.communicate()  # which closes its pipes
    return Ended(process.returncode, out, err, took)


def spent(pid):
    """Processor time that a process has used, s: other work on the computer does not count."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
