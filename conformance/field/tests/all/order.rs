//! What overflows, or is too small for a float, decides nothing.
use super::as_a_whole;
use field::{Answer, equal};
use hlo::Verified;

fn module(body: &str) -> Verified {
    super::module(&format!("x = f32[8] parameter(0) {body}"))
}

#[test]
fn exponentials_keep_the_order() {
    let top = |of: &str, k: usize, largest: bool| {
        format!(
            "t = (f32[{k}], s32[{k}]) topk({of}), k={k}, largest={largest} ROOT r = s32[{k}] get-tuple-element(t), index=1"
        )
    };
    let softmax = "z = f32[] constant(0) low = f32[] constant(-inf) m = f32[] reduce(x, low), dimensions={0}, to_apply=max
        b = f32[8] broadcast(m), dimensions={} d = f32[8] subtract(x, b) e = f32[8] exponential(d)
        s = f32[] reduce(e, z), dimensions={0}, to_apply=add c = f32[8] broadcast(s), dimensions={} q = f32[8] divide(e, c) ";
    for k in [1, 3, 8] {
        let same = module(&top("x", k, true));
        for other in [
            softmax.to_owned() + &top("q", k, true),
            "q = f32[8] exponential(x) ".to_owned() + &top("q", k, true),
        ] {
            let found = equal(&module(&other), &same, &as_a_whole()).unwrap();
            assert!(matches!(found, Answer::Equal(_)), "{k} {found:?}");
        }
        let least = module(&top("x", k, false));
        let found = equal(&least, &same, &as_a_whole()).unwrap();
        assert!(matches!(found, Answer::Different(_)), "{k} {found:?}");
    }
}
