//! What both modules compute alike is an argument of both.
use super::{as_a_whole, module};
use field::{Answer, Options, cut, equal};
use hlo::text::Style;

fn answers(first: &str, second: &str) -> [Answer; 2] {
    let (first, second) = (module(first), module(second));
    [as_a_whole(), Options::default()].map(|options| equal(&first, &second, &options).unwrap())
}

/// What the field does not know, or what has too high a degree, may be left out.
#[test]
fn what_is_the_same_is_not_looked_at() {
    let powers: Vec<String> =
        (1..40).map(|i| format!("p{i} = f32[4] multiply(p{0}, p{0}) ", i - 1)).collect();
    let power = format!("p0 = f32[4] multiply(x, x) {}", powers.concat());
    for (before, y) in [
        ("y = s32[4,2] bitcast-convert(x2)", "s32[4,2]"),
        (&*format!("{power} y = f32[4] copy(p39)"), "f32[4]"),
    ] {
        let of = |root: &str| {
            format!("x = f32[4] parameter(0) x2 = f64[4] parameter(1) {before} {root}")
        };
        let one = of(&format!("ROOT r = {y} add(y, y)"));
        let two = of(&format!("c = {y} copy(y) n = {y} negate(c) ROOT r = {y} subtract(y, n)"));
        let [all, cut] = answers(&one, &two);
        assert!(matches!(all, Answer::Open(_)), "{all:?}");
        let Answer::Equal(evidence) = cut else { panic!("{cut:?}") };
        assert_eq!(evidence.shared, 1);
        let other = of(&format!("c = {y} copy(y) ROOT r = {y} subtract(y, c)"));
        let [all, cut] = answers(&one, &other);
        assert_eq!(all, cut);
    }
}

/// Of a result the parts that are the same in both, and parameters that no module needs, are left out,
/// and calls and fusions are what they call.
#[test]
fn parts_of_results_are_left_out() {
    let called = "f { a = f32[4] parameter(0) b = f32[4] parameter(1) s = f32[4] sine(a) ROOT r = f32[4] multiply(s, b) }";
    let of = |root: &str| {
        let text = format!(
            "HloModule m\n{called} ENTRY e {{ x = f32[4] parameter(0) y = f32[4] parameter(1) z = f32[9] parameter(2) {root} }}"
        );
        hlo::Module::parse(&text).unwrap().verify().unwrap()
    };
    let one = of(
        "s = f32[4] sine(x) p = f32[4] multiply(s, y) d = f32[4] add(p, p) ROOT t = (f32[4], f32[9], f32[4]) tuple(p, z, d)",
    );
    let two = of(
        "p = f32[4] fusion(x, y), kind=kLoop, calls=f k = f32[] constant(2) b = f32[4] broadcast(k), dimensions={} d = f32[4] multiply(p, b) ROOT t = (f32[4], f32[9], f32[4]) tuple(p, z, d)",
    );
    let found = cut([&one, &two]).unwrap();
    let shape = |i: usize| {
        let shape = found.modules[i].module().entry().program_shape();
        format!("{:#} {:#}", shape.parameters[0], shape.result)
    };
    assert_eq!([shape(0), shape(1)], ["f32[4] (f32[4])"; 2]);
    assert_eq!(found.modules[0].module().entry().program_shape().parameters.len(), 1);
    let found = equal(&one, &two, &Options::default()).unwrap();
    assert!(matches!(&found, Answer::Equal(evidence) if evidence.shared == 1), "{found:?}");
    // The same modules have nothing else to compare.
    let found = equal(&one, &one, &Options::default()).unwrap();
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
}

/// A bitcast of a copy with another layout has its elements in another order.
#[test]
fn layouts_of_bitcasts_are_kept() {
    let of = |root: &str| {
        let text = format!(
            "ENTRY e {{ x = f32[2,3]{{1,0}} parameter(0) t = f32[2,3]{{1,0}} tanh(x) {root} }}"
        );
        hlo::Module::parse(&text).unwrap().verify().unwrap()
    };
    let turned = of("c = f32[2,3]{0,1} copy(t) ROOT r = f32[6]{0} bitcast(c)");
    let plain = of("ROOT r = f32[6]{0} bitcast(t)");
    let found = equal(&turned, &plain, &Options::default()).unwrap();
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
    let other = of(
        "d = f32[2,3]{1,0} copy(t) c = f32[2,3]{0,1} copy(d) n = f32[2,3]{0,1} negate(c) m = f32[2,3]{0,1} negate(n) ROOT r = f32[6]{0} bitcast(m)",
    );
    let found = equal(&turned, &other, &Options::default()).unwrap();
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    for module in cut([&turned, &other]).unwrap().modules {
        assert!(!module.module().print(Style::Short).contains("tanh"));
    }
}

/// Random numbers of two instructions are no equal ones.
#[test]
fn random_numbers_are_no_shared_values() {
    let rng = |name: &str| format!("{name} = f32[4] rng(l, h), distribution=rng_uniform");
    let of = |root: &str| format!("l = f32[] parameter(0) h = f32[] parameter(1) {root}");
    let two = of(&format!("{} {} ROOT r = f32[4] subtract(a, b)", rng("a"), rng("b")));
    let one = of(&format!("{} ROOT r = f32[4] subtract(a, a)", rng("a")));
    let [all, cut] = answers(&two, &one);
    assert!(matches!(all, Answer::Open(_)), "{all:?}");
    assert_eq!(all, cut);
}

/// What holds for values that occur, but not for all, is compared as a whole.
#[test]
fn values_that_do_not_occur_accuse_nobody() {
    let of = |root: &str| format!("x = f32[4] parameter(0) y = f32[4] exponential(x) {root}");
    let found = answers(&of("ROOT r = f32[4] abs(y)"), &of("ROOT r = f32[4] copy(y)"));
    assert!(found.iter().all(|found| matches!(found, Answer::Equal(_))), "{found:?}");
}
