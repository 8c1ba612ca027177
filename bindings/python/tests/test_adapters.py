"""Other backends as servers: what they compute, and what they say of what they cannot."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import etalon

# The package without the others of its environment.
FOLDER = tempfile.TemporaryDirectory()
(pathlib.Path(FOLDER.name) / "etalon").symlink_to(pathlib.Path(etalon.__file__).parent)


class Server:
    """A server, asked as `etalon conform --backend-server` asks it."""

    def __init__(self, folder, *command, python=sys.executable, **environment):
        pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONPATH": FOLDER.name, **environment}
        self.process = subprocess.Popen([python, *command], stdin=pipe, stdout=pipe, text=True, env=environment)
        self.folder = folder
        self.hello = self.ask(request="hello", protocol=1, etalon="test")

    def ask(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, f"the server ended with status {self.process.wait()}"
        return json.loads(line)

    def compile(self, text, replicas=1, partitions=1):
        module = etalon.load(text)
        texts = {"hlo": lambda: module.text, "mlir": module.stablehlo}
        files = {}
        for name in self.hello["formats"]:
            (self.folder / name).write_text(texts[name]())
            files[name] = str(self.folder / name)
        return self.ask(request="compile", program=1, replicas=replicas, partitions=partitions, **files)

    def execute(self, **arrays):
        inputs, outputs = self.folder / "in.npz", self.folder / "out.npz"
        np.savez(inputs, **arrays)
        reply = self.ask(request="execute", program=1, inputs=str(inputs), outputs=str(outputs))
        if reply != {"reply": "ok"}:
            return reply
        with np.load(outputs) as file:
            return {name: file[name] for name in file.files}

    def run(self, text, **arrays):
        assert self.compile(text) == {"reply": "ok"}
        return self.execute(**arrays)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        assert self.process.wait(60) == 0 or error[0]


def _missing(name):
    """Returns why an adapter cannot start; none if it can."""
    if name == "xla_evaluator":
        return None if os.environ.get("ETALON_TEST_JAXLIB_0_4_13") else "no Python with jaxlib 0.4.13"
    wheel = {"iree": "iree", "stablehlo": "jaxlib", "jax": "jax"}[name]
    return None if importlib.util.find_spec(wheel) else f"{wheel} is not installed"


ADAPTERS = {"iree": [], "vmvx": ["--target", "vmvx"], "stablehlo": [], "jax": ["--platform", "cpu"], "xla_evaluator": []}


def start(kind, folder, *arguments):
    name = "iree" if kind == "vmvx" else kind
    missing = _missing(name)
    if missing:
        pytest.skip(missing)
    python = os.environ["ETALON_TEST_JAXLIB_0_4_13"] if name == "xla_evaluator" else sys.executable
    return Server(folder, "-m", f"etalon.adapters.{name}", *ADAPTERS[kind], *arguments, python=python)


@pytest.fixture(scope="module", params=ADAPTERS)
def server(request, tmp_path_factory):
    with start(request.param, tmp_path_factory.mktemp(request.param)) as server:
        server.kind = request.param
        yield server


def same(found, **expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape), name
        assert found[name].tobytes() == array.tobytes(), (name, found[name])


def test_a_program_is_compiled_once_and_executed_often(server):
    text = """ENTRY e { x = f32[2,3] parameter(0) y = f32[] parameter(1) s = f32[2,3] broadcast(y), dimensions={}
        a = f32[2,3] add(x, s) ROOT r = (f32[2,3], f32[]) tuple(a, y) }"""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    same(server.run(text, in0=x, in1=np.float32(1)), out0=x + 1, out1=np.array(1, np.float32))
    same(server.execute(in0=x, in1=np.float32(-1)), out0=x - 1, out1=np.array(-1, np.float32))


@pytest.mark.parametrize("type", ["pred", "s8", "u8", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64", "c64", "c128", "s4", "u4", "f8e4m3fn"])
def test_arrays_keep_their_bits(server, type):
    if type == "pred":
        stored = np.array([True, False, True, True, False, True, True, False, True, False])
    else:
        stored = np.array([1, -1 if type[0] in "sfbc" else 3, 2, 0, 7, 1, 1, 2, 3, 5], np.float32).astype(etalon.dtype(type))
        narrow = {"bf16": np.uint16, "f8e4m3fn": np.uint8}
        stored = stored.astype(np.int8 if type[0] == "s" else np.uint8) if type in ("s4", "u4") else stored.view(narrow.get(type, stored.dtype))
    text = f"ENTRY e {{ x = {type}[10] parameter(0) y = {type}[2,5] reshape(x) ROOT r = {type}[5,2] transpose(y), dimensions={{1,0}} }}"
    reply = server.compile(text)
    if reply["reply"] == "unsupported":
        # What a backend lacks is known, and said.
        lacks = {"vmvx": ["c64", "c128"], "xla_evaluator": ["s4", "u4"]}
        assert type in lacks.get(server.kind, []) and reply["message"]
        return
    assert reply == {"reply": "ok"}
    same(server.execute(in0=stored), out0=stored.reshape(2, 5).T)


def test_functions_and_doubles_are_those_of_the_program(server):
    text = "ENTRY e { x = f64[2] parameter(0) c = f64[2] constant({1, 1}) ROOT r = f64[2] add(x, c) }"
    x = np.array([2.0**-40, 2.0**-52])
    same(server.run(text, in0=x), out0=x + 1)
    found = server.run("ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] tanh(x) }", in0=np.array([0.5, -2], np.float32))
    assert np.allclose(found["out0"], np.tanh([0.5, -2]), atol=1e-5)


def test_chlo_is_read(server):
    if server.kind == "xla_evaluator":
        pytest.skip("it reads HLO, and has no asinh")
    reply = server.compile("ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] asinh(x) }")
    if server.kind == "vmvx":
        assert reply["reply"] == "unsupported" and "math.copysign" in reply["message"]
        return
    assert np.allclose(server.execute(in0=np.array([0.5, -2], np.float32))["out0"], np.arcsinh([0.5, -2]), atol=1e-5)


def test_what_cannot_be_done_is_no_failure(server):
    text = "ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] custom-call(x), custom_call_target=\"nobody\" }"
    reply = server.compile(text)
    if reply == {"reply": "ok"}:
        reply = server.execute(in0=np.zeros(2, np.float32))
    assert reply["reply"] == ("failed" if server.kind in ("jax", "xla_evaluator") else "unsupported"), reply
    assert reply["message"]
    # The server goes on.
    x = np.array([1, 2], np.int32)
    same(server.run("ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] add(x, x) }", in0=x), out0=x + x)


@pytest.mark.parametrize("kind", ["stablehlo", "jax"])
def test_several_devices(kind, tmp_path):
    text = """HloModule m, replica_count=2
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
ENTRY e { x = s32[2] parameter(0) r = u32[] replica-id() s = s32[2] all-reduce(x), replica_groups={}, to_apply=add ROOT t = (s32[2], u32[]) tuple(s, r) }"""
    with start(kind, tmp_path, *(["--devices", "2"] if kind == "jax" else [])) as server:
        assert server.compile(text, replicas=2) == {"reply": "ok"}
        found = server.execute(d0_in0=np.array([1, 2], np.int32), d1_in0=np.array([10, 20], np.int32))
        total, ids = np.array([11, 22], np.int32), [np.array(i, np.uint32) for i in range(2)]
        same(found, d0_out0=total, d0_out1=ids[0], d1_out0=total, d1_out1=ids[1])


OWN = """
import os, numpy as np
from etalon.adapters import _server
class Doubles:
    name, formats, devices, accuracies = "doubles", ("hlo",), 1, {"tanh": 4}
    def compile(self, request):
        print("{noise")
        os.write(1, b"{more noise\\n")
        if b"f64" in request.read("hlo"):
            raise _server.Unsupported("f64")
        return lambda arguments: [[2 * x for x in arguments[0]]]
_server.serve(Doubles())
"""


def test_a_backend_of_ones_own(tmp_path):
    with Server(tmp_path, "-c", OWN) as server:
        assert server.hello == {"reply": "hello", "name": "doubles", "formats": ["hlo"], "devices": 1, "accuracies": {"tanh": 4}}
        x = np.array([1, 2], np.float32)
        same(server.run("ENTRY e { ROOT x = f32[2] parameter(0) }", in0=x), out0=2 * x)
        assert server.compile("ENTRY e { ROOT x = f64[2] parameter(0) }") == {"reply": "unsupported", "message": "f64"}
        assert server.execute(in0=np.array(["a"]))["reply"] == "failed"


def test_adapters_need_nothing_native(tmp_path):
    script = "import sys, etalon.adapters._server; assert 'etalon._etalon' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": FOLDER.name}, check=True)
