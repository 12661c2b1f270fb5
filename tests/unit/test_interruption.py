"""An interruption that a library swallows comes again; where nothing is swallowed, all is as Python has it."""

import signal
import threading
import time

import pytest

from kalaba.interruption import AGAIN, caught, heard


def press():
    signal.raise_signal(signal.SIGINT)


def work(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.001)


def swallow():
    try:
        press()
        work(1)
    except KeyboardInterrupt:
        pass


def inside(*steps):
    """Take steps within a block."""
    with heard():
        for step in steps:
            step()


def test_what_is_not_swallowed_is_raised_at_once():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        inside(press, lambda: reached.append("after"))
    assert reached == []


def test_what_is_swallowed_comes_again():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        inside(swallow, lambda: reached.append("after"), lambda: work(100 * AGAIN), lambda: reached.append("end"))
    assert reached == ["after"]


def test_what_is_swallowed_at_the_very_end_is_raised_there():
    with pytest.raises(KeyboardInterrupt):
        inside(swallow)


def test_an_error_in_the_place_of_what_was_swallowed_is_not_shown():
    def misunderstand():
        raise NotImplementedError("Wrong number or type of arguments")

    with pytest.raises(KeyboardInterrupt):
        inside(swallow, misunderstand)


def test_what_was_caught_for_good_does_not_come_again():
    inside(swallow, caught, lambda: work(3 * AGAIN))


def test_nothing_comes_after_the_block():
    with pytest.raises(KeyboardInterrupt):
        inside(press)
    work(3 * AGAIN)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_within_blocks_are_one():
    with pytest.raises(KeyboardInterrupt):
        inside(inside, swallow, lambda: work(100 * AGAIN))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_program_is_left_in_place():
    got = []
    before = signal.signal(signal.SIGINT, lambda *_: got.append(1))
    try:
        with heard():
            press()
    finally:
        signal.signal(signal.SIGINT, before)
    assert got == [1]


def test_other_threads_are_left_alone():
    handlers = []

    def inner():
        with heard():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inner)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
