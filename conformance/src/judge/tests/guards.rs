//! Tests of what holds whatever the errors: guards, limits of functions, selections, orders.
use super::Verdict::{Agrees, Differs, WithinBound};
use super::check;
use super::rules::verdicts;

/// A number that is near 0, of either sign: its rounding errors decide.
const NEAR: &str = "x = f32[] parameter(0) c = f32[] constant(1.1) w = f32[] multiply(x, c)
    t = f32[] constant(0.33) d = f32[] subtract(w, t) z = f32[] constant(0) one = f32[] constant(1)";

#[test]
fn a_guarded_number_satisfies_its_comparison() {
    let guard =
        |root: &str| format!("ENTRY e {{ {NEAR} p = pred[] compare(d, z), direction=GT {root} }}");
    let judged = |root: &str, actual: &str| {
        check(&format!("HloModule m\n{}", guard(root)), &["f32[] .3"], actual).verdict
    };
    let roots = [
        "s = f32[] select(p, d, one) ROOT r = f32[] log(s)",
        "s = f32[] select(p, d, z) ROOT r = f32[] sqrt(s)",
        "q = pred[] compare(z, d), direction=LT s = f32[] select(q, d, z) ROOT r = f32[] sqrt(s)",
        "q = pred[] compare(d, z), direction=LE s = f32[] select(q, z, d) ROOT r = f32[] sqrt(s)",
    ];
    for root in roots {
        assert_eq!(judged(root, "f32[] nan"), Differs, "{root}");
    }
    // Another number is not guarded by it.
    let other = "n = f32[] negate(d) s = f32[] select(p, n, z) ROOT r = f32[] sqrt(s)";
    assert_ne!(judged(other, "f32[] nan"), Differs);
    // The values themselves stay legal.
    assert_eq!(judged(roots[0], "f32[] 0"), Agrees);
    assert_eq!(judged(roots[1], "f32[] 5e-5"), WithinBound);
    assert_eq!(judged(roots[1], "f32[] 1"), Differs);
}

#[test]
fn the_sign_of_a_real_number_is_exact() {
    let sign = "ENTRY e { x = f32[] parameter(0) s = f32[] sign(x) f = f32[] floor(s)
        one = f32[] constant(1) p = pred[] compare(s, one), direction=EQ
        ROOT r = (f32[], pred[]) tuple(f, p) }";
    verdicts(
        sign,
        &["f32[] 7"],
        &[
            ("(f32[] 1, pred[] true)", Agrees),
            ("(f32[] 0, pred[] true)", Differs),
            ("(f32[] 1, pred[] false)", Differs),
        ],
    );
}

#[test]
fn the_largest_of_many_elements_is_one_of_them() {
    let text = |count: usize, x: &str| {
        format!(
            "larger {{ a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2)
            j = s32[] parameter(3) p = pred[] compare(a, b), direction=GT
            e = pred[] compare(a, b), direction=EQ l = pred[] compare(i, j), direction=LT
            t = pred[] and(e, l) k = pred[] or(p, t) m = f32[] select(p, a, b)
            n = s32[] select(k, i, j) ROOT r = (f32[], s32[]) tuple(m, n) }}
            ENTRY e {{ {x} n = s32[{count}] iota(), iota_dimension=0
            least = f32[] constant(-inf) z = s32[] constant(0)
            ROOT r = (f32[], s32[]) reduce(y, n, least, z), dimensions={{0}}, to_apply=larger }}"
        )
    };
    let count = 12_000;
    let known = text(count, &format!("x = f32[{count}] parameter(0) y = f32[{count}] copy(x)"));
    let element = |i: usize| if i == 7000 { 5 } else { i % 3 };
    let all: Vec<String> = (0..count).map(|i| element(i).to_string()).collect();
    let x = format!("f32[{count}] {{{}}}", all.join(", "));
    verdicts(
        &known,
        &[&x],
        &[
            ("(f32[] 5, s32[] 7000)", Agrees),
            ("(f32[] 5, s32[] 6999)", Differs),
            ("(f32[] 2, s32[] 2)", Differs),
        ],
    );
    // Of two that rounding errors decide between, either.
    let open = text(100, "x = f32[100] parameter(0) y = f32[100] sine(x)");
    let near = |i: usize| match i {
        30 => "1.0".to_owned(),
        70 => "1.0000001".to_owned(),
        _ => "0.5".to_owned(),
    };
    let x = format!("f32[100] {{{}}}", (0..100).map(near).collect::<Vec<_>>().join(", "));
    verdicts(
        &open,
        &[&x],
        &[
            ("(f32[] 0.84147105, s32[] 70)", Agrees),
            ("(f32[] 0.84147105, s32[] 30)", WithinBound),
            ("(f32[] 0.84147105, s32[] 31)", Differs),
        ],
    );
}

#[test]
fn limits_of_functions_hold_for_what_uses_them() {
    let of =
        |body: &str| format!("ENTRY e {{ x = f32[] parameter(0) one = f32[] constant(1) {body} }}");
    let cases = [
        ("y = f32[] sine(x) d = f32[] subtract(one, y) ROOT r = f32[] sqrt(d)", "1.5707964"),
        ("y = f32[] erf(x) d = f32[] subtract(one, y) ROOT r = f32[] sqrt(d)", "9"),
        ("y = f32[] exponential-minus-one(x) d = f32[] add(one, y) ROOT r = f32[] sqrt(d)", "-50"),
        ("y = f32[] cosh(x) ROOT r = f32[] acosh(y)", "0"),
        ("y = f32[] tanh(x) ROOT r = f32[] atanh(y)", "30"),
        (
            "y = f32[] tanh(x) s = f32[] multiply(y, y) d = f32[] subtract(one, s)
            ROOT r = f32[] log(d)",
            "30",
        ),
    ];
    for (body, x) in cases {
        verdicts(&of(body), &[&format!("f32[] {x}")], &[("f32[] nan", Differs)]);
    }
    // Below its limit a function may still be wrong.
    verdicts(&of(cases[0].0), &["f32[] 1.5707964"], &[("f32[] 0.00034", WithinBound)]);
}

/// A comparator that is no strict order says of equal elements that each is before the other.
#[test]
fn equal_elements_are_in_either_order() {
    let sort = |direction: &str| {
        format!(
            "before {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT p = pred[] compare(a, b), direction={direction} }}
            ENTRY e {{ x = f32[3] parameter(0) s = f32[3] sine(x)
            ROOT o = f32[3] sort(s), dimensions={{0}}, is_stable=true, to_apply=before }}"
        )
    };
    for direction in ["LT", "LE"] {
        let results = [
            ("f32[3] {0.841471, 0.841471, 0.9092974}", WithinBound),
            ("f32[3] {0.9092974, 0.841471, 0.841471}", Differs),
        ];
        verdicts(&sort(direction), &["f32[3] {2, 1, 1}"], &results);
    }
}

#[test]
fn a_sort_returns_its_values_in_order() {
    let sort = |root: &str| {
        format!(
            "less {{ a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2)
            j = s32[] parameter(3) ROOT p = pred[] compare(a, b), direction=LT }}
            ENTRY e {{ x = f32[3] parameter(0) s = f32[3] sine(x) n = s32[3] iota(), iota_dimension=0
            o = (f32[3], s32[3]) sort(s, n), dimensions={{0}}, is_stable=true, to_apply=less {root} }}"
        )
    };
    let x = ["f32[3] {1, 1.0000001, 1.0000002}"];
    let keys = sort("ROOT k = f32[3] get-tuple-element(o), index=0");
    verdicts(
        &keys,
        &x,
        &[
            ("f32[3] {0.84147096, 0.84147104, 0.8414711}", WithinBound),
            ("f32[3] {0.84147096, 0.841471, 0.841471}", WithinBound),
            ("f32[3] {0.8414711, 0.84147104, 0.84147096}", Differs),
        ],
    );
    // Without the keys, any order of the indices.
    let indices = sort("ROOT k = s32[3] get-tuple-element(o), index=1");
    verdicts(&indices, &x, &[("s32[3] {2, 1, 0}", WithinBound), ("s32[3] {2, 1, 1}", Differs)]);
}

#[test]
fn squares_are_not_negative() {
    // The sine of 1 is the constant, or beside it.
    let of = |root: &str| {
        format!(
            "HloModule m\nENTRY e {{ x = f32[] parameter(0) y = f32[] sine(x) c = f32[] constant(0.84147096)
             d = f32[] subtract(y, c) {root} ROOT r = f32[1] sqrt(s) }}"
        )
    };
    let roots = [
        "e = f32[] constant(2) q = f32[] power(d, e) s = f32[1] reshape(q)",
        "a = f32[1] reshape(d) b = f32[1] reshape(d) s = f32[1] multiply(a, b)",
        "a = f32[1,1] broadcast(d), dimensions={} b = f32[1,1] broadcast(d), dimensions={}
         p = f32[1,1] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1} s = f32[1] reshape(p)",
    ];
    for root in roots {
        assert_eq!(check(&of(root), &["f32[] 1"], "f32[1] {nan}").verdict, Differs, "{root}");
    }
    let odd = "e = f32[] constant(3) q = f32[] power(d, e) s = f32[1] reshape(q)";
    assert_ne!(check(&of(odd), &["f32[] 1"], "f32[1] {nan}").verdict, Differs);
}
