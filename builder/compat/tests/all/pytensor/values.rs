//! What each scalar operation gives.
use super::{assert_near, literals, parameters};
use builder::Builder;
use builder_compat::pytensor::{ScalarOp, scalar_elemwise};

/// How far a function may be from NumPy's: those that are not correctly rounded there, or here are
/// made of several steps.
fn bound(op: ScalarOp) -> f64 {
    let bounds = [
        (
            2.0,
            "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cos cosh erf exp exp2 expm1 log log1p pow sin sinh tan tanh",
        ),
        (4.0, "log2 log10 sigmoid softplus"),
        // Signs of zeros: of both NumPy takes the one it has at hand, and PyTensor rounds 0 to -0.
        (0.5, "maximum minimum round_half_away_from_zero"),
    ];
    let listed = |names: &str| names.split(' ').any(|name| name == op.name());
    bounds.iter().find(|(_, names)| listed(names)).map_or(0.0, |(bound, _)| *bound)
}

#[test]
fn every_operation_gives_what_pytensor_gives() {
    let mut seen = Vec::new();
    for line in include_str!("values.txt").lines() {
        let [name, inputs, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let inputs = literals(inputs);
        let b = Builder::new("value");
        let op = scalar_elemwise(name).unwrap();
        let y = op.apply(&b, &parameters(&b, &inputs));
        let found = crate::support::evaluate_on(&b, y, &inputs);
        let expected = expected.parse().unwrap();
        let complex = inputs.iter().any(|x| x.array_shape().unwrap().ty.is_complex());
        let bound = if complex { 4.0 } else { bound(op.scalar_op()) };
        assert_near(&found, &expected, bound, line);
        seen.push(op.scalar_op());
    }
    let missing: Vec<_> = ScalarOp::ALL.iter().filter(|op| !seen.contains(op)).collect();
    assert_eq!(missing, [&ScalarOp::Complex; 0]);
}
