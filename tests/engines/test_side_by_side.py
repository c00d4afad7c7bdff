import threading
import time

import pytest

from xorder.engines.side_by_side import side_by_side, thread_count


@pytest.mark.parametrize("threads", [1, 3])
def test_each_batch_is_worked_on_once(threads):
    states = [[] for _ in range(threads)]
    side_by_side(iter(range(1000)), lambda batch, state: state.append(batch), states)
    assert sorted(batch for state in states for batch in state) == list(range(1000))


def test_threads_share_the_work():
    states = [[], []]

    def work(batch, state):
        time.sleep(0.001)
        state.append(threading.get_ident())

    side_by_side(iter(range(60)), work, states)
    assert len(set(states[0])) == len(set(states[1])) == 1
    assert states[0][0] != states[1][0]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_the_work_and_is_raised(threads):
    read = []

    def batches():
        for number in range(10_000):
            read.append(number)
            yield number

    def work(batch, state):
        if batch == 5:
            raise RuntimeError("five")
        time.sleep(0.001)

    with pytest.raises(RuntimeError, match="five"):
        side_by_side(batches(), work, [None] * threads)
    assert len(read) < 100


def test_an_error_of_the_reader_is_raised():
    def batches():
        yield 1
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        side_by_side(batches(), lambda batch, state: None, [None, None])


def test_there_is_at_least_one_thread():
    assert 1 <= thread_count() <= 4
