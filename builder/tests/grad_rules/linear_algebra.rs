//! Factors, triangular systems, transforms.
#![expect(clippy::unreadable_literal, reason = "numbers as JAX prints them")]
use super::gradient::{check, components, inputs, pulled};
use super::make;
use crate::Value;
use hlo::op::value::{FftType, Transpose};
use hlo::op::{Cholesky, Fft, TriangularSolve};
use hlo::{ElementType, Literal};

fn near(found: &Literal, expected: &[f64]) {
    let found: Vec<f64> = found.leaves().into_iter().flat_map(components).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= 1e-13 * y.abs().max(1.0), "{found:?}, expected {expected:?}");
    }
}
fn literal(text: &str) -> Literal {
    text.parse().expect("a literal")
}
/// A matrix with a diagonal that is far from zero.
fn dominant(x: Value<'_>, by: f64) -> Value<'_> {
    let shape = x.array().expect("an array");
    let part = super::super::matrices::MatrixPart::Diagonal;
    let diagonal = super::super::matrices::lies_in(x, part).expect("matrices");
    let ty = shape.ty;
    x + diagonal.convert_element_type(ty) * by
}

#[test]
fn triangular_systems() {
    for left_side in [true, false] {
        for flags in 0..4 {
            let (lower, unit_diagonal) = (flags % 2 == 1, flags / 2 == 1);
            for transpose_a in [Transpose::None, Transpose::Transpose, Transpose::Adjoint] {
                let op = || TriangularSolve { left_side, lower, unit_diagonal, transpose_a };
                let name = format!("solve_{left_side}_{flags}_{transpose_a:?}");
                let right = if left_side { "c128[2,3,2]" } else { "c128[2,2,3]" };
                let z = inputs(&["c128[2,3,3]", right], -1.0, 1.0);
                check(&name, &z, |_, x| make(op(), &[dominant(x[0], 3.0), x[1]], ""));
                let right = right.replace("c128", "f64");
                let x = inputs(&["f64[2,3,3]", &right], -1.0, 1.0);
                check(&name, &x, |_, x| make(op(), &[dominant(x[0], 3.0), x[1]], "").sin());
            }
        }
    }
}

#[test]
fn a_triangular_system_as_in_jax() {
    // `jax.vjp` of
    // `lax.linalg.triangular_solve(a, b, left_side=True, lower=True, transpose_a=True)`, JAX
    // 0.10.2.
    let x = [
        literal("f64[3,3] {{2, 0, 0}, {1, 3, 0}, {-1, 0.5, 4}}"),
        literal("f64[3,2] {{1, 2}, {3, 4}, {5, 6}}"),
    ];
    let c = literal("f64[3,2] {{1, -1}, {2, 0.5}, {0, 3}}");
    let found = pulled("solve_jax", &x, &c, &|_, x| {
        let transpose_a = Transpose::Transpose;
        let op =
            TriangularSolve { left_side: true, lower: true, unit_diagonal: false, transpose_a };
        make(op, x, "")
    });
    let of_a = [
        0.23958333333333337,
        0.0,
        0.0,
        0.14583333333333331,
        -0.7569444444444444,
        0.0,
        0.125,
        -1.125,
        -0.953125,
    ];
    let of_b = [0.5, -0.5, 0.5, 0.3333333333333333, 0.0625, 0.5833333333333334];
    near(&found, &[of_a.as_slice(), &of_b].concat());
}

/// `x x^H` and something on the diagonal.
fn positive(x: Value<'_>) -> Value<'_> {
    use super::super::matrices::{Factor, adjoint, product};
    let square = product(Factor::Plain(x), Factor::Plain(adjoint(x))).expect("matrices");
    dominant(square, 1.0)
}

#[test]
fn cholesky() {
    for lower in [true, false] {
        for shape in ["f64[2,3,3]", "c128[3,3]", "f64[1,1]"] {
            let x = inputs(&[shape], -1.0, 1.0);
            check(&format!("cholesky_{lower}"), &x, |_, x| {
                make(Cholesky { lower }, &[positive(x[0])], "")
            });
        }
        // One triangle is read, and only that has a derivative.
        let x = inputs(&["f64[3,3]"], -0.2, 0.2);
        check(&format!("cholesky_read_{lower}"), &x, |_, x| {
            make(Cholesky { lower }, &[dominant(x[0], 2.0)], "").sin()
        });
    }
    // `jax.vjp` of `jnp.tril(lax.linalg.cholesky((a + a.T) / 2))`, JAX 0.10.2.
    let x = [literal("f64[3,3] {{4, 2, 1}, {2, 5, 3}, {1, 3, 6}}")];
    let c = literal("f64[3,3] {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}");
    let found = pulled("cholesky_jax", &x, &c, &|_, x| {
        make(Cholesky { lower: true }, &[(x[0] + x[0].transpose(&[1, 0])) * 0.5], "")
    });
    near(
        &found,
        &[
            -0.17890996094369727,
            0.4140996094369729,
            0.8874406249008433,
            0.4140996094369729,
            0.8590039056302711,
            0.6255937509915662,
            0.8874406249008433,
            0.6255937509915662,
            2.199049998413494,
        ],
    );
}

fn fft<'b>(x: Value<'b>, fft_type: FftType, lengths: &[i64]) -> Value<'b> {
    make(Fft { fft_type, fft_length: lengths.to_vec() }, &[x], "")
}

#[test]
fn transforms() {
    let z = inputs(&["c128[2,3,4]"], -1.0, 1.0);
    for kind in [FftType::Fft, FftType::Ifft] {
        for lengths in [&[4][..], &[3, 4], &[2, 3, 4]] {
            check(&format!("fft_{}", lengths.len()), &z, |_, x| fft(x[0] * x[0], kind, lengths));
        }
    }
    for (real, half, lengths) in [
        ("f64[2,3,6]", "c128[2,3,4]", &[6][..]),
        ("f64[2,3,5]", "c128[2,3,3]", &[3, 5]),
        ("f64[2,3,4]", "c128[2,3,3]", &[2, 3, 4]),
        ("f64[3,1]", "c128[3,1]", &[1]),
        ("f64[3,2]", "c128[3,2]", &[3, 2]),
    ] {
        let x = inputs(&[real], -1.0, 1.0);
        check("rfft", &x, |_, x| fft(x[0].sin(), FftType::Rfft, lengths));
        let z = inputs(&[half], -1.0, 1.0);
        check("irfft", &z, |_, x| fft(x[0] * x[0], FftType::Irfft, lengths).sin());
    }
}

#[test]
fn transforms_as_in_jax() {
    // `jax.vjp` of `jnp.fft.fft`, `rfft` and `irfft`, JAX 0.10.2.
    let z = [literal("c128[4] {(1, 2), (3, -1), (0, 0.5), (2, 0)}")];
    let c = literal("c128[4] {(1, 1), (2, 0), (0, -1), (3, 0)}");
    let found = pulled("fft_jax", &z, &c, &|_, x| fft(x[0], FftType::Fft, &[4]));
    near(&found, &[6.0, 0.0, 1.0, 3.0, -4.0, 0.0, 1.0, 1.0]);
    let x = [literal("f64[5] {1, 2, 3, 4, 5}")];
    let c = literal("c128[3] {(1, 1), (2, -1), (0, 3)}");
    let found = pulled("rfft_jax", &x, &c, &|_, x| fft(x[0], FftType::Rfft, &[5]));
    near(
        &found,
        &[
            3.0000000000000004,
            2.4303332293321613,
            -4.058988789927829,
            2.8229208124280385,
            0.8057347481676291,
        ],
    );
    let z = [literal("c128[4] {(1, 1), (2, -1), (0, 3), (1, 2)}")];
    let c = literal("f64[6] {1, 2, 3, 4, 5, 6}");
    let found = pulled("irfft_jax", &z, &c, &|_, x| fft(x[0], FftType::Irfft, &[6]));
    near(&found, &[3.5, 0.0, -1.0, -1.7320508075688772, -1.0, -0.5773502691896257, -0.5, 0.0]);
    assert_eq!(found.leaves()[0].array_shape().map(|s| s.ty), Some(ElementType::C128));
}
