"""What people expect of a package: arguments by name, the command, notebooks, and the functions of the command."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import etalon

ADD = "HloModule add\nENTRY main { x = f32[3] parameter(0) y = f32[3] parameter(1) ROOT sum = f32[3] add(x, y) }"
EXP = "HloModule powers\nENTRY main { x = f32[4] parameter(0) a = f32[4] negate(x) ROOT e = f32[4] exponential(a) }"
ONES = np.ones(3, np.float32)


def command(*words, **options):
    return subprocess.run([sys.executable, "-m", "etalon", *words], capture_output=True, text=True, **options)


def test_arguments_have_names():
    module = etalon.load(ADD)
    assert module.run(x=ONES, y=[1, 2, 3]).tolist() == [2, 3, 4]
    assert module.run(ONES, y=[1, 2, 3], engine="reference").tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    "arguments, named, message",
    [
        ((ONES,), {"z": 1}, "no parameter `z`"),
        ((ONES,), {"engin": "fast"}, "did you mean `engine`"),
        ((ONES,), {"x": ONES}, "`x` is given twice"),
        ((), {"x": ONES}, "no argument is given for parameter `y`"),
        ((ONES, ONES), {"check_nan": "all"}, "check_nan='all' is neither True nor False"),
        ((ONES, ONES), {"engine": 3}, "engine=3 is not the name"),
    ],
)
def test_wrong_arguments_are_named(arguments, named, message):
    with pytest.raises(TypeError, match=message):
        etalon.load(ADD).run(*arguments, **named)


def test_an_error_of_a_shape_names_the_parameter():
    with pytest.raises(etalon.RunError, match=r"argument 1 \(`y`\) has shape f32\[2\]"):
        etalon.load(ADD).run(ONES, np.ones(2, np.float32))


def test_only_functions_take_arguments():
    with pytest.raises(TypeError, match="only a function takes arguments"):
        etalon.load(ADD, 3)


def test_the_command_is_in_the_package(tmp_path):
    (tmp_path / "add.hlo").write_text(ADD)
    (tmp_path / "wrong.hlo").write_text(ADD.replace("add(x, y)", "ad(x, y)"))
    done = command("run", "add.hlo", "--random", "1", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "f32[3] {0.0218415782, 0.380092919, 1.4677943}\n"), done.stderr
    codes = [command("check", name, cwd=tmp_path).returncode for name in ("add.hlo", "wrong.hlo", "none.hlo")]
    assert codes == [0, 1, 2]
    assert "E0103" in command("check", "wrong.hlo", cwd=tmp_path).stderr
    assert command("--version").stdout.startswith(f"etalon {etalon.__version__}")
    script = pathlib.Path(sys.executable).with_name("etalon")
    assert subprocess.run([script, "--version"], capture_output=True).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_command_ends_with_its_reader_and_with_ctrl_c():
    import signal
    import time

    words = [sys.executable, "-m", "etalon"]
    with subprocess.Popen([*words, "explain", "all-reduce"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.wait(20) in (0, 2) and b"panic" not in process.stderr.read()
    fuzz = [*words, "fuzz", "--backend", "fast", "--count", "100000000"]
    with subprocess.Popen(fuzz, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        # By the signal, or with the code that shells have for it.
        assert process.wait(20) in (-signal.SIGINT, 130)


def test_a_plugin_runs_in_a_process_that_the_command_starts(tmp_path):
    (tmp_path / "add.hlo").write_text(ADD)
    library = etalon._etalon.__file__
    done = command("conform", "--backend", library, "add.hlo", "--random", "1", cwd=tmp_path)
    assert done.returncode == 0 and "1 agree" in done.stdout + done.stderr, done.stderr


def test_modules_tell_their_cost_and_plan():
    module = etalon.load(ADD)
    cost = module.cost()
    assert (cost["flops"], cost["bytes"]) == (3, 36)
    assert "add(%0, %1)" in module.plan() and "engine fast" in module.plan("fast")


def test_modules_are_compared():
    module = etalon.load(ADD)
    swapped = ADD.replace("add(x, y)", "add(y, x)")
    assert module.equal(swapped) and module.diff(ADD) == ""
    assert "+  ROOT sum = f32[3]{0} add(y, x)" in module.diff(swapped)
    different = etalon.equal(ADD, ADD.replace("add(x, y)", "subtract(x, y)"))
    assert not different and different.answer != "equal"


def test_a_backend_is_compared():
    wrong = etalon.conform(EXP, np.ones(4, np.float32), backend="planted:exp")
    right = etalon.conform(EXP, backend="fast")
    assert right.ok and right.records[0]["verdict"] in ("agrees", "within_bound"), right
    assert not wrong.ok and wrong.wrong[0]["verdict"] == "differs" and "powers.hlo: differs" in str(wrong)
    assert etalon.conform(backend="exact", suite="smoke").ok


def test_random_modules_find_a_planted_error(tmp_path):
    found = etalon.fuzz("planted:exp", count=20, folder=tmp_path)
    assert not found.ok and found.files, found
    assert command("test", found.files[0]).returncode == 0
    assert etalon.fuzz("reference", count=3, folder=tmp_path / "none").ok


def test_a_module_is_reduced():
    text = EXP.replace("ROOT e", "e").replace("exponential(a)", "exponential(a) ROOT r = f32[4] add(e, e)")
    smallest = etalon.reduce(text, np.full(4, 2, np.float32), backend="planted:exp")
    assert "exponential" in smallest.text and len(smallest.text.splitlines()) < 12


def test_functions_are_no_backend_of_the_command():
    with pytest.raises(TypeError, match="only `check` takes functions"):
        etalon.conform(ADD, backend=print)


def test_notebooks_show_modules_and_traces():
    assert "<svg" in etalon.load(ADD)._repr_html_()
    assert "<table>" in etalon.trace(ADD, ONES, ONES)._repr_html_()
