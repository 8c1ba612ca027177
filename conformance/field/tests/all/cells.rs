//! Functions that differ where an argument as a whole is a constant, or between two, or where
//! several scalars are.
use super::{as_a_whole, module};
use field::{Answer, equal};

fn are_different(first: &str, second: &str) {
    let found = equal(&module(first), &module(second), &as_a_whole()).unwrap();
    assert!(matches!(found, Answer::Different(_)), "{first}\n{second}\n{found:?}");
}

/// An array that is changed if a condition holds for all elements.
fn if_all(ty: &str, size: usize, constants: [&str; 2], condition: &str) {
    let [low, high] = constants;
    let head = format!("x = {ty}[{size}] parameter(0) t = pred[] constant(true)");
    let one = if ty == "c64" { "(1, 0)" } else { "1" };
    let part = if ty == "c64" { "f32" } else { ty };
    let condition = condition
        .replace("PRED", &format!("pred[{size}]"))
        .replace("PART", &format!("{part}[{size}]"));
    let other = format!(
        "{head} low = {part}[] constant({low}) lows = {part}[{size}] broadcast(low), dimensions={{}}
         high = {part}[] constant({high}) highs = {part}[{size}] broadcast(high), dimensions={{}} {condition}
         all = pred[] reduce(p, t), dimensions={{0}}, to_apply=and each = pred[{size}] broadcast(all), dimensions={{}}
         one = {ty}[] constant({one}) ones = {ty}[{size}] broadcast(one), dimensions={{}} y = {ty}[{size}] add(x, ones)
         ROOT r = {ty}[{size}] select(each, y, x)"
    );
    are_different(&other, &format!("{head} ROOT r = {ty}[{size}] copy(x)"));
}

#[test]
fn an_array_as_a_whole_meets_a_condition() {
    let between = "a = PRED compare(x, lows), direction=GT b = PRED compare(x, highs), direction=LT p = PRED and(a, b)";
    for ty in ["f32", "f64", "bf16", "f16"] {
        for size in [8, 64] {
            if_all(ty, size, ["2.5", "3"], between);
            if_all(ty, size, ["0", "0"], "p = PRED compare(x, lows), direction=EQ");
            if_all(ty, size, ["3", "3"], "p = PRED compare(x, lows), direction=EQ");
            if_all(ty, size, ["-3", "-3"], "p = PRED compare(x, lows), direction=LT");
            let tiny = "s = PART abs(x) p = PRED compare(s, lows), direction=LT";
            if_all(ty, size, ["0.01", "0"], tiny);
        }
    }
}

#[test]
fn complex_numbers_as_a_whole_meet_a_condition() {
    for part in ["real", "imag"] {
        for direction in ["EQ", "LT", "GT"] {
            let condition =
                format!("i = PART {part}(x) p = PRED compare(i, lows), direction={direction}");
            if_all("c64", 16, ["0", "0"], &condition);
        }
    }
}

#[test]
fn a_sum_of_squares_is_below_a_constant() {
    for limit in ["0.5", "0.01", "1000"] {
        let head = "x = f32[64] parameter(0)";
        let other = format!(
            "{head} z = f32[] constant(0) q = f32[64] multiply(x, x) s = f32[] reduce(q, z), dimensions={{0}}, to_apply=add
             l = f32[] constant({limit}) p = pred[] compare(s, l), direction=LT each = pred[64] broadcast(p), dimensions={{}}
             n = f32[64] negate(x) ROOT r = f32[64] select(each, n, x)"
        );
        are_different(&other, &format!("{head} ROOT r = f32[64] copy(x)"));
    }
}

#[test]
fn scalars_are_at_one_point_or_in_one_box() {
    for ty in ["f32", "s32"] {
        let head = format!("x = {ty}[] parameter(0) y = {ty}[] parameter(1)");
        let point = format!(
            "{head} a = {ty}[] constant(5) b = {ty}[] constant(7) p = pred[] compare(x, a), direction=EQ q = pred[] compare(y, b), direction=EQ
             c = pred[] and(p, q) z = {ty}[] constant(0) ROOT r = {ty}[] select(c, z, x)"
        );
        are_different(&point, &format!("{head} ROOT r = {ty}[] copy(x)"));
    }
    let head = "x = f32[] parameter(0) y = f32[] parameter(1)";
    let inside = |name: &str, low: &str, high: &str| {
        format!(
            "{name}l = f32[] constant({low}) {name}h = f32[] constant({high}) {name}p = pred[] compare({name}, {name}l), direction=GT
             {name}q = pred[] compare({name}, {name}h), direction=LT {name}i = pred[] and({name}p, {name}q)"
        )
    };
    let (of_x, of_y) = (inside("x", "5", "5.5"), inside("y", "7", "7.25"));
    let other = format!(
        "{head} {of_x} {of_y} c = pred[] and(xi, yi) z = f32[] constant(0) ROOT r = f32[] select(c, z, x)"
    );
    are_different(&other, &format!("{head} ROOT r = f32[] copy(x)"));
}

#[test]
fn integers_are_at_the_ends_of_their_type() {
    let head = "x = s32[] parameter(0) z = s32[] constant(0)";
    are_different(
        &format!("{head} ROOT r = s32[] abs(x)"),
        &format!("{head} n = s32[] negate(x) m = s32[] maximum(x, n) ROOT r = s32[] maximum(m, z)"),
    );
    are_different(
        &format!("{head} n = s32[] negate(x) ROOT r = pred[] compare(n, z), direction=LT"),
        &format!("{head} ROOT r = pred[] compare(x, z), direction=GT"),
    );
    let head = "x = u8[] parameter(0) z = u8[] constant(1)";
    are_different(
        &format!("{head} n = u8[] add(x, z) ROOT r = pred[] compare(n, x), direction=GT"),
        &format!("{head} ROOT r = pred[] constant(true)"),
    );
}
