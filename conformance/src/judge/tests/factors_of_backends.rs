//! Tests of factorizations: each legal form of a factor, and wrong values.
use super::rules::verdicts;
use super::*;
use Verdict::{Differs, NotTested, Undefined, WithinBound};

const EIGEN: &str = "e = (f32[2,2], f32[2], s32[]) custom-call(a), custom_call_target=\"lapack_ssyevd_ffi\",
      backend_config={mode = 86 : ui8, uplo = 76 : ui8}
    v = f32[2,2] get-tuple-element(e), index=0 w = f32[2] get-tuple-element(e), index=1
    i = s32[] get-tuple-element(e), index=2 z = s32[] constant(0) p = pred[] compare(i, z), direction=EQ
    g = pred[2,2] broadcast(p), dimensions={} n = f32[] constant(nan) m = f32[2,2] broadcast(n), dimensions={}
    u = f32[2,2] select(g, v, m)";

#[test]
fn eigenvectors_have_either_sign() {
    let body = format!(
        "ENTRY e {{ a = f32[2,2] parameter(0) {EIGEN} ROOT r = (f32[2,2], f32[2]) tuple(u, w) }}"
    );
    // Eigenvalues 1 and 3; what is above the diagonal is not read.
    let a = ["f32[2,2] {{2, 77}, {1, 2}}"];
    let results = [
        (
            "(f32[2,2] {{0.70710677, -0.70710677}, {-0.70710677, -0.70710677}}, f32[2] {1, 3})",
            WithinBound,
        ),
        (
            "(f32[2,2] {{0.7071068, 0.70710677}, {-0.7071067, 0.7071069}}, f32[2] {1.0000001, 3})",
            WithinBound,
        ),
        (
            "(f32[2,2] {{0.70710677, 0.70710677}, {-0.70710677, 0.70710677}}, f32[2] {1.0001, 3})",
            Differs,
        ),
        ("(f32[2,2] {{0.70710677, 0.70710677}, {-0.70710677, 0.7072}}, f32[2] {1, 3})", Differs),
        (
            "(f32[2,2] {{0.70710677, 0.70710677}, {0.70710677, -0.70710677}}, f32[2] {1, 3})",
            Differs,
        ),
        ("(f32[2,2] {{0.70710677, 0.70710677}, {0.70710677, 0.70710677}}, f32[2] {1, 3})", Differs),
        ("(f32[2,2] {{0.70710677, 0.70710677}, {-0.70710677, nan}}, f32[2] {1, 3})", Differs),
        ("(f32[2,2] {{1.4142135, 0.70710677}, {-1.4142135, 0.70710677}}, f32[2] {1, 3})", Differs),
    ];
    verdicts(&body, &a, &results);
    // Of equal eigenvalues each orthonormal basis is legal.
    let results = [
        ("(f32[2,2] {{0.6, -0.8}, {0.8, 0.6}}, f32[2] {2, 2})", WithinBound),
        ("(f32[2,2] {{0.6, 0.8}, {0.8, 0.6}}, f32[2] {2, 2})", Differs),
    ];
    verdicts(&body, &["f32[2,2] {{2, 0}, {0, 2}}"], &results);
    let judgement = check(
        &format!("HloModule m\n{body}"),
        &a,
        "(f32[2,2] {{0.70710677, 0.70710677}, {-0.70710677, 0.7072}}, f32[2] {1, 3})",
    );
    let cause = judgement.cause.unwrap_or_default();
    assert!(cause.starts_with("e/e: the product of the eigenvectors"), "{cause}");
}

#[test]
fn phases_of_complex_eigenvectors_are_open() {
    let body = "ENTRY e { a = c64[2,2] parameter(0)
        e = (c64[2,2], f32[2], s32[]) custom-call(a), custom_call_target=\"lapack_cheevd_ffi\",
          backend_config={mode = 86 : ui8, uplo = 76 : ui8}
        v = c64[2,2] get-tuple-element(e), index=0 ROOT t = c64[2,2] transpose(v), dimensions={1,0} }";
    // Hermitian, with eigenvalues 1 and 3; the rows are eigenvectors.
    let a = ["c64[2,2] {{(2, 0), (0, 0)}, {(0, 1), (2, 0)}}"];
    let half = 0.5f32.sqrt();
    // The eigenvalues are not seen: they are quotients.
    let phases = format!("c64[2,2] {{{{(0, {half}), ({half}, 0)}}, {{({half}, 0), (0, {half})}}}}");
    let judgement = check(&format!("HloModule m\n{body}"), &a, &phases);
    assert!(
        matches!(judgement.verdict, WithinBound | NotTested | Verdict::Agrees),
        "{judgement:?}"
    );
}

/// What is computed from factors that are seen follows from those of the backend.
#[test]
fn later_steps_follow_from_the_factors_of_the_backend() {
    let seen = format!(
        "ENTRY e {{ a = f32[2,2] parameter(0) {EIGEN} s = f32[2,2] multiply(v, v) k = f32[2,2] add(v, s)
        ROOT r = (f32[2,2], f32[2,2]) tuple(v, k) }}"
    );
    let a = ["f32[2,2] {{2, 77}, {1, 2}}"];
    let results = [
        (
            "(f32[2,2] {{-0.70710677, -0.70710677}, {0.70710677, -0.70710677}}, f32[2,2] {{-0.2071068, -0.2071068}, {1.2071067, -0.2071068}})",
            WithinBound,
        ),
        (
            "(f32[2,2] {{-0.70710677, -0.70710677}, {0.70710677, -0.70710677}}, f32[2,2] {{1.2071067, -0.2071068}, {1.2071067, -0.2071068}})",
            Differs,
        ),
        (
            "(f32[2,2] {{0.70710677, 0.70710677}, {-0.70710677, 0.70710677}}, f32[2,2] {{1.2071067, 1.2071067}, {-0.2071068, 1.2071067}})",
            WithinBound,
        ),
        (
            "(f32[2,2] {{0.70710677, 0.70710677}, {-0.70710677, 0.70710677}}, f32[2,2] {{-0.2071068, 1.2071067}, {-0.2071068, 1.2071067}})",
            Differs,
        ),
    ];
    for (text, verdict) in results {
        let found = check(&format!("HloModule m\n{seen}"), &a, text);
        let legal = matches!(found.verdict, Verdict::Agrees | WithinBound);
        assert_eq!(legal, verdict == WithinBound, "{text}: {found:?}");
    }
    // The factor is not seen: any legal one may have been there.
    let hidden = format!(
        "ENTRY e {{ a = f32[2,2] parameter(0) {EIGEN} s = f32[2,2] multiply(v, v) ROOT k = f32[2,2] add(v, s) }}"
    );
    let results = [
        ("f32[2,2] {{1.2071068, 1.2071068}, {-0.2071068, 1.2071068}}", NotTested),
        ("f32[2,2] {{5, 1.2071067}, {-0.2071068, 1.2071067}}", Differs),
    ];
    verdicts(&hidden, &a, &results);
}

#[test]
fn signs_of_q_and_r_are_open_together() {
    let body = "ENTRY e { a = f32[3,2] parameter(0)
        h = (f32[3,2], f32[2]) custom-call(a), custom_call_target=\"lapack_sgeqrf_ffi\"
        v = f32[3,2] get-tuple-element(h), index=0 t = f32[2] get-tuple-element(h), index=1
        q = f32[3,2] custom-call(v, t), custom_call_target=\"lapack_sorgqr_ffi\"
        s = f32[2,2] slice(v), slice={[0:2],[0:2]} i = s32[2,2] iota(), iota_dimension=0
        j = s32[2,2] iota(), iota_dimension=1 p = pred[2,2] compare(i, j), direction=LE
        z = f32[] constant(0) y = f32[2,2] broadcast(z), dimensions={} u = f32[2,2] select(p, s, y)
        ROOT r = (f32[3,2], f32[2,2]) tuple(q, u) }";
    // A = Q R with Q = (3 0, 4 0, 0 1)/5 and R = (5 10, 0 2).
    let a = ["f32[3,2] {{3, 6}, {4, 8}, {0, 2}}"];
    let results = [
        ("(f32[3,2] {{0.6, 0}, {0.8, 0}, {0, 1}}, f32[2,2] {{5, 10}, {0, 2}})", WithinBound),
        ("(f32[3,2] {{-0.6, 0}, {-0.8, 0}, {0, 1}}, f32[2,2] {{-5, -10}, {0, 2}})", WithinBound),
        ("(f32[3,2] {{0.6, 0}, {0.8, 0}, {0, -1}}, f32[2,2] {{5, 10}, {0, -2}})", WithinBound),
        ("(f32[3,2] {{0.6, 0}, {0.8, 0}, {0, 1}}, f32[2,2] {{5, 10}, {0, -2}})", Differs),
        ("(f32[3,2] {{0.6, 0}, {0.8, 0}, {0, 1}}, f32[2,2] {{5, 10.001}, {0, 2}})", Differs),
        ("(f32[3,2] {{0.6, 0}, {0.8, 0}, {0, 1}}, f32[2,2] {{5, 10}, {1, 2}})", Differs),
        ("(f32[3,2] {{0.6, 0.01}, {0.8, 0}, {0, 1}}, f32[2,2] {{5, 10}, {0, 2}})", Differs),
    ];
    for (text, verdict) in results {
        let found = check(&format!("HloModule m\n{body}"), &a, text);
        let legal = found.verdict == Verdict::Agrees || found.verdict == WithinBound;
        assert_eq!(legal, verdict == WithinBound, "{text}: {found:?}");
        assert!(legal || found.verdict == Differs, "{text}: {found:?}");
    }
    // The reflections themselves: those of the other sign.
    let packed = "ENTRY e { a = f64[2,2] parameter(0)
        ROOT r = (f64[2,2], f64[2]) custom-call(a), custom_call_target=\"Qr\" }";
    let a = ["f64[2,2] {{3, 5}, {4, 10}}"];
    let results = [
        ("(f64[2,2] {{5, 11}, {-2, -2}}, f64[2] {0.4, 0})", WithinBound),
        ("(f64[2,2] {{5, 11}, {-2, 2}}, f64[2] {0.4, 2})", WithinBound),
        ("(f64[2,2] {{5, 11}, {-2, 2}}, f64[2] {0.4, 0})", Differs),
        ("(f64[2,2] {{5, 11}, {-2, -2}}, f64[2] {0.41, 0})", Differs),
        ("(f64[2,2] {{5, 11.001}, {-2, -2}}, f64[2] {0.4, 0})", Differs),
    ];
    verdicts(packed, &a, &results);
    let triangle = "ENTRY e { a = f32[2,2] parameter(0)
        h = (f32[2,2], f32[2]) custom-call(a), custom_call_target=\"Qr\"
        v = f32[2,2] get-tuple-element(h), index=0 i = s32[2,2] iota(), iota_dimension=0
        j = s32[2,2] iota(), iota_dimension=1 p = pred[2,2] compare(i, j), direction=LE
        z = f32[] constant(0) y = f32[2,2] broadcast(z), dimensions={} ROOT u = f32[2,2] select(p, v, y) }";
    let results = [
        ("f32[2,2] {{5, 11}, {0, -2}}", WithinBound),
        ("f32[2,2] {{5, 11}, {0, -2.001}}", Differs),
        ("f32[2,2] {{5, -11}, {0, -2}}", Differs),
    ];
    verdicts(triangle, &["f32[2,2] {{3, 5}, {4, 10}}"], &results);
}

#[test]
fn reflections_that_are_given_have_one_product() {
    let body = "ENTRY e { a = f32[2,2] parameter(0) t = f32[1] parameter(1)
        ROOT r = f32[2,2] custom-call(a, t), custom_call_target=\"lapack_sorgqr_ffi\" }";
    let results = [
        ("f32[2,2] {{-0.6000001, -0.8}, {-0.8, 0.6}}", WithinBound),
        ("f32[2,2] {{-0.601, -0.8}, {-0.8, 0.6}}", Differs),
        ("f32[2,2] {{0.6, 0.8}, {0.8, -0.6}}", Differs),
    ];
    verdicts(body, &["f32[2,2] {{-5, -11}, {0.5, 2}}", "f32[1] {1.6}"], &results);
}

#[test]
fn pivots_of_equal_size_are_open() {
    let body = "ENTRY e { a = f32[2,2] parameter(0)
        ROOT r = (f32[2,2], s32[2], s32[]) custom-call(a), custom_call_target=\"lapack_sgetrf_ffi\" }";
    let a = ["f32[2,2] {{1, 2}, {1, 3}}"];
    let results = [
        ("(f32[2,2] {{1, 3}, {1, -1}}, s32[2] {2, 2}, s32[] 0)", WithinBound),
        ("(f32[2,2] {{1, 3}, {1, -1}}, s32[2] {1, 2}, s32[] 0)", Differs),
        ("(f32[2,2] {{1, 3}, {1, -1}}, s32[2] {2, 1}, s32[] 0)", Differs),
        ("(f32[2,2] {{1, 3}, {1, -1}}, s32[2] {2, 2}, s32[] 1)", Differs),
        ("(f32[2,2] {{1, 3}, {1, -1.0001}}, s32[2] {2, 2}, s32[] 0)", Differs),
    ];
    verdicts(body, &a, &results);
    // A smaller pivot is not the one of partial pivoting.
    let smaller = [("(f32[2,2] {{1, 2}, {2, -1}}, s32[2] {1, 2}, s32[] 0)", Differs)];
    verdicts(body, &["f32[2,2] {{1, 2}, {2, 3}}"], &smaller);
    let body = "ENTRY e { a = f32[2,2] parameter(0)
        f = (f32[2,2], s32[2], s32[2]) custom-call(a), custom_call_target=\"LuDecomposition\"
        x = f32[2,2] get-tuple-element(f), index=0 o = s32[2] get-tuple-element(f), index=2
        d = s32[2] constant({10, 20}) y = s32[2] add(o, d)
        ROOT r = (f32[2,2], s32[2]) tuple(x, y) }";
    // The order of rows follows from the factors.
    let results = [
        ("(f32[2,2] {{1, 3}, {1, -1}}, s32[2] {11, 20})", WithinBound),
        ("(f32[2,2] {{1, 3}, {1, -1}}, s32[2] {10, 21})", Differs),
        ("(f32[2,2] {{1, 4}, {1, -1}}, s32[2] {11, 20})", Differs),
        ("(f32[2,2] {{1, 3}, {1, 0}}, s32[2] {11, 20})", Differs),
    ];
    verdicts(body, &a, &results);
}

/// The triangles of L and U, with ones on the diagonal of L: what 0 is added to is seen.
#[test]
fn triangles_are_seen_as_they_are_separated() {
    let body = "ENTRY e { a = f32[2,2] parameter(0)
        f = (f32[2,2], s32[2], s32[2]) custom-call(a), custom_call_target=\"LuDecomposition\"
        x = f32[2,2] get-tuple-element(f), index=0 i = s32[2,2] iota(), iota_dimension=0
        j = s32[2,2] iota(), iota_dimension=1 p = pred[2,2] compare(i, j), direction=LE
        z = f32[] constant(0) y = f32[2,2] broadcast(z), dimensions={} u = f32[2,2] select(p, x, y)
        s = f32[2,2] select(p, y, x) o = f32[2,2] constant({{1, 0}, {0, 1}}) l = f32[2,2] add(s, o)
        ROOT r = (f32[2,2], f32[2,2]) tuple(l, u) }";
    let results = [
        ("(f32[2,2] {{1, 0}, {1, 1}}, f32[2,2] {{1, 3}, {0, -1}})", WithinBound),
        ("(f32[2,2] {{1, 0}, {1, 1}}, f32[2,2] {{1, 3}, {0, -1.001}})", Differs),
        ("(f32[2,2] {{1, 0}, {0.9, 1}}, f32[2,2] {{1, 3}, {0, -1}})", Differs),
        ("(f32[2,2] {{1, 0}, {1, 2}}, f32[2,2] {{1, 3}, {0, -1}})", Differs),
    ];
    verdicts(body, &["f32[2,2] {{1, 2}, {1, 3}}"], &results);
}

#[test]
fn singular_vectors_change_sign_together() {
    let of = |root: &str| {
        format!(
            "ENTRY e {{ a = f32[2,2] parameter(0)
            e = (f32[2,2], f32[2], f32[2,2], f32[2,2], s32[]) custom-call(a),
              custom_call_target=\"lapack_sgesdd_ffi\", backend_config={{mode = 65 : ui8}}
            s = f32[2] get-tuple-element(e), index=1 u = f32[2,2] get-tuple-element(e), index=2
            v = f32[2,2] get-tuple-element(e), index=3 {root} }}"
        )
    };
    // Singular values 5 and 3 of a matrix that has (0 3, 5 0).
    let a = ["f32[2,2] {{0, 3}, {5, 0}}"];
    let all = of("ROOT r = (f32[2], f32[2,2], f32[2,2]) tuple(s, u, v)");
    let results = [
        ("(f32[2] {5, 3}, f32[2,2] {{0, -1}, {1, 0}}, f32[2,2] {{1, 0}, {0, -1}})", true),
        ("(f32[2] {5, 3}, f32[2,2] {{0, 1}, {-1, 0}}, f32[2,2] {{-1, 0}, {0, 1}})", true),
        ("(f32[2] {5, 3}, f32[2,2] {{0, 1}, {-1, 0}}, f32[2,2] {{1, 0}, {0, 1}})", false),
        ("(f32[2] {5, 3.001}, f32[2,2] {{0, 1}, {1, 0}}, f32[2,2] {{1, 0}, {0, 1}})", false),
        ("(f32[2] {3, 5}, f32[2,2] {{1, 0}, {0, 1}}, f32[2,2] {{0, 1}, {1, 0}})", false),
        ("(f32[2] {5, 3}, f32[2,2] {{0, 1}, {1, 0.01}}, f32[2,2] {{1, 0}, {0, 1}})", false),
    ];
    for (text, legal) in results {
        let found = check(&format!("HloModule m\n{all}"), &a, text);
        let passes = matches!(found.verdict, Verdict::Agrees | WithinBound);
        assert_eq!(passes, legal, "{text}: {found:?}");
    }
    let values = [("f32[2] {5.000001, 3}", WithinBound), ("f32[2] {5, 3.0001}", Differs)];
    verdicts(&of("ROOT c = f32[2] copy(s)"), &a, &values);
    // With U alone, the lengths of the rows of U A are the singular values.
    let left = of("ROOT r = (f32[2], f32[2,2]) tuple(s, u)");
    let results = [
        ("(f32[2] {5, 3}, f32[2,2] {{0, -1}, {-1, 0}})", true),
        ("(f32[2] {5, 3}, f32[2,2] {{1, 0}, {0, 1}})", false),
    ];
    for (text, legal) in results {
        let found = check(&format!("HloModule m\n{left}"), &a, text);
        let passes = matches!(found.verdict, Verdict::Agrees | WithinBound);
        assert_eq!(passes, legal, "{text}: {found:?}");
    }
}

#[test]
fn a_system_that_is_solved_with_hidden_factors_is_not_accused() {
    let body = "ENTRY e { a = f32[2,2] parameter(0) b = f32[2,1] parameter(1)
        f = (f32[2,2], s32[2], s32[2]) custom-call(a), custom_call_target=\"LuDecomposition\"
        x = f32[2,2] get-tuple-element(f), index=0
        ROOT y = f32[2,1] triangular-solve(x, b), left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE }";
    let arguments = ["f32[2,2] {{1, 2}, {1, 3}}", "f32[2,1] {{1}, {1}}"];
    let judgement = check(&format!("HloModule m\n{body}"), &arguments, "f32[2,1] {{1}, {0.0001}}");
    assert!(matches!(judgement.verdict, NotTested | Undefined | WithinBound), "{judgement:?}");
}
