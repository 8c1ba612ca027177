//! Differentiation: what connects and what does not, and derivatives of derivatives.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::gradient::{check, inputs};
use crate::support::{evaluate, near, reals, run};
use builder::{Builder, Disconnected, Error, GradOptions, Value};
use hlo::ElementType;

#[test]
fn products_and_sines() {
    let x = inputs(&["f64[3]", "f64[3]"], -1.0, 1.0);
    check("products_and_sines", &x, |_, x| x[0] * x[1].sin());
    check("tuples", &x, |b, x| {
        let pair = b.tuple(&[x[0] * x[1], b.tuple(&[x[1].exp(), b.constant(3i32)])]);
        b.tuple(&[pair.get_tuple_element(1), pair.get_tuple_element(0) * x[0], x[1]])
    });
}

#[test]
fn an_intermediate_value_is_an_input_too() {
    // y = x^2, z = y * x: by x it is 3x^2, through y as well; by y it is x.
    let b = Builder::new("intermediate");
    let x = b.parameter(0, "f32[]", "x");
    let y = x * x;
    let gradients = b.grad(y * x, &[x, y, x]);
    assert_eq!(run(&b, b.tuple(&gradients), &["f32[] 5"]), "( f32[] 75, f32[] 5, f32[] 75 )");
    let tangent = b.jvp(y * x, &[x, y], &[b.constant(1f32), b.constant(10f32)]);
    assert_eq!(run(&b, tangent, &["f32[] 5"]), "f32[] 125");
}

fn refused(f: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) -> Error {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[3]", "x");
    let y = f(&b, x);
    b.build(y).unwrap_err()
}

#[test]
fn what_does_not_depend_is_refused() {
    let error = refused(|b, x| {
        let y = b.parameter(1, "f32[]", "y");
        b.grad(y * y, &[x])[0]
    });
    assert_eq!(error.number(), "E0809", "{error}");
    assert!(error.to_string().contains("(f32[]) does not depend on `x` (f32[3])"), "{error}");
    // Beside it in a tuple is no way through.
    let error = refused(|b, x| {
        let y = b.parameter(1, "f32[]", "y");
        b.grad(b.tuple(&[x, y]).get_tuple_element(1), &[x])[0]
    });
    assert_eq!(error.number(), "E0809", "{error}");
}

#[test]
fn a_way_of_zero_derivative_is_named_with_its_line() {
    let line = line!() + 2;
    let error = refused(|b, x| {
        let steps = x.floor();
        let loss = (steps * 2.0).reduce(0.0, |a, c| a + c, &[0]);
        b.grad(loss, &[x])[0]
    });
    assert_eq!(error.number(), "E0808", "{error}");
    assert_eq!(error.location().map(std::panic::Location::line), Some(line), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("depends on `x` (f32[3]) only through `floor`, whose derivative is zero"),
        "{text}"
    );
    assert!(text.contains(&format!("requested at {}:{}", file!(), line + 2)), "{text}");
    assert!(text.contains("Disconnected::Zero"), "{text}");

    let error = refused(|b, x| {
        let whole = x.convert_element_type(ElementType::S32);
        let back = whole.convert_element_type(ElementType::F32);
        b.vjp(back, &[x], x)[0]
    });
    assert_eq!(error.number(), "E0808", "{error}");
    assert!(error.to_string().contains("only through `convert`, which gives s32[3]"), "{error}");
    let error = refused(|b, x| b.jvp(x.gt(0).select(1, x.sign()), &[x], &[x]));
    assert!(error.to_string().contains("only through `compare`"), "{error}");
}

#[test]
fn an_op_without_a_rule_is_named_with_its_line() {
    let line = line!() + 2;
    let error = refused(|b, x| {
        let limit = x.reduce(0.0, |a, c| (a + c).while_loop(|s| s.gt(9), |s| s * 0.5), &[0]);
        b.grad(limit, &[x])[0]
    });
    assert_eq!(error.number(), "E0808", "{error}");
    assert!(error.to_string().contains("`reduce` has no derivative rule here"), "{error}");
    assert_eq!(error.location().map(std::panic::Location::line), Some(line), "{error}");
    // An op that does not lie between input and output is not asked.
    let b = Builder::new("beside_the_way");
    let x = b.parameter(0, "f32[]", "x");
    let y = x * x;
    let away = y.while_loop(|s| s.gt(9), |s| s * 0.5);
    let before = b.constant(64f32).while_loop(|s| s.gt(9), |s| s * 0.5);
    let result = b.tuple(&[b.grad(y * before, &[x])[0], b.jvp(y, &[x], &[x]), away]);
    assert_eq!(run(&b, result, &["f32[] 3"]), "( f32[] 48, f32[] 18, f32[] 9 )");
}

#[test]
fn arrays_of_dynamic_size_are_refused() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[<=3]", "x");
    let error = b.build(b.vjp(x * x, &[x], x)[0]).unwrap_err();
    assert_eq!(error.number(), "E0808", "{error}");
    assert!(error.to_string().contains("arrays of dynamic size"), "{error}");
}

#[test]
fn the_output_may_be_an_input() {
    let b = Builder::new("itself");
    let (x, t) = (b.parameter(0, "f32[]", "x"), b.parameter(1, "f32[]", "t"));
    let result = b.tuple(&[b.grad(x, &[x])[0], b.jvp(x, &[x], &[t])]);
    assert_eq!(run(&b, result, &["f32[] 3", "f32[] 5"]), "( f32[] 1, f32[] 5 )");
}

#[test]
fn a_step_beside_a_slope_is_no_mistake() {
    let b = Builder::new("beside");
    let x = b.parameter(0, "f32[]", "x");
    assert_eq!(run(&b, b.grad(x.floor() * x, &[x])[0], &["f32[] 2.5"]), "f32[] 2");
}

#[test]
fn zeros_are_given_where_they_are_asked_for() {
    let b = Builder::new("zeros");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[]", "y"));
    let options = GradOptions { disconnected: Disconnected::Zero };
    let gradients = b.grad_with(y * y, &[x, y], options);
    let flat = b.vjp_with(x.floor(), &[x], x, options)[0];
    let tangent = b.jvp_with(y.round(), &[y], &[y], options);
    let all = b.tuple(&[gradients[0], gradients[1], flat, tangent]);
    let expected = "( f32[2]{0} {0, 0}, f32[] 6, f32[2]{0} {0, 0}, f32[] 0 )";
    assert_eq!(run(&b, all, &["f32[2] {1, 2}", "f32[] 3"]), expected);
}

#[test]
fn arguments_are_checked() {
    let error = refused(|b, x| b.grad(x, &[x])[0]);
    assert!(error.to_string().contains("differentiates a real scalar, found f32[3]"), "{error}");
    let error = refused(|b, x| b.vjp(x * x, &[x], b.constant(1f32))[0]);
    assert!(
        error.to_string().contains("expected a tangent of shape f32[3], found f32[]"),
        "{error}"
    );
    let error = refused(|b, x| b.jvp(x * x, &[x], &[]));
    assert!(error.to_string().contains("found 0 tangents for 1 value"), "{error}");
    let error = refused(|b, x| {
        let n = b.parameter(1, "s32[]", "n");
        b.vjp(x * n.convert_element_type(ElementType::F32), &[n], x)[0]
    });
    assert!(error.to_string().contains("`n` is s32[], which has no derivative"), "{error}");
    let error = refused(|b, x| x.while_loop(|_| b.constant(true), |y| b.grad(x, &[y])[0]));
    assert_eq!(error.number(), "E0804", "{error}");
}

#[test]
fn whole_numbers_beside_floats_do_not_disturb() {
    let b = Builder::new("integers");
    let (x, n) = (b.parameter(0, "f32[3]", "x"), b.parameter(1, "s32[3]", "n"));
    let weights = (n * 2 + 1).convert_element_type(ElementType::F32);
    let loss = (x * x * weights).reduce(0.0, |a, c| a + c, &[0]);
    let arguments = ["f32[3] {1, 2, 3}", "s32[3] {0, 1, 2}"];
    assert_eq!(run(&b, b.grad(loss, &[x])[0], &arguments), "f32[3]{0} {2, 12, 30}");
}

#[test]
fn third_derivative_of_sine() {
    let b = Builder::new("third");
    let x = b.parameter(0, "f64[]", "x");
    let mut y = x.sin();
    for _ in 0..3 {
        y = b.grad(y, &[x])[0];
    }
    // -cos(0.7), from mpmath.
    near(&evaluate(&b, y, &["f64[] 0.7"]), &[-0.764_842_187_284_488_4], 1e-15, 0.0);
    // The same by three tangents of 1.
    let mut y = x.sin();
    for _ in 0..3 {
        y = b.jvp(y, &[x], &[b.constant(1f64)]);
    }
    near(&evaluate(&b, y, &["f64[] 0.7"]), &[-0.764_842_187_284_488_4], 1e-15, 0.0);
}

/// Rows of the Hessian, by tangents of the gradient along each dimension.
fn hessian<'b>(b: &'b Builder, loss: Value<'b>, x: Value<'b>, count: usize) -> Value<'b> {
    let gradient = b.grad(loss, &[x])[0];
    let dims = x.dims().unwrap();
    let rows: Vec<Value<'_>> = (0..count)
        .map(|i| {
            let unit: Vec<f64> = (0..count).map(|k| if k == i { 1.0 } else { 0.0 }).collect();
            b.jvp(gradient, &[x], &[b.constant(unit).reshape(&dims)])
        })
        .collect();
    b.tuple(&rows)
}
fn rows(b: &Builder, hessian: Value<'_>, argument: &str) -> Vec<f64> {
    let result = evaluate(b, hessian, &[argument]);
    result.elements().unwrap().iter().flat_map(reals).collect()
}

#[test]
fn hessian_of_a_quadratic() {
    // x^T A x with A = {{1, 2}, {3, 4}}: A + A^T.
    let b = Builder::new("quadratic");
    let x = b.parameter(0, "f64[2]", "x");
    let a = b.constant([[1.0f64, 2.0], [3.0, 4.0]]);
    let image = (a * x.along(&[1])).reduce(0.0, |a, c| a + c, &[1]);
    let loss = (x * image).reduce(0.0, |a, c| a + c, &[0]);
    assert_eq!(rows(&b, hessian(&b, loss, x, 2), "f64[2] {0.5, -3}"), [2.0, 5.0, 5.0, 8.0]);
}

#[test]
fn hessian_of_softmax_cross_entropy() {
    let b = Builder::new("cross_entropy");
    let x = b.parameter(0, "f64[2,3]", "x");
    let top = x.reduce(f64::NEG_INFINITY, Value::max, &[1]);
    let shifted = x - top.along(&[0]);
    let total = shifted.exp().reduce(0.0, |a, c| a + c, &[1]).log();
    let truth = b.constant([[0.0f64, 0.0, 1.0], [1.0, 0.0, 0.0]]);
    let loss = -((shifted - total.along(&[0])) * truth).reduce(0.0, |a, c| a + c, &[0, 1]) / 2.0;
    let point = "f64[2,3] {{0.2, -0.4, 1.1}, {0.5, 0.3, -0.9}}";
    // JAX 0.10.2, float64: grad and hessian of -mean(take_along_axis(log_softmax(x), [2, 0])).
    let gradient = [
        0.124_737_591_174_392_95,
        0.068_457_441_494_846_4,
        -0.193_195_032_669_239_37,
        -0.257_907_669_625_653_9,
        0.198_208_435_961_791_9,
        0.059_699_233_663_862_095,
    ];
    near(&evaluate(&b, b.grad(loss, &[x])[0], &[point]), &gradient, 1e-14, 0.0);
    let [a, c, d] =
        [0.093_618_657_870_412_96, -0.017_078_432_700_058_148, -0.076_540_225_170_354_82];
    let [e, f, g] = [0.059_084_598_902_805_76, -0.042_006_166_202_747_61, 0.118_546_391_373_102_44];
    let [h, i, j] =
        [0.124_874_937_522_183_01, -0.095_969_484_323_689_08, -0.028_905_453_198_493_972];
    let [k, l, m] =
        [0.119_635_267_788_952_38, -0.023_665_783_465_263_327, 0.052_571_236_663_757_286];
    let expected = [
        [a, c, d, 0.0, 0.0, 0.0],
        [c, e, f, 0.0, 0.0, 0.0],
        [d, f, g, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, h, i, j],
        [0.0, 0.0, 0.0, i, k, l],
        [0.0, 0.0, 0.0, j, l, m],
    ];
    let found = rows(&b, hessian(&b, loss, x, 6), point);
    let near = found.iter().zip(expected.as_flattened()).all(|(x, y)| (x - y).abs() < 1e-15);
    assert!(near, "{found:?}");
}

#[test]
fn computations_have_derivatives() {
    let b = Builder::new("computations");
    let f = b.computation("f", &["f32[]", "s32[]", "f32[]"], |p| {
        p[0] * p[0] * p[1].convert_element_type(ElementType::F32) + p[2]
    });
    let (x, n, y, t) = (b.constant(3f32), b.constant(2i32), b.constant(1f32), b.constant(10f32));
    let pushed = b.call(f.jvp(), &[x, n, y, t, b.constant(5f32)]);
    assert_eq!(run(&b, pushed, &[]), "( f32[] 19, f32[] 125 )");
    let pulled = b.call(f.vjp(), &[x, n, y, t]);
    assert_eq!(run(&b, pulled, &[]), "( f32[] 120, f32[] 10 )");
    assert_eq!(run(&b, b.call(f.grad(), &[x, n, y]), &[]), "( f32[] 12, f32[] 1 )");
    // The derivative of a derivative: d/dx of 2xn.
    let slope = b.computation("slope", &["f32[]"], |p| {
        f.grad().inline(&[p[0], b.constant(2i32), p[0]]).get_tuple_element(0)
    });
    assert_eq!(run(&b, b.call(slope.grad(), &[x]), &[]), "( f32[] 4 )");
    let names: Vec<String> = b
        .build(pushed)
        .unwrap()
        .module()
        .computations
        .iter()
        .map(|(_, c)| c.name.to_string())
        .collect();
    assert!(names.contains(&"jvp_f".to_owned()), "{names:?}");
}

#[test]
fn computations_that_do_not_use_a_parameter_are_refused() {
    let b = Builder::new("m");
    let f = b.computation("f", &["f32[]", "f32[]"], |p| p[0] * p[0]);
    let options = GradOptions { disconnected: Disconnected::Zero };
    let zero = b.call(f.grad_with(options), &[b.constant(3f32), b.constant(1f32)]);
    assert_eq!(run(&b, zero, &[]), "( f32[] 6, f32[] 0 )");
    assert!(!f.grad().is_valid());
    assert_eq!(b.first_error().map(|e| e.number()), Some("E0809"));
}
