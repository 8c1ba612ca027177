//! Derivatives over finite fields: equal to their definition for every argument, without a
//! tolerance.
//!
//! Of a function of at most the second degree, the central difference with a step of 1 is the
//! derivative. Others have theirs by hand. Both directions are transposes, `<jvp(t), c> = <t,
//! vjp(c)>`.
#![expect(clippy::unwrap_used, reason = "shapes of tests")]
use crate::support::build;
use builder::options::{ConvOptions, Padding};
use builder::{Builder, Value};
use field::{Answer, Options};
use hlo::Verified;

type Function = for<'b> fn(&'b Builder, &[Value<'b>]) -> Value<'b>;

/// Returns the sum of all elements.
fn total<'b>(b: &'b Builder, x: Value<'b>) -> Value<'b> {
    let all: Vec<i64> = (0..).take(x.dims().unwrap().len()).collect();
    x.reduce(b.constant(0f32), |a, c| a + c, &all)
}

/// Returns the module of what is made of points, and of directions, of these shapes.
fn module(
    shapes: &[&str],
    make: impl for<'b> FnOnce(&'b Builder, &[Value<'b>], &[Value<'b>]) -> Value<'b>,
) -> Verified {
    let b = Builder::new("derivative");
    let all: Vec<Value<'_>> = shapes
        .iter()
        .chain(shapes)
        .enumerate()
        .map(|(i, shape)| b.parameter(i.try_into().unwrap(), *shape, &format!("p{i}")))
        .collect();
    let (x, t) = all.split_at(shapes.len());
    let made = make(&b, x, t);
    build(&b, made)
}

#[track_caller]
fn are_equal(name: &str, first: &Verified, second: &Verified) {
    let answer = field::equal(first, second, &Options::default());
    assert!(matches!(answer, Ok(Answer::Equal(_))), "{name}: {answer:?}");
}

fn tangent(shapes: &[&str], f: Function) -> Verified {
    module(shapes, |b, x, t| b.jvp(f(b, x), x, t))
}

/// Proves that both directions are transposes: with the tangent itself as the cotangent.
#[track_caller]
fn transposes(name: &str, shapes: &[&str], f: Function) {
    let forward = module(shapes, |b, x, t| {
        let y = f(b, x);
        total(b, b.jvp(y, x, t) * y)
    });
    let reverse = module(shapes, |b, x, t| {
        let y = f(b, x);
        let all = b.vjp(y, x, y);
        let mut terms = all.into_iter().zip(t).map(|(a, &t)| total(b, a * t));
        let first = terms.next().unwrap();
        terms.fold(first, |sum, term| sum + term)
    });
    are_equal(&format!("{name}, transposed"), &forward, &reverse);
}

/// Proves the derivative of a function of at most the second degree.
#[track_caller]
fn proves(name: &str, shapes: &[&str], f: Function) {
    let difference = module(shapes, |b, x, t| {
        let moved = |sign: f64| -> Vec<Value<'_>> {
            x.iter().zip(t).map(|(&x, &t)| x + t * sign).collect()
        };
        (f(b, &moved(1.0)) - f(b, &moved(-1.0))) * 0.5
    });
    are_equal(name, &tangent(shapes, f), &difference);
    transposes(name, shapes, f);
}

#[test]
fn derivatives_of_the_second_degree_are_central_differences() {
    let matrices = &["f32[3,4]", "f32[4,2]"];
    proves("product", &["f32[5]", "f32[5]"], |_, x| x[0] * x[1]);
    proves("square", &["f32[5]"], |_, x| x[0] * x[0] - x[0] * 3.0);
    proves("dot", matrices, |_, x| x[0].dot(x[1]));
    proves("sum of columns", &["f32[3,4]"], |b, x| {
        (x[0] * x[0]).reduce(b.constant(0f32), |a, c| a + c, &[0])
    });
    proves("broadcast", &["f32[4]", "f32[3,4]"], |_, x| x[0].broadcast(&[3]) * x[1]);
    proves("transpose", &["f32[3,4]", "f32[4,3]"], |_, x| x[0].transpose(&[1, 0]) * x[1]);
    proves("slice", &["f32[6]"], |_, x| {
        x[0].slice_in_dim(0, 4, 1, 0) * x[0].slice_in_dim(2, 6, 1, 0)
    });
    proves("reverse", &["f32[6]"], |_, x| x[0].rev(&[0]) * x[0]);
    proves("convolution", &["f32[1,2,6]", "f32[3,2,3]"], |_, x| {
        x[0].conv(x[1], &[2], Padding::Same, &ConvOptions::default())
    });
    proves("call", &["f32[5]", "f32[5]"], |b, x| {
        let f = b.computation("f", &["f32[5]", "f32[5]"], |y| y[0] * y[1]);
        b.call(f, &[x[0], x[1]])
    });
}

/// Proves a derivative that is given by hand, as the factor of the tangent.
#[track_caller]
fn by_hand(name: &str, f: Function, factor: Function) {
    let shapes = &["f32[6]"];
    let expected = module(shapes, |b, x, t| factor(b, x) * t[0]);
    are_equal(name, &tangent(shapes, f), &expected);
    transposes(name, shapes, f);
}

#[test]
fn derivatives_of_functions_are_those_of_analysis() {
    by_hand("exp", |_, x| x[0].exp(), |_, x| x[0].exp());
    by_hand("expm1", |_, x| x[0].expm1(), |_, x| x[0].exp());
    by_hand("log", |_, x| x[0].log(), |_, x| 1.0 / x[0]);
    by_hand("log1p", |_, x| x[0].log1p(), |_, x| 1.0 / (x[0] + 1.0));
    by_hand("tanh", |_, x| x[0].tanh(), |_, x| 1.0 - x[0].tanh() * x[0].tanh());
    by_hand("logistic", |_, x| x[0].logistic(), |_, x| x[0].logistic() * (1.0 - x[0].logistic()));
    by_hand("sqrt", |_, x| x[0].sqrt(), |_, x| 0.5 / x[0].sqrt());
    by_hand("sin", |_, x| x[0].sin(), |_, x| x[0].cos());
    by_hand("cos", |_, x| x[0].cos(), |_, x| x[0].sin().neg());
    by_hand("tan", |_, x| x[0].tan(), |_, x| 1.0 / (x[0].cos() * x[0].cos()));
    by_hand("sinh", |_, x| x[0].sinh(), |_, x| x[0].cosh());
    by_hand("cosh", |_, x| x[0].cosh(), |_, x| x[0].sinh());
    by_hand("inverse", |_, x| 1.0 / x[0], |_, x| -1.0 / (x[0] * x[0]));
    by_hand("cube", |_, x| x[0] * x[0] * x[0], |_, x| x[0] * x[0] * 3.0);
    by_hand("chain", |_, x| (x[0] * x[0]).exp(), |_, x| (x[0] * x[0]).exp() * x[0] * 2.0);
}

#[test]
fn a_wrong_derivative_is_different() {
    let right = tangent(&["f32[6]"], |_, x| x[0].sin());
    let wrong = module(&["f32[6]"], |_, x, t| x[0].sin() * t[0]);
    let answer = field::equal(&right, &wrong, &Options::default());
    assert!(matches!(answer, Ok(Answer::Different(_))), "{answer:?}");
}
