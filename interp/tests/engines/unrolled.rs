//! Loops of few rounds, whose rounds are steps of the computation around them.
use crate::{agree, compiled};
use interp::Engine;
use proptest::prelude::*;

/// Returns a loop over a counter and two arrays that are too large for loops over small arrays.
/// `counter` is its type, first value, step, direction and limit.
fn looped(counter: (&str, &str, &str, &str, &str), body: &str) -> String {
    let (ty, first, step, direction, limit) = counter;
    format!(
        "less {{ t = ({ty}[], f32[20000], f32[20000]) parameter(0) i = {ty}[] get-tuple-element(t), index=0
           n = {ty}[] constant({limit}) ROOT l = pred[] compare(i, n), direction={direction} }}
         twice {{ a = f32[20000] parameter(0) b = f32[20000] add(a, a) ROOT c = (f32[20000], f32[20000]) tuple(b, a) }}
         body {{ t = ({ty}[], f32[20000], f32[20000]) parameter(0) i = {ty}[] get-tuple-element(t), index=0
           x = f32[20000] get-tuple-element(t), index=1 y = f32[20000] get-tuple-element(t), index=2
           one = {ty}[] constant({step}) j = {ty}[] add(one, i) {body} }}
         ENTRY e {{ p = f32[20000] parameter(0) q = f32[20000] parameter(1) z = {ty}[] constant({first})
           t = ({ty}[], f32[20000], f32[20000]) tuple(z, p, q)
           w = ({ty}[], f32[20000], f32[20000]) while(t), condition=less, body=body
           i = {ty}[] get-tuple-element(w), index=0 x = f32[20000] get-tuple-element(w), index=1
           y = f32[20000] get-tuple-element(w), index=2 s = f32[20000] subtract(x, y)
           ROOT r = ({ty}[], f32[20000], f32[20000]) tuple(i, s, y) }}"
    )
}

const BODIES: [&str; 6] = [
    "ROOT r = ({ty}[], f32[20000], f32[20000]) tuple(j, y, x)",
    "k = f32[] convert(i) b = f32[20000] broadcast(k), dimensions={} a = f32[20000] add(x, b)
     ROOT r = ({ty}[], f32[20000], f32[20000]) tuple(j, y, a)",
    "u = f32[3] slice(y), slice={[0:3]} s = s32[] convert(i) a = f32[20000] dynamic-update-slice(x, u, s)
     ROOT r = ({ty}[], f32[20000], f32[20000]) tuple(j, a, x)",
    "c = (f32[20000], f32[20000]) call(x), to_apply=twice a = f32[20000] get-tuple-element(c), index=0
     b = f32[20000] get-tuple-element(c), index=1 d = f32[20000] multiply(b, y) unused = f32[20000] divide(d, a)
     ROOT r = ({ty}[], f32[20000], f32[20000]) tuple(j, d, a)",
    "c = ({ty}[], f32[20000], f32[20000]) tuple(i, y, y) n = f32[20000] get-tuple-element(c), index=2
     s = s32[] convert(i) v = f32[5] dynamic-slice(x, s), dynamic_slice_sizes={5} f = f32[] constant(0)
     a = f32[20000] pad(v, f), padding=100_19895 ROOT r = ({ty}[], f32[20000], f32[20000]) tuple(j, a, n)",
    "ROOT r = ({ty}[], f32[20000], f32[20000]) tuple(j, x, x)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn rounds_are_those_of_the_loop(
        counter in prop::sample::select(vec![
            ("s32", "0", "1", "LT", "5"), ("s32", "0", "1", "LT", "0"), ("s32", "3", "1", "LE", "3"), ("s32", "2", "-1", "GE", "0"),
            ("s64", "7", "-3", "GT", "-9"), ("u8", "250", "2", "NE", "4"), ("u32", "4294967295", "1", "GT", "3"),
            ("s8", "120", "3", "GT", "0"), ("s32", "0", "1", "LT", "8"), ("s32", "0", "1", "LT", "9"), ("u64", "1", "1", "EQ", "1"),
        ]),
        body in prop::sample::select(BODIES.to_vec()),
    ) {
        agree(&looped(counter, &body.replace("{ty}", counter.0)));
    }
}

/// Returns the steps of the entry in the plan of `exact`.
fn entry(text: &str) -> String {
    let plan = compiled(text, Engine::Exact).plan().to_string();
    let (_, rest) = plan.split_once("ENTRY").unwrap();
    rest.split("\n\n").next().unwrap().to_owned()
}

#[test]
fn plans_have_the_steps_of_each_round() {
    let body = BODIES[1].replace("{ty}", "s32");
    assert!(!entry(&looped(("s32", "0", "1", "LT", "8"), &body)).contains("while"));
    // Of eight rounds at most; a limit that is not reached has no number of rounds.
    assert!(entry(&looped(("s32", "0", "1", "LT", "9"), &body)).contains("while"));
    let endless = looped(("s32", "0", "2", "NE", "5"), &body);
    assert!(entry(&endless).contains("while"));
    // The counter is another element of the tuple, or follows from an argument.
    let text = looped(("s32", "0", "1", "LT", "5"), &body);
    let started = text.replace("z = s32[] constant(0)", "z = s32[] parameter(2)");
    assert!(entry(&started).contains("while"));
}

#[test]
fn a_loop_inside_of_a_loop_stays_a_loop() {
    let inner = "w = (s32[], f32[20000], f32[20000]) while(t2), condition=less, body=inner";
    let text = looped(
        ("s32", "0", "1", "LT", "3"),
        &format!(
            "o = s32[] constant(1) t2 = (s32[], f32[20000], f32[20000]) tuple(o, x, y) {inner}
             a = f32[20000] get-tuple-element(w), index=1
             ROOT r = (s32[], f32[20000], f32[20000]) tuple(j, y, a)"
        ),
    );
    let inner = "inner { t = (s32[], f32[20000], f32[20000]) parameter(0) i = s32[] get-tuple-element(t), index=0
        x = f32[20000] get-tuple-element(t), index=1 one = s32[] constant(1) j = s32[] add(i, one)
        a = f32[20000] add(x, x) ROOT r = (s32[], f32[20000], f32[20000]) tuple(j, a, x) }\n";
    let text = format!("{inner}{text}");
    agree(&text);
    assert!(entry(&text).contains("while"));
}
