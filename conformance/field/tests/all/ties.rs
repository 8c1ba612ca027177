//! Modules that differ only where numbers that are compared are equal, or at the limit of an index.
use super::{as_a_whole, parsed};
use field::{Answer, Evidence, Options, equal};

fn different(first: &str, second: &str) {
    let options = as_a_whole();
    let answer = equal(&parsed(first), &parsed(second), &options).unwrap();
    let Answer::Different(found) = answer else {
        unreachable!("{answer:?}\n{first}\n{second}");
    };
    // The draw that is named shows it alone.
    let options = Options { seed: found.seed, seeds: 1, ..options };
    let answer = equal(&parsed(first), &parsed(second), &options).unwrap();
    assert!(matches!(answer, Answer::Different(_)), "{answer:?}");
}

fn evidence(first: &str, second: &str) -> Evidence {
    match equal(&parsed(first), &parsed(second), &as_a_whole()).unwrap() {
        Answer::Equal(evidence) => evidence,
        answer => unreachable!("{answer:?}\n{first}\n{second}"),
    }
}

/// Returns the derivative of a mask of a product, a bias and a product again.
fn masked(direction: &str) -> String {
    format!(
        "ENTRY e {{
           x = f32[3,5] parameter(0) w = f32[5,4] parameter(1) b = f32[4] parameter(2)
           g = f32[3,4] parameter(3) v = f32[4,4] parameter(4)
           d = f32[3,4] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
           c = f32[3,4] broadcast(b), dimensions={{1}}
           s = f32[3,4] add(d, c)
           zero = f32[] constant(0) zeros = f32[3,4] broadcast(zero), dimensions={{}}
           h = f32[3,4] maximum(s, zeros)
           q = f32[3,4] dot(h, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
           c1 = f32[] constant(0.75) c2 = f32[3,4] broadcast(c1), dimensions={{}}
           u = f32[3,4] add(q, c2) t = f32[3,4] multiply(d, c2)
           p = pred[3,4] compare(u, t), direction={direction}
           ROOT r = f32[3,4] select(p, g, zeros)
         }}"
    )
}

#[test]
fn masks_of_computed_numbers() {
    different(&masked("GT"), &masked("GE"));
    different(&masked("LE"), &masked("LT"));
    different(&masked("EQ"), &masked("NE"));
    let ties = evidence(&masked("GT"), &masked("GT")).ties;
    assert_eq!((ties.met, ties.all), (2, 2));
    // Not greater is less or equal.
    let negated = masked("LE").replace("select(p, g, zeros)", "select(p, zeros, g)");
    assert_eq!(evidence(&masked("GT"), &negated).ties.met, 2);
}

/// Returns the place of the largest row of a product.
fn largest(direction: &str) -> String {
    format!(
        "better {{
           v = f32[] parameter(0) i = s32[] parameter(1) w = f32[] parameter(2) j = s32[] parameter(3)
           p = pred[] compare(v, w), direction={direction}
           a = f32[] select(p, v, w) b = s32[] select(p, i, j) ROOT t = (f32[], s32[]) tuple(a, b)
         }}
         ENTRY e {{
           x = f32[4,5] parameter(0) w = f32[5,3] parameter(1)
           c = f32[3] constant({{1.25, 3.5, 0.7}}) b = f32[4,3] broadcast(c), dimensions={{1}}
           m = f32[4,3] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} d = f32[4,3] add(m, b)
           i = s32[4,3] iota(), iota_dimension=1
           low = f32[] constant(-inf) zero = s32[] constant(0)
           r = (f32[4], s32[4]) reduce(d, i, low, zero), dimensions={{1}}, to_apply=better
           ROOT g = s32[4] get-tuple-element(r), index=1
         }}"
    )
}

#[test]
fn the_place_of_the_largest() {
    different(&largest("GT"), &largest("GE"));
    evidence(&largest("GE"), &largest("GE"));
}

/// Returns the order of sums.
fn sorted(direction: &str) -> String {
    format!(
        "order {{
           v = f32[] parameter(0) w = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
           ROOT p = pred[] compare(v, w), direction={direction}
         }}
         ENTRY e {{
           x = f32[5] parameter(0) y = f32[5] parameter(1) z = f32[5] parameter(2)
           a = f32[5] multiply(x, y) f = f32[5] add(a, z)
           c = f32[5] constant({{1.25, 3.5, 0.7, 5.3, -9.7}}) b = f32[5] add(f, c)
           i = s32[5] iota(), iota_dimension=0
           s = (f32[5], s32[5]) sort(b, i), dimensions={{0}}, is_stable=true, to_apply=order
           ROOT g = s32[5] get-tuple-element(s), index=1
         }}"
    )
}

#[test]
fn the_order_of_equal_sums() {
    // Of equal ones the last is the first.
    let reversed = |text: &str| {
        let text = text.replace(
            "b = f32[5] add(f, c)",
            "f1 = f32[5] add(f, c) b = f32[5] reverse(f1), dimensions={0}",
        );
        text.replace(
            "i = s32[5] iota(), iota_dimension=0",
            "k = s32[5] iota(), iota_dimension=0 i = s32[5] reverse(k), dimensions={0}",
        )
    };
    different(&sorted("LT"), &reversed(&sorted("LT")));
    evidence(&sorted("LT"), &sorted("LT"));
}

/// Returns a slice at a start that is computed.
fn slice(start: &str) -> String {
    format!(
        "ENTRY e {{
           x = f32[100] parameter(0) i = s32[3] parameter(1) j = s32[] parameter(2)
           zero = s32[] constant(0) one = s32[] constant(1) last = s32[] constant(93) n = s32[] constant(100)
           w = s32[3] constant({{40, 100, 7}}) k = s32[3] multiply(i, w)
           add = s32[3] add(k, w) first = s32[1] slice(k), slice={{[0:1]}} f = s32[] reshape(first)
           far = s32[] constant(1234567) g = s32[] add(f, far) s = s32[] add(g, j)
           {start}
           ROOT r = f32[7] dynamic-slice(x, t), dynamic_slice_sizes={{7}}
         }}"
    )
}

#[test]
fn indices_at_their_limits() {
    let clamped = "a = s32[] maximum(s, zero) t = s32[] minimum(a, last)";
    evidence(&slice("t = s32[] copy(s)"), &slice(clamped));
    let wrong = clamped.replace("last)", "n)");
    let before = "b = s32[] constant(92) a = s32[] maximum(s, zero) t = s32[] minimum(a, b)";
    different(&slice(clamped), &slice(before));
    different(&slice("t = s32[] copy(s)"), &slice("t = s32[] maximum(s, one)"));
    let limits = evidence(&slice(clamped), &slice(&wrong)).limits;
    assert!(limits.met > 0 && limits.met <= limits.all, "{limits:?}");
    // An index from the end, if it is negative.
    let from_end = |direction: &str| {
        slice(&format!(
            "p = pred[] compare(s, zero), direction={direction} m = s32[] add(s, n) t = s32[] select(p, m, s)"
        ))
    };
    different(&from_end("LT"), &from_end("LE"));
    different(&from_end("LT"), &from_end("NE"));
}
