//! Laws of logarithms.
use super::as_a_whole;
use field::{Answer, equal};
use hlo::Verified;

fn module(body: &str) -> Verified {
    super::module(&format!(
        "x = f32[6] parameter(0) y = f32[6] parameter(1) zero = f32[] constant(0) low = f32[] constant(-inf)
         m = f32[] reduce(x, low), dimensions={{0}}, to_apply=max top = f32[6] broadcast(m), dimensions={{}} d = f32[6] subtract(x, top) {body}"
    ))
}

fn answer(first: &str, second: &str) -> Answer {
    equal(&module(first), &module(second), &as_a_whole()).unwrap()
}

const SUM: &str = "s = f32[] reduce(e, zero), dimensions={0}, to_apply=add";

/// Returns the logarithm of the sum of the exponentials of x without their maximum, which `op` adds.
fn shifted(op: &str) -> String {
    format!("e = f32[6] exponential(d) {SUM} l = f32[] log(s) ROOT r = f32[] {op}(l, m)")
}

#[test]
fn logarithms_are_sums() {
    let softmax = format!(
        "e = f32[6] exponential(d) {SUM} b = f32[6] broadcast(s), dimensions={{}} q = f32[6] divide(e, b) ROOT r = f32[6] log(q)"
    );
    let log_softmax = format!(
        "e = f32[6] exponential(d) {SUM} l = f32[] log(s) b = f32[6] broadcast(l), dimensions={{}} ROOT r = f32[6] subtract(d, b)"
    );
    let plain = format!("e = f32[6] exponential(x) {SUM} ROOT r = f32[] log(s)");
    for (first, second) in [
        (&*plain, &*shifted("add")),
        (&*softmax, &*log_softmax),
        (
            "p = f32[6] multiply(x, y) a = f32[6] abs(p) ROOT r = f32[6] log(a)",
            "a = f32[6] abs(x) b = f32[6] abs(y) c = f32[6] log(a) k = f32[6] log(b) ROOT r = f32[6] add(c, k)",
        ),
        (
            "l = f32[6] log(x) e = f32[6] exponential(l) ROOT r = f32[6] multiply(e, y)",
            "ROOT r = f32[6] multiply(x, y)",
        ),
        // Of a normal distribution: the logarithm of the root of two pi.
        (
            "c = f32[] constant(2.50662827) b = f32[6] broadcast(c), dimensions={} p = f32[6] multiply(x, b) l = f32[6] log(p) ROOT r = f32[6] multiply(l, y)",
            "c = f32[] constant(0.918938518) b = f32[6] broadcast(c), dimensions={} l = f32[6] log(x) s = f32[6] add(l, b) ROOT r = f32[6] multiply(s, y)",
        ),
    ] {
        let found = answer(first, second);
        assert!(matches!(found, Answer::Equal(_)), "{first}\n{second}\n{found:?}");
    }
    for (first, second) in [
        (&*plain, &*shifted("subtract")),
        (
            "c = f32[] constant(2.50662827) b = f32[6] broadcast(c), dimensions={} p = f32[6] multiply(x, b) ROOT r = f32[6] log(p)",
            "c = f32[] constant(0.919938518) b = f32[6] broadcast(c), dimensions={} l = f32[6] log(x) ROOT r = f32[6] add(l, b)",
        ),
    ] {
        let found = answer(first, second);
        assert!(matches!(found, Answer::Different(_)), "{first}\n{second}\n{found:?}");
    }
}
