"""Errors: classes, parts, carets."""

import pickle

import pytest

import etalon


def test_a_malformed_text_is_shown_with_a_caret():
    with pytest.raises(etalon.InvalidModuleError) as caught:
        etalon.load("HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] tahn(x) }")
    error = caught.value
    assert error.code == "E0103"
    assert "tahn" in error.message
    assert "did you mean `tanh`?" in str(error)
    lines = str(error).splitlines()
    assert any(line.lstrip("| ").startswith("^^^^") for line in lines), str(error)
    assert "text:2:51" in str(error)


def test_every_broken_rule_is_in_one_exception():
    module = etalon.load(
        """ENTRY e { x = f32[2] parameter(0)
             a = f32[3] add(x, x)
             ROOT s = f32[1] slice(x), slice={[0:3]} }"""
    )
    with pytest.raises(etalon.InvalidModuleError) as caught:
        module.verify()
    assert [error["code"] for error in caught.value.errors] == ["E0302", "E0301"]
    assert str(caught.value).count("--> text:") == 2
    with pytest.raises(etalon.InvalidModuleError):
        module.run([1, 2])


def test_what_is_not_implemented_is_said():
    module = etalon.load('ENTRY e { x = f32[2] parameter(0) ROOT c = f32[2] custom-call(x), custom_call_target="mine" }')
    with pytest.raises(etalon.UnsupportedError) as caught:
        module.run([1, 2])
    assert isinstance(caught.value, NotImplementedError) and isinstance(caught.value, etalon.Error)
    assert caught.value.code == "E0402"


def test_errors_can_be_pickled():
    with pytest.raises(etalon.Error) as caught:
        etalon.load("ENTRY e { x = f32[2] }")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.code == caught.value.code


def test_numbers_are_explained():
    assert "opcode" in etalon.explain("E0103")
    assert etalon.explain("e103") == etalon.explain("E0103")
    assert "operand" in etalon.explain("reduce-window")
    with pytest.raises(ValueError, match="`E0311` is neither .*the nearest numbers are E0303 and E0401"):
        etalon.explain("E0311")
    with pytest.raises(ValueError, match="did you mean `tanh`"):
        etalon.explain("tahn")


def test_unknown_attributes_are_kept_when_asked():
    text = "ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x), new_attribute={1} }"
    with pytest.raises(etalon.InvalidModuleError):
        etalon.load(text)
    module = etalon.load(text, lenient=True)
    assert "new_attribute" in module.warnings[0]
