//! Reductions: PyTensor's values and types, derivatives, what is refused.
use super::{assert_near, literals, parameters};
use crate::support::{evaluate_on, run};
use builder::Builder;
use builder_compat::pytensor::{Axes, CAReduce, Cotangent, ScalarOp, get_normalized_batch_axes};
use hlo::{ElementType, Literal};

fn axes(text: &str) -> Axes {
    match text {
        "all" => Axes::All,
        list => list.split(',').map(|axis| axis.parse::<i64>().unwrap()).collect::<Vec<_>>().into(),
    }
}

#[test]
fn reductions_are_as_pytensor_has_them() {
    for line in include_str!("reductions.txt").lines() {
        let fields: Vec<&str> = line.split(" | ").collect();
        let (name, axis, up) = (fields[0], fields[1], fields[2]);
        let inputs: Vec<Literal> =
            fields[3..fields.len() - 1].iter().flat_map(|x| literals(x)).collect();
        let expected: Literal = fields[fields.len() - 1].parse().unwrap();
        let b = Builder::new("reduction");
        let x = parameters(&b, &inputs);
        let (way, name) = name.split_once(' ').unwrap_or(("", name));
        let op = CAReduce::new(ScalarOp::from_name(name).unwrap()).unwrap();
        let op = op.axis(axes(axis)).upcast_discrete_output(up == "up");
        let y = op.apply(x[0]);
        let found = match way {
            "pull" => op.pullback(x[0], y, x[1]).value().unwrap(),
            "push" => op.pushforward(x[0], y, x[1]).value().unwrap(),
            _ => y,
        };
        assert_near(&evaluate_on(&b, found, &inputs), &expected, 1.0, line);
    }
}

#[test]
fn the_accumulator_has_its_type() {
    let sum = |acc: Option<ElementType>, ty: Option<ElementType>, input: &str| {
        let b = Builder::new("accumulated");
        let literal: Literal = input.parse().unwrap();
        let x = b.parameter(0, literal.shape(), "x");
        let mut op = CAReduce::new(ScalarOp::Add).unwrap();
        if let Some(acc) = acc {
            op = op.acc_dtype(acc);
        }
        if let Some(ty) = ty {
            op = op.dtype(ty);
        }
        run(&b, op.apply(x), &[input])
    };
    // 2^53 + 1 - 2^53: one bit more than f64 has; with s64 nothing is lost.
    let large = "s64[3] {9007199254740992, 1, -9007199254740992}";
    assert_eq!(sum(None, None, large), "s64[] 1");
    // 100 + 100 is kept in s64, cut off to s8, or given as it is.
    assert_eq!(sum(None, None, "s8[2] {100, 100}"), "s8[] -56");
    assert_eq!(sum(None, Some(ElementType::S16), "s8[2] {100, 100}"), "s16[] 200");
    assert_eq!(sum(Some(ElementType::S8), Some(ElementType::S16), "s8[2] {100, 100}"), "s16[] -56");
    // f16 ends at 65504; the sum goes over it and comes back.
    let f16 = "f16[3] {60000, 60000, -60000}";
    assert_eq!(sum(None, None, f16), "f16[] 60000");
    // Integers may be accumulated in floats.
    let half = sum(Some(ElementType::F32), Some(ElementType::F32), "s32[2] {1, 2}");
    assert_eq!(half, "f32[] 3");
}

#[test]
fn accumulators_that_lose_precision_are_refused() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f64[2]", "x");
    let op = CAReduce::new(ScalarOp::Add).unwrap().acc_dtype(ElementType::F32);
    let error = op.make_node(&x.into()).unwrap_err();
    assert_eq!(error.number(), "E0810");
    assert!(error.to_string().contains("loses precision"), "{error}");
    assert!(error.help().unwrap().contains("accumulate in f64"), "{error}");
    // What is returned is not kept.
    b.status().unwrap();
}

#[test]
fn no_elements_give_the_identity() {
    for (op, ty, expected) in [
        (ScalarOp::Add, "f32", "f32[2]{0} {0, 0}"),
        (ScalarOp::Mul, "s32", "s32[2]{0} {1, 1}"),
        (ScalarOp::And, "u8", "u8[2]{0} {255, 255}"),
        (ScalarOp::And, "pred", "pred[2]{0} {1, 1}"),
        (ScalarOp::Or, "pred", "pred[2]{0} {0, 0}"),
        (ScalarOp::Xor, "s8", "s8[2]{0} {0, 0}"),
    ] {
        let b = Builder::new("empty");
        let x = b.parameter(0, &format!("{ty}[2,0]"), "x");
        let y = CAReduce::new(op).unwrap().axis(1).apply(x);
        assert_eq!(run(&b, y, &[&format!("{ty}[2,0] {{{{}}, {{}}}}")]), expected, "{op}");
    }
    for op in [ScalarOp::Maximum, ScalarOp::Minimum] {
        let b = Builder::new("m");
        let x = b.parameter(0, "f32[2,0]", "x");
        let reduce = CAReduce::new(op).unwrap().axis(-1);
        let error = reduce.make_node(&x.into()).unwrap_err().to_string();
        assert!(error.contains("of no elements: axis 1 has size 0"), "{error}");
        // The other axis has elements: nothing is reduced to nothing.
        let y = CAReduce::new(op).unwrap().axis(0).apply(x);
        assert_eq!(run(&b, y, &["f32[2,0] {{}, {}}"]), "f32[0]{0} {}");
    }
}

#[test]
fn axes_are_named_in_any_way() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2,3,4]", "x");
    let sum = || CAReduce::new(ScalarOp::Add).unwrap();
    let dims = |op: CAReduce| op.make_node(&x.into()).map(|y| y.value().dims().unwrap());
    assert_eq!(dims(sum()).unwrap(), [0i64; 0]);
    assert_eq!(dims(sum().axis(None)).unwrap(), [0i64; 0]);
    assert_eq!(dims(sum().axis(1)).unwrap(), [2, 4]);
    assert_eq!(dims(sum().axis([-1, 0])).unwrap(), [3]);
    assert_eq!(dims(sum().axis(vec![])).unwrap(), [2, 3, 4]);
    assert_eq!(dims(sum().axis(&[2i64][..])).unwrap(), [2, 3]);
    for (op, expected) in [
        (sum().axis(3), "axis 3 does not exist in 3 dimensions"),
        (sum().axis(-4), "axis -4 does not exist in 3 dimensions"),
        (sum().axis([1, -2]), "axis 1 is named twice"),
    ] {
        let error = dims(op).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // A scalar has an axis 0, as in NumPy.
    let scalar = b.parameter(1, "f32[]", "s");
    assert!(sum().axis(0).make_node(&scalar.into()).is_ok());
    assert!(sum().axis(1).make_node(&scalar.into()).is_err());
}

#[test]
fn only_seven_operations_reduce() {
    for op in [ScalarOp::Sub, ScalarOp::TrueDiv, ScalarOp::Pow, ScalarOp::Exp] {
        let error = CAReduce::new(op).unwrap_err();
        assert!(error.to_string().contains("does not reduce"), "{error}");
        assert!(error.location().is_some_and(|l| l.file() == file!()));
    }
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let error = CAReduce::new(ScalarOp::And).unwrap().make_node(&x.into()).unwrap_err();
    assert!(error.to_string().contains("`and_` does not take float32"), "{error}");
}

#[test]
fn products_have_derivatives_where_elements_are_zero() {
    let b = Builder::new("product");
    let x = b.parameter(0, "f32[4,3]", "x");
    let op = CAReduce::new(ScalarOp::Mul).unwrap().axis(1);
    let y = op.apply(x);
    let g = b.constant([1f32, 1.0, 1.0, 2.0]);
    let pulled = op.pullback(x, y, g).value().unwrap();
    let one = b.constant(1f32).broadcast(&[4, 3]);
    let pushed = op.pushforward(x, y, one).value().unwrap();
    let all = b.tuple(&[pulled, pushed]);
    assert_eq!(
        run(&b, all, &["f32[4,3] {{2, 3, 4}, {0, 3, 4}, {0, 0, 4}, {-0, -1, 5}}"]),
        "( f32[4,3]{1,0} { { 12, 8, 6 }, { 12, 0, 0 }, { 0, 0, 0 }, { -10, 0, 0 } }, \
         f32[4]{0} {26, 12, 0, -5} )"
    );
}

#[test]
fn equal_extremes_all_have_the_derivative() {
    let b = Builder::new("extremes");
    let x = b.parameter(0, "f32[2,3]", "x");
    let op = CAReduce::new(ScalarOp::Minimum).unwrap().axis(1);
    let y = op.apply(x);
    let pulled = op.pullback(x, y, b.constant([2f32, 5.0])).value().unwrap();
    let pushed = op.pushforward(x, y, x).value().unwrap();
    let all = b.tuple(&[pulled, pushed]);
    assert_eq!(
        run(&b, all, &["f32[2,3] {{3, 1, 1}, {4, nan, 6}}"]),
        "( f32[2,3]{1,0} { { 0, 2, 2 }, { 0, 0, 0 } }, f32[2]{0} {2, 0} )"
    );
}

#[test]
fn what_is_discrete_has_zeros() {
    let b = Builder::new("m");
    let x = b.parameter(0, "s32[2,3]", "x");
    let y = b.parameter(1, "f32[2,3]", "y");
    for op in [ScalarOp::Add, ScalarOp::Xor, ScalarOp::Maximum] {
        let op = CAReduce::new(op).unwrap().axis(0);
        let out = op.apply(x);
        let pulled = op.pullback(x, out, b.constant(1f64).broadcast(&[3])).value().unwrap();
        assert_eq!(pulled.shape().unwrap().to_string(), "f64[2,3]{1,0}");
    }
    let op = CAReduce::new(ScalarOp::Add).unwrap();
    let out = op.apply(y);
    assert!(op.pullback(y, out, Cotangent::Disconnected).is_disconnected());
    assert!(op.pushforward(y, out, Cotangent::Disconnected).is_disconnected());
    b.status().unwrap();
}

#[test]
fn batch_axes_are_counted_behind_the_batch() {
    // The documented examples.
    assert_eq!(get_normalized_batch_axes(Axes::All, 2, 4).unwrap(), [2, 3]);
    assert_eq!(get_normalized_batch_axes(0, 2, 4).unwrap(), [2]);
    assert_eq!(get_normalized_batch_axes([0, -1], 3, 4).unwrap(), [1, 3]);
    assert_eq!(get_normalized_batch_axes(vec![], 3, 4).unwrap(), [0i64; 0]);
    assert!(get_normalized_batch_axes(2, 2, 4).is_err());
    assert!(get_normalized_batch_axes([0, 0], 2, 4).is_err());
    assert!(get_normalized_batch_axes(Axes::All, 2, 1).is_err());
}
