"""Modules: reading, verifying, running on arrays of NumPy."""

import gzip
import pathlib

import ml_dtypes
import numpy as np
import pytest

import etalon

ADD = "HloModule m\nENTRY e { x = f32[3] parameter(0) y = f32[3] parameter(1) ROOT r = f32[3] add(x, y) }"


def address(array):
    return array.__array_interface__["data"][0]


def test_a_text_is_read_verified_and_run():
    module = etalon.load(ADD).verify()
    assert module.name == "m"
    assert module.parameters == [("x", "f32[3]"), ("y", "f32[3]")]
    assert module.result == "f32[3]"
    result = module.run(np.array([1, 2, 3], np.float32), [10, 20, 30])
    assert result.dtype == np.float32
    assert result.tolist() == [11, 22, 33]
    assert repr(module) == "<etalon.Module m: (f32[3], f32[3]) -> f32[3]>"


@pytest.mark.parametrize("engine", ["exact", "fast", "reference"])
def test_each_engine_runs(engine):
    module = etalon.load("ENTRY e { x = f64[] parameter(0) ROOT r = f64[] exponential(x) }")
    assert module.run(1.0, engine=engine) == np.exp(1.0)


def test_files_and_bytes_are_read(tmp_path):
    path = tmp_path / "add.hlo"
    path.write_text(ADD)
    module = etalon.load(path)
    for source in (str(path), ADD.encode(), module.proto(), module, module.stablehlo(), module.stablehlo(generic=True)):
        again = etalon.load(source)
        assert again.run([1, 2, 3], [1, 1, 1]).tolist() == [2, 3, 4]
    with pytest.raises(FileNotFoundError):
        etalon.load("no/such/file.hlo")
    with pytest.raises(etalon.InvalidModuleError, match="gzip, and damaged"):
        etalon.load(b"\x1f\x8b\x00")
    bomb = tmp_path / "bomb.hlo.gz"
    bomb.write_bytes(gzip.compress(b"\n" * ((1 << 26) + 1)))
    for source in (bomb, bomb.read_bytes()):
        with pytest.raises(etalon.InvalidModuleError, match="unpacks to more than 67108864"):
            etalon.load(source)
    with pytest.raises(etalon.InvalidModuleError):
        etalon.load("/dev/zero")
    with pytest.raises(IsADirectoryError, match="tmp|pytest"):
        etalon.load(tmp_path)
    with pytest.raises(TypeError, match="cannot be read from int"):
        etalon.load(3)


def test_other_files_are_named_and_one_of_several_modules_is_chosen():
    two = ADD + "\n" + ADD.replace("HloModule m", "HloModule n")
    with pytest.raises(etalon.InvalidModuleError, match="text has 2 modules") as caught:
        etalon.load(two)
    assert caught.value.code == "E0614" and "choose one with `module=N`, where 1 is `m`, 2 is `n`" in str(caught.value)
    assert etalon.load(two, module=2).name == "n"
    with pytest.raises(etalon.InvalidModuleError, match="bytes is a ZIP archive, not a module") as caught:
        etalon.load(b"PK\x03\x04")
    assert caught.value.code == "E0613" and "bytes" in etalon.explain("E0613")


def test_functions_and_sizes_of_stablehlo_are_chosen():
    function = "func.func @{0}(%x: tensor<?xf32>) -> tensor<?xf32> {{\n  %y = stablehlo.{0} %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}}\n"
    text = function.format("abs") + "// -----\n" + function.format("sign") + function.format("ceil")
    with pytest.raises(etalon.InvalidModuleError, match="choose one with `module=N`, where 1 is `@abs`, 2 is `@sign`"):
        etalon.load(text)
    with pytest.raises(etalon.InvalidModuleError, match="choose one with `function`: `@ceil`, `@sign`"):
        etalon.load(text, module=2)
    with pytest.raises(etalon.UnsupportedError, match="unknown size"):
        etalon.load(text, module=2, function="ceil")
    module = etalon.load(text, module=2, function="ceil", shapes=["f32[2]"])
    assert module.run(np.float32([-1.5, 2.5])).tolist() == [-1, 3]
    with pytest.raises(ValueError, match="x"):
        etalon.load(text, module=1, shapes=["x"])


def test_stablehlo_is_read():
    module = etalon.load(
        """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
             %y = stablehlo.add %x, %x : tensor<2xf32>
             return %y : tensor<2xf32>
           }"""
    )
    assert module.run([1, 2]).tolist() == [2, 4]


def test_pictures_are_texts():
    module = etalon.load("f { a = f32[] parameter(0) ROOT n = f32[] negate(a) } ENTRY e { x = f32[] parameter(0) ROOT r = f32[] call(x), to_apply=f }")
    assert module.graph().startswith("<!doctype html>")
    assert module.graph("svg").startswith("<svg ") and ">call (f)</text>" in module.graph("svg")
    assert ">negate</text>" in module.graph("svg", computation="f")
    assert 'label="e"' in module.graph("dot") and 'label="e"' not in module.graph("dot", computation="%f")
    assert '"label":"negate"' in module.graph("model-explorer")
    assert "one device" in module.graph("svg", devices=True)
    for arguments, message in [({"computation": "g"}, "no computation `g`"), ({"devices": True}, "svg or dot")]:
        with pytest.raises(ValueError, match=message):
            module.graph("svg" if "computation" in arguments else "html", **arguments)
    with pytest.raises(etalon.InvalidModuleError):
        etalon.load("ENTRY e { x = f32[2] parameter(0) ROOT r = f32[3] negate(x) }").graph("svg")


def names_of_types():
    from etalon._arrays import _ML_DTYPES, _NUMPY

    known = [name for name in _ML_DTYPES if hasattr(ml_dtypes, _ML_DTYPES[name])]
    assert len(known) >= 12
    return [*_NUMPY, *known]


@pytest.mark.parametrize("name", names_of_types())
def test_every_type_goes_in_and_out(name):
    module = etalon.load(f"ENTRY e {{ x = {name}[2,3] parameter(0) ROOT r = {name}[3,2] transpose(x), dimensions={{1,0}} }}")
    dtype = etalon.dtype(name)
    numbers = np.array([[0, 1, 1], [1, 0, 0]]) if name in ("pred", "s1", "u1") else np.array([[0, 1, -2], [1, -1, 0]])
    if name == "s1":
        numbers = -numbers
    if name.startswith("u"):
        numbers = np.abs(numbers)
    array = numbers.astype(dtype)
    result = module.run(array)
    assert result.dtype == dtype
    assert result.shape == (3, 2)
    assert result.tobytes() == array.T.tobytes()


def test_arrays_are_not_copied():
    x = np.ones(1 << 20, np.float32)
    value = etalon._arrays.to_value(x, ("f32", [1 << 20]), "x")
    assert value.__array_interface__["data"][0] == address(x)
    result = etalon._arrays.from_value(value)
    assert address(result) == address(x)
    x = x.astype(ml_dtypes.bfloat16)
    assert address(etalon._arrays.from_value(etalon._arrays.to_value(x, ("bf16", [1 << 20]), "x"))) == address(x)


def test_a_result_shares_memory_with_nothing():
    same = etalon.load("ENTRY e { x = f32[4] parameter(0) ROOT t = (f32[4], f32[4]) tuple(x, x) }")
    x = np.zeros(4, np.float32)
    first, second = same.run(x)
    first[0] = 1
    assert x[0] == 0 and second[0] == 0
    constant = etalon.load("ENTRY e { ROOT c = s32[2] constant({1, 2}) }")
    result = constant.run()
    result[:] = 0
    assert constant.run().tolist() == [1, 2]


def test_arrays_in_other_orders_are_taken():
    module = etalon.load("ENTRY e { x = s32[2,3] parameter(0) ROOT r = s32[6] reshape(x) }")
    x = np.arange(6, dtype=np.int32).reshape(3, 2).T
    assert module.run(x).tolist() == [0, 2, 4, 1, 3, 5]
    assert module.run(np.arange(12, dtype=np.int32).reshape(2, 6)[:, ::2]).tolist() == [0, 2, 4, 6, 8, 10]
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.int32, 6, 1).reshape(2, 3)
    assert module.run(unaligned).tolist() == [0, 2, 4, 1, 3, 5]


def test_tuples_tokens_and_empty_arrays():
    module = etalon.load(
        """ENTRY e { t = (f32[2], (s32[], pred[1])) parameter(0) k = token[] after-all() z = f32[0,3] parameter(1)
             ROOT r = ((f32[2], (s32[], pred[1])), token[], f32[0,3]) tuple(t, k, z) }"""
    )
    (pair, token, empty) = module.run(([1, 2], (3, [True])), np.empty((0, 3), np.float32))
    assert pair[0].tolist() == [1, 2] and pair[1][0] == 3 and pair[1][1].tolist() == [True]
    assert token is None
    assert empty.shape == (0, 3)


def test_wrong_arguments_are_explained():
    module = etalon.load(ADD)
    with pytest.raises(TypeError, match=r"2 parameters \(x: f32\[3\], y: f32\[3\]\), but 1 argument is given"):
        module.run([1, 2, 3])
    with pytest.raises(TypeError, match=r"argument 1 \(`y`\) has type f64\[3\], but .* f32\[3\]; convert it: x.astype\(np.float32\)"):
        module.run([1, 2, 3], np.zeros(3))
    with pytest.raises(etalon.RunError, match="E0401") as caught:
        module.run([1, 2, 3], [1, 2])
    assert caught.value.code == "E0401"
    with pytest.raises(ValueError, match="`slow` is not an engine"):
        module.run([1, 2, 3], [1, 2, 3], engine="slow")


@pytest.mark.parametrize("type, wrong", [("f32", [None]), ("f32", ["1"]), ("f32", [1j]), ("f32", [[1], [2, 3]]), ("s32", [1.5]),
                                        ("s32", [float("nan")]), ("s8", [300]), ("u4", [-1]), ("pred", [2]), ("bf16", [object()])])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_lists_are_not_converted_silently(type, wrong):
    module = etalon.load(f"ENTRY e {{ ROOT x = {type}[1] parameter(0) }}")
    with pytest.raises(TypeError, match=rf"argument 0 \(`x`\) cannot be converted to {type}\[1\]"):
        module.run(wrong)


@pytest.mark.parametrize("type, right", [("f32", [1]), ("f32", [True]), ("s32", [1.0]), ("c64", [1]), ("pred", [1]), ("u4", [1]), ("bf16", [1.0])])
def test_lists_have_the_type_of_the_parameter(type, right):
    module = etalon.load(f"ENTRY e {{ ROOT x = {type}[1] parameter(0) }}")
    result = module.run(right)
    assert result.dtype == etalon.dtype(type) and result[0] == 1


@pytest.mark.parametrize("option", [{"fuel": -1}, {"max_memory": 1e9}, {"seed": None}, {"spill_from": 1.0}, {"time_limit": "1"}])
def test_options_have_types(option):
    module = etalon.load("ENTRY e { ROOT x = f32[] parameter(0) }")
    (name, value), = option.items()
    with pytest.raises(TypeError, match=f"{name}={value!r} is not a"):
        module.run(1, **option)


def test_large_arrays_are_in_files(tmp_path):
    module = etalon.load("ENTRY e { x = u8[] parameter(0) ROOT b = u8[67108864] broadcast(x), dimensions={} }")
    result = module.run(7, spill=tmp_path, spill_from=64 << 20)
    assert result.shape == (1 << 26,) and result.min() == result.max() == 7
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="none: No such file"):
        module.run(7, spill=tmp_path / "none")
    with pytest.raises(ValueError, match="smaller than 67108864"):
        module.run(7, spill=str(tmp_path), spill_from=1)


def test_devices_get_their_arguments():
    module = etalon.load(
        """HloModule m, replica_count=2
        add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
        ENTRY e { x = s32[] parameter(0) ROOT sum = s32[] all-reduce(x), replica_groups={}, to_apply=add }"""
    )
    assert module.devices == 2
    assert module.run(3) == [6, 6]
    assert module.run(devices=[[3], [4]]) == [7, 7]


def test_limits_end_a_run():
    module = etalon.load(ENDLESS)
    with pytest.raises(etalon.RunError, match="E0404"):
        module.run(fuel=1000)
    with pytest.raises(etalon.RunError, match="out of time after 0.1 s"):
        module.run(time_limit=0.1)
    with pytest.raises(ValueError, match="not a number of seconds"):
        module.run(time_limit=-1)
    with pytest.raises(etalon.RunError, match="E0405"):
        etalon.load(ADD).run([1, 2, 3], [1, 2, 3], max_memory=8)


ENDLESS = """t { p = s32[] parameter(0) ROOT t = pred[] constant(true) }
b { ROOT p = s32[] parameter(0) }
ENTRY e { z = s32[] constant(0) ROOT r = s32[] while(z), condition=t, body=b }"""


def test_random_numbers_come_from_the_seed():
    module = etalon.load(
        """ENTRY e { a = f32[] constant(0) b = f32[] constant(1) ROOT r = f32[8] rng(a, b), distribution=rng_uniform }"""
    )
    assert module.run(seed=1).tolist() == module.run(seed=1).tolist()
    assert module.run(seed=1).tolist() != module.run(seed=2).tolist()


def test_a_trace_has_every_instruction(tmp_path):
    trace = etalon.trace(etalon.load(ADD), [1, 2, 3], [1, 1, 1], values=True)
    assert trace.result.tolist() == [2, 3, 4]
    assert [event.name for event in trace.events] == ["r"]
    assert trace.values()["e/r"][0].tolist() == [2, 3, 4]
    trace.save(tmp_path / "trace.json")
    assert '"cat": "add"' in (tmp_path / "trace.json").read_text()


def test_infinities_are_found():
    module = etalon.load("ENTRY e { x = f32[2] parameter(0) y = f32[2] log(x) ROOT r = f32[2] negate(y) }")
    (found,) = etalon.check_nan(module, [1, 0])
    assert found.instruction == "e/y" and found.count == 1
    assert "`log` computes -inf at [1]" in found.text
    with pytest.raises(etalon.RunError, match="E0409"):
        module.run([1, 0], check_nan=True)


def test_the_tests_of_an_op_run_from_python():
    text = (pathlib.Path(__file__).parents[3] / "tests/ops/reverse.hlo").read_text()
    first = text.split("// -----")[0]
    assert etalon.load(first.split("// in:")[0]).verify().devices == 1


def test_a_plugin_is_a_backend(tmp_path, monkeypatch):
    # The process of the plugin imports no modules of the folder it is started in.
    (tmp_path / "copy.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    # The library of the package is a plugin, too.
    module = etalon.load(ADD)
    report = etalon.check(module, [1, 2, 3], [4, 5, 6], backend=pathlib.Path(etalon._etalon.__file__))
    assert report.ok and report.checked == 1, report
    with pytest.raises(ValueError, match="E0706"):
        etalon.check(module, [1, 2, 3], [4, 5, 6], backend=pathlib.Path(__file__))
