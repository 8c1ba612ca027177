//! What loops over large arrays compute alike in each iteration.
use crate::{agree, compiled};
use interp::Engine;

/// Returns a loop over a counter and four arrays that are too large for loops over small arrays.
fn looped(iterations: i32, body: &str) -> String {
    let tuple = "(s32[], f32[20000], f32[20000], f32[20000], f32[100,200])";
    format!(
        "less {{ t = {tuple} parameter(0) i = s32[] get-tuple-element(t), index=0
           n = s32[] constant({iterations}) ROOT l = pred[] compare(i, n), direction=LT }}
         add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
         once {{ a = f32[20000] parameter(0) b = f32[20000] negate(a) ROOT c = f32[20000] cosine(b) }}
         body {{ t = {tuple} parameter(0) i = s32[] get-tuple-element(t), index=0
           x = f32[20000] get-tuple-element(t), index=1 y = f32[20000] get-tuple-element(t), index=2
           u = f32[20000] get-tuple-element(t), index=3 m = f32[100,200] get-tuple-element(t), index=4
           one = s32[] constant(1) j = s32[] add(one, i) {body} }}
         ENTRY e {{ p = f32[20000] parameter(0) q = f32[20000] parameter(1) r = f32[20000] parameter(2)
           s = f32[100,200] parameter(3) z = s32[] constant(0) t = {tuple} tuple(z, p, q, r, s)
           ROOT w = {tuple} while(t), condition=less, body=body }}"
    )
}

/// Returns whether a step of a computation computes the value `v`, alone or with others.
fn computes(text: &str, computation: &str) -> bool {
    let plan = compiled(text, Engine::Exact).plan().to_string();
    let (_, rest) = plan.split_once(&format!("{computation}: ")).unwrap();
    let steps = rest.split("\n\n").next().unwrap();
    steps.split([' ', ':', ',', '/', '\n']).any(|name| name == "v")
}

/// Bodies in which `v` depends on values that do not change.
const ALIKE: [&str; 5] = [
    "v = f32[20000] sine(u) a = f32[20000] add(x, v)
     ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, a, y, u, m)",
    // The next value.
    "v = f32[20000] sine(u) a = f32[20000] add(x, y)
     ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, a, v, u, m)",
    // Through a called computation and a broadcast, of two values.
    "c = f32[20000] call(u), to_apply=once k = f32[200] slice(c), slice={[5:205]}
     b = f32[100,200] broadcast(k), dimensions={1} v = f32[100,200] multiply(b, m)
     d = f32[20000] reshape(v) a = f32[20000] add(x, d)
     ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, a, x, u, m)",
    // Read several times, in place of a dead value, and not at all.
    "v = f32[20000] sine(u) w = f32[20000] exponential(v) dead = f32[20000] tan(w)
     a = f32[20000] add(x, w) b = f32[20000] multiply(y, v) d = f32[20000] subtract(v, w)
     g = f32[20000] add(d, a)
     ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, g, b, u, m)",
    // Updated where it is.
    "v = f32[20000] sine(u) n = f32[3] slice(x), slice={[1:4]} a = f32[20000] dynamic-update-slice(v, n, i)
     ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, a, x, u, m)",
];

#[test]
fn invariants_are_computed_before_the_loop() {
    for body in ALIKE {
        for iterations in [0, 9, 12] {
            agree(&looped(iterations, body));
        }
        let text = looped(9, body);
        let is_before = computes(&text, "ENTRY e") && !computes(&text, "body");
        assert!(is_before, "{}", compiled(&text, Engine::Exact).plan());
    }
}

#[test]
fn what_changes_is_computed_in_each_iteration() {
    for body in [
        // A step that takes fuel for each element.
        "z = f32[] constant(0) v = f32[] reduce(u, z), dimensions={0}, to_apply=add
         b = f32[20000] broadcast(v), dimensions={} a = f32[20000] add(x, b)
         ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, a, y, u, m)",
        // Values that are exchanged are not the same in each iteration.
        "v = f32[20000] sine(u) a = f32[20000] add(x, v)
         ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, a, u, y, m)",
        // Computed from the counter.
        "k = f32[] convert(i) b = f32[20000] broadcast(k), dimensions={} v = f32[20000] power(u, b)
         a = f32[20000] add(x, v)
         ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, a, y, u, m)",
        // Wider than what it is computed from.
        "w = f32[200] slice(u), slice={[0:200]} k = f32[200] sine(w) v = f32[100,200] broadcast(k), dimensions={1}
         a = f32[100,200] add(m, v)
         ROOT r = (s32[], f32[20000], f32[20000], f32[20000], f32[100,200]) tuple(j, x, y, u, a)",
    ] {
        agree(&looped(0, body));
        let text = looped(9, body);
        agree(&text);
        assert!(!computes(&text, "ENTRY e"), "{}", compiled(&text, Engine::Exact).plan());
    }
}

#[test]
fn invariants_of_inner_loops_move_out_of_both() {
    let tuple = "(s32[], f32[20000], f32[20000], f32[20000], f32[100,200])";
    let inner = ALIKE[0];
    let text = looped(
        9,
        &format!(
            "z = s32[] constant(0) t2 = {tuple} tuple(z, x, y, u, m)
             w2 = {tuple} while(t2), condition=less2, body=inner
             a = f32[20000] get-tuple-element(w2), index=1
             ROOT r = {tuple} tuple(j, a, y, u, m)"
        ),
    );
    let condition = text.split_once("add {").unwrap().0.replace("less {", "less2 {");
    let body = looped(9, inner);
    let body = body.split_once("body {").unwrap().1.split_once("ENTRY").unwrap().0;
    let text = format!("{condition} inner {{ {body} {text}");
    agree(&text);
    for computation in ["inner", "body"] {
        assert!(!computes(&text, computation), "{}", compiled(&text, Engine::Exact).plan());
    }
}

#[test]
fn a_body_of_two_loops_keeps_its_steps() {
    let tuple = "(s32[], f32[20000], f32[20000], f32[20000], f32[100,200])";
    let text = looped(9, ALIKE[0]);
    let (before, _) = text.split_once("ROOT w = ").unwrap();
    let text = format!(
        "{before} w = {tuple} while(t), condition=less, body=body x2 = f32[20000] get-tuple-element(w), index=1
           t2 = {tuple} tuple(z, x2, r, q, s) ROOT w2 = {tuple} while(t2), condition=less, body=body }}"
    );
    agree(&text);
    assert!(computes(&text, "body"));
}
