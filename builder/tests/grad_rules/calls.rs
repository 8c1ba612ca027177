//! Calls, fusions, maps, branches.
use super::gradient::{check, gradients, inputs};
use super::make;
use crate::{Builder, Value};
use hlo::op::value::FusionKind;
use hlo::op::{CustomCall, Fusion, Map};

#[test]
fn calls() {
    let x = inputs(&["f64[3]", "f64[3]"], 0.5, 1.5);
    check("call", &x, |b, x| {
        let f = b.computation("f", &["f64[3]", "f64[3]"], |p| p[0].sin() * p[1]);
        b.call(f, x) * b.call(f, &[x[1], x[0]])
    });
    check("call_same", &x[..1], |b, x| {
        let f = b.computation("f", &["f64[3]", "f64[3]"], |p| p[0].sin() * p[1]);
        b.call(f, &[x[0], x[0]])
    });
    check("call_nested", &x, |b, x| {
        let f = b.computation("f", &["f64[3]"], |p| p[0].exp());
        let g = b.computation("g", &["(f64[3], (s32[], f64[3]))"], |p| {
            let inner = p[0].get_tuple_element(1);
            let y = b.call(f, &[p[0].get_tuple_element(0)]);
            b.tuple(&[inner, y * inner.get_tuple_element(1)])
        });
        b.call(g, &[b.tuple(&[x[0], b.tuple(&[b.constant(1), x[1]])])])
    });
    check("call_identity", &x[..1], |b, x| {
        let f = b.computation("f", &["f64[3]"], |p| p[0]);
        b.call(f, x).sin()
    });
}

#[test]
fn calls_take_no_part_where_nothing_flows() {
    let x = inputs(&["f64[3]"], 0.5, 1.5);
    check("call_constant", &x, |b, x| {
        let one = b.computation("one", &["f64[3]"], |p| {
            p[0].gt(9.0).convert_element_type(hlo::ElementType::F64)
        });
        b.call(one, x) + x[0] * x[0]
    });
}

#[test]
fn second_derivatives_of_calls() {
    let x = inputs(&["f64[]"], 0.5, 1.5);
    check("call_second", &x, |b, x| {
        let f = b.computation("f", &["f64[]"], |p| p[0].exp() * p[0]);
        b.grad(b.call(f, x), x)[0]
    });
}

#[test]
fn fusions() {
    let x = inputs(&["f64[3]", "f64[3]"], 0.5, 1.5);
    check("fusion", &x, |b, x| {
        let f =
            b.computation("fused", &["f64[3]", "f64[3]"], |p| b.tuple(&[p[0].sin() * p[1], p[1]]));
        let calls = f.id_in(b).expect("made above");
        make(Fusion::new(FusionKind::Loop, calls), x, "(f64[3], f64[3])")
    });
}

fn map<'b>(x: &[Value<'b>], f: crate::Computation<'b>) -> Value<'b> {
    let to_apply = f.id_in(x[0].builder()).expect("made before");
    make(Map { dimensions: vec![], to_apply }, x, "")
}

#[test]
fn maps() {
    let x = inputs(&["f64[2,3]", "f64[2,3]"], 0.5, 1.5);
    check("map", &x, |b, x| {
        map(x, b.computation("f", &["f64[]", "f64[]"], |p| p[0].sin() * p[1] + 2.0))
    });
    check("map_of_branches", &x[..1], |b, x| {
        map(
            x,
            b.computation("f", &["f64[]"], |p| {
                p[0].gt(1.0).conditional(p[0], Value::sin, p[0], |x| x * x)
            }),
        )
    });
    check("map_flat", &x, |b, x| {
        map(x, b.computation("f", &["f64[]", "f64[]"], |p| p[1] * p[1])) + x[0].sin()
    });
}

#[test]
fn branches() {
    let x = inputs(&["f64[3]", "f64[2]"], 0.5, 1.5);
    for side in [true, false] {
        check(&format!("if_{side}"), &x, |b, x| {
            let both = b.tuple(&[x[0], x[1]]);
            b.constant(side).conditional(
                both,
                |p| {
                    p.builder().tuple(&[
                        p.get_tuple_element(1).exp(),
                        p.get_tuple_element(0).builder().constant(1.0),
                    ])
                },
                x[0],
                |x| {
                    x.builder().tuple(&[
                        x.builder().constant([1.0, 2.0]),
                        (x * x).reduce(0.0, |a, c| a + c, &[0]),
                    ])
                },
            )
        });
    }
    for index in [0, 1, 2, 7] {
        check(&format!("case_{index}"), &x[..1], |b, x| {
            let one = |name: &str, f: fn(Value<'_>) -> Value<'_>| {
                b.computation(name, &["f64[3]"], |p| f(p[0]))
            };
            let all = [one("sin", |x| x.sin()), one("exp", |x| x.exp()), one("square", |x| x * x)];
            b.constant(index).switch_computations(&all, &[x[0], x[0] * 2.0, x[0]])
        });
    }
}

#[test]
fn a_branch_is_refused_at_its_line() {
    let b = Builder::new("refused");
    let x = b.parameter(0, "f64[]", "x");
    let f = b.computation("f", &["f64[]"], |p| custom(p[0]));
    let slope = b.grad(b.call(f, &[x * 2.0]), &[x])[0];
    assert!(!slope.is_valid());
    let error = b.first_error().expect("refused");
    assert_eq!(error.number(), "E0808");
    assert!(
        error.to_string().contains("`custom-call` of `secret` has no derivative rule here"),
        "{error}"
    );
    // The line of the op, inside the computation; the help has that of the derivative.
    assert_eq!(error.location().map(std::panic::Location::line), Some(CUSTOM_LINE), "{error}");
}
const CUSTOM_LINE: u32 = line!() + 2;
fn custom(x: Value<'_>) -> Value<'_> {
    make(CustomCall::new(hlo::op::value::Text("secret".into())), &[x], "f64[]")
}

#[test]
fn trials_leave_nothing_behind() {
    let b = Builder::new("clean");
    let x = b.parameter(0, "f64[]", "x");
    let f = b.computation("f", &["f64[]"], |p| p[0].sin());
    let slope = b.grad(b.call(f, &[x]), &[x])[0];
    let text = b.build(slope).expect("built").module().to_string();
    assert!(!text.contains("trial"), "{text}");
    assert!(text.contains("vjp_f"), "{text}");
    let slopes = gradients("clean", &inputs(&["f64[]"], 0.3, 0.3), |b, x| {
        let f = b.computation("f", &["f64[]"], |p| p[0].sin());
        b.call(f, x)
    });
    assert_eq!(slopes, [[0.3f64.cos()]]);
}
