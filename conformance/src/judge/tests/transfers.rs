//! Values that instructions and devices send.
use super::*;

#[test]
fn copies_and_sends_have_bounds() {
    let text = "HloModule m
        ENTRY e { x = f32[] parameter(0) y = f32[] tanh(x)
        c = (f32[], f32[], u32[]) copy-start(y) d = f32[] copy-done(c)
        t = token[] after-all() s = (f32[], u32[], token[]) send(d, t), channel_id=1 u = token[] send-done(s), channel_id=1
        r = (f32[], u32[], token[]) recv(t), channel_id=1 e = (f32[], token[]) recv-done(r), channel_id=1
        ROOT f = f32[] get-tuple-element(e), index=0 }";
    let found = check(text, &["f32[] 0.5"], "f32[] 0.46211714");
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    let found = check(text, &["f32[] 0.5"], "f32[] 0.462");
    assert_eq!((found.verdict, found.estimated), (Verdict::Differs, None));
}

#[test]
fn what_another_device_sends_has_a_bound() {
    let pairs =
        "channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}";
    let text = format!(
        "HloModule m, replica_count=2
        ENTRY e {{ x = f32[] parameter(0) y = f32[] tanh(x) t = token[] after-all()
        s = (f32[], u32[], token[]) send(y, t), {pairs} u = token[] send-done(s), channel_id=1
        r = (f32[], u32[], token[]) recv(u), {pairs} e = (f32[], token[]) recv-done(r), channel_id=1
        ROOT f = f32[] get-tuple-element(e), index=0 }}"
    );
    let literal = |text: &str| -> Literal { text.parse().unwrap() };
    let arguments = ["f32[] 0.5", "f32[] 0.25"].map(|x| vec![literal(x)]);
    // The hyperbolic tangents of 0.25 and of 0.5.
    let expected = ["f32[] 0.24491866", "f32[] 0.46211716"].map(literal);
    let near = ["f32[] 0.24491867", "f32[] 0.46211714"].map(literal);
    let far = ["f32[] 0.24491867", "f32[] 0.4621"].map(literal);
    for (found, verdict) in [(near, Verdict::WithinBound), (far, Verdict::Differs)] {
        let found = judge(&verified(&text), &arguments, &expected, &found);
        assert_eq!((found.verdict, found.estimated), (verdict, None));
    }
}
