"""PyTorch/XLA on Etalon: each program is a process, since PyTorch/XLA has one device type in each."""

import importlib.util
import os
import subprocess
import sys

import pytest

# Not imported: that takes the device of this process.
HAS_TORCH_XLA = importlib.util.find_spec("torch_xla") is not None
needs_torch_xla = pytest.mark.skipif(not HAS_TORCH_XLA, reason="torch_xla cannot be imported")


def run(program, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "PJRT_DEVICE"}
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**kept, **environment}, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


@pytest.mark.skipif(HAS_TORCH_XLA, reason="torch_xla is here")
def test_what_is_missing_is_said():
    from etalon import torch_xla

    with pytest.raises(ImportError, match="pip install torch==.* torch_xla=="):
        torch_xla.register()


TRAIN = """
import torch, torch_xla
from torch_xla import runtime
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
x, y = torch.randn(6, 4), torch.randn(6, 1)
def loss(device):
    own = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    own.load_state_dict(model.state_dict())
    own = own.to(device)
    steps = torch.optim.Adam(own.parameters(), 0.1)
    for _ in range(3):
        steps.zero_grad()
        value = ((own(x.to(device)) - y.to(device)) ** 2).mean()
        value.backward()
        steps.step()
        torch_xla.sync()
    return value.item()
print(runtime.device_type(), abs(loss(torch_xla.device()) - loss("cpu")) < 1e-5)
"""


@needs_torch_xla
def test_a_model_is_trained():
    assert run("import etalon.torch_xla; etalon.torch_xla.register(engine='fast')" + TRAIN) == ["ETALON", "True"]


@needs_torch_xla
def test_the_environment_chooses_the_device():
    assert run(TRAIN, PJRT_DEVICE="ETALON") == ["ETALON", "True"]


@needs_torch_xla
def test_a_device_in_use_is_not_replaced():
    program = """
import os; os.environ["PJRT_DEVICE"] = "CPU"
import torch_xla; torch_xla.device()
import etalon.torch_xla
try: etalon.torch_xla.register()
except RuntimeError as error: print("runs on CPU" in str(error))
"""
    assert run(program) == ["True"]


@needs_torch_xla
def test_devices_of_threads_communicate():
    program = """
import etalon.torch_xla; etalon.torch_xla.register(devices=4)
import torch, torch_xla, torch_xla.core.xla_model as xm
from torch_xla import runtime
from torch_xla._internal import pjrt
def main():
    x = torch.full((2,), runtime.global_ordinal() + 5.0, device=torch_xla.device())
    total, all = xm.all_reduce(xm.REDUCE_SUM, x), xm.all_gather(x, pin_layout=False)
    torch_xla.sync()
    return total.tolist() == [26, 26] and all.tolist() == [5, 5, 6, 6, 7, 7, 8, 8]
print(*pjrt._run_thread_per_device(0, 1, main, pjrt.initialize_multiprocess).values())
"""
    assert run(program) == ["True"] * 4


@needs_torch_xla
def test_a_program_with_shardings_runs():
    program = """
import etalon.torch_xla; etalon.torch_xla.register(devices=4)
import numpy as np, torch, torch_xla, torch_xla.distributed.spmd as spmd
from torch_xla import runtime
runtime.use_spmd()
x, w = torch.randn(8, 4), torch.randn(4, 3)
own = x.to(torch_xla.device())
spmd.mark_sharding(own, spmd.Mesh(np.arange(4), (4,), ("d",)), ("d", None))
y = own @ w.to(torch_xla.device())
torch_xla.sync()
print(torch.allclose(y.cpu(), x @ w, atol=1e-5))
"""
    assert run(program) == ["True"]
