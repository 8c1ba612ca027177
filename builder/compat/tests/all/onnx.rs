//! ONNX's broadcasting: the page's shapes, numbers, random shapes, operators, mistakes.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::{evaluate, evaluate_on, near, run};
use builder::{Builder, Value};
use builder_compat::onnx::{self, Gemm, multidirectional, unidirectional};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};
use proptest::prelude::*;

/// The page's shapes; all give (2, 3, 4, 5).
const RESULT: [i64; 4] = [2, 3, 4, 5];
/// A, B; the sum over i of (i + 1) times element i of A + B, and for unidirectional ones of where(X
/// < 0, X * B, X), from `NumPy`. A counts 0, 1, 2 ...; B counts 7, 1007, 2007 ...; X is A - 50.
const MULTIDIRECTIONAL: [(&[i64], &[i64], i64); 5] = [
    (&[2, 3, 4, 5], &[], 626_780),
    (&[2, 3, 4, 5], &[5], 15_386_780),
    (&[4, 5], &[2, 3, 4, 5], 576_083_780),
    (&[1, 4, 5], &[2, 3, 1, 1], 25_273_780),
    (&[3, 4, 5], &[2, 1, 1, 1], 5_730_980),
];
const UNIDIRECTIONAL: [(&[i64], &[i64], i64); 4] = [
    (&[2, 3, 4, 5], &[], 80_360),
    (&[2, 3, 4, 5], &[5], -44_119_640),
    (&[2, 3, 4, 5], &[2, 1, 1, 5], -44_119_640),
    (&[2, 3, 4, 5], &[1, 3, 1, 5], -127_519_640),
];

/// `first`, `first + step`, ... in row-major order.
fn counting(dims: &[i64], first: i64, step: i64) -> Literal {
    let mut literal = Literal::zeros(ArrayShape::new(ElementType::S64, Dims::from_slice(dims)));
    for (n, bytes) in (0..).zip(literal.bytes_mut().chunks_exact_mut(8)) {
        Scalar::Signed(first + n * step).write(ElementType::S64, bytes);
    }
    literal
}
fn whole(literal: &Literal) -> Vec<i64> {
    (0..literal.len()).map(|i| literal.get(i).as_i64().unwrap()).collect()
}
fn weighted(literal: &Literal) -> i64 {
    whole(literal).into_iter().zip(1..).map(|(x, weight)| x * weight).sum()
}
type Operator = for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>;
type Case = (Operator, fn(i64, i64) -> i64);

#[test]
fn the_pages_multidirectional_shapes_have_numpys_values() {
    for (a, b_dims, sum) in MULTIDIRECTIONAL {
        assert_eq!(multidirectional(&[a, b_dims]).unwrap(), RESULT);
        assert_eq!(multidirectional(&[b_dims, a]).unwrap(), RESULT);
        let b = Builder::new("multidirectional");
        let x = b.constant(counting(a, 0, 1));
        let y = b.constant(counting(b_dims, 7, 1000));
        let result = evaluate_on(&b, onnx::add(x, y), &[]);
        assert_eq!(result.array_shape().unwrap().dims.as_slice(), RESULT);
        assert_eq!(weighted(&result), sum, "{a:?} {b_dims:?}");
    }
}

/// Each operator on each pair of the page, element by element: those of `counting` differ in every
/// place.
#[test]
fn the_pages_operators_take_its_shapes() {
    let all: [Case; 6] = [
        (onnx::div, |x, y| x / y),
        (onnx::equal, |x, y| i64::from(x == y)),
        (onnx::greater, |x, y| i64::from(x > y)),
        (onnx::less, |x, y| i64::from(x < y)),
        (onnx::mul, |x, y| x * y),
        (onnx::sub, |x, y| x - y),
    ];
    for (a, b_dims, _) in MULTIDIRECTIONAL {
        let b = Builder::new("operators");
        let (left, right) = (counting(a, -20, 3), counting(b_dims, 7, 3));
        let (x, y) = (b.constant(left.clone()), b.constant(right.clone()));
        for (operator, of) in all {
            let result =
                evaluate_on(&b, operator(x, y).convert_element_type(ElementType::S64), &[]);
            assert_eq!(result.array_shape().unwrap().dims.as_slice(), RESULT);
            let element = |i: usize| {
                let at = i64::try_from(i).unwrap();
                let x = element_of(a, &whole(&left), &RESULT, at);
                of(x, element_of(b_dims, &whole(&right), &RESULT, at))
            };
            assert_eq!(whole(&result), (0..result.len()).map(element).collect::<Vec<i64>>());
        }
    }
}

#[test]
fn the_pages_unidirectional_shapes_have_numpys_values() {
    for (a, slope, sum) in UNIDIRECTIONAL {
        assert_eq!(unidirectional(a, slope).unwrap(), RESULT);
        let b = Builder::new("unidirectional");
        let x = b.constant(counting(a, -50, 1));
        let slope_value = b.constant(counting(slope, 7, 1000));
        let result = evaluate_on(&b, onnx::prelu(x, slope_value), &[]);
        assert_eq!(weighted(&result), sum, "{a:?} {slope:?}");
    }
}

/// The rule read word by word: pad to one number of dimensions, then each dimension has one length
/// besides 1.
fn by_definition(shapes: &[Vec<i64>]) -> Option<Vec<i64>> {
    let rank = shapes.iter().map(Vec::len).max()?;
    let mut result = vec![];
    for from_end in (1..=rank).rev() {
        let mut lengths: Vec<i64> = vec![];
        for shape in shapes {
            lengths.push(if shape.len() < from_end { 1 } else { shape[shape.len() - from_end] });
        }
        lengths.retain(|&length| length != 1);
        lengths.dedup();
        match lengths.as_slice() {
            [] => result.push(1),
            [one] => result.push(*one),
            [_, ..] => return None,
        }
    }
    Some(result)
}

/// Element `at`, counted in row-major order of `dims`, of an array of these sizes that is repeated
/// to `dims`.
fn element_of(sizes: &[i64], values: &[i64], dims: &[i64], mut at: i64) -> i64 {
    let (mut place, mut step) = (0, 1);
    for (from_end, &length) in dims.iter().rev().enumerate() {
        let index = at % length;
        at /= length;
        if let Some(&own) = sizes.iter().rev().nth(from_end) {
            place += step * if own == 1 { 0 } else { index };
            step *= own;
        }
    }
    values[usize::try_from(place).unwrap()]
}

fn shapes() -> impl Strategy<Value = Vec<Vec<i64>>> {
    // Few lengths, and more 1s than others, so that many fit.
    let length = prop_oneof![3 => Just(1i64), 2 => Just(2), 1 => Just(3), 1 => Just(0)];
    prop::collection::vec(prop::collection::vec(length, 0..5), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_shapes_broadcast_as_defined(shapes in shapes()) {
        let borrowed: Vec<&[i64]> = shapes.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(multidirectional(&borrowed).ok(), by_definition(&shapes));
        let (a, b) = (&shapes[0], &shapes[shapes.len() - 1]);
        let onto = by_definition(&[a.clone(), b.clone()]).filter(|both| both == a);
        prop_assert_eq!(unidirectional(a, b).ok(), onto);
    }
}
proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_values_meet_as_defined(shapes in shapes()) {
        let Some(dims) = by_definition(&shapes) else { return Ok(()) };
        let b = Builder::new("any_values");
        let literals: Vec<Literal> = (1..).zip(&shapes).map(|(n, dims)| counting(dims, n, 7 * n)).collect();
        let inputs: Vec<Value<'_>> = literals.iter().map(|literal| b.constant(literal)).collect();
        let found = whole(&evaluate_on(&b, onnx::max(&b, &inputs), &[]));
        let count: i64 = dims.iter().product();
        let expected: Vec<i64> = (0..count).map(|at| {
            let each = shapes.iter().zip(&literals).map(|(sizes, l)| element_of(sizes, &whole(l), &dims, at));
            each.max().unwrap()
        }).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn one_input_stays_as_it_is() {
    let b = Builder::new("one");
    let x = b.parameter(0, "f32[2]", "x");
    let all = [onnx::max(&b, &[x]), onnx::mean(&b, &[x]), onnx::min(&b, &[x]), onnx::sum(&b, &[x])];
    assert_eq!(
        run(&b, b.tuple(&all), &["f32[2] {1, 2}"]),
        "( f32[2]{0} {1, 2}, f32[2]{0} {1, 2}, f32[2]{0} {1, 2}, f32[2]{0} {1, 2} )"
    );
    let error = b.build(onnx::mean(&b, &[])).unwrap_err();
    assert_eq!(error.number(), "E0801");
    assert!(error.to_string().contains("Mean: between 1 and 2147483647 tensors"), "{error}");
}

/// By hand.
#[test]
fn many_inputs_are_broadcast_to_each_other() {
    let b = Builder::new("many");
    let (x, y, z) = (b.constant([[1f32], [5.0]]), b.constant([2f32, 7.0]), b.constant(3f32));
    let inputs = [x, y, z];
    let all = [
        onnx::max(&b, &inputs),
        onnx::min(&b, &inputs),
        onnx::sum(&b, &inputs),
        onnx::mean(&b, &inputs),
    ];
    let result = evaluate(&b, b.tuple(&all), &[]);
    let expected = [
        [3.0, 7.0, 5.0, 7.0],
        [1.0, 1.0, 2.0, 3.0],
        [6.0, 11.0, 10.0, 15.0],
        [2.0, 11.0 / 3.0, 10.0 / 3.0, 5.0],
    ];
    for (found, expected) in result.leaves().into_iter().zip(expected) {
        near(found, &expected, 1e-7, 0.0);
    }
}

/// By hand; `NumPy` has the same.
#[test]
fn operators_have_their_values() {
    let b = Builder::new("operators");
    let (n, d) = (b.constant([7i32, -7, i32::MIN, 5]), b.constant([2i32, 2, -1, 0]));
    assert_eq!(run(&b, onnx::div(n, d), &[]), "s32[4]{0} {3, -3, -2147483648, -1}");
    let (t, u) = (b.constant([[true], [false]]), b.constant([true, false]));
    let logic = [onnx::and(t, u), onnx::or(t, u), onnx::xor(t, u), onnx::equal(t, u)];
    let expected = "( pred[2,2]{1,0} { { 1, 0 }, { 0, 0 } }, pred[2,2]{1,0} { { 1, 1 }, { 1, 0 } }, \
        pred[2,2]{1,0} { { 0, 1 }, { 1, 0 } }, pred[2,2]{1,0} { { 1, 0 }, { 0, 1 } } )";
    assert_eq!(run(&b, b.tuple(&logic), &[]), expected);
    let (x, y) = (b.constant([1f32, 2.0, f32::NAN]), b.constant(2f32));
    let order = [
        onnx::greater(x, y),
        onnx::less(x, y),
        onnx::equal(x, y),
        onnx::mul(x, y),
        onnx::sub(x, y),
    ];
    let expected = "( pred[3]{0} {0, 0, 0}, pred[3]{0} {1, 0, 0}, pred[3]{0} {0, 1, 0}, f32[3]{0} {2, 4, nan}, f32[3]{0} {-1, 0, nan} )";
    assert_eq!(run(&b, b.tuple(&order), &[]), expected);
}

/// `NumPy`'s `power(...).astype(...)`, but for 3 to the power 2^63 + 2, which wraps: 3 has order
/// 2^30 modulo 2^32, so that it is 9.
#[test]
fn powers_keep_the_type_of_the_base() {
    let b = Builder::new("pow");
    let narrow = onnx::pow(b.constant([2i32, -3, 5]), b.constant([2u8, 3, 1]));
    let float = onnx::pow(b.constant([2.5f32, 9.0]), b.constant([3i64, -2]));
    let root = onnx::pow(b.constant([2i64, 9]), b.constant([-1f32, 0.5]));
    let same = onnx::pow(b.constant([2i32, -1]), b.constant([-1i32, -3]));
    let large = onnx::pow(b.constant([3i32]), b.constant([(1u64 << 63) + 2]));
    let text = run(&b, b.tuple(&[narrow, float, root, same, large]), &[]);
    assert_eq!(
        text,
        "( s32[3]{0} {4, -27, 5}, f32[2]{0} {15.625, 0.0123456791}, s64[2]{0} {0, 3}, s32[2]{0} {0, -1}, s32[1]{0} {9} )"
    );
    let error = b.build(onnx::pow(b.constant([2u8]), b.constant([2u8]))).unwrap_err();
    assert!(error.to_string().contains("Pow: X is tensor(uint8)"), "{error}");
}

/// Values of `NumPy`: `0.5 * A @ B + 2 * C`.
#[test]
fn gemm_broadcasts_its_third_input() {
    let b = Builder::new("gemm");
    let x = b.constant([[1f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let y = b.constant([[1f32, 0.0, -1.0], [2.0, 1.0, 3.0]]);
    let halves = Gemm { alpha: 0.5, beta: 2.0, ..Gemm::default() };
    let expected = "f32[3,3]{1,0} { { 22.5, 21, 22.5 }, { 45.5, 42, 44.5 }, { 68.5, 63, 66.5 } }";
    let column = b.constant([[10f32], [20.0], [30.0]]);
    assert_eq!(run(&b, onnx::gemm(x, y, Some(column), halves), &[]), expected);
    let (xt, yt) = (x.transpose(&[1, 0]), y.transpose(&[1, 0]));
    let turned = Gemm { trans_a: true, trans_b: true, ..halves };
    let row = b.constant([1f32, 2.0, 3.0]);
    let expected = "f32[3,3]{1,0} { { 4.5, 5, 8.5 }, { 7.5, 6, 10.5 }, { 10.5, 7, 12.5 } }";
    assert_eq!(run(&b, onnx::gemm(xt, yt, Some(row), turned), &[]), expected);
    let (n, m) = (b.constant([[1i32, 2]]), b.constant([[3i32], [4]]));
    let twice = Gemm { alpha: 2.0, ..Gemm::default() };
    assert_eq!(run(&b, onnx::gemm(n, m, None, twice), &[]), "s32[1,1]{1,0} { {22} }");
}

#[test]
fn gemm_refuses_what_has_no_meaning() {
    let refusal = |a: &str, b_shape: &str, c: &str, attributes: Gemm| {
        let b = Builder::new("gemm");
        let [x, y, z] = [(0, a), (1, b_shape), (2, c)].map(|(n, shape)| b.parameter(n, shape, ""));
        let error = b.build(onnx::gemm(x, y, Some(z), attributes)).unwrap_err();
        format!("{}: {error}", error.number())
    };
    let plain = Gemm::default();
    let cases = [
        (
            refusal("f32[2]", "f32[2,3]", "f32[3]", plain),
            "E0801",
            "Gemm: A is a matrix, this is f32[2]",
        ),
        (
            refusal("f32[2,3]", "f32[4,3]", "f32[3]", Gemm { trans_a: true, ..plain }),
            "E0801",
            "Gemm: transpose(f32[2,3]) and f32[4,3] cannot be multiplied",
        ),
        (
            refusal("f32[2,3]", "f32[3,4]", "f32[3]", plain),
            "E0802",
            "Gemm: C of shape (3,) is not unidirectional broadcastable to A' * B' of shape (2, 4): dimension 1 has lengths 4 and 3",
        ),
        (
            refusal("f32[1,3]", "f32[3,4]", "f32[2,4]", plain),
            "E0802",
            "Gemm: C of shape (2, 4) is not unidirectional broadcastable to A' * B' of shape (1, 4)",
        ),
        (
            refusal("f32[2,3]", "f64[3,4]", "f32[4]", plain),
            "E0810",
            "Gemm: A is tensor(float), B is tensor(double), and all inputs have one type",
        ),
        (
            refusal("s32[2,3]", "s32[3,4]", "s32[4]", Gemm { beta: 0.5, ..plain }),
            "E0807",
            "Gemm: beta is 0.5, and the inputs are tensor(int32)",
        ),
        (
            refusal("s64[2,3]", "s64[3,4]", "s64[4]", Gemm { alpha: 1e30, ..plain }),
            "E0807",
            "Gemm: alpha is",
        ),
        (refusal("s8[2,3]", "s8[3,4]", "s8[4]", plain), "E0810", "Gemm: A is tensor(int8)"),
    ];
    for (found, number, message) in cases {
        assert!(found.starts_with(number) && found.contains(message), "{found}");
    }
}

#[test]
fn mistakes_are_told_in_its_words() {
    let refusal = |l: &str, r: &str, operator: for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>| {
        let b = Builder::new("refused");
        let (x, y) = (b.parameter(0, l, "x"), b.parameter(1, r, "y"));
        let error = b.build(operator(x, y)).unwrap_err();
        format!("{}: {error}", error.number())
    };
    let cases = [
        (
            refusal("f32[2,3]", "f32[4,3]", onnx::add),
            "E0802",
            "Add: (2, 3), (4, 3) are not multidirectional broadcastable: dimension 0 has lengths 2 and 4",
        ),
        (
            refusal("f32[3]", "s32[3]", onnx::mul),
            "E0810",
            "Mul: A is tensor(float), B is tensor(int32), and all inputs have one type",
        ),
        (refusal("f32[3]", "f32[3]", onnx::and), "E0810", "And: A is tensor(float)"),
        (refusal("pred[3]", "pred[3]", onnx::less), "E0810", "Less: A is tensor(bool)"),
        (refusal("c64[3]", "c64[3]", onnx::equal), "E0810", "Equal: A is tensor(complex64)"),
        (refusal("s4[3]", "s4[3]", onnx::sub), "E0810", "Sub: A is tensor(int4)"),
        (
            refusal("f32[5]", "f32[2,3]", onnx::prelu),
            "E0802",
            "PRelu: slope of shape (2, 3) is not unidirectional broadcastable to X of shape (5,)",
        ),
        (
            refusal("f32[<=4]", "f32[4]", onnx::add),
            "E0811",
            "Add: (<=4,), (4,) are not multidirectional broadcastable",
        ),
    ];
    for (found, number, message) in cases {
        assert!(found.starts_with(number) && found.contains(message), "{found}");
    }
    assert_eq!(multidirectional(&[]).unwrap_err().number(), "E0801");
    assert_eq!(multidirectional(&[&[-1]]).unwrap_err().number(), "E0801");
    assert_eq!(unidirectional(&[2], &[-2]).unwrap_err().number(), "E0801");
    let error = unidirectional(&[4, 5], &[1, 4, 5]).unwrap_err();
    assert!(
        error.to_string().contains(
            "B of shape (1, 4, 5) is not unidirectional broadcastable to A of shape (4, 5)"
        ),
        "{error}"
    );
}

#[test]
fn dynamic_dimensions_keep_their_size() {
    let b = Builder::new("dynamic");
    let (x, y) = (b.parameter(0, "s32[2,<=3]", "x"), b.parameter(1, "s32[1,<=3]", "y"));
    let result = onnx::add(x, onnx::mul(y, b.constant([[10i32]])));
    let text = run(&b, result, &["s32[2,2] {{1, 2}, {3, 4}}", "s32[1,2] {{5, 6}}"]);
    assert_eq!(text, "s32[2,2]{1,0} { { 51, 62 }, { 53, 64 } }");
}
