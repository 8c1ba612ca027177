//! Counterparts of small modules, and what has changed of them.
use super::*;
use std::fmt::Write as _;

/// Returns what has changed, by the names of the second module, or of the first for what is removed.
fn found(before: &str, after: &str) -> Vec<(String, Difference)> {
    let [before, after] = [before, after].map(|body| {
        let text = format!("HloModule m\n{body}");
        Module::parse(&text).unwrap()
    });
    let name = |module: &Module, (computation, id): At| {
        module.computations[computation].name(id).to_string()
    };
    let all = counterparts(&before, &after).into_iter();
    let named = all.map(|one| match (one.after, one.before) {
        (Some(at), _) => (name(&after, at), one.difference),
        (None, at) => (name(&before, at.unwrap()), one.difference),
    });
    named.collect()
}

/// Returns only what has changed.
fn changed(before: &str, after: &str) -> Vec<(String, Difference)> {
    let all = found(before, after).into_iter();
    all.filter(|(_, difference)| *difference != Difference::None).collect()
}

fn of(found: &[(String, Difference)], name: &str) -> Difference {
    found.iter().find(|(one, _)| one == name).unwrap().1.clone()
}

fn in_entry(body: &str) -> String {
    format!("ENTRY e {{ x = f32[2] parameter(0) {body} }}")
}

#[test]
fn names_do_not_count() {
    let before = in_entry("y = f32[2] negate(x) ROOT r = f32[2] add(y, x)");
    let after = in_entry("a.1 = f32[2] negate(x) ROOT b.2 = f32[2] add(a.1, x)");
    assert_eq!(changed(&before, &after), []);
    let twice = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
        .to_owned()
        + &in_entry(
            "z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        );
    assert_eq!(changed(&twice, &twice.replace("add {", "sum {").replace("=add", "=sum")), []);
}

#[test]
fn an_instruction_changes_in_several_ways() {
    let before = in_entry("y = f32[2] negate(x) z = f32[2] tanh(y) ROOT r = f32[2] add(z, y)");
    for (after, what) in [
        ("y = f32[2] negate(x) z = f32[2] tanh(y) ROOT r = f32[2] subtract(z, y)", "opcode"),
        ("y = f32[2] negate(x) z = f32[2] tanh(y) ROOT r = f32[2] add(y, z)", "operands"),
    ] {
        let found = changed(&before, &in_entry(after));
        assert_eq!(found, [("r".to_owned(), Difference::Changed(vec![what]))]);
    }
    let slice = |range: &str| in_entry(&format!("ROOT r = f32[1] slice(x), slice={{[{range}]}}"));
    assert_eq!(
        changed(&slice("0:1"), &slice("1:2")),
        [("r".to_owned(), Difference::Changed(vec!["attributes"]))]
    );
    let constant = |value: &str| {
        in_entry(&format!("c = f32[2] constant({{{value}}}) ROOT r = f32[2] add(x, c)"))
    };
    assert_eq!(
        changed(&constant("1, 2"), &constant("1, 3")),
        [("c".to_owned(), Difference::Changed(vec!["value"]))]
    );
    let layout = |layout: &str| {
        format!(
            "ENTRY e {{ x = f32[2,3]{layout} parameter(0) ROOT r = f32[2,3]{layout} negate(x) }}"
        )
    };
    assert_eq!(changed(&layout(""), &layout("{1,0}")), []);
    let both = changed(&layout("{1,0}"), &layout("{0,1}"));
    assert_eq!(of(&both, "r"), Difference::Changed(vec!["layout"]));
    let wide = in_entry("y = f32[2] negate(x) ROOT r = f64[2] convert(y)");
    let narrow = in_entry("y = f32[2] negate(x) ROOT r = bf16[2] convert(y)");
    assert_eq!(of(&changed(&wide, &narrow), "r"), Difference::Changed(vec!["shape"]));
}

#[test]
fn a_fusion_moves_what_it_takes_in() {
    let before = in_entry("y = f32[2] negate(x) z = f32[2] tanh(y) ROOT r = f32[2] add(z, y)");
    let after = "f { p = f32[2] parameter(0) y.1 = f32[2] negate(p) ROOT z.1 = f32[2] tanh(y.1) }\n"
        .to_owned()
        + &in_entry(
            "y = f32[2] negate(x) fused = f32[2] fusion(x), kind=kLoop, calls=f ROOT r = f32[2] add(fused, y)",
        );
    let found = changed(&before, &after);
    assert_eq!(of(&found, "z.1"), Difference::Moved);
    assert_eq!(of(&found, "fused"), Difference::Added);
    assert_eq!(of(&found, "y.1"), Difference::Added);
    // The value that the result takes is the same.
    assert!(!found.iter().any(|(name, _)| name == "r"), "{found:?}");
    // The fusions of two modules are the same whatever their names are.
    let other =
        after.replace("f {", "fused_computation {").replace("calls=f", "calls=fused_computation");
    assert_eq!(
        changed(&after, &other.replace("fused =", "fusion.3 =").replace("(fused,", "(fusion.3,")),
        []
    );
}

#[test]
fn what_loops_call_is_matched() {
    let module = |body: &str| {
        format!(
            "body {{ p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0 v = f32[2] get-tuple-element(p), index=1 one = s32[] constant(1) j = s32[] add(i, one) {body} ROOT t = (s32[], f32[2]) tuple(j, w) }}
cond {{ p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(3) ROOT less = pred[] compare(i, n), direction=LT }}
ENTRY e {{ x = f32[2] parameter(0) zero = s32[] constant(0) start = (s32[], f32[2]) tuple(zero, x) ROOT loop = (s32[], f32[2]) while(start), condition=cond, body=body }}"
        )
    };
    let before = module("w = f32[2] multiply(v, v)");
    assert_eq!(changed(&before, &before), []);
    assert_eq!(
        changed(&before, &module("w = f32[2] add(v, v)")),
        [("w".to_owned(), Difference::Changed(vec!["opcode"])),]
    );
}

#[test]
fn copies_of_constants_are_no_changes() {
    let before = in_entry(
        "c = f32[] constant(2) b = f32[2] broadcast(c), dimensions={} y = f32[2] add(x, b) ROOT r = f32[2] multiply(y, b)",
    );
    let after = in_entry(
        "c = f32[] constant(2) b = f32[2] broadcast(c), dimensions={} c2 = f32[] constant(2) b2 = f32[2] broadcast(c2), dimensions={} y = f32[2] add(x, b) ROOT r = f32[2] multiply(y, b2)",
    );
    let kinds = changed(&before, &after);
    assert!(kinds.iter().all(|(_, difference)| *difference == Difference::Moved), "{kinds:?}");
    assert_eq!(changed(&after, &before), []);
}

#[test]
fn what_is_removed_stands_behind_what_was_before_it() {
    let before = in_entry("y = f32[2] negate(x) z = f32[2] copy(y) ROOT r = f32[2] tanh(z)");
    let after = in_entry("y = f32[2] negate(x) ROOT r = f32[2] tanh(y)");
    let names: Vec<String> = found(&before, &after).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["x", "y", "z", "r"]);
}

#[test]
fn many_calls_inside_of_each_other_are_matched_once() {
    // Each computation calls the one before it twice: a walk through all calls would not end.
    let mut text = "f0 { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }\n".to_owned();
    for i in 1..200 {
        let last = i - 1;
        let _ = writeln!(
            text,
            "f{i} {{ p = f32[2] parameter(0) a = f32[2] call(p), to_apply=f{last} ROOT b = f32[2] call(a), to_apply=f{last} }}"
        );
    }
    let text = text + &in_entry("ROOT r = f32[2] call(x), to_apply=f199");
    assert_eq!(crate::on_large_stack(|| changed(&text, &text)), []);
}
