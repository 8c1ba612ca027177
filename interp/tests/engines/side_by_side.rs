//! Many small matrices are factored and solved side by side: with the bits of each alone.
use crate::compiled;
use crate::linear::numbers;
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};

const TYPES: [(char, &str, ElementType); 4] = [
    ('s', "f32", ElementType::F32),
    ('d', "f64", ElementType::F64),
    ('c', "c64", ElementType::C64),
    ('z', "c128", ElementType::C128),
];

/// Returns matrices of this number and size: with a large diagonal, but for one that is singular,
/// one that is not positive definite, and one with a NaN.
fn matrices(ty: ElementType, [count, n]: [i64; 2]) -> Literal {
    let mut all = numbers(&ArrayShape::new(ty, &[count, n, n][..]));
    let width = ty.storage_bytes();
    let size = usize::try_from(n).unwrap();
    let one = |x: f64| if ty.is_complex() { Scalar::Complex(x, 0.0) } else { Scalar::Float(x) };
    let count = usize::try_from(count).unwrap();
    for (problem, matrix) in all.bytes_mut().chunks_mut(size * size * width).enumerate() {
        let mut set = |i: usize, j: usize, x: f64| {
            one(x).write(ty, &mut matrix[(i * size + j) * width..][..width]);
        };
        for i in 0..size {
            // The other rows are exchanged.
            if problem % 3 != 0 {
                set(i, i, 2.0 * f64::from(u32::try_from(i + size).unwrap()));
            }
        }
        if problem + 1 == count {
            set(size - 1, size - 1, f64::NAN);
        }
        if problem == 1 {
            set(size / 2, size / 2, -1.0);
        }
        if problem == 2 {
            matrix.fill(0);
        }
    }
    all
}

/// Returns a module that calls a routine on operands whose shapes have these dimensions in front;
/// `sides` are those of right sides.
fn module(
    (routine, attributes): (&str, &str),
    (letter, ty): (char, &str),
    (n, sides): (i64, [i64; 2]),
    front: &str,
) -> String {
    let (a, b) =
        (format!("{ty}[{front}{n},{n}]"), format!("{ty}[{front}{},{}]", sides[0], sides[1]));
    let info = format!("s32[{}]", front.trim_end_matches(','));
    let (operands, results) = match routine {
        "cholesky" => ("a", String::new()),
        "potrf" => ("a", format!("({a}, {info})")),
        "getrf" => ("a", format!("({a}, s32[{front}{n}], {info})")),
        _ => ("a, b", b.clone()),
    };
    let call = match routine {
        "cholesky" => format!("{a} cholesky(a), {attributes}"),
        "triangular-solve" => format!("{b} triangular-solve(a, b), {attributes}"),
        _ => format!(
            "{results} custom-call({operands}), custom_call_target=\"lapack_{letter}{routine}_ffi\", backend_config={{{attributes}}}"
        ),
    };
    let right = if operands == "a" { String::new() } else { format!("b = {b} parameter(1)") };
    format!("HloModule m\nENTRY e {{ a = {a} parameter(0) {right} ROOT r = {call} }}")
}

/// Returns the results of a problem of a batch.
fn problem(results: &Literal, count: usize, at: usize) -> Vec<Vec<u8>> {
    let part = |leaf: &Literal| {
        let bytes = leaf.bytes();
        let size = bytes.len() / count;
        bytes[at * size..][..size].to_vec()
    };
    results.leaves().into_iter().map(part).collect()
}

fn compare(routine: &str, attributes: &str, is_same: impl Fn(Engine, ElementType) -> bool) {
    for (letter, name, ty) in TYPES {
        for (count, n) in [(3, 3), (5, 1), (16, 2), (19, 3), (33, 5), (17, 8), (16, 17), (20, 32)] {
            let is_left = attributes.contains("side = 76") || attributes.contains("left_side=true");
            let is_solved = ["trsm", "triangular-solve"].contains(&routine);
            let sides = match (is_solved, is_left) {
                (true, true) => [n, 2],
                (true, false) => [3, n],
                (false, _) => [n, n],
            };
            let text =
                |front: &str| module((routine, attributes), (letter, name), (n, sides), front);
            let (all, one) = (text(&format!("{count},")), text(""));
            let a = matrices(ty, [count, n]);
            let b = numbers(&ArrayShape::new(ty, &[count, sides[0], sides[1]][..]));
            let arguments = if is_solved { vec![a, b] } else { vec![a] };
            let total = usize::try_from(count).unwrap();
            for engine in [Engine::Exact, Engine::Fast] {
                if !is_same(engine, ty) {
                    continue;
                }
                let run = |text: &str, arguments: &[Literal]| {
                    compiled(text, engine).execute(arguments, &RunOptions::default()).unwrap()
                };
                let found = run(&all, &arguments);
                for at in 0..total {
                    let own: Vec<Literal> = arguments
                        .iter()
                        .map(|argument| {
                            let shape = argument.array_shape().unwrap();
                            let shape = ArrayShape::new(ty, &shape.dims[1..]);
                            let bytes = &problem(argument, total, at)[0];
                            Literal::from_bytes(shape, bytes).unwrap()
                        })
                        .collect();
                    let expected = problem(&run(&one, &own), 1, 0);
                    let found = problem(&found, total, at);
                    assert_eq!(found, expected, "{at} of {all} in {}", engine.name());
                }
            }
        }
    }
}

#[test]
fn factors() {
    for uplo in [76, 85] {
        compare("potrf", &format!("uplo = {uplo} : ui8"), |_, _| true);
    }
    for lower in [true, false] {
        compare("cholesky", &format!("lower={lower}"), |_, _| true);
    }
    // `fast` computes with complex numbers in the type of the elements.
    compare("getrf", "", |engine, ty| engine == Engine::Exact || !ty.is_complex());
}

/// Those that are left after whole vectors are solved alone, however the threads share the others:
/// the bits do not depend on their number.
#[test]
fn the_last_matrices_are_alone() {
    let (count, sides) = (178, (2, [2, 2]));
    let run = |text: &str, arguments: &[Literal]| {
        compiled(text, Engine::Fast).execute(arguments, &RunOptions::default()).unwrap()
    };
    for (letter, name, ty) in TYPES {
        let text = |front: &str| module(("getrf", ""), (letter, name), sides, front);
        let a = numbers(&ArrayShape::new(ty, &[178, 2, 2][..]));
        let found = run(&text("178,"), std::slice::from_ref(&a));
        for at in [176, 177] {
            let bytes = &problem(&a, count, at)[0];
            let own = Literal::from_bytes(ArrayShape::new(ty, &[2, 2][..]), bytes).unwrap();
            let expected = problem(&run(&text(""), &[own]), 1, 0);
            assert_eq!(problem(&found, count, at), expected, "{at} of {name}");
        }
    }
}

#[test]
fn solutions() {
    for side in [76, 82] {
        for (uplo, trans, diag) in [(76, 78, 78), (85, 84, 85), (76, 67, 78), (85, 78, 85)] {
            let attributes = format!(
                "diag = {diag} : ui8, side = {side} : ui8, trans_x = {trans} : ui8, uplo = {uplo} : ui8"
            );
            compare("trsm", &attributes, |_, _| true);
        }
        for (lower, transpose) in [(true, "NO_TRANSPOSE"), (false, "ADJOINT"), (true, "TRANSPOSE")]
        {
            let attributes = format!(
                "left_side={}, lower={lower}, unit_diagonal={}, transpose_a={transpose}",
                side == 76,
                transpose == "ADJOINT"
            );
            compare("triangular-solve", &attributes, |_, _| true);
        }
    }
}
