//! Constants that a compiler folds, rounds or computes.
use super::{as_a_whole, module};
use field::{Answer, equal};

/// Compares two functions of an array of six floats.
fn answer(first: &str, second: &str) -> Answer {
    let of = |root: &str| module(&format!("x = f32[6] parameter(0) {root}"));
    equal(&of(first), &of(second), &as_a_whole()).unwrap()
}

/// Returns the text of an array of constants.
fn constant(name: &str, value: &str) -> String {
    format!(
        "{name}0 = f32[] constant({value}) {name} = f32[6] broadcast({name}0), dimensions={{}} "
    )
}

#[test]
fn folded_constants_are_the_same_number() {
    let [a, b, d] = [("a", "1.6180339"), ("b", "0.5772157"), ("d", "2.7182817")]
        .map(|(name, value)| constant(name, value));
    let all = format!("{a}{b}{d}");
    for (chain, folded, op) in [
        // 1.6180339 + 0.5772157 and the others, rounded once or twice.
        ("p = f32[6] add(x, a) ROOT r = f32[6] add(p, b)", "2.1952496", "add"),
        ("p = f32[6] add(x, a) ROOT r = f32[6] subtract(p, b)", "1.0408182", "add"),
        (
            "p = f32[6] multiply(x, a) q = f32[6] multiply(p, d) ROOT r = f32[6] multiply(q, b)",
            "2.5387516",
            "multiply",
        ),
    ] {
        let second = format!("{} ROOT r = f32[6] {op}(x, c)", constant("c", folded));
        let found = answer(&format!("{all}{chain}"), &second);
        assert!(matches!(found, Answer::Equal(_)), "{chain}\n{found:?}");
    }
    // (x + a) * d + b = x * d + (a * d + b).
    let first =
        format!("{all} p = f32[6] add(x, a) q = f32[6] multiply(p, d) ROOT r = f32[6] add(q, b)");
    let second = format!(
        "{d}{} q = f32[6] multiply(x, d) ROOT r = f32[6] add(q, c)",
        constant("c", "4.97548771")
    );
    let found = answer(&first, &second);
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    let near = second.replace("4.97548771", "4.97558771");
    let found = answer(&first, &near);
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

#[test]
fn multiples_of_pi_are_known() {
    for (factor, op, product) in [
        ("2", "multiply", "6.28318548"),
        ("3", "divide", "1.04719758"),
        ("180", "divide", "0.0174532924"),
        ("100", "multiply", "314.159271"),
    ] {
        let first = format!(
            "{}{} p = f32[6] multiply(x, a) ROOT r = f32[6] {op}(p, b)",
            constant("a", "3.14159274"),
            constant("b", factor)
        );
        let second = format!("{} ROOT r = f32[6] multiply(x, a)", constant("a", product));
        let found = answer(&first, &second);
        assert!(matches!(found, Answer::Equal(_)), "{factor} {found:?}");
    }
    // The sine of the float next to pi is no zero.
    let shifted =
        format!("{} s = f32[6] add(x, a) ROOT r = f32[6] sine(s)", constant("a", "3.14159274"));
    let found = answer(&shifted, "s = f32[6] sine(x) ROOT r = f32[6] negate(s)");
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
}

/// Numbers that bf16 lacks, in an array that no compiler folds.
#[test]
fn a_large_iota_is_rounded() {
    let of = |root: &str| module(&format!("x = bf16[4] parameter(0) {root}"));
    let sum = "s = bf16[4] slice(i), slice={[4501:4505]} ROOT r = bf16[4] add(x, s)";
    let narrow = of(&format!("i = bf16[5000] iota(), iota_dimension=0 {sum}"));
    let converted =
        of(&format!("j = s32[5000] iota(), iota_dimension=0 i = bf16[5000] convert(j) {sum}"));
    let folded = of("s = bf16[4] constant({4512, 4512, 4512, 4512}) ROOT r = bf16[4] add(x, s)");
    for other in [converted, folded] {
        let found = equal(&narrow, &other, &as_a_whole()).unwrap();
        assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    }
}
