//! MAX Graph's functions: values, promotion, broadcasting, mistakes.
#![expect(clippy::unreadable_literal, reason = "values of mpmath as it prints them")]
use crate::support::{build, evaluate, near, run};
use builder::{Builder, Value};
use builder_compat::max_graph;
use hlo::ElementType::{self, Bf16, F16, F32, F64, Pred, S8, S32, U8};

type Unary = for<'b> fn(Value<'b>) -> Value<'b>;
type Binary = for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>;

/// The functions of one operand, and whether they take `pred`, integers, floats.
const UNARY: [(&str, Unary, [bool; 3]); 22] = [
    ("abs", max_graph::abs, [false, true, true]),
    ("cos", max_graph::cos, [false, false, true]),
    ("erf", max_graph::erf, [false, false, true]),
    ("exp", max_graph::exp, [false, false, true]),
    ("floor", max_graph::floor, [false, false, true]),
    ("gelu", max_graph::gelu, [false, false, true]),
    ("is_inf", max_graph::is_inf, [true, true, true]),
    ("is_nan", max_graph::is_nan, [true, true, true]),
    ("log", max_graph::log, [false, false, true]),
    ("log1p", max_graph::log1p, [false, false, true]),
    ("logsoftmax", max_graph::logsoftmax, [false, false, true]),
    ("relu", max_graph::relu, [false, true, true]),
    ("round", max_graph::round, [false, false, true]),
    ("roundeven", max_graph::roundeven, [false, false, true]),
    ("rsqrt", max_graph::rsqrt, [false, false, true]),
    ("sigmoid", max_graph::sigmoid, [false, false, true]),
    ("silu", max_graph::silu, [false, false, true]),
    ("sin", max_graph::sin, [false, false, true]),
    ("softmax", max_graph::softmax, [false, false, true]),
    ("sqrt", max_graph::sqrt, [false, false, true]),
    ("tanh", max_graph::tanh, [false, false, true]),
    ("trunc", max_graph::trunc, [false, false, true]),
];
/// The functions of two operands, what two `pred` and what two `s32` give; nothing where they are
/// refused.
const BINARY: [(&str, Binary, Option<ElementType>, ElementType); 12] = [
    ("add", |x, y| max_graph::add(x, y), None, S32),
    ("div", |x, y| max_graph::div(x, y), None, F64),
    ("max", |x, y| max_graph::max(x, y), Some(Pred), S32),
    ("min", |x, y| max_graph::min(x, y), Some(Pred), S32),
    ("mod", |x, y| max_graph::mod_(x, y), None, S32),
    ("mul", |x, y| max_graph::mul(x, y), None, S32),
    ("pow", |x, y| max_graph::pow(x, y), None, S32),
    ("sub", |x, y| max_graph::sub(x, y), None, S32),
    ("equal", |x, y| max_graph::equal(x, y), Some(Pred), Pred),
    ("greater", |x, y| max_graph::greater(x, y), Some(Pred), Pred),
    ("greater_equal", |x, y| max_graph::greater_equal(x, y), Some(Pred), Pred),
    ("not_equal", |x, y| max_graph::not_equal(x, y), Some(Pred), Pred),
];

fn parameter(b: &Builder, number: i64, ty: ElementType) -> Value<'_> {
    b.parameter(number, (ty, &[2i64][..]), "")
}

#[test]
fn each_function_takes_its_types_and_gives_its_type() {
    for (name, function, taken) in UNARY {
        for (ty, taken) in [Pred, S32, F16].into_iter().zip(taken) {
            let b = Builder::new(name);
            let y = function(parameter(&b, 0, ty));
            if taken {
                build(&b, y);
                let expected = if name.starts_with("is_") { Pred } else { ty };
                assert_eq!(y.element_type().unwrap(), expected, "{name} {ty}");
            } else {
                let error = b.build(y).unwrap_err();
                assert_eq!(error.number(), "E0810");
                assert!(error.to_string().contains(&format!("`{name}` takes ")), "{error}");
            }
        }
    }
    for (name, function, of_pred, of_s32) in BINARY {
        for (ty, expected) in [(Pred, of_pred), (S32, Some(of_s32))] {
            let b = Builder::new(name);
            let y = function(parameter(&b, 0, ty), parameter(&b, 1, ty));
            match expected {
                Some(expected) => {
                    build(&b, y);
                    assert_eq!(y.element_type().unwrap(), expected, "{name} {ty}");
                }
                None => assert_eq!(b.build(y).unwrap_err().number(), "E0810", "{name} {ty}"),
            }
        }
    }
}

/// Values of mpmath with 200 bits, at -2.5, -0.75, 0.3, 1.7.
#[test]
fn functions_have_their_values() {
    let everywhere: [(&str, Unary, [f64; 4]); 8] = [
        (
            "cos",
            max_graph::cos,
            [-0.8011436155469337, 0.7316888688738209, 0.955336489125606, -0.12884449429552464],
        ),
        (
            "erf",
            max_graph::erf,
            [-0.999593047982555, -0.7111556336535151, 0.3286267594591274, 0.9837904585907745],
        ),
        (
            "exp",
            max_graph::exp,
            [0.0820849986238988, 0.4723665527410147, 1.3498588075760032, 5.4739473917272],
        ),
        (
            "sin",
            max_graph::sin,
            [-0.5984721441039565, -0.6816387600233341, 0.29552020666133955, 0.9916648104524686],
        ),
        (
            "tanh",
            max_graph::tanh,
            [-0.9866142981514303, -0.6351489523872873, 0.2913126124515909, 0.935409070603099],
        ),
        (
            "gelu",
            max_graph::gelu,
            [-0.015524163314440337, -0.16997051428265114, 0.1853734266566858, 1.6242387133104768],
        ),
        (
            "sigmoid",
            max_graph::sigmoid,
            [0.07585818002124355, 0.320821300824607, 0.574442516811659, 0.8455347349164652],
        ),
        (
            "silu",
            max_graph::silu,
            [-0.18964545005310887, -0.24061597561845527, 0.17233275504349768, 1.437409049357991],
        ),
    ];
    for (name, function, expected) in everywhere {
        let b = Builder::new(name);
        let y = function(b.parameter(0, "f64[4]", "x"));
        near(&evaluate(&b, y, &["f64[4] {-2.5, -0.75, 0.3, 1.7}"]), &expected, 1e-14, 0.0);
    }
}

/// Values of mpmath with 200 bits, at 0.3, 1.7, 2.5, 9.
#[test]
fn functions_of_what_is_positive_have_their_values() {
    let positive: [(&str, Unary, [f64; 4]); 4] = [
        (
            "log",
            max_graph::log,
            [-1.2039728043259361, 0.5306282510621704, 0.9162907318741551, 2.1972245773362196],
        ),
        (
            "log1p",
            max_graph::log1p,
            [0.26236426446749106, 0.9932517730102833, 1.252762968495368, std::f64::consts::LN_10],
        ),
        (
            "rsqrt",
            max_graph::rsqrt,
            [1.8257418583505538, 0.7669649888473704, 0.6324555320336759, 0.3333333333333333],
        ),
        (
            "sqrt",
            max_graph::sqrt,
            [0.5477225575051661, 1.3038404810405297, 1.5811388300841898, 3.0],
        ),
    ];
    for (name, function, expected) in positive {
        let b = Builder::new(name);
        let y = function(b.parameter(0, "f64[4]", "x"));
        near(&evaluate(&b, y, &["f64[4] {0.3, 1.7, 2.5, 9}"]), &expected, 1e-15, 0.0);
    }
}

#[test]
fn whole_numbers_are_found_as_the_names_say() {
    let arguments = ["f32[7] {-2.5, -1.5, -0.5, -0, 0.5, 2.5, nan}"];
    let rows: [(Unary, &str); 5] = [
        (max_graph::floor, "{-3, -2, -1, -0, 0, 2, nan}"),
        (max_graph::round, "{-2, -2, -0, -0, 0, 2, nan}"),
        (max_graph::roundeven, "{-2, -2, -0, -0, 0, 2, nan}"),
        (max_graph::trunc, "{-2, -1, -0, -0, 0, 2, nan}"),
        (max_graph::relu, "{0, 0, 0, 0, 0.5, 2.5, nan}"),
    ];
    for (function, expected) in rows {
        let b = Builder::new("whole");
        let y = function(b.parameter(0, "f32[7]", "x"));
        assert_eq!(run(&b, y, &arguments), format!("f32[7]{{0}} {expected}"));
    }
    let b = Builder::new("whole");
    let (n, u) = (b.constant([-128i8, -3, 3]), b.constant([0u8, 255]));
    let all = [max_graph::abs(n), max_graph::relu(n), max_graph::abs(u), max_graph::relu(u)];
    let text = run(&b, b.tuple(&all), &[]);
    assert_eq!(
        text,
        "( s8[3]{0} {-128, 3, 3}, s8[3]{0} {0, 0, 3}, u8[2]{0} {0, 255}, u8[2]{0} {0, 255} )"
    );
}

#[test]
fn what_is_no_number_and_what_is_infinite() {
    let b = Builder::new("classes");
    let x = b.parameter(0, "bf16[4]", "x");
    let n = b.constant([1i32, -1]);
    let all =
        [max_graph::is_nan(x), max_graph::is_inf(x), max_graph::is_nan(n), max_graph::is_inf(n)];
    let text = run(&b, b.tuple(&all), &["bf16[4] {1, nan, inf, -inf}"]);
    assert_eq!(
        text,
        "( pred[4]{0} {0, 1, 0, 0}, pred[4]{0} {0, 0, 1, 1}, pred[2]{0} {0, 0}, pred[2]{0} {0, 0} )"
    );
}

/// Values of mpmath with 200 bits.
#[test]
fn softmax_is_along_the_last_axis_and_does_not_overflow() {
    let x = "f64[2,3] {{1, 2, 3}, {-1000, 0, 1000.5}}";
    let b = Builder::new("softmax");
    let y = max_graph::softmax(b.parameter(0, "f64[2,3]", "x"));
    let expected = [0.09003057317038046, 0.24472847105479764, 0.6652409557748219, 0.0, 0.0, 1.0];
    near(&evaluate(&b, y, &[x]), &expected, 1e-14, 0.0);
    let b = Builder::new("logsoftmax");
    let y = max_graph::logsoftmax(b.parameter(0, "f64[2,3]", "x"));
    let expected =
        [-2.40760596444438, -1.4076059644443804, -0.4076059644443803, -2000.5, -1000.5, 0.0];
    near(&evaluate(&b, y, &[x]), &expected, 1e-14, 0.0);
    let b = Builder::new("softmax_of_a_scalar");
    let error = b.build(max_graph::softmax(b.constant(1f32))).unwrap_err();
    assert!(error.to_string().contains("`softmax` works along the last axis, and f32[] has none"));
}

/// Values of mpmath with 200 bits, of the `f16` operands, rounded once.
#[test]
fn narrow_floats_are_computed_in_wide_ones() {
    let x = "f16[4] {-2.5, -0.75, 0.3, 1.7}";
    let rows: [(Unary, [f64; 4]); 2] = [
        (max_graph::gelu, [-0.01552581787109375, -0.169921875, 0.1854248046875, 1.6240234375]),
        (max_graph::silu, [-0.189697265625, -0.2406005859375, 0.17236328125, 1.4375]),
    ];
    for (function, expected) in rows {
        let b = Builder::new("narrow");
        let y = function(b.parameter(0, "f16[4]", "x"));
        near(&evaluate(&b, y, &[x]), &expected, 0.0, 0.0);
    }
    let b = Builder::new("narrow");
    let y = max_graph::softmax(b.parameter(0, "f16[3]", "x"));
    let expected = [0.266845703125, 0.72509765625, 0.008056640625];
    near(&evaluate(&b, y, &["f16[3] {0.5, 1.5, -3}"]), &expected, 0.0, 0.0);
}

/// By hand, and as Python has it: 7 % -3 is -2, -7 % 2.5 is 0.5, -1 % inf is inf.
#[test]
fn the_remainder_has_the_divisors_sign() {
    let b = Builder::new("mod");
    let (x, y) = (b.constant([7i32, 7, -7, -7, -6]), b.constant([3i32, -3, 3, -3, 3]));
    assert_eq!(run(&b, max_graph::mod_(x, y), &[]), "s32[5]{0} {1, -2, 2, -1, 0}");
    let (x, y) = (
        b.constant([7f32, 7.0, -7.0, -7.0, -1.0]),
        b.constant([2.5f32, -2.5, 2.5, -2.5, f32::INFINITY]),
    );
    assert_eq!(run(&b, max_graph::mod_(x, y), &[]), "f32[5]{0} {2, -0.5, 0.5, -2, inf}");
    let (x, y) = (b.constant([200u8, 7]), b.constant([7u8, 0]));
    assert_eq!(run(&b, max_graph::mod_(x, y), &[]), "u8[2]{0} {4, 7}");
}

#[test]
fn quotients_of_integers_are_true_ones() {
    let b = Builder::new("div");
    let (x, y) = (b.constant([7u8, 255]), b.constant([-2i8, 0]));
    assert_eq!(run(&b, max_graph::div(x, y), &[]), "f64[2]{0} {-3.5, inf}");
    let half = max_graph::div(b.constant([true, false]), 2.0);
    let error = b.build(half).unwrap_err();
    assert_eq!(error.number(), "E0807", "{error}");
    let b = Builder::new("div");
    let mixed = max_graph::div(b.constant([true, false]), b.constant(2u16));
    let floats = max_graph::div(b.constant([7u8]), b.constant(2f32));
    let all = b.tuple(&[mixed, floats]);
    assert_eq!(run(&b, all, &[]), "( f64[2]{0} {0.5, 0}, f32[1]{0} {3.5} )");
}

#[test]
fn operands_are_promoted_before_they_meet() {
    let b = Builder::new("promoted");
    // 200 and 100 would wrap in 8 bits, and 1/3 in bf16 is 171/512.
    let sum = max_graph::add(b.constant([200u8]), b.constant([100u16]));
    let product = max_graph::mul(b.constant([half::bf16::from_f32(1.0 / 3.0)]), b.constant([3f32]));
    let above = max_graph::greater(b.constant([255u8]), b.constant([-1i16]));
    let weak = max_graph::sub(b.constant([10u8]), 3);
    let all = b.tuple(&[sum, product, above, weak]);
    let text = run(&b, all, &[]);
    assert_eq!(text, "( u16[1]{0} {300}, f32[1]{0} {1.00195312}, pred[1]{0} {1}, u8[1]{0} {7} )");
}

#[test]
fn trailing_dimensions_are_aligned() {
    let b = Builder::new("aligned");
    let x = b.constant([[[1i32, 2]], [[3, 4]]]);
    let y = b.constant([[10i32], [20]]);
    let text = run(&b, max_graph::add(x, y), &[]);
    assert_eq!(
        text,
        "s32[2,2,2]{2,1,0} { { { 11, 12 }, { 21, 22 } }, { { 13, 14 }, { 23, 24 } } }"
    );
    let error = {
        let b = Builder::new("aligned");
        let (x, y) = (b.parameter(0, "f32[2,3]", "x"), b.parameter(1, "f32[2]", "y"));
        b.build(max_graph::add(x, y)).unwrap_err()
    };
    assert_eq!(error.number(), "E0802");
    assert!(
        error.to_string().contains("f32[2,3] and f32[2] do not broadcast: dimension 1 is 3 and 2"),
        "{error}"
    );
}

#[test]
fn a_dynamic_dimension_is_no_static_one() {
    let b = Builder::new("dynamic");
    let x = b.parameter(0, "f32[2,<=3]", "x");
    let (column, row) = (b.constant([[10f32], [20.0]]), b.parameter(1, "f32[1,1]", "row"));
    let both = max_graph::add(max_graph::add(x, column), row);
    assert_eq!(format!("{:#}", both.shape().unwrap()), "f32[2,<=3]");
    let text = run(&b, both, &["f32[2,2] {{1, 2}, {3, 4}}", "f32[1,1] {{100}}"]);
    assert_eq!(text, "f32[2,2]{1,0} { { 111, 112 }, { 123, 124 } }");
    // What is dynamic itself is repeated along another dimension.
    let b = Builder::new("dynamic");
    let x = b.parameter(0, "f32[1,<=3]", "x");
    let sum = max_graph::add(x, b.constant([[10f32], [20.0]]));
    let text = run(&b, sum, &["f32[1,2] {{1, 2}}"]);
    assert_eq!(text, "f32[2,2]{1,0} { { 11, 12 }, { 21, 22 } }");
    for other in ["f32[3]", "f32[<=1]", "f32[<=4]"] {
        let b = Builder::new("dynamic");
        let (x, y) = (b.parameter(0, "f32[<=3]", "x"), b.parameter(1, other, "y"));
        let error = b.build(max_graph::add(x, y)).unwrap_err();
        assert_eq!(error.number(), "E0802");
        assert!(error.to_string().contains("known only at run time"), "{error}");
    }
    let b = Builder::new("dynamic");
    let x = b.parameter(0, "f32[<=2,<=3]", "x");
    let text = run(&b, max_graph::softmax(x), &["f32[1,2] {{5, 5}}"]);
    assert_eq!(text, "f32[1,2]{1,0} { { 0.5, 0.5 } }");
}

#[test]
fn mistakes_are_told_in_its_words() {
    let cases: [(ElementType, ElementType, &str); 4] = [
        (S32, F32, "s32 and f32 do not promote: s32 holds 16777217, which f32 cannot represent"),
        (U8, S8, "u8 and s8 do not promote: u8 holds 128, which s8 cannot represent"),
        (F16, Bf16, "f16 and bf16 do not promote: they have one width, and different formats"),
        (ElementType::C64, F32, "MAX Graph has no promotion for c64"),
    ];
    for (l, r, message) in cases {
        let b = Builder::new("refused");
        let error = b.build(max_graph::mul(parameter(&b, 0, l), parameter(&b, 1, r))).unwrap_err();
        assert_eq!(error.number(), "E0810");
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.help().is_some());
    }
    let b = Builder::new("refused");
    let error = b.build(max_graph::add(parameter(&b, 0, S8), 300)).unwrap_err();
    assert!(error.to_string().contains("300 is not a value of s8"), "{error}");
    let b = Builder::new("refused");
    let (x, y) = (b.parameter(0, "f32[2,3]", "x"), b.parameter(1, "f32[2]", "y"));
    let error = b.build(max_graph::add(x, y.along(&[0]))).unwrap_err();
    assert!(
        error.to_string().contains("does not broadcast along chosen dimensions, found [0]"),
        "{error}"
    );
    let b = Builder::new("refused");
    let other = Builder::new("other");
    let error =
        b.build(max_graph::add(parameter(&b, 0, F32), parameter(&other, 0, F32))).unwrap_err();
    assert_eq!(error.number(), "E0803");
    let b = Builder::new("refused");
    let s4 = b.parameter(0, "s4[2]", "x");
    assert_eq!(b.build(max_graph::abs(s4)).unwrap_err().number(), "E0810");
}
