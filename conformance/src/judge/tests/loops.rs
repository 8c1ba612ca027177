//! Tests of loops that rounding errors end, and of results that one decision makes as a whole.
use super::Verdict::{Agrees, Differs, Undefined, WithinBound};
use super::rules::verdicts;
use super::{Literal, check, verified};

#[test]
fn states_of_a_loop_that_contracts_are_an_invariant() {
    let fixpoint = |more: &str, count: &str, next: &str| {
        format!(
            "body {{ s = (f32[], f32[]{more}) parameter(0) x = f32[] get-tuple-element(s), index=0
            c = f32[] cosine(x) {count} ROOT t = (f32[], f32[]{more}) tuple(c, x{next}) }}
            condition {{ s = (f32[], f32[]{more}) parameter(0)
            x = f32[] get-tuple-element(s), index=0 y = f32[] get-tuple-element(s), index=1
            d = f32[] subtract(x, y) a = f32[] abs(d) e = f32[] constant(1e-6)
            ROOT p = pred[] compare(a, e), direction=GT }}
            ENTRY e {{ x = f32[] parameter(0) one = f32[] constant(1) y = f32[] add(x, one)
            z = s32[] constant(0) s = (f32[], f32[]{more}) tuple(x, y{})
            w = (f32[], f32[]{more}) while(s), condition=condition, body=body
            ROOT r = f32[] get-tuple-element(w), index=0 }}",
            if next.is_empty() { "" } else { ", z" },
        )
    };
    let results = [("f32[] 0.739085", WithinBound), ("f32[] 0.7391", Differs)];
    verdicts(&fixpoint("", "", ""), &["f32[] 0.5"], &results);
    // A counter beside it has no bound, and bounds nothing else.
    let count = "i = s32[] get-tuple-element(s), index=2 one = s32[] constant(1)
        n = s32[] add(i, one)";
    verdicts(&fixpoint(", s32[]", count, ", n"), &["f32[] 0.5"], &results);
}

#[test]
fn a_branch_is_taken_as_a_whole() {
    let branches = "yes { x = f32[2] parameter(0) one = f32[2] constant({1, 1})
        a = f32[2] add(x, one) ROOT t = (f32[2], f32[2]) tuple(x, a) }
        no { x = f32[2] parameter(0) two = f32[2] constant({2, 2}) a = f32[2] add(x, two)
        b = f32[2] add(a, two) ROOT t = (f32[2], f32[2]) tuple(a, b) }
        ENTRY e { x = f32[2] parameter(0) v = f32[] parameter(1) c = f32[] constant(1.1)
        w = f32[] multiply(v, c) t = f32[] constant(0.33) p = pred[] compare(w, t), direction=LE
        ROOT r = (f32[2], f32[2]) conditional(p, x, x), true_computation=yes,
          false_computation=no }";
    verdicts(
        branches,
        &["f32[2] {1, 2}", "f32[] .3"],
        &[
            ("(f32[2] {1, 2}, f32[2] {2, 3})", Agrees),
            ("(f32[2] {3, 4}, f32[2] {5, 6})", WithinBound),
            ("(f32[2] {1, 2}, f32[2] {5, 6})", Differs),
            ("(f32[2] {1, 4}, f32[2] {2, 3})", Differs),
            ("(f32[2] {3, 2}, f32[2] {5, 6})", Differs),
        ],
    );
}

#[test]
fn a_branch_is_taken_as_a_whole_in_another_tuple() {
    let branches = "yes { x = f32[] parameter(0) one = f32[] constant(1) a = f32[] add(x, one)
        ROOT t = (f32[], f32[]) tuple(x, a) }
        no { x = f32[] parameter(0) two = f32[] constant(2) a = f32[] add(x, two)
        b = f32[] add(a, two) ROOT t = (f32[], f32[]) tuple(a, b) }
        ENTRY e { x = f32[] parameter(0) v = f32[] parameter(1) c = f32[] constant(1.1)
        w = f32[] multiply(v, c) t = f32[] constant(0.33) p = pred[] compare(w, t), direction=LE
        r = (f32[], f32[]) conditional(p, x, x), true_computation=yes, false_computation=no
        a = f32[] get-tuple-element(r), index=0 b = f32[] get-tuple-element(r), index=1
        ROOT o = (f32[], f32[]) tuple(b, a) }";
    verdicts(
        branches,
        &["f32[] 1", "f32[] .3"],
        &[
            ("(f32[] 2, f32[] 1)", Agrees),
            ("(f32[] 5, f32[] 3)", WithinBound),
            ("(f32[] 5, f32[] 1)", Differs),
            ("(f32[] 2, f32[] 3)", Differs),
        ],
    );
}

#[test]
fn a_state_of_a_loop_is_that_of_one_round() {
    let counted = "body { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0
        x = f32[2] get-tuple-element(s), index=1 one = s32[] constant(1) n = s32[] add(i, one)
        u = f32[2] constant({1, 1}) y = f32[2] add(x, u) ROOT t = (s32[], f32[2]) tuple(n, y) }
        condition { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0
        f = f32[] convert(i) c = f32[] constant(0.1) w = f32[] multiply(f, c)
        t = f32[] constant(0.3) ROOT p = pred[] compare(w, t), direction=LT }
        ENTRY e { x = f32[2] parameter(0) z = s32[] constant(0) s = (s32[], f32[2]) tuple(z, x)
        ROOT w = (s32[], f32[2]) while(s), condition=condition, body=body }";
    verdicts(
        counted,
        &["f32[2] {0, 0}"],
        &[
            ("(s32[] 3, f32[2] {3, 3})", Agrees),
            ("(s32[] 4, f32[2] {4, 4})", WithinBound),
            ("(s32[] 4, f32[2] {3, 3})", Differs),
            ("(s32[] 3, f32[2] {3, 4})", Differs),
        ],
    );
}

#[test]
fn a_slice_is_at_one_of_its_places() {
    let decision = "v = f32[] parameter(1) c = f32[] constant(1.1) w = f32[] multiply(v, c)
        t = f32[] constant(0.33) p = pred[] compare(w, t), direction=LE
        a = s32[] constant(1) b = s32[] constant(2) i = s32[] select(p, a, b)";
    let slice = format!(
        "ENTRY e {{ x = f32[5] parameter(0) {decision}
        ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={{2}} }}"
    );
    let arguments = ["f32[5] {0, 10, 20, 30, 40}", "f32[] .3"];
    verdicts(
        &slice,
        &arguments,
        &[
            ("f32[2] {10, 20}", Agrees),
            ("f32[2] {20, 30}", WithinBound),
            ("f32[2] {10, 30}", Differs),
            ("f32[2] {20, 20}", Differs),
        ],
    );
    // Two rows of a table, by two decisions.
    let rows = format!(
        "ENTRY e {{ x = f32[5] parameter(0) {decision} m = f32[5,2] broadcast(x), dimensions={{0}}
        i1 = s32[1] reshape(i) j = s32[2] concatenate(i1, i1), dimensions={{0}}
        ROOT g = f32[2,2] gather(m, j), offset_dims={{1}}, collapsed_slice_dims={{0}},
          start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,2}} }}"
    );
    verdicts(
        &rows,
        &arguments,
        &[
            ("f32[2,2] {{10, 10}, {10, 10}}", Agrees),
            ("f32[2,2] {{10, 10}, {20, 20}}", WithinBound),
            ("f32[2,2] {{10, 20}, {10, 10}}", Differs),
            ("f32[2,2] {{20, 20}, {20, 10}}", Differs),
        ],
    );
    // All of an array by a scalar, and what is added to it.
    let selected = |root: &str| {
        format!(
            "ENTRY e {{ x = f32[5] parameter(0) {decision} n = f32[5] negate(x)
            q = pred[5] broadcast(p), dimensions={{}} s = f32[5] select(q, x, n) {root} }}"
        )
    };
    let mixed = "f32[5] {0, 10, -20, 30, 40}";
    verdicts(
        &selected("ROOT r = f32[5] copy(s)"),
        &arguments,
        &[("f32[5] {-0, -10, -20, -30, -40}", WithinBound), (mixed, Differs)],
    );
}

#[test]
fn a_long_loop_of_whole_numbers_has_one_result() {
    let rounds = "body { s = (s32[], u32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
        x = u32[] get-tuple-element(s), index=1 one = s32[] constant(1) n = s32[] add(i, one)
        a = u32[] constant(1664525) c = u32[] constant(1013904223) m = u32[] multiply(x, a)
        y = u32[] add(m, c) ROOT t = (s32[], u32[]) tuple(n, y) }
        condition { s = (s32[], u32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(40000) ROOT p = pred[] compare(i, n), direction=LT }
        ENTRY e { x = u32[] parameter(0) z = s32[] constant(0) s = (s32[], u32[]) tuple(z, x)
        w = (s32[], u32[]) while(s), condition=condition, body=body
        i = s32[] get-tuple-element(w), index=0 f = f32[] convert(i) c = f32[] constant(0.1)
        ROOT r = f32[] multiply(f, c) }";
    verdicts(rounds, &["u32[] 1"], &[("f32[] 4000", Agrees), ("f32[] 4000.1", Differs)]);
}

/// Rounds of a rotation that is normalized: each interval grows until nothing is known, the errors do
/// not.
#[test]
fn a_smooth_loop_without_a_bound_is_estimated() {
    let rounds = |count: &str, more: &str, first: &str| {
        format!(
            "HloModule m
            body {{ s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0
            v = f32[2] get-tuple-element(s), index=1 one = s32[] constant(1) n = s32[] add(i, one)
            c = f32[2] constant({{0.98, 0.98}}) a = f32[2] multiply(v, c) b = f32[2] constant({{-0.2, 0.2}})
            r = f32[2] reverse(v), dimensions={{0}} t = f32[2] multiply(r, b) u = f32[2] add(a, t)
            q = f32[2] multiply(u, u) z = f32[] constant(0) l = f32[] reduce(q, z), dimensions={{0}}, to_apply=sum
            d = f32[] sqrt(l) e = f32[2] broadcast(d), dimensions={{}} w = f32[2] divide(u, e) {more}
            ROOT o = (s32[], f32[2]) tuple(n, {first}) }}
            sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
            condition {{ s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0
            n = s32[] constant({count}) ROOT p = pred[] compare(i, n), direction=LT }}
            ENTRY e {{ v = f32[2] parameter(0) z = s32[] constant(0) s = (s32[], f32[2]) tuple(z, v)
            w = (s32[], f32[2]) while(s), condition=condition, body=body
            ROOT r = f32[2] get-tuple-element(w), index=1 }}"
        )
    };
    let start = "f32[2] {0.6, 0.8}";
    let result = |text: &str| {
        let literal = interp::run(&verified(text), &[start.parse().unwrap()]).unwrap();
        literal.to_string()
    };
    let smooth = rounds("60", "", "w");
    let next = result(&rounds("61", "", "w"));
    let found = check(&smooth, &[start], &next);
    assert_eq!(found.verdict, Differs, "{found}");
    assert!(found.estimated.is_some_and(|reason| reason.contains("the bound is infinite")));
    let own: Literal = result(&smooth).parse().unwrap();
    let x = own.as_slice::<f32>().unwrap();
    let near = format!("f32[2] {{{}, {}}}", x[0] * 1.000_003, x[1] * 0.999_998);
    assert_ne!(check(&smooth, &[start], &near).verdict, Differs);
    // Where rounding errors decide, nothing is estimated.
    let decides = "p = pred[2] compare(w, c), direction=GT g = f32[2] select(p, c, w)";
    let deciding = rounds("60", decides, "g");
    let next = result(&rounds("61", decides, "g"));
    assert_eq!(check(&deciding, &[start], &next).verdict, Undefined);
}
