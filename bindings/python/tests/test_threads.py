"""The lock of the interpreter, signals, forks."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import etalon
from test_run import ENDLESS


def test_other_threads_run_during_a_run():
    module = etalon.load(ENDLESS)
    counted = 0

    def run():
        with pytest.raises(etalon.RunError):
            module.run(time_limit=0.5)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        counted += 1
        time.sleep(0.001)
    assert counted > 50


def test_many_threads_run_one_module():
    module = etalon.load("ENTRY e { x = f32[100] parameter(0) ROOT y = f32[100] tanh(x) }")
    x = np.linspace(-3, 3, 100, dtype=np.float32)
    expected = module.run(x).tolist()
    results = []
    threads = [threading.Thread(target=lambda: results.append(module.run(x).tolist())) for _ in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [expected] * 16


PROGRAMS = {
    "run": "etalon.load(ENDLESS).run()",
    "check": "etalon.check(etalon.load(ENDLESS), backend='fast')",
    "callable": "etalon.check(etalon.load('ENTRY e { ROOT c = s32[] constant(1) }'), backend=lambda m, a: time.sleep(60))",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_ctrl_c_ends_a_run(program):
    script = f"""
import etalon, signal, time
from test_run import ENDLESS
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    {PROGRAMS[program]}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(etalon.load("ENTRY e {{ ROOT c = s32[] constant(7) }}").run())
"""
    folder = os.path.dirname(__file__)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=folder, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        start = time.time()
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
    finally:
        child.kill()
    assert out == "interrupted\n7\n"
    assert time.time() - start < 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_runs():
    script = """
import etalon, os
module = etalon.load("ENTRY e { x = s32[] parameter(0) ROOT y = s32[] add(x, x) }")
module.run(1)
child = os.fork()
if child == 0:
    os._exit(int(module.run(21)))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)
