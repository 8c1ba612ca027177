//! Transforms and linear algebra: the engines agree within the rounding of a wider type.
use crate::compiled;
use crate::windows::{elements, engines_agree};
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};

/// Numbers between -0.5 and 0.5, or complex numbers of such parts.
fn numbers(shape: &ArrayShape) -> Literal {
    let (mut state, mut bytes) = (1u32, Vec::new());
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    for _ in 0..shape.element_count().unwrap() {
        let x = if shape.ty.is_complex() {
            Scalar::Complex(next(), next())
        } else {
            Scalar::Float(next())
        };
        let mut element = vec![0; shape.ty.storage_bytes()];
        x.round_to(shape.ty).write(shape.ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(shape.clone(), &bytes).unwrap()
}

fn parts(x: Scalar) -> [f64; 2] {
    if let Scalar::Complex(re, im) = x { [re, im] } else { [x.as_f64(), 0.0] }
}

/// Runs a module in both engines; results differ by at most `bound`.
fn agree_within(text: &str, bound: f64) {
    let exact = compiled(text, Engine::Exact);
    let parameters = exact.module().entry().program_shape().parameters;
    let arguments: Vec<Literal> = parameters.iter().map(|p| numbers(p.array().unwrap())).collect();
    let run = |engine| compiled(text, engine).execute(&arguments, &RunOptions::default()).unwrap();
    let (found, expected) = (run(Engine::Exact), run(Engine::Reference));
    assert_eq!(found.shape(), expected.shape());
    for i in 0..found.len() {
        let (a, b) = (parts(found.get(i)), parts(expected.get(i)));
        for (a, b) in a.into_iter().zip(b) {
            let same = (a - b).abs() <= bound || a.is_nan() && b.is_nan();
            assert!(same, "{i} of {text}: {a}, {b}");
        }
    }
}

#[test]
fn transforms_of_many_lines() {
    for lines in [1, 2, 7, 8, 9, 17] {
        for n in [1, 2, 12, 31, 37, 64, 74, 120] {
            for (ty, real, bound) in [("c64", "f32", 1e-5), ("c128", "f64", 1e-13)] {
                let half = n / 2 + 1;
                for (from, to, kind) in [
                    (format!("{ty}[{lines},{n}]"), format!("{ty}[{lines},{n}]"), "FFT"),
                    (format!("{ty}[{lines},{n}]"), format!("{ty}[{lines},{n}]"), "IFFT"),
                    (format!("{real}[{lines},{n}]"), format!("{ty}[{lines},{half}]"), "RFFT"),
                    (format!("{ty}[{lines},{half}]"), format!("{real}[{lines},{n}]"), "IRFFT"),
                ] {
                    agree_within(
                        &format!(
                            "ENTRY e {{ p = {from} parameter(0) ROOT r = {to} fft(p), fft_type={kind}, fft_length={{{n}}} }}"
                        ),
                        bound,
                    );
                }
            }
        }
    }
}

#[test]
fn transforms_of_several_dimensions() {
    for (ty, real, bound) in [("c64", "f32", 1e-4), ("c128", "f64", 1e-12)] {
        for (from, to, kind, lengths) in [
            (format!("{ty}[3,12,20]"), format!("{ty}[3,12,20]"), "FFT", "12,20"),
            (format!("{ty}[5,12,9]"), format!("{ty}[5,12,9]"), "IFFT", "5,12,9"),
            (format!("{real}[2,6,5,10]"), format!("{ty}[2,6,5,6]"), "RFFT", "6,5,10"),
            (format!("{ty}[2,6,5,6]"), format!("{real}[2,6,5,10]"), "IRFFT", "6,5,10"),
            (format!("{real}[9,7]"), format!("{ty}[9,4]"), "RFFT", "9,7"),
            (format!("{ty}[4,9,1]"), format!("{ty}[4,9,1]"), "FFT", "9,1"),
        ] {
            agree_within(
                &format!(
                    "ENTRY e {{ p = {from} parameter(0) ROOT r = {to} fft(p), fft_type={kind}, fft_length={{{lengths}}} }}"
                ),
                bound,
            );
        }
    }
}

#[test]
fn factors_of_matrices() {
    for (ty, bound) in [("f32", 1e-5), ("bf16", 2e-2), ("f16", 3e-3), ("f64", 1e-13), ("c64", 1e-5)]
    {
        for (batch, n) in [(1, 1), (3, 5), (2, 16), (1, 17), (1, 70)] {
            for lower in [true, false] {
                // A Hermitian matrix with a large diagonal: a transposed sum, and n on the diagonal.
                let s = format!("{ty}[{batch},{n},{n}]");
                agree_within(
                    &format!(
                        "ENTRY e {{ p = {s} parameter(0) t = {s} transpose(p), dimensions={{0,2,1}} a = {s} add(p, t)
                           i = s32[{n},{n}] iota(), iota_dimension=0 j = s32[{n},{n}] iota(), iota_dimension=1
                           d = pred[{n},{n}] compare(i, j), direction=EQ e = {ty}[{n},{n}] convert(d)
                           c = {ty}[] constant({n}) b = {ty}[{n},{n}] broadcast(c), dimensions={{}}
                           f = {ty}[{n},{n}] multiply(e, b) g = {s} broadcast(f), dimensions={{1,2}} m = {s} add(a, g)
                           ROOT r = {s} cholesky(m), lower={lower} }}"
                    ),
                    bound * f64::from(n),
                );
            }
        }
    }
    // One matrix of the batch is not positive definite.
    let text =
        "ENTRY e { p = f32[3,2,2] parameter(0) ROOT r = f32[3,2,2] cholesky(p), lower=true }";
    let matrices = [4.0f32, 9.0, 2.0, 2.0, 1.0, 0.0, 2.0, 1.0, f32::INFINITY, 0.0, 0.0, 1.0];
    engines_agree(text, &[Literal::from_slice(&[3, 2, 2], &matrices)]);
}

#[test]
fn solutions_of_triangular_systems() {
    for (ty, bound) in [("f32", 1e-4), ("bf16", 0.5), ("f64", 1e-12), ("c64", 1e-4)] {
        for (batch, n, systems) in [(1, 1, 1), (2, 5, 3), (1, 18, 40), (1, 70, 17)] {
            for left in [true, false] {
                for lower in [true, false] {
                    for (transpose, unit) in
                        [("NO_TRANSPOSE", false), ("TRANSPOSE", true), ("ADJOINT", false)]
                    {
                        let b = if left {
                            format!("{batch},{n},{systems}")
                        } else {
                            format!("{batch},{systems},{n}")
                        };
                        let a = format!("{ty}[{batch},{n},{n}]");
                        agree_within(
                            &format!(
                                "ENTRY e {{ p = {a} parameter(0) b = {ty}[{b}] parameter(1)
                                   i = s32[{n},{n}] iota(), iota_dimension=0 j = s32[{n},{n}] iota(), iota_dimension=1
                                   d = pred[{n},{n}] compare(i, j), direction=EQ e = {ty}[{n},{n}] convert(d)
                                   g = {a} broadcast(e), dimensions={{1,2}} c = {ty}[] constant(0.125)
                                   h = {a} broadcast(c), dimensions={{}} m = {a} multiply(p, h) o = {a} add(m, g)
                                   ROOT r = {ty}[{b}] triangular-solve(o, b), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={transpose} }}"
                            ),
                            bound,
                        );
                    }
                }
            }
        }
    }
    // Zeros on the diagonal, and elements that are not finite.
    let text = "ENTRY e { p = f32[9,9] parameter(0) b = f32[9,3] parameter(1)
        ROOT r = f32[9,3] triangular-solve(p, b), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE }";
    let b = elements(ElementType::F32, &[9, 3], 3, true);
    engines_agree(text, &[Literal::zeros(ArrayShape::new(ElementType::F32, &[9, 9][..])), b]);
}
