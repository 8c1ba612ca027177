//! Tests of eigenvalues, Schur forms, exchanged columns, and of factors that no result shows.
use super::*;
use Verdict::{Agrees, Differs, NotTested, Undefined, WithinBound};

/// Checks which results of a body are legal, all being determined.
fn legality(body: &str, arguments: &[&str], results: &[(&str, bool)]) {
    for (text, legal) in results {
        let found = check(&format!("HloModule m\n{body}"), arguments, text);
        match legal {
            true => assert!(matches!(found.verdict, Agrees | WithinBound), "{text}: {found:?}"),
            false => assert_eq!(found.verdict, Differs, "{text}: {found:?}"),
        }
    }
}

#[test]
fn eigenvalues_of_any_matrix_have_any_order() {
    let body = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2], f32[2], c64[2,2], c64[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_sgeev_ffi\",
          backend_config={compute_left = 78 : ui8, compute_right = 86 : ui8}
        x = f32[2] get-tuple-element(e), index=0 y = f32[2] get-tuple-element(e), index=1
        w = c64[2] complex(x, y) v = c64[2,2] get-tuple-element(e), index=3
        ROOT r = (c64[2], c64[2,2]) tuple(w, v) }";
    // Eigenvalues 2 and 5, with (1, -1) and (1, 2).
    let results = [
        (
            "(c64[2] {(5, 0), (2, 0)}, c64[2,2] {{(0.4472136, 0), (0.70710677, 0)}, {(0.8944272, 0), (-0.70710677, 0)}})",
            true,
        ),
        (
            "(c64[2] {(2, 0), (5.000001, 0)}, c64[2,2] {{(0.70710677, 0), (0.4472136, 0)}, {(-0.70710677, 0), (0.8944272, 0)}})",
            true,
        ),
        (
            "(c64[2] {(2, 0), (5, 0)}, c64[2,2] {{(-0.70710677, 0), (-0.4472136, 0)}, {(0.70710677, 0), (-0.8944272, 0)}})",
            true,
        ),
        // A vector of the other eigenvalue.
        (
            "(c64[2] {(2, 0), (5, 0)}, c64[2,2] {{(0.4472136, 0), (0.70710677, 0)}, {(0.8944272, 0), (-0.70710677, 0)}})",
            false,
        ),
        // Twice the same.
        (
            "(c64[2] {(5, 0), (5, 0)}, c64[2,2] {{(0.4472136, 0), (0.4472136, 0)}, {(0.8944272, 0), (0.8944272, 0)}})",
            false,
        ),
        (
            "(c64[2] {(2, 0), (5.001, 0)}, c64[2,2] {{(0.70710677, 0), (0.4472136, 0)}, {(-0.70710677, 0), (0.8944272, 0)}})",
            false,
        ),
        (
            "(c64[2] {(2, 0.001), (5, 0)}, c64[2,2] {{(0.70710677, 0), (0.4472136, 0)}, {(-0.70710677, 0), (0.8944272, 0)}})",
            false,
        ),
        (
            "(c64[2] {(2, 0), (5, 0)}, c64[2,2] {{(0.70710677, 0), (0.9, 0)}, {(-0.70710677, 0), (1.8, 0)}})",
            false,
        ),
        // The largest element is not real.
        (
            "(c64[2] {(2, 0), (5, 0)}, c64[2,2] {{(0.70710677, 0), (0, 0.4472136)}, {(-0.70710677, 0), (0, 0.8944272)}})",
            false,
        ),
        (
            "(c64[2] {(2, 0), (5, 0)}, c64[2,2] {{(0.70710677, 0), (nan, 0)}, {(-0.70710677, 0), (0.8944272, 0)}})",
            false,
        ),
    ];
    legality(body, &["f32[2,2] {{3, 1}, {2, 4}}"], &results);
    // A rotation: i and -i.
    let results = [
        (
            "(c64[2] {(0, 1), (0, -1)}, c64[2,2] {{(0.70710677, 0), (0.70710677, 0)}, {(0, -0.70710677), (0, 0.70710677)}})",
            true,
        ),
        (
            "(c64[2] {(0, 1), (0, -1)}, c64[2,2] {{(0.70710677, 0), (0.70710677, 0)}, {(0, 0.70710677), (0, -0.70710677)}})",
            false,
        ),
    ];
    legality(body, &["f32[2,2] {{0, -1}, {1, 0}}"], &results);
    let values = "ENTRY e { a = c64[2,2] parameter(0)
        e = (c64[2], c64[2,2], c64[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_cgeev_ffi\",
          backend_config={compute_left = 86 : ui8, compute_right = 78 : ui8}
        w = c64[2] get-tuple-element(e), index=0 v = c64[2,2] get-tuple-element(e), index=1
        ROOT r = (c64[2], c64[2,2]) tuple(w, v) }";
    // u^H A = w u^H.
    let results = [
        ("(c64[2] {(0, 1), (3, 0)}, c64[2,2] {{(1, 0), (0, 0)}, {(0, 0), (1, 0)}})", true),
        ("(c64[2] {(3, 0), (0, 1)}, c64[2,2] {{(0, 0), (1, 0)}, {(1, 0), (0, 0)}})", true),
        ("(c64[2] {(0, -1), (3, 0)}, c64[2,2] {{(1, 0), (0, 0)}, {(0, 0), (1, 0)}})", false),
    ];
    legality(values, &["c64[2,2] {{(0, 1), (0, 0)}, {(0, 0), (3, 0)}}"], &results);
}

#[test]
fn schur_forms_have_any_order() {
    let body = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2,2], f32[2,2], f32[2], f32[2], s32[], s32[]) custom-call(a),
          custom_call_target=\"lapack_sgees_ffi\", backend_config={mode = 86 : ui8, sort = 78 : ui8}
        t = f32[2,2] get-tuple-element(e), index=0 z = f32[2,2] get-tuple-element(e), index=1
        x = f32[2] get-tuple-element(e), index=2 y = f32[2] get-tuple-element(e), index=3
        ROOT r = (f32[2,2], f32[2,2], f32[2], f32[2]) tuple(t, z, x, y) }";
    let results = [
        (
            "(f32[2,2] {{1, 2}, {0, 3}}, f32[2,2] {{1, 0}, {0, 1}}, f32[2] {1, 3}, f32[2] {0, 0})",
            true,
        ),
        (
            "(f32[2,2] {{1, -2}, {0, 3}}, f32[2,2] {{1, 0}, {0, -1}}, f32[2] {1, 3}, f32[2] {0, 0})",
            true,
        ),
        // The other order: the vector of 3 is (1, 1).
        (
            "(f32[2,2] {{3, 2}, {0, 1}}, f32[2,2] {{0.70710677, -0.70710677}, {0.70710677, 0.70710677}}, f32[2] {3, 1}, f32[2] {0, 0})",
            true,
        ),
        (
            "(f32[2,2] {{3, -2}, {0, 1}}, f32[2,2] {{0.70710677, -0.70710677}, {0.70710677, 0.70710677}}, f32[2] {3, 1}, f32[2] {0, 0})",
            false,
        ),
        (
            "(f32[2,2] {{1, 2}, {0, 3}}, f32[2,2] {{1, 0}, {0, 1}}, f32[2] {3, 1}, f32[2] {0, 0})",
            false,
        ),
        (
            "(f32[2,2] {{1, 2}, {0, 3}}, f32[2,2] {{1, 0}, {0, 1}}, f32[2] {1, 3}, f32[2] {0, 0.1})",
            false,
        ),
        (
            "(f32[2,2] {{1, 2.001}, {0, 3}}, f32[2,2] {{1, 0}, {0, 1}}, f32[2] {1, 3}, f32[2] {0, 0})",
            false,
        ),
        (
            "(f32[2,2] {{1, 2}, {0.1, 3}}, f32[2,2] {{1, 0}, {0, 1}}, f32[2] {1, 3}, f32[2] {0, 0})",
            false,
        ),
    ];
    legality(body, &["f32[2,2] {{1, 2}, {0, 3}}"], &results);
    // A block of two rows: i and -i.
    let results = [
        (
            "(f32[2,2] {{0, -1}, {1, 0}}, f32[2,2] {{1, 0}, {0, 1}}, f32[2] {0, 0}, f32[2] {1, -1})",
            true,
        ),
        (
            "(f32[2,2] {{0, 1}, {-1, 0}}, f32[2,2] {{1, 0}, {0, -1}}, f32[2] {0, 0}, f32[2] {1, -1})",
            true,
        ),
        (
            "(f32[2,2] {{0, -1}, {1, 0}}, f32[2,2] {{1, 0}, {0, 1}}, f32[2] {0, 0}, f32[2] {-1, 1})",
            false,
        ),
    ];
    legality(body, &["f32[2,2] {{0, -1}, {1, 0}}"], &results);
    // The triangle alone.
    let alone = body.replace(
        "ROOT r = (f32[2,2], f32[2,2], f32[2], f32[2]) tuple(t, z, x, y)",
        "ROOT r = f32[2,2] copy(t)",
    );
    let results = [
        ("f32[2,2] {{3, -2}, {0, 1}}", true),
        ("f32[2,2] {{3, 2.01}, {0, 1}}", false),
        ("f32[2,2] {{3, 2}, {0, 1.01}}", false),
        ("f32[2,2] {{2, 3}, {0, 2}}", false),
    ];
    legality(&alone, &["f32[2,2] {{1, 2}, {0, 3}}"], &results);
}

#[test]
fn the_longest_column_is_first() {
    let body = "ENTRY e { a = f32[2,2] parameter(0) n = s32[2] constant({0, 0})
        h = (f32[2,2], s32[2], f32[2]) custom-call(a, n), custom_call_target=\"lapack_sgeqp3_ffi\"
        v = f32[2,2] get-tuple-element(h), index=0 p = s32[2] get-tuple-element(h), index=1
        t = f32[2] get-tuple-element(h), index=2
        q = f32[2,2] custom-call(v, t), custom_call_target=\"lapack_sorgqr_ffi\"
        i = s32[2,2] iota(), iota_dimension=0 j = s32[2,2] iota(), iota_dimension=1
        c = pred[2,2] compare(i, j), direction=LE z = f32[] constant(0)
        y = f32[2,2] broadcast(z), dimensions={} u = f32[2,2] select(c, v, y)
        ROOT r = (f32[2,2], f32[2,2], s32[2]) tuple(q, u, p) }";
    // The second column is (3, 4).
    let results = [
        (
            "(f32[2,2] {{0.6, 0.8}, {0.8, -0.6}}, f32[2,2] {{5, 0.6}, {0, 0.8}}, s32[2] {2, 1})",
            true,
        ),
        (
            "(f32[2,2] {{-0.6, -0.8}, {-0.8, 0.6}}, f32[2,2] {{-5, -0.6}, {0, -0.8}}, s32[2] {2, 1})",
            true,
        ),
        (
            "(f32[2,2] {{0.6, 0.8}, {0.8, -0.6}}, f32[2,2] {{5, 0.6}, {0, 0.8}}, s32[2] {1, 2})",
            false,
        ),
        (
            "(f32[2,2] {{0.6, 0.8}, {0.8, -0.6}}, f32[2,2] {{5, 0.6}, {0, 0.8}}, s32[2] {2, 2})",
            false,
        ),
        (
            "(f32[2,2] {{0.6, 0.8}, {0.8, -0.6}}, f32[2,2] {{5, 0.601}, {0, 0.8}}, s32[2] {2, 1})",
            false,
        ),
        // A QR factorization, but without the exchange.
        ("(f32[2,2] {{1, 0}, {0, 1}}, f32[2,2] {{1, 3}, {0, 4}}, s32[2] {1, 2})", false),
    ];
    legality(body, &["f32[2,2] {{1, 3}, {0, 4}}"], &results);
    // Of two columns of the same length either is first.
    let results = [
        ("(f32[2,2] {{0, 1}, {1, 0}}, f32[2,2] {{2, 0}, {0, 2}}, s32[2] {2, 1})", true),
        ("(f32[2,2] {{1, 0}, {0, 1}}, f32[2,2] {{2, 0}, {0, 2}}, s32[2] {1, 2})", true),
    ];
    legality(body, &["f32[2,2] {{2, 0}, {0, 2}}"], &results);
}

/// The order that no result shows is known where one column is longest at each step.
#[test]
fn the_order_of_columns_may_be_hidden() {
    let body = "ENTRY e { a = f32[2,3] parameter(0) n = s32[3] constant({0, 0, 0})
        h = (f32[2,3], s32[3], f32[2]) custom-call(a, n), custom_call_target=\"lapack_sgeqp3_ffi\"
        v = f32[2,3] get-tuple-element(h), index=0 p = s32[3] get-tuple-element(h), index=1
        i = s32[2,3] iota(), iota_dimension=0 j = s32[2,3] iota(), iota_dimension=1
        c = pred[2,3] compare(i, j), direction=LE z = f32[] constant(0)
        y = f32[2,3] broadcast(z), dimensions={} u = f32[2,3] select(c, v, y)
        o = s32[3] constant({1, 1, 1}) m = s32[3] subtract(p, o)
        ROOT r = (f32[2,3], s32[3]) tuple(u, m) }";
    let results = [
        ("(f32[2,3] {{5, 0.6, 0.6}, {0, 0.8, -0.2}}, s32[3] {1, 0, 2})", true),
        ("(f32[2,3] {{-5, -0.6, -0.6}, {0, -0.8, 0.2}}, s32[3] {1, 0, 2})", true),
        ("(f32[2,3] {{5, 0.6, 0.6}, {0, 0.8, 0.2}}, s32[3] {1, 0, 2})", false),
        ("(f32[2,3] {{5, 0.6, 0.6}, {0, 0.8, -0.2}}, s32[3] {1, 2, 0})", false),
    ];
    legality(body, &["f32[2,3] {{1, 3, 0.2}, {0, 4, 0.6}}"], &results);
}

/// A solution, the determinant, and the order of rows, of factors that are not results.
#[test]
fn what_is_computed_from_hidden_factors_has_bounds() {
    let system = |root: &str| {
        format!(
            "ENTRY e {{ a = f32[3,3] parameter(0) b = f32[3,1] parameter(1)
            f = (f32[3,3], s32[3], s32[3]) custom-call(a), custom_call_target=\"LuDecomposition\"
            x = f32[3,3] get-tuple-element(f), index=0 o = s32[3] get-tuple-element(f), index=2
            c = s32[3,1] reshape(o)
            p = f32[3,1] gather(b, c), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,1}}
            y = f32[3,1] triangular-solve(x, p), left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE
            s = f32[3,1] triangular-solve(x, y), left_side=true, lower=false, unit_diagonal=false, transpose_a=NO_TRANSPOSE
            {root} }}"
        )
    };
    // The solution is (1, 2, 3).
    let a = ["f32[3,3] {{1, 2, 0}, {4, 1, 1}, {1, 0, 5}}", "f32[3,1] {{5}, {9}, {16}}"];
    let results = [
        ("f32[3,1] {{1.0000001}, {2}, {2.9999998}}", true),
        ("f32[3,1] {{1.0001}, {2}, {3}}", false),
        ("f32[3,1] {{1}, {2}, {-3}}", false),
        ("f32[3,1] {{2}, {1}, {3}}", false),
    ];
    legality(&system("ROOT r = f32[3,1] copy(s)"), &a, &results);
    let results = [("f32[3,1] {{9}, {5}, {16}}", true), ("f32[3,1] {{5}, {9}, {16}}", false)];
    legality(&system("ROOT r = f32[3,1] copy(p)"), &a, &results);
    // Where two pivots are the same, or a pivot may be 0, nothing is known, and no one is accused.
    for matrix in [
        "f32[3,3] {{1, 2, 0}, {-1, 1, 1}, {1, 0, 5}}",
        "f32[3,3] {{1, 2, 0}, {2, 4, 0}, {0, 0, 1}}",
    ] {
        let body = system("ROOT r = f32[3,1] copy(s)");
        let text = "f32[3,1] {{1.0001}, {2}, {3}}";
        let found = check(&format!("HloModule m\n{body}"), &[matrix, a[1]], text);
        assert!(matches!(found.verdict, NotTested | Undefined), "{matrix}: {found:?}");
    }
}

/// Solutions of a triangle of many rows: their errors do not grow with each row.
#[test]
fn long_triangular_systems_have_bounds() {
    let n = 40;
    let row = |i: usize| {
        let each = (0..n).map(|j| match i.cmp(&j) {
            std::cmp::Ordering::Less => "0",
            std::cmp::Ordering::Equal => "1",
            std::cmp::Ordering::Greater => {
                if (i + j).is_multiple_of(2) {
                    "0.7"
                } else {
                    "-0.7"
                }
            }
        });
        format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
    };
    let a = format!("f32[{n},{n}] {{{}}}", (0..n).map(row).collect::<Vec<_>>().join(", "));
    let b = format!("f32[{n},1] {{{}}}", vec!["{1}"; n].join(", "));
    let body = format!(
        "ENTRY e {{ a = f32[{n},{n}] parameter(0) b = f32[{n},1] parameter(1)
        ROOT y = f32[{n},1] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE }}"
    );
    // Forward substitution in f64, each element rounded once.
    let mut x = vec![0.0f64; n];
    for i in 0..n {
        let sign = |j: usize| {
            if (i + j).is_multiple_of(2) { f64::from(0.7f32) } else { -f64::from(0.7f32) }
        };
        x[i] = 1.0 - (0..i).map(|j| sign(j) * x[j]).sum::<f64>();
    }
    let text = |wrong: f64| {
        let each = x.iter().enumerate();
        let each = each.map(|(i, x)| format!("{{{:e}}}", if i == n - 1 { x * wrong } else { *x }));
        format!("f32[{n},1] {{{}}}", each.collect::<Vec<_>>().join(", "))
    };
    let (right, wrong) = (text(1.0 + 1e-7), text(1.01));
    legality(&body, &[&a, &b], &[(&right, true), (&wrong, false)]);
}

/// Flushed denormals are in no order, and need not be exactly 0.
#[test]
fn denormal_spectra_are_legal() {
    let singular = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2,2], f32[2], f32[2,2], f32[2,2], s32[]) custom-call(a),
          custom_call_target=\"lapack_sgesdd_ffi\", backend_config={mode = 65 : ui8}
        s = f32[2] get-tuple-element(e), index=1 u = f32[2,2] get-tuple-element(e), index=2
        v = f32[2,2] get-tuple-element(e), index=3
        ROOT r = (f32[2], f32[2,2], f32[2,2]) tuple(s, u, v) }";
    let results = [
        ("(f32[2] {0, 1e-39}, f32[2,2] {{1, 0}, {0, 1}}, f32[2,2] {{1, 0}, {0, 1}})", true),
        ("(f32[2] {0, 0}, f32[2,2] {{0, 1}, {1, 0}}, f32[2,2] {{1, 0}, {0, 1}})", true),
        ("(f32[2] {0, 1e-3}, f32[2,2] {{1, 0}, {0, 1}}, f32[2,2] {{1, 0}, {0, 1}})", false),
        ("(f32[2] {0, 0}, f32[2,2] {{1, 0}, {0, 0.5}}, f32[2,2] {{1, 0}, {0, 1}})", false),
    ];
    legality(singular, &["f32[2,2] {{1e-39, 0}, {0, 3e-39}}"], &results);
    let schur = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2,2], f32[2,2], f32[2], f32[2], s32[], s32[]) custom-call(a),
          custom_call_target=\"lapack_sgees_ffi\", backend_config={mode = 86 : ui8, sort = 78 : ui8}
        t = f32[2,2] get-tuple-element(e), index=0 z = f32[2,2] get-tuple-element(e), index=1
        ROOT r = (f32[2,2], f32[2,2]) tuple(t, z) }";
    let results = [
        ("(f32[2,2] {{1e-39, 0}, {5e-40, 3e-39}}, f32[2,2] {{1, 0}, {0, 1}})", true),
        ("(f32[2,2] {{0, 0}, {0, 0}}, f32[2,2] {{1, 0}, {0, 1}})", true),
        ("(f32[2,2] {{0, 0}, {1e-20, 0}}, f32[2,2] {{1, 0}, {0, 1}})", false),
    ];
    legality(schur, &["f32[2,2] {{1e-39, 0}, {5e-40, 3e-39}}"], &results);
}

/// Of factors that are seen in part, columns are checked one by one, or nothing is tested.
#[test]
fn a_part_of_the_factors_is_no_proof_of_them() {
    let vectors = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2,2], f32[2], s32[]) custom-call(a), custom_call_target=\"lapack_ssyevd_ffi\",
          backend_config={mode = 86 : ui8, uplo = 76 : ui8}
        v = f32[2,2] get-tuple-element(e), index=0 w = f32[2] get-tuple-element(e), index=1
        u = f32[2,1] slice(v), slice={[0:2],[1:2]}";
    let beside = format!("{vectors} ROOT r = (f32[2], f32[2,1]) tuple(w, u) }}");
    let alone = format!("{vectors} ROOT r = (f32[2,1]) tuple(u) }}");
    let a = "f32[2,2] {{2, 0}, {0, 5}}";
    let cases =
        [("{{0}, {-1}}", WithinBound), ("{{0.9}, {0.9}}", Differs), ("{{1}, {0}}", Differs)];
    for (u, verdict) in cases {
        let result = format!("(f32[2] {{2, 5}}, f32[2,1] {u})");
        let found = check(&format!("HloModule m\n{beside}"), &[a], &result);
        assert_eq!(found.verdict, verdict, "{u} {found:?}");
        let result = format!("(f32[2,1] {u})");
        let found = check(&format!("HloModule m\n{alone}"), &[a], &result);
        assert_eq!(found.verdict, NotTested, "{u} {found:?}");
    }
    let singular = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2,2], f32[2], f32[2,2], f32[2,2], s32[]) custom-call(a),
          custom_call_target=\"lapack_sgesdd_ffi\", backend_config={mode = 65 : ui8}
        s = f32[2] get-tuple-element(e), index=1 u = f32[2,2] get-tuple-element(e), index=2
        v = f32[2,2] get-tuple-element(e), index=3 w = f32[1,2] slice(v), slice={[0:1],[0:2]}
        x = f32[2,1] slice(u), slice={[0:2],[1:2]}
        ROOT r = (f32[2], f32[1,2], f32[2,1]) tuple(s, w, x) }";
    let results = [
        ("(f32[2] {5, 2}, f32[1,2] {{0, -1}}, f32[2,1] {{-1}, {0}})", true),
        ("(f32[2] {5, 2}, f32[1,2] {{1, 0}}, f32[2,1] {{1}, {0}})", false),
        ("(f32[2] {5, 2}, f32[1,2] {{0, 1}}, f32[2,1] {{0}, {1}})", false),
        ("(f32[2] {5, 2}, f32[1,2] {{0, 0.9}}, f32[2,1] {{1}, {0}})", false),
    ];
    legality(singular, &[a], &results);
    // Both columns are vectors, of one eigenvalue.
    let general = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2], f32[2], c64[2,2], c64[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_sgeev_ffi\",
          backend_config={compute_left = 78 : ui8, compute_right = 86 : ui8}
        ROOT v = c64[2,2] get-tuple-element(e), index=3 }";
    let same = "c64[2,2] {{(0.4472136, 0), (0.4472136, 0)}, {(0.8944272, 0), (0.8944272, 0)}}";
    legality(general, &["f32[2,2] {{3, 1}, {2, 4}}"], &[(same, false)]);
    // Real parts alone prove nothing.
    let real = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2], f32[2], c64[2,2], c64[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_sgeev_ffi\",
          backend_config={compute_left = 78 : ui8, compute_right = 86 : ui8}
        v = c64[2,2] get-tuple-element(e), index=3 x = f32[2] get-tuple-element(e), index=0
        ROOT r = (f32[2], c64[2,2]) tuple(x, v) }";
    let vectors = "{{(0.70710677, 0), (0.4472136, 0)}, {(-0.70710677, 0), (0.8944272, 0)}}";
    let result = format!("(f32[2] {{0.1, 0.1}}, c64[2,2] {vectors})");
    let found = check(&format!("HloModule m\n{real}"), &["f32[2,2] {{3, 1}, {2, 4}}"], &result);
    assert!(found.untested >= 2, "{found:?}");
    // What is computed from factors that are not seen is tested by its bound alone, also where it is 0.
    let hidden = "ENTRY e { a = f32[2,2] parameter(0)
        e = (f32[2,2], f32[2], s32[]) custom-call(a), custom_call_target=\"lapack_ssyevd_ffi\",
          backend_config={mode = 86 : ui8, uplo = 76 : ui8}
        v = f32[2,2] get-tuple-element(e), index=0 t = f32[2,2] transpose(v), dimensions={1,0}
        ROOT r = f32[2,2] dot(v, t), lhs_contracting_dims={1}, rhs_contracting_dims={0},
          operand_precision={highest,highest} }";
    let found = check(&format!("HloModule m\n{hidden}"), &[a], "f32[2,2] {{1, 1.5}, {0, 1}}");
    assert_eq!(found.verdict, NotTested, "{found:?}");
}

/// LAPACK balances a matrix: a vector is as accurate as its rows and columns are in balance.
#[test]
fn vectors_of_matrices_out_of_balance_are_legal() {
    let body = "ENTRY e { a = f64[3,3] parameter(0)
        e = (f64[3], f64[3], c128[3,3], c128[3,3], s32[]) custom-call(a), custom_call_target=\"lapack_dgeev_ffi\",
          backend_config={compute_left = 78 : ui8, compute_right = 86 : ui8}
        x = f64[3] get-tuple-element(e), index=0 y = f64[3] get-tuple-element(e), index=1
        w = c128[3] complex(x, y) v = c128[3,3] get-tuple-element(e), index=3
        ROOT r = (c128[3], c128[3,3]) tuple(w, v) }";
    // D T D^-1 with T = {{2, 1, 0}, {0, 3, 1}, {0, 0, 5}}, D = (1, 1e12, 1): the vector of 5 is
    // (1/6, 1e12/2, 1), here with an error of 1e-4 in its first element.
    let (small, one) = (1e-12, 1.0);
    let argument = format!("f64[3,3] {{{{2, {small:e}, 0}}, {{0, 3, 1e12}}, {{0, 0, 5}}}}");
    let result = |first: f64| {
        format!(
            "(c128[3] {{(2, 0), (3, 0), (5, 0)}}, c128[3,3] {{{{(1, 0), ({small:e}, 0), ({first:e}, 0)}}, {{(0, 0), ({one}, 0), (1, 0)}}, {{(0, 0), (0, 0), (2e-12, 0)}}}})"
        )
    };
    let exact = result(1.0 / 3.0 * 1e-12);
    legality(body, &[&argument], &[(&exact, true)]);
    // Near the ends of the exponents.
    for scale in ["e160", "e-160"] {
        let a = format!("f64[2,2] {{{{4{scale}, 3{scale}}}, {{2{scale}, 1{scale}}}}}");
        let lu = "ENTRY e { a = f64[2,2] parameter(0)
            e = (f64[2,2], s32[2], s32[]) custom-call(a), custom_call_target=\"lapack_dgetrf_ffi\"
            ROOT f = f64[2,2] get-tuple-element(e), index=0 }";
        let right = format!("f64[2,2] {{{{4{scale}, 3{scale}}}, {{0.5, -5{}}}}}", shifted(scale));
        let wrong = format!("f64[2,2] {{{{4{scale}, 3{scale}}}, {{0.5, 5{}}}}}", shifted(scale));
        legality(lu, &[&a], &[(&right, true), (&wrong, false)]);
        let spectrum = "ENTRY e { a = f64[2,2] parameter(0)
            e = (f64[2], f64[2], c128[2,2], c128[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_dgeev_ffi\",
              backend_config={compute_left = 78 : ui8, compute_right = 78 : ui8}
            x = f64[2] get-tuple-element(e), index=0 y = f64[2] get-tuple-element(e), index=1
            ROOT r = (f64[2], f64[2]) tuple(x, y) }";
        let a = format!("f64[2,2] {{{{3{scale}, 1{scale}}}, {{2{scale}, 4{scale}}}}}");
        let right = format!("(f64[2] {{5{scale}, 2{scale}}}, f64[2] {{0, 0}})");
        let wrong = format!("(f64[2] {{5{scale}, 2.1{scale}}}, f64[2] {{0, 0}})");
        legality(spectrum, &[&a], &[(&right, true), (&wrong, false)]);
    }
}

/// Returns a tenth of a power of ten.
fn shifted(scale: &str) -> String {
    let power: i32 = scale[1..].parse().unwrap_or(0);
    format!("e{}", power - 1)
}
