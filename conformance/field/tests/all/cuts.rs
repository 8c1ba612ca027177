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
    assert!(matches!(found, Answer::Equal(evidence) if evidence.elements == 0));
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

/// Values that are related, or special, and of which what remains makes something.
#[test]
fn what_values_have_in_common_counts() {
    let of = |before: &str, root: &str| {
        format!(
            "x = f32[] parameter(0) y = f32[] parameter(1) k = s32[] parameter(2) {before} {root}"
        )
    };
    let predicates = "c0 = f32[] constant(0) c1 = f32[] constant(1) c2 = f32[] constant(2) c3 = f32[] constant(3)
        p0 = pred[] compare(x, c0), direction=GT p1 = pred[] compare(x, c1), direction=GT
        p2 = pred[] compare(x, c2), direction=GT p3 = pred[] compare(x, c3), direction=GT";
    let chain =
        "a = pred[] and(p0, p1) b = pred[] and(p2, p3) c = pred[] and(a, b) z = f32[] negate(y)";
    let integers = "c = s32[] constant(3) d = s32[] constant(7919) w = s32[] multiply(k, c) v = s32[] add(w, d)";
    let rest = "e = s32[] multiply(k, c) f = s32[] subtract(v, e) g = s32[] subtract(f, d)";
    let infinite = "n = f32[] subtract(x, x) o = f32[] constant(-1) l = f32[] divide(o, n)";
    let signs = "e = f32[] exponential(x) n = f32[] negate(e)";
    let bump = "t = f32[] tanh(e) u = f32[] tanh(n) z = f32[] constant(0) a = f32[] maximum(t, z) b = f32[] minimum(u, z)
        c = f32[] maximum(b, z) d = f32[] minimum(a, z) s = f32[] multiply(a, b)";
    let zeros =
        "v = f32[] subtract(x, x) p = pred[] compare(y, y), direction=EQ o = f32[] constant(1)";
    for (before, first, second) in [
        (
            predicates,
            format!("{chain} ROOT r = f32[] select(c, y, z)"),
            format!("{chain} t = pred[] constant(false) ROOT r = f32[] select(t, y, z)"),
        ),
        (
            integers,
            format!("{rest} h = pred[] convert(g) ROOT r = f32[] select(h, y, x)"),
            format!("{rest} h = pred[] constant(true) ROOT r = f32[] select(h, y, x)"),
        ),
        (
            infinite,
            "f = pred[] is-finite(l) ROOT r = f32[] select(f, x, y)".to_owned(),
            "f = pred[] constant(true) ROOT r = f32[] select(f, x, y)".to_owned(),
        ),
        (
            signs,
            format!("{bump} ROOT r = f32[] multiply(s, y)"),
            format!("{bump} m = f32[] multiply(c, d) ROOT r = f32[] multiply(m, y)"),
        ),
        (
            zeros,
            "q = f32[] divide(v, v) s = f32[] select(p, q, o) ROOT r = f32[] multiply(s, y)"
                .to_owned(),
            "ROOT r = f32[] multiply(o, y)".to_owned(),
        ),
    ] {
        let [all, cut] = answers(&of(before, &first), &of(before, &second));
        assert!(matches!(all, Answer::Different(_)), "{all:?} {second}");
        assert!(!matches!(cut, Answer::Equal(_)), "{cut:?} {second}");
    }
}

/// A loop that talks to the host is no value that may be left out.
#[test]
fn effects_are_not_left_out() {
    let of = |condition: &str| {
        let text = format!(
            "HloModule m
            talk {{ a = f32[] parameter(0) t = token[] after-all() o = token[] outfeed(a, t), outfeed_shape=f32[] ROOT r = f32[] copy(a) }}
            rest {{ a = f32[] parameter(0) ROOT r = f32[] copy(a) }}
            ENTRY e {{ x = f32[] parameter(0) p = pred[] parameter(1) c = f32[] conditional(p, x, x), {condition} s = f32[] sine(x) ROOT r = f32[] add(s, s) }}"
        );
        hlo::Module::parse(&text).unwrap().verify().unwrap()
    };
    let loud = of("true_computation=talk, false_computation=rest");
    let quiet = of("true_computation=rest, false_computation=rest");
    assert!(cut([&loud, &quiet]).is_none());
    assert!(cut([&quiet, &loud]).is_none());
}
