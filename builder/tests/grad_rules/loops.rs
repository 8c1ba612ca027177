//! Loops.
use super::gradient::{Random, check, gradients, inputs, pushed};
use crate::{Builder, Value};
use hlo::ElementType;

/// `body(i, x)` for `i` in `start..limit` by `step`.
fn steps<'b>(
    b: &'b Builder,
    x: Value<'b>,
    (start, limit, step): (i32, i32, i32),
    body: impl Fn(Value<'b>, Value<'b>) -> Value<'b>,
) -> Value<'b> {
    let state = b.tuple(&[b.constant(start), x]);
    let looped = state.while_loop(
        |s| s.get_tuple_element(0).lt(limit),
        |s| {
            let (i, x) = (s.get_tuple_element(0), s.get_tuple_element(1));
            b.tuple(&[i + step, body(i, x)])
        },
    );
    looped.get_tuple_element(1)
}

#[test]
fn counted_loops() {
    let x = inputs(&["f64[3]"], 0.5, 1.5);
    check("while", &x, |b, x| steps(b, x[0], (0, 5, 1), |_, x| x.sin() * 1.5));
    check("while_by_2", &x, |b, x| {
        steps(b, x[0], (-3, 4, 2), |i, x| x.sin() * i.convert_element_type(ElementType::F64))
    });
    check("while_none", &x, |b, x| steps(b, x[0] * x[0], (5, 5, 1), |_, x| x.sin()));
    check("while_one", &x, |b, x| steps(b, x[0], (4, 5, 1), |_, x| x.sin()));
    let z = inputs(&["c128[2]"], 0.5, 1.5);
    check("while_c", &z, |b, x| steps(b, x[0], (0, 3, 1), |_, x| x.sin()));
}

#[test]
fn loops_that_carry_what_stays() {
    // Power iteration: the matrix stays, the vector changes.
    let x = inputs(&["f64[3,3]", "f64[3]"], 0.2, 0.9);
    check("power", &x, |b, x| {
        let state = b.tuple(&[x[0], b.constant(0), x[1]]);
        let last = state.while_loop(
            |s| s.get_tuple_element(1).lt(4),
            |s| {
                let (m, i, v) =
                    (s.get_tuple_element(0), s.get_tuple_element(1), s.get_tuple_element(2));
                let product = (m * v.along(&[1])).reduce(0.0, |a, c| a + c, &[1]);
                let length = (product * product).reduce(0.0, |a, c| a + c, &[0]).sqrt();
                b.tuple(&[m, i + 1, product / length])
            },
        );
        last.get_tuple_element(2)
    });
}

#[test]
fn limits_and_steps_that_are_carried() {
    let x = inputs(&["f64[]"], 0.5, 0.9);
    check("carried", &x, |b, x| {
        // Counts down from 9 by 3 while above a limit of the state.
        let state =
            b.tuple(&[b.tuple(&[b.constant(9i64), b.constant(3i64)]), x[0], b.constant(-1i64)]);
        let last = state.while_loop(
            |s| s.get_tuple_element(2).lt(s.get_tuple_element(0).get_tuple_element(0)),
            |s| {
                let numbers = s.get_tuple_element(0);
                let (i, step) = (numbers.get_tuple_element(0), numbers.get_tuple_element(1));
                b.tuple(&[
                    b.tuple(&[i - step, step]),
                    s.get_tuple_element(1).sin(),
                    s.get_tuple_element(2),
                ])
            },
        );
        last.get_tuple_element(1)
    });
}

#[test]
fn loops_in_loops() {
    let x = inputs(&["f64[2]"], 0.5, 0.9);
    check("nested", &x, |b, x| {
        steps(b, x[0], (0, 3, 1), |_, x| steps(b, x * 1.25, (0, 2, 1), |_, x| x.sin()) + x)
    });
    check("in_call", &x, |b, x| {
        let f = b.computation("f", &["f64[2]"], |p| steps(b, p[0], (0, 3, 1), |_, x| x.cos()));
        b.call(f, x)
    });
}

#[test]
fn second_derivatives() {
    let x = inputs(&["f64[]"], 0.5, 0.9);
    check("second", &x, |b, x| b.grad(steps(b, x[0], (0, 3, 1), |_, x| x.sin() * x), x)[0]);
    check("forward_reverse", &x, |b, x| {
        b.jvp(steps(b, x[0], (0, 3, 1), |_, x| x.sin() * x), x, &[b.constant(1.0)])
    });
}

#[test]
fn gradient_descent_through_its_steps() {
    // Eight steps of linear regression, differentiated by the data, the start and the rate.
    let mut x = inputs(&["f64[6,2]", "f64[6]", "f64[2]"], -1.0, 1.0);
    x.push("f64[] 0.1".parse().expect("a literal"));
    check("regression", &x, |b, x| {
        let state = b.tuple(&[b.constant(0), x[0], x[1], x[2], x[3]]);
        let fitted = state.while_loop(
            |s| s.get_tuple_element(0).lt(8),
            |s| {
                let of = |i| s.get_tuple_element(i);
                let (data, target, weights, rate) = (of(1), of(2), of(3), of(4));
                let found = (data * weights.along(&[1])).reduce(0.0, |a, c| a + c, &[1]);
                let slope = (data * (found - target).along(&[0])).reduce(0.0, |a, c| a + c, &[0]);
                b.tuple(&[of(0) + 1, data, target, weights - rate * slope, rate])
            },
        );
        fitted.get_tuple_element(3)
    });
}

#[test]
fn a_loop_of_unknown_length() {
    let x = ["f64[] 0.9".parse().expect("a literal")];
    // 0.9 is halved four times until it is at most 0.1.
    let tangent = pushed("halved", &x, &["f64[] 8".parse().expect("a literal")], &|_, x| {
        x[0].while_loop(|x| x.gt(0.1), |x| x * 0.5)
    });
    assert_eq!(tangent.to_string(), "f64[] 0.5");
    let b = Builder::new("unknown");
    let x = b.parameter(0, "f64[]", "x");
    let line = line!() + 1;
    let y = x.while_loop(|x| x.gt(0.1), |x| x * 0.5);
    let slope = b.grad(y, &[x])[0];
    assert!(!slope.is_valid());
    let error = b.first_error().expect("refused");
    assert_eq!(error.location().map(std::panic::Location::line), Some(line));
    assert!(error.to_string().contains("only if its trip count is known"), "{error}");
}

#[test]
fn long_loops_keep_one_stack() {
    // x * 1.01^100, by hand.
    let x = [Random(1).array("f64[]", 1.0, 1.0)];
    let slopes = gradients("long", &x, |b, x| steps(b, x[0], (0, 100, 1), |_, x| x * 1.01));
    assert!((slopes[0][0] - 1.01f64.powi(100)).abs() < 1e-12, "{slopes:?}");
}

#[test]
fn only_what_the_way_back_reads_is_saved() {
    let text = |body: for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>| {
        let b = Builder::new("saved");
        let (m, v) = (b.parameter(0, "f64[5,5]", "m"), b.parameter(1, "f64[5]", "v"));
        let state = b.tuple(&[b.constant(0), m, v]);
        let last = state.while_loop(
            |s| s.get_tuple_element(0).lt(7),
            |s| {
                let of = |i| s.get_tuple_element(i);
                s.builder().tuple(&[of(0) + 1, of(1), body(of(1), of(2))])
            },
        );
        let loss = last.get_tuple_element(2).reduce(0.0, |a, c| a + c, &[0]);
        let slopes = b.grad(loss, &[v]);
        b.build(slopes[0]).expect("built").module().to_string()
    };
    // A product by the matrix, which stays: nothing is saved. Of a sine the vector is, and never
    // the matrix.
    let linear = text(|m, v| (m * v.along(&[1])).reduce(0.0, |a, c| a + c, &[1]));
    assert!(!linear.contains("f64[7,5"), "{linear}");
    let bent = text(|m, v| (m * v.sin().along(&[1])).reduce(0.0, |a, c| a + c, &[1]));
    assert!(bent.contains("f64[7,5]") && !bent.contains("f64[7,5,5]"), "{bent}");
}
