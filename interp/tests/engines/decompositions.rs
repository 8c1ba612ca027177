//! Decompositions of matrices that `fast` computes in the type of the elements.
use crate::compiled;
use crate::linear::{agree_within, numbers};
use hlo::{ArrayShape, ElementType, Literal};
use interp::{Engine, RunOptions};

/// A call of a routine on `p`, whose result has these elements.
fn call(
    parameter: &str,
    results: &[String],
    target: &str,
    attributes: &str,
    index: usize,
) -> String {
    let (all, result) = (results.join(", "), &results[index]);
    format!(
        "ENTRY e {{ p = {parameter} parameter(0) c = ({all}) custom-call(p), custom_call_target=\"lapack_{target}_ffi\", backend_config={{{attributes}}}
           ROOT r = {result} get-tuple-element(c), index={index} }}"
    )
}

#[test]
fn factors_and_values() {
    let types = [
        ("s", "f32", "f32", 2e-4),
        ("d", "f64", "f64", 1e-12),
        ("c", "c64", "f32", 2e-4),
        ("z", "c128", "f64", 1e-12),
    ];
    for (letter, ty, real, bound) in types {
        let hermitian = if ty == real { "sy" } else { "he" };
        for (m, n) in [(64, 64), (65, 65), (66, 80), (80, 66)] {
            let p = m.min(n);
            let a = format!("{ty}[{m},{n}]");
            let results = [a.clone(), format!("{ty}[{p}]")];
            for index in [0, 1] {
                agree_within(&call(&a, &results, &format!("{letter}geqrf"), "", index), bound);
            }
            let results = [
                a.clone(),
                format!("{real}[{p}]"),
                format!("{ty}[{m},{p}]"),
                format!("{ty}[{p},{n}]"),
                "s32[]".to_owned(),
            ];
            agree_within(
                &call(&a, &results, &format!("{letter}gesdd"), "mode = 83 : ui8", 1),
                bound,
            );
            if m == n {
                let results = [a.clone(), format!("{real}[{n}]"), "s32[]".to_owned()];
                for uplo in [76, 85] {
                    let attributes = format!("mode = 86 : ui8, uplo = {uplo} : ui8");
                    agree_within(
                        &call(&a, &results, &format!("{letter}{hermitian}evd"), &attributes, 1),
                        bound,
                    );
                }
            }
            if real == "f64" {
                let results = [a.clone(), format!("s32[{p}]"), "s32[]".to_owned()];
                agree_within(&call(&a, &results, &format!("{letter}getrf"), "", 0), 1e-10);
            }
        }
    }
}

/// Decompositions that cannot be computed in the type of the elements are left to the algorithms of
/// `exact`.
#[test]
fn singular_matrices_and_special_values() {
    let n = 64;
    let shape = ArrayShape::new(ElementType::F32, &[n, n][..]);
    let text = |index| {
        let results = [format!("f32[{n},{n}]"), format!("s32[{n}]"), "s32[]".to_owned()];
        call(&results[0], &results, "sgetrf", "", index)
    };
    let mut singular = numbers(&shape);
    let row = usize::try_from(n).unwrap() * 4;
    singular.bytes_mut()[5 * row..6 * row].fill(0);
    let mut special = numbers(&shape);
    special.bytes_mut()[40..44].copy_from_slice(&f32::NAN.to_le_bytes());
    for matrix in [singular, special] {
        for index in 0..3 {
            let run = |engine| {
                let arguments = std::slice::from_ref(&matrix);
                let found =
                    compiled(&text(index), engine).execute(arguments, &RunOptions::default());
                found.unwrap()
            };
            let (fast, exact): (Literal, Literal) = (run(Engine::Fast), run(Engine::Exact));
            assert_eq!(fast.bytes(), exact.bytes(), "{index}");
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let a = "f32[70,70]".to_owned();
    let results = [a.clone(), "f32[70]".to_owned(), a.clone(), a.clone(), "s32[]".to_owned()];
    let fast = compiled(&call(&a, &results, "sgesdd", "mode = 83 : ui8", 2), Engine::Fast);
    let argument = [numbers(&ArrayShape::new(ElementType::F32, &[70, 70][..]))];
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fast.execute(&argument, &RunOptions::default()).unwrap())
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn plans_name_calls_as_in_exact() {
    let text = |n: i64| {
        let results = [format!("f32[{n},{n}]"), format!("s32[{n}]"), "s32[]".to_owned()];
        call(&results[0], &results, "sgetrf", "", 0)
    };
    let plan = |n| compiled(&text(n), Engine::Fast).plan().to_string();
    assert!(plan(63).contains("exact in c"));
    assert_eq!(plan(64).contains("exact in c"), !cfg!(feature = "faer"));
}
