//! Reductions of windows, and their counterpart.
#![expect(clippy::unreadable_literal, reason = "numbers as JAX prints them")]
use super::gradient::{check, inputs, pulled};
use super::make;
use crate::{Builder, Value};
use hlo::op::value::{Window, WindowDim};
use hlo::op::{ReduceWindow, SelectAndScatter};
use hlo::{ElementType, Literal};

/// Size, stride, padding, dilations of array and window.
fn dim(size: i64, stride: i64, pads: (i64, i64), dilations: [i64; 2]) -> WindowDim {
    super::convolution::dim(size, stride, pads, dilations, false)
}
fn reduce_window<'b>(
    x: Value<'b>,
    init: Value<'b>,
    dims: &[WindowDim],
    combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
) -> Value<'b> {
    let to_apply = x.builder().combiner("reducer", ElementType::F64, combine).expect("a combiner");
    make(ReduceWindow { window: Window { dims: dims.to_vec() }, to_apply }, &[x, init], "")
}
fn all_windows() -> [[WindowDim; 2]; 6] {
    [
        [dim(2, 1, (0, 0), [1, 1]), dim(3, 1, (0, 0), [1, 1])],
        [dim(2, 2, (1, 0), [1, 1]), dim(3, 3, (2, 2), [1, 1])],
        [dim(2, 2, (1, 1), [2, 1]), dim(3, 2, (0, 2), [1, 2])],
        [dim(1, 3, (0, 4), [1, 1]), dim(2, 1, (-1, 2), [3, 4])],
        [dim(2, 1, (-1, -1), [1, 1]), dim(2, 1, (4, 4), [1, 1])],
        [dim(4, 1, (3, 0), [1, 1]), dim(1, 1, (0, 0), [1, 1])],
    ]
}

#[test]
fn sums() {
    let mut x = inputs(&["f64[4,6]"], -1.0, 1.0);
    x.push("f64[] 0.25".parse().expect("a literal"));
    for (i, dims) in all_windows().iter().enumerate() {
        check(&format!("window_sum_{i}"), &x, |_, x| {
            reduce_window(x[0] * x[0], x[1], dims, |a, c| a + c).sin()
        });
    }
    let z = inputs(&["c128[5]"], -1.0, 1.0);
    check("window_sum_c", &z, |b, x| {
        let to_apply = b.combiner("add", ElementType::C128, |a, c| a + c).expect("a combiner");
        let zero = b.constant(0.0).convert_element_type(ElementType::C128);
        let window = Window { dims: vec![dim(3, 2, (1, 1), [1, 1])] };
        make(ReduceWindow { window, to_apply }, &[x[0] * x[0], zero], "")
    });
}

#[test]
fn largest_and_smallest() {
    let x = inputs(&["f64[4,6]"], -1.0, 1.0);
    for (i, dims) in all_windows().iter().enumerate() {
        check(&format!("window_max_{i}"), &x, |b, x| {
            reduce_window(x[0].sin(), b.constant(f64::NEG_INFINITY), dims, Value::max).exp()
        });
        check(&format!("window_min_{i}"), &x, |b, x| {
            reduce_window(x[0], b.constant(f64::INFINITY), dims, |a, c| c.min(a)).tanh()
        });
    }
    let mut x = x;
    x.push("f64[] 0.25".parse().expect("a literal"));
    for (i, dims) in all_windows().iter().enumerate() {
        check(&format!("window_initial_{i}"), &x, |_, x| {
            reduce_window(x[0].sin(), x[1] * 0.5, dims, Value::max).sin()
        });
    }
}

fn literal(text: &str) -> Literal {
    text.parse().expect("a literal")
}

#[test]
fn ties_go_to_the_first_as_in_jax() {
    // `jax.vjp` of `lax.reduce_window`, JAX 0.10.2.
    let x = [literal("f64[3,4] {{1, 3, 3, 2}, {3, 3, 0, 5}, {5, 5, 1, 1}}")];
    let two = dim(2, 1, (0, 0), [1, 1]);
    let c = literal("f64[2,3] {{1, 2, 3}, {4, 5, 6}}");
    let max = |b: f64, first: bool| {
        let found = pulled("tie", &x, &c, &|builder, x| {
            // The initial value is no constant in the second case, which is another way to the
            // same.
            let initial = if first { builder.constant(b) } else { builder.constant(b).copied() };
            reduce_window(x[0], initial, &[two.clone(), two.clone()], Value::max)
        });
        found.to_string()
    };
    let expected = "( f64[3,4]{1,0} { { 0, 3, 0, 0 }, { 0, 0, 0, 9 }, { 4, 5, 0, 0 } } )";
    let squeezed = |text: &str| text.replace([' ', '\n'], "");
    assert_eq!(squeezed(&max(f64::NEG_INFINITY, true)), squeezed(expected));
    assert_eq!(squeezed(&max(f64::NEG_INFINITY, false)), squeezed(expected));
    let c = literal("f64[3,2] {{1, 2}, {3, 4}, {5, 6}}");
    let found = pulled("tie_min", &x, &c, &|b, x| {
        let dims = [dim(2, 1, (0, 1), [1, 1]), dim(2, 2, (0, 0), [1, 1])];
        reduce_window(x[0], b.constant(f64::INFINITY), &dims, Value::min)
    });
    let expected = "( f64[3,4]{1,0} { { 1, 0, 0, 0 }, { 3, 0, 6, 0 }, { 5, 0, 6, 0 } } )";
    assert_eq!(squeezed(&found.to_string()), squeezed(expected));
}
trait Copied {
    fn copied(self) -> Self;
}
impl Copied for Value<'_> {
    fn copied(self) -> Self {
        make(hlo::op::Copy {}, &[self], "")
    }
}

#[test]
fn cumulative_sums() {
    let x = inputs(&["f64[7]"], -1.0, 1.0);
    let window = [dim(7, 1, (6, 0), [1, 1])];
    check("cumsum", &x, |b, x| reduce_window(x[0].sin(), b.constant(0.0), &window, |a, c| a + c));
    // JAX 0.10.2: `jax.vjp(lambda x: jnp.cumsum(jnp.sin(x)), x)`.
    let x = [literal("f64[4] {3, 1, 2, 1}")];
    let window = [dim(4, 1, (3, 0), [1, 1])];
    let found = pulled("cumsum_jax", &x, &literal("f64[4] {1, 2, 3, 4}"), &|b, x| {
        reduce_window(x[0].sin(), b.constant(0.0), &window, |a, c| a + c)
    });
    let expected = [-9.899924966004454, 4.862720752813258, -2.9130278558299967, 2.161209223472559];
    for (x, y) in super::gradient::components(&found).iter().zip(expected) {
        assert!((x - y).abs() < 1e-14, "{found}");
    }
}

#[test]
fn select_and_scatter() {
    let select = |b: &Builder, greatest: bool| {
        b.combiner("select", ElementType::F64, |x, y| if greatest { x.ge(y) } else { x.lt(y) })
    };
    let mut x = inputs(&["f64[4,6]", "f64[3,4]"], -1.0, 1.0);
    x.push("f64[] 0.25".parse().expect("a literal"));
    for greatest in [true, false] {
        // The operand that chooses has no derivative of its own: it is added to have another.
        check(&format!("select_and_scatter_{greatest}"), &x, |b, x| {
            let scatter = b.combiner("add", ElementType::F64, |x, y| x + y).expect("a combiner");
            let dims = vec![dim(2, 2, (1, 1), [1, 1]), dim(3, 2, (2, 1), [1, 1])];
            let select = select(b, greatest).expect("a combiner");
            let op = SelectAndScatter { window: Window { dims }, select, scatter };
            make(op, &[x[0], x[1].sin(), x[2]], "").sin() + x[0]
        });
    }
    // The gradient of a gradient: select-and-scatter is what a maximum's is made of.
    check("max_second", &x[..1], |b, x| {
        let dims = [dim(2, 2, (0, 0), [1, 1]), dim(3, 3, (0, 0), [1, 1])];
        let largest = reduce_window(x[0] * x[0], b.constant(f64::NEG_INFINITY), &dims, Value::max);
        b.grad(largest.sin().reduce(0.0, |a, c| a + c, &[0, 1]), x)[0]
    });
}

#[test]
fn what_only_chooses_has_no_derivative() {
    let b = Builder::new("chooses");
    let (x, source) = (b.parameter(0, "f64[4]", "x"), b.parameter(1, "f64[2]", "source"));
    let op = SelectAndScatter {
        window: Window { dims: vec![dim(2, 2, (0, 0), [1, 1])] },
        select: b.combiner("select", ElementType::F64, |x, y| x.ge(y)).expect("a combiner"),
        scatter: b.combiner("add", ElementType::F64, |x, y| x + y).expect("a combiner"),
    };
    let y = make(op, &[x, source, b.constant(0.0)], "");
    b.vjp(y, &[x], y);
    let error = b.first_error().expect("refused");
    assert_eq!(error.number(), "E0808");
    assert!(
        error.to_string().contains("only through `select-and-scatter`, whose derivative is zero"),
        "{error}"
    );
}

#[test]
fn other_windows_are_refused() {
    let b = Builder::new("product");
    let x = b.parameter(0, "f64[4]", "x");
    let y = reduce_window(x, b.constant(1.0), &[dim(2, 1, (0, 0), [1, 1])], |a, c| a * c);
    b.vjp(y, &[x], y);
    let error = b.first_error().expect("refused").to_string();
    assert!(
        error.contains("`reduce-window` has a derivative rule here only where it adds"),
        "{error}"
    );
}

#[test]
fn windows_whose_initial_value_is_wider() {
    // Each operand's cotangent has its own type. By hand: 3 and 5 are largest, 5 twice.
    let b = Builder::new("wide");
    let (x, init) = (b.parameter(0, "bf16[4]", "x"), b.parameter(1, "f32[]", "init"));
    let to_apply = b.combiner("max", ElementType::F32, Value::max).expect("a combiner");
    let window = Window { dims: vec![dim(2, 1, (0, 0), [1, 1])] };
    let y = make(ReduceWindow { window, to_apply }, &[x, init], "f32[3]");
    let slopes = b.grad(y.reduce(0.0, |a, c| a + c, &[0]), &[x, init]);
    let arguments = [literal("bf16[4] {3, 1, 5, 2}"), literal("f32[] 0")];
    let found = super::evaluate_on(&b, b.tuple(&slopes), &arguments);
    assert_eq!(found, literal("(bf16[4] {1, 0, 2, 0}, f32[] 0)"));
}
