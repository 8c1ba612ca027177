//! Derivatives of reductions, broadcasts and reshapes.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::gradient::{check, gradients, inputs, twice};
use crate::support::{evaluate, reals};
use builder::{Builder, Value};

fn with_scalar(mut arrays: Vec<hlo::Literal>, scalar: &str) -> Vec<hlo::Literal> {
    arrays.push(scalar.parse().unwrap());
    arrays
}

#[test]
fn sums() {
    let x = with_scalar(inputs(&["f64[2,3,4]"], -1.0, 1.0), "f64[] 0.7");
    check("sum", &x, |_, x| (x[0] * x[0]).reduce(x[1], |a, c| a + c, &[2, 0]));
    check("sum_all", &x, |_, x| (x[0] * x[0]).reduce(x[1] * x[1], |a, c| c + a, &[0, 1, 2]));
    check("sum_none", &x, |_, x| (x[0] * x[0]).reduce(x[1], |a, c| a + c, &[]));
    let z = inputs(&["c128[2,3]", "c128[]"], -1.0, 1.0);
    check("sum_c", &z, |_, x| (x[0] * x[0]).reduce(x[1], |a, c| a + c, &[1]));
}

#[test]
fn largest_and_smallest() {
    let x = with_scalar(inputs(&["f64[4,5]"], -1.0, 1.0), "f64[] -0.5");
    check("max", &x, |_, x| x[0].reduce(x[1], Value::max, &[1]));
    check("min", &x, |_, x| x[0].sin().reduce(x[1], Value::min, &[0]));
    check("max_init", &x, |_, x| x[0].reduce(x[1] + 9.0, Value::max, &[1]));
}

#[test]
fn equals_share_alike() {
    // As JAX: a third each; where the initial value is among them, it has a share too.
    let ties = || ["f64[5] {1, 3, 3, 2, 3}".parse().unwrap()];
    let third = 1.0 / 3.0;
    let max = gradients("ties", &ties(), |_, x| x[0].reduce(f64::NEG_INFINITY, Value::max, &[0]));
    assert_eq!(max, [[0.0, third, third, 0.0, third]]);
    let x = with_scalar(vec!["f64[3] {1, 2, 3}".parse().unwrap()], "f64[] 3");
    let max = gradients("tie_init", &x, |_, x| x[0].reduce(x[1], Value::max, &[0]));
    assert_eq!(max, [vec![0.0, 0.0, 0.5], vec![0.5]]);
    let min = gradients("ties_min", &ties(), |_, x| (-x[0]).reduce(0.0, Value::min, &[0]));
    assert_eq!(min, [[0.0, -third, -third, 0.0, -third]]);
    // Nothing is as small as the initial value but elements that are.
    let low = ["f64[2] {-inf, -inf}".parse().unwrap()];
    let max = gradients("low", &low, |_, x| x[0].reduce(f64::NEG_INFINITY, Value::max, &[0]));
    assert_eq!(max, [[0.5, 0.5]]);
}

fn product(x: Value<'_>) -> Value<'_> {
    x.reduce(1.0, |a, c| a * c, &[0])
}

#[test]
fn products() {
    let x = with_scalar(inputs(&["f64[3,5]"], 0.4, 1.6), "f64[] 1.3");
    check("product", &x, |_, x| x[0].reduce(x[1], |a, c| a * c, &[1]));
    check("product_all", &x, |_, x| x[0].reduce(x[1], |a, c| a * c, &[0, 1]));
    check("product_one", &inputs(&["f64[1,3]"], 0.4, 1.6), |_, x| product(x[0]));
    check("product_c", &inputs(&["c128[7]"], 0.4, 1.6), |_, x| product(x[0]));
    // Zeros among the factors, by hand.
    let one: hlo::Literal = "f64[4] {2, 0, 3, 4}".parse().unwrap();
    assert_eq!(gradients("one_zero", &[one], |_, x| product(x[0])), [[0.0, 24.0, 0.0, 0.0]]);
    let two: hlo::Literal = "f64[4] {2, 0, 3, 0}".parse().unwrap();
    assert_eq!(gradients("two_zeros", &[two], |_, x| product(x[0])), [[0.0; 4]]);
    // Second derivatives with two zeros: only that by both of them is not zero, the product of the
    // others.
    let b = Builder::new("second");
    let x = b.parameter(0, "f64[4]", "x");
    let gradient = b.grad(product(x), &[x])[0];
    let row = b.jvp(gradient, &[x], &[b.constant([0.0, 1.0, 0.0, 0.0])]);
    assert_eq!(reals(&evaluate(&b, row, &["f64[4] {2, 0, 3, 0}"])), [0.0, 0.0, 0.0, 6.0]);
}

#[test]
fn reductions_of_nothing_give_the_initial_value() {
    let x = with_scalar(vec!["f64[0] {}".parse().unwrap()], "f64[] 2");
    for product in [true, false] {
        let slopes = gradients("nothing", &x, |_, x| {
            let all = x[0].reduce(x[1], |a, c| if product { a * c } else { a + c }, &[0]);
            all * all
        });
        assert_eq!(slopes, [vec![], vec![4.0]]);
    }
}

#[test]
fn any_arithmetic_combines() {
    // log(exp(a) + exp(c)), associative.
    let x = with_scalar(inputs(&["f64[2,5]"], -1.0, 1.0), "f64[] 0.3");
    check("log_sum_exp", &x, |_, x| x[0].reduce(x[1], |a, c| (a.exp() + c.exp()).log(), &[1]));
    // a + c - a * c, with a constant in it.
    check("union", &x, |_, x| x[0].reduce(x[1], |a, c| 1 - ((1 - a) * (1 - c)), &[0, 1]));
}

#[test]
fn pairs_are_reduced_together() {
    // The largest and where it stands.
    let x = inputs(&["f64[3,6]"], -1.0, 1.0);
    check("arg_max", &x, |b, x| {
        let places = b.constant([[0i32, 1, 2, 3, 4, 5]; 3]);
        let inits = [b.constant(f64::NEG_INFINITY), b.constant(-1i32)];
        let pair = b.reduce(
            &[x[0], places],
            &inits,
            |p| {
                let first = p[0].gt(p[2]);
                b.tuple(&[first.select(p[0], p[2]), first.select(p[1], p[3])])
            },
            &[1],
        );
        pair.get_tuple_element(0) * 2.0
    });
    // Lines y = ax + c composed one after the other, of one array twice.
    let x = inputs(&["f64[5]"], 0.5, 1.5);
    check("lines", &x, |b, x| {
        b.reduce(
            &[x[0], x[0]],
            &[b.constant(1f64), b.constant(0f64)],
            |p| b.tuple(&[p[0] * p[2], p[2] * p[1] + p[3]]),
            &[0],
        )
    });
}

fn total(x: Value<'_>) -> Value<'_> {
    (x * x).reduce(0.0, |a, c| a + c, &[0])
}

#[test]
fn reductions_are_differentiated_again() {
    let x = with_scalar(inputs(&["f64[2,3]"], 0.4, 1.6), "f64[] 1.3");
    twice("sum_2", &x, |_, x| total((x[0] * x[0]).reduce(x[1], |a, c| a + c, &[1])));
    twice("max_2", &x, |_, x| total(x[0].reduce(x[1], Value::max, &[1])));
    twice("product_2", &x, |_, x| total(x[0].reduce(x[1], |a, c| a * c, &[1])));
}

#[test]
fn broadcasts_reshapes_and_transposes() {
    let x = inputs(&["f64[2,3]"], -1.0, 1.0);
    check("broadcast", &x, |_, x| x[0].broadcast(&[4, 2]).sin());
    check("reshape", &x, |_, x| x[0].reshape(&[3, 2]).sin());
    let x = inputs(&["f64[2,3]", "f64[3,2,4]"], -1.0, 1.0);
    check("in_dim", &x, |_, x| {
        x[0].transpose(&[1, 0]).broadcast_in_dim(&[3, 2, 4], &[0, 1]) * x[1]
    });
    check("transpose", &x, |_, x| {
        x[1].transpose(&[2, 0, 1]).sin() * x[0].transpose(&[1, 0]).along(&[1, 2])
    });
    check("along", &x, |_, x| x[1] * x[0].reshape(&[3, 2]).along(&[0, 1]));
    check("stretch", &inputs(&["f64[2,1]", "f64[1,3]"], -1.0, 1.0), |_, x| x[0] * x[1].exp());
}
