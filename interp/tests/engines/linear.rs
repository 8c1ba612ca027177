//! Transforms and linear algebra: the engines agree within the rounding of a wider type.
use crate::windows::{elements, engines_agree};
use crate::{agree, compiled};
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};

/// Numbers between -0.5 and 0.5, or complex numbers of such parts.
pub(crate) fn numbers(shape: &ArrayShape) -> Literal {
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

/// Runs a module in all engines; results differ by at most `bound`, and eight times as much in
/// `fast`.
pub(crate) fn agree_within(text: &str, bound: f64) {
    let exact = compiled(text, Engine::Exact);
    let parameters = exact.module().entry().program_shape().parameters;
    let arguments: Vec<Literal> = parameters.iter().map(|p| numbers(p.array().unwrap())).collect();
    let run = |engine| compiled(text, engine).execute(&arguments, &RunOptions::default()).unwrap();
    let expected = run(Engine::Reference);
    for (engine, bound) in [(Engine::Exact, bound), (Engine::Fast, 8.0 * bound)] {
        let found = run(engine);
        assert_eq!(found.shape(), expected.shape());
        for i in 0..found.len() {
            let (a, b) = (parts(found.get(i)), parts(expected.get(i)));
            for (a, b) in a.into_iter().zip(b) {
                let same = (a - b).abs() <= bound || a.is_nan() && b.is_nan();
                assert!(same, "{i} of {text} in {}: {a}, {b}", engine.name());
            }
        }
    }
}

/// Returns the 2-norm of a line.
fn norm(line: impl Iterator<Item = [f64; 2]>) -> f64 {
    line.map(|[re, im]| re * re + im * im).sum::<f64>().sqrt()
}

/// The error of a line, as docs/numerics.md says.
#[test]
fn transforms_in_the_type_of_the_elements() {
    for n in [1, 2, 3, 5, 16, 31, 37, 60, 127, 256, 1000, 1009, 2048, 4099, 2 * 4099] {
        let half = n / 2 + 1;
        for (ty, real, unit) in [("c64", "f32", 2f64.powi(-24)), ("c128", "f64", 2f64.powi(-53))] {
            for (from, to, kind) in [
                (format!("{ty}[3,{n}]"), format!("{ty}[3,{n}]"), "FFT"),
                (format!("{ty}[3,{n}]"), format!("{ty}[3,{n}]"), "IFFT"),
                (format!("{real}[3,{n}]"), format!("{ty}[3,{half}]"), "RFFT"),
                (format!("{ty}[3,{half}]"), format!("{real}[3,{n}]"), "IRFFT"),
            ] {
                let text = format!(
                    "ENTRY e {{ p = {from} parameter(0) ROOT r = {to} fft(p), fft_type={kind}, fft_length={{{n}}} }}"
                );
                let fast = compiled(&text, Engine::Fast);
                let parameter = &fast.module().entry().program_shape().parameters[0];
                let argument = [numbers(parameter.array().unwrap())];
                let options = RunOptions::default();
                let found = fast.execute(&argument, &options).unwrap();
                let expected = compiled(&text, Engine::Exact).execute(&argument, &options).unwrap();
                let length = found.len() / 3;
                for line in 0..3 {
                    let of = |array: &Literal, k: usize| parts(array.get(line * length + k));
                    let error = (0..length).map(|k| {
                        let (a, b) = (of(&found, k), of(&expected, k));
                        [a[0] - b[0], a[1] - b[1]]
                    });
                    let error = norm(error) / norm((0..length).map(|k| of(&expected, k)));
                    let bound = 4.0 * unit * f64::from(2 * n).log2();
                    assert!(error <= bound, "{text}: {error:e}, {bound:e}");
                }
            }
        }
    }
}

#[test]
fn special_values_stay_in_their_lines() {
    for (ty, n) in
        [ElementType::C64, ElementType::C128].into_iter().flat_map(|ty| [(ty, 8), (ty, 67)])
    {
        let text = format!(
            "ENTRY e {{ p = {ty}[3,{n}] parameter(0) ROOT r = {ty}[3,{n}] fft(p), fft_type=FFT, fft_length={{{n}}} }}"
        );
        let shape = ArrayShape::new(ty, &[3, n][..]);
        let length = usize::try_from(n).unwrap();
        for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut numbers = numbers(&shape);
            let bytes = ty.storage_bytes();
            let element = &mut numbers.bytes_mut()[(length + 3) * bytes..][..bytes];
            Scalar::Complex(special, 1.0).write(ty, element);
            for engine in Engine::ALL {
                let found = compiled(&text, engine)
                    .execute(std::slice::from_ref(&numbers), &RunOptions::default())
                    .unwrap();
                for i in 0..3 * length {
                    let is_finite = parts(found.get(i)).iter().all(|x| x.is_finite());
                    assert_eq!(is_finite, i / length != 1, "{i}: {special} {text}");
                }
            }
        }
    }
}

/// The calls that JAX makes for factors and solutions.
#[test]
fn routines_of_lapack() {
    for (letter, ty, bound) in [("s", "f32", 1e-4), ("d", "f64", 1e-12)] {
        for (batch, n, systems) in [(1, 1, 1), (2, 5, 3), (1, 18, 40), (1, 70, 17)] {
            let s = format!("{ty}[{batch},{n},{n}]");
            let matrix = format!(
                "i = s32[{n},{n}] iota(), iota_dimension=0 j = s32[{n},{n}] iota(), iota_dimension=1
                 d = pred[{n},{n}] compare(i, j), direction=EQ e = {ty}[{n},{n}] convert(d) g = {s} broadcast(e), dimensions={{1,2}}
                 k = {ty}[] constant(0.05) h = {s} broadcast(k), dimensions={{}} m = {s} multiply(p, h) o = {s} add(m, g)"
            );
            for uplo in [76, 85] {
                agree_within(
                    &format!(
                        "ENTRY e {{ p = {s} parameter(0) {matrix} c = ({s}, s32[{batch}]) custom-call(o), custom_call_target=\"lapack_{letter}potrf_ffi\", backend_config={{uplo = {uplo} : ui8}}
                           ROOT r = {s} get-tuple-element(c), index=0 }}"
                    ),
                    bound,
                );
                for (side, transpose, diagonal) in
                    [(76, 78, 78), (76, 84, 85), (82, 78, 85), (82, 67, 78)]
                {
                    let b = match side {
                        76 => format!("{ty}[{batch},{n},{systems}]"),
                        _ => format!("{ty}[{batch},{systems},{n}]"),
                    };
                    agree_within(
                        &format!(
                            "ENTRY e {{ p = {s} parameter(0) b = {b} parameter(1) {matrix}
                               ROOT r = {b} custom-call(o, b), custom_call_target=\"lapack_{letter}trsm_ffi\", backend_config={{diag = {diagonal} : ui8, side = {side} : ui8, trans_x = {transpose} : ui8, uplo = {uplo} : ui8}} }}"
                        ),
                        bound,
                    );
                }
            }
        }
        // The second pivot is not positive.
        let text = format!(
            "ENTRY e {{ p = {ty}[3,3] parameter(0) ROOT c = ({ty}[3,3], s32[]) custom-call(p), custom_call_target=\"lapack_{letter}potrf_ffi\", backend_config={{uplo = 76 : ui8}} }}"
        );
        let matrix = match ty {
            "f32" => {
                Literal::from_slice(&[3, 3], &[4.0f32, 9.0, 9.0, 2.0, 1.0, 9.0, 6.0, 7.0, 8.0])
            }
            _ => Literal::from_slice(&[3, 3], &[4.0f64, 9.0, 9.0, 2.0, 1.0, 9.0, 6.0, 7.0, 8.0]),
        };
        let run = |engine| {
            compiled(&text, engine)
                .execute(std::slice::from_ref(&matrix), &RunOptions::default())
                .unwrap()
        };
        assert_eq!(run(Engine::Fast), run(Engine::Exact));
    }
}

#[test]
fn transforms_of_many_lines() {
    for lines in [1, 2, 7, 8, 9, 17] {
        for n in [1, 2, 12, 31, 61, 64, 74, 120, 134, 250] {
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
                // A Hermitian matrix with a large diagonal: a transposed sum, and n on the
                // diagonal.
                let s = format!("{ty}[{batch},{n},{n}]");
                agree_within(
                    &format!(
                        "ENTRY e {{ p = {s} parameter(0) t = {s} transpose(p), dimensions={{0,2,1}} a = {s} add(p, t)
                           i = s32[{n},{n}] iota(), iota_dimension=0 j = s32[{n},{n}] iota(), iota_dimension=1
                           d = pred[{n},{n}] compare(i, j), direction=EQ e = {ty}[{n},{n}] convert(d)
                           k = f32[] constant({n}) c = {ty}[] convert(k) b = {ty}[{n},{n}] broadcast(c), dimensions={{}}
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
    let matrices = [Literal::from_slice(&[3, 2, 2], &matrices)];
    engines_agree(text, &matrices);
    let run = |engine| compiled(text, engine).execute(&matrices, &RunOptions::default()).unwrap();
    let (fast, exact) = (run(Engine::Fast), run(Engine::Exact));
    let bits = |array: &Literal| -> Vec<Option<u64>> {
        let bits = |x: f64| (!x.is_nan()).then_some(x.to_bits());
        (0..array.len()).map(|i| bits(array.get(i).as_f64())).collect()
    };
    assert_eq!(bits(&fast), bits(&exact));
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
                                   g = {a} broadcast(e), dimensions={{1,2}} k = f32[] constant(0.125) c = {ty}[] convert(k)
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

/// Panels of columns that are whole, and those that fill the last vector.
#[test]
fn products_of_every_number_of_columns() {
    for ty in ["s32", "f32", "bf16", "f64"] {
        for n in (15..=50).chain([72, 73, 96, 120]) {
            agree(&format!(
                "ENTRY e {{ a = {ty}[5,19] parameter(0) b = {ty}[19,{n}] parameter(1)
                   ROOT r = {ty}[5,{n}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
            ));
        }
    }
}
