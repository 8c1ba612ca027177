//! Derivatives: PyTensor's values, shapes, and what is disconnected or unknown.
use super::{assert_near, literals, parameters};
use crate::support::{evaluate_on, run};
use builder::Builder;
use builder_compat::pytensor::{Cotangent, Elemwise, ScalarOp, scalar_elemwise};
use hlo::{ElementType, Literal};

/// PyTensor rounds in its own order.
const BOUND: f64 = 16.0;

#[test]
fn every_operation_is_differentiated_as_pytensor_does() {
    let mut seen = Vec::new();
    for line in include_str!("derivatives.txt").lines() {
        let [name, inputs, given, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let (inputs, given) = (literals(inputs), literals(given));
        let b = Builder::new("derivative");
        let op = scalar_elemwise(name.trim_start_matches("push ")).unwrap();
        seen.push(op.scalar_op());
        let all = parameters(&b, &[inputs.clone(), given.clone()].concat());
        let (x, g) = all.split_at(inputs.len());
        let y = op.apply(&b, x);
        let found = if name.starts_with("push ") {
            let tangents: Vec<Cotangent<'_>> = g.iter().map(|&g| g.into()).collect();
            vec![op.pushforward(x, y, &tangents)]
        } else {
            op.pullback(x, y, g[0])
        };
        let expected: Vec<&str> = expected.split(" ; ").collect();
        assert_eq!(found.len(), expected.len());
        let arguments = [inputs, given].concat();
        for (found, expected) in found.iter().zip(expected) {
            let Some(value) = found.value() else {
                assert!(found.is_disconnected() && expected == "disconnected", "{line}: {found:?}");
                continue;
            };
            let expected: Literal = expected.parse().unwrap();
            assert_near(&evaluate_on(&b, value, &arguments), &expected, BOUND, line);
        }
    }
    let missing: Vec<_> = ScalarOp::ALL.iter().filter(|op| !seen.contains(op)).collect();
    // These are of complex numbers; see below.
    assert_eq!(missing, [&ScalarOp::Complex, &ScalarOp::Conj, &ScalarOp::Real]);
}

#[test]
fn cotangents_are_summed_over_what_was_stretched() {
    let b = Builder::new("stretched");
    let x = b.parameter(0, "f32[2,1,3]", "x");
    let y = b.parameter(1, "f32[4,1]", "y");
    let s = b.parameter(2, "f32[]", "s");
    let op = Elemwise::new(ScalarOp::Mul);
    let z = op.apply(&b, &[x, y, s]);
    assert_eq!(z.dims().unwrap(), [2, 4, 3]);
    let one = b.constant(1f32).broadcast(&[2, 4, 3]);
    let cotangents: Vec<_> =
        op.pullback(&[x, y, s], z, one).iter().map(|c| c.value().unwrap()).collect();
    let all = b.tuple(&cotangents);
    let arguments =
        ["f32[2,1,3] {{{1, 2, 3}}, {{4, 5, 6}}}", "f32[4,1] {{1}, {2}, {3}, {4}}", "f32[] 2"];
    // Sum of y is 10, of x 21.
    assert_eq!(
        run(&b, all, &arguments),
        "( f32[2,1,3]{2,1,0} { { { 20, 20, 20 } }, { { 20, 20, 20 } } }, \
         f32[4,1]{1,0} { {42}, {42}, {42}, {42} }, f32[] 210 )"
    );
    let tangents =
        [b.constant(1f32).broadcast(&[2, 1, 3]).into(), Cotangent::Disconnected, s.into()];
    let pushed = op.pushforward(&[x, y, s], z, &tangents).value().unwrap();
    // x * y * (ds = s = 2) + y * s, at y = 1 and x = 1: 2 + 2.
    let found = run(&b, pushed.slice_first(), &arguments);
    assert_eq!(found, "f32[] 4");
}

/// The first element, through a sum of what a mask leaves.
trait First {
    fn slice_first(self) -> Self;
}
impl First for builder::Value<'_> {
    fn slice_first(self) -> Self {
        let b = self.builder();
        let mut mask = [0f32; 24];
        mask[0] = 1.0;
        let mask = b.constant(&mask[..]).reshape(&[2, 4, 3]);
        (self * mask).reduce(0.0, |a, c| a + c, &[0, 1, 2])
    }
}

#[test]
fn outcomes_are_told_apart() {
    let b = Builder::new("outcomes");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "y"));
    let second = Elemwise::new(ScalarOp::Second);
    let z = second.apply(&b, &[x, y]);
    let pulled = second.pullback(&[x, y], z, y);
    assert!(pulled[0].is_disconnected() && pulled[1].value().is_some());
    let pushed = second.pushforward(&[x, y], z, &[x.into(), Cotangent::Disconnected]);
    assert!(pushed.is_disconnected());
    // What comes in disconnected or unknown goes out so.
    let mul = Elemwise::new(ScalarOp::Mul);
    let product = mul.apply(&b, &[x, y]);
    let none = mul.pullback(&[x, y], product, Cotangent::Disconnected);
    assert!(none.iter().all(Cotangent::is_disconnected));
    let unknown = Cotangent::NotImplemented { why: "of old".into() };
    let none = mul.pullback(&[x, y], product, unknown.clone());
    assert!(none.iter().all(|c| matches!(c, Cotangent::NotImplemented { why } if why == "of old")));
    let pushed = mul.pushforward(&[x, y], product, &[x.into(), unknown]);
    assert!(matches!(pushed, Cotangent::NotImplemented { .. }));
    // Of complex numbers some derivatives are not known.
    let c = x.complex(y);
    let exp = Elemwise::new(ScalarOp::Exp);
    let pulled = exp.pullback(&[c], exp.apply(&b, &[c]), c);
    assert!(matches!(&pulled[0], Cotangent::NotImplemented { why } if why.contains("`exp`")));
    b.status().unwrap();
}

#[test]
fn discrete_inputs_have_floats_for_cotangents() {
    let b = Builder::new("discrete");
    let n = b.parameter(0, "s8[2]", "n");
    let x = b.parameter(1, "f32[2]", "x");
    let types = |op: ScalarOp, inputs: &[_]| -> Vec<ElementType> {
        let op = Elemwise::new(op).float_x(ElementType::F32);
        let z = op.apply(&b, inputs);
        let g = b.constant(1f32).broadcast(&[2]);
        let pulled = op.pullback(inputs, z, g);
        pulled.iter().map(|c| c.value().unwrap().element_type().unwrap()).collect()
    };
    // Steps: zeros of `floatX`.
    assert_eq!(types(ScalarOp::Add, &[n, n]), [ElementType::F32; 2]);
    assert_eq!(types(ScalarOp::Lt, &[n, x]), [ElementType::F32; 2]);
    // Floats out of integers: derivatives of the output's type.
    assert_eq!(types(ScalarOp::Exp, &[n]), [ElementType::F32]);
    assert_eq!(types(ScalarOp::Mul, &[n, x]), [ElementType::F32; 2]);
    // Inputs narrower than the output have theirs in their own type.
    let wide = b.parameter(2, "f64[2]", "w");
    assert_eq!(types(ScalarOp::Mul, &[x, wide]), [ElementType::F32, ElementType::F64]);
}

#[test]
fn complex_cotangents_are_by_real_and_imaginary_part() {
    // f = Re(z * w): df/dx + i df/dy = conj(w).
    let b = Builder::new("complex");
    let (z, w) = (b.parameter(0, "c64[]", "z"), b.parameter(1, "c64[]", "w"));
    let (mul, real, abs) =
        (Elemwise::new(ScalarOp::Mul), Elemwise::new(ScalarOp::Real), Elemwise::new(ScalarOp::Abs));
    let product = mul.apply(&b, &[z, w]);
    let part = real.apply(&b, &[product]);
    let back = real.pullback(&[product], part, b.constant(1f32));
    let by_z = mul.pullback(&[z, w], product, &back[0])[0].value().unwrap();
    let size = abs.apply(&b, &[z]);
    let by_size = abs.pullback(&[z], size, b.constant(5f32))[0].value().unwrap();
    // The tangent of |z| along w is Re(conj(z) w) / |z|; of z w along (1, i) it is w + i z.
    let along = abs.pushforward(&[z], size, &[w.into()]).value().unwrap();
    let (one, i) = (b.constant(1f32), b.constant(0f32));
    let tangents = [one.complex(i).into(), i.complex(one).into()];
    let both = mul.pushforward(&[z, w], product, &tangents).value().unwrap();
    let all = b.tuple(&[by_z, by_size, along, both]);
    assert_eq!(
        run(&b, all, &["c64[] (3, 4)", "c64[] (2, 1)"]),
        "( c64[] (2, -1), c64[] (3, 4), f32[] 2, c64[] (-2, 4) )"
    );
}

#[test]
fn wrong_cotangents_are_refused() {
    let refused = |shape: &str, expected: &str| {
        let b = Builder::new("m");
        let x = b.parameter(0, "f32[2]", "x");
        let g = b.parameter(1, shape, "g");
        let op = Elemwise::new(ScalarOp::Exp);
        let pulled = op.pullback(&[x], op.apply(&b, &[x]), g);
        assert!(pulled[0].value().is_some_and(|value| !value.is_valid()));
        let error = b.status().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused("f32[3]", "expected a derivative of shape f32[2], found f32[3]");
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let op = Elemwise::new(ScalarOp::Exp);
    op.pullback(&[x], x.reshape(&[1, 2]), x);
    let error = b.status().unwrap_err().to_string();
    assert!(error.contains("f32[1,2] is not the output of `exp` on these inputs"), "{error}");
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    op.pushforward(&[x], op.apply(&b, &[x]), &[]);
    assert!(b.status().unwrap_err().to_string().contains("1 inputs have 0 tangents"));
}
