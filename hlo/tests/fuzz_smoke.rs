//! A short run of the fuzz targets in `fuzz/`: damaged texts are rejected or parsed without a
//! panic, and printing reaches a fixed point.
use hlo::Module;
use hlo::ir::ParseOptions;
use hlo::text::Style;
use proptest::prelude::*;

const SEEDS: [&str; 4] = [
    "HloModule m, is_scheduled=true\n\nr { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n\nENTRY e {\n  p = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}\n  z = f32[] constant(-0)\n  s = f32[2,2]{1,0} slice(p), slice={[0:2], [0:3:2]}, metadata={op_name=\"a/b\" source_line=3}\n  ROOT o = f32[3]{0} reduce(p, z), dimensions={0}, to_apply=r\n}\n",
    "HloModule w\nENTRY e { i = (s32[], f32[4,4]) parameter(0) ROOT w = (s32[], f32[4,4]) while(i), condition={ a = (s32[], f32[4,4]) parameter(0) b = s32[] get-tuple-element(a), index=0 c = s32[] constant(5) ROOT d = pred[] compare(b, c), direction=LT }, body={ a = (s32[], f32[4,4]) parameter(0) ROOT t = (s32[], f32[4,4]) copy(a) } }",
    "HloModule c\nENTRY e { x = bf16[1,8,8,3] parameter(0) k = bf16[3,3,3,4] parameter(1) ROOT c = bf16[1,8,8,4] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f }",
    "ENTRY e { t = token[] after-all() a = c64[2] constant({(1, nan), (-inf, 0x)}) ROOT g = s4[2]{0:T(128)E(4)} parameter(0), frontend_attributes={a={b: {}}}, backend_config={\"x\": [1]} }",
];

/// Parses a text and prints it until nothing changes.
fn read(text: &str) {
    for lenient in [false, true] {
        let Ok(parsed) = Module::parse_with(text, ParseOptions { lenient }) else { continue };
        for style in [Style::Default, Style::Short] {
            let printed = parsed.module.print(style);
            let again = Module::parse_with(&printed, ParseOptions { lenient });
            let again = again.unwrap_or_else(|e| panic!("{e}\n{text}\n{printed}"));
            assert_eq!(again.module.print(style), printed, "{text}");
        }
        let _ = parsed.module.print(Style::Canonical);
        let _ = parsed.module.verify();
    }
}

/// Changes a text: removes, inserts or repeats bytes, or truncates it.
#[derive(Debug, Clone)]
enum Change {
    Remove(usize, usize),
    Insert(usize, String),
    Double(usize, usize),
    Cut(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let word = prop_oneof![
        "[ -~]{1,6}",
        Just("{".to_owned()),
        Just("}, {".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("-1".to_owned()),
        Just("ROOT ".to_owned()),
        Just("f32[2]{0}".to_owned()),
    ];
    prop_oneof![
        (any::<usize>(), 1..12usize).prop_map(|(at, n)| Change::Remove(at, n)),
        (any::<usize>(), word).prop_map(|(at, word)| Change::Insert(at, word)),
        (any::<usize>(), 1..40usize).prop_map(|(at, n)| Change::Double(at, n)),
        any::<usize>().prop_map(Change::Cut),
    ]
}

fn apply(text: &mut String, change: &Change) {
    let place = |at: usize| at % (text.len() + 1);
    match change {
        Change::Remove(at, n) => {
            let at = place(*at);
            text.replace_range(at..(at + n).min(text.len()), "");
        }
        Change::Insert(at, word) => text.insert_str(place(*at), word),
        Change::Double(at, n) => {
            let at = place(*at);
            let part = text[at..(at + n).min(text.len())].to_owned();
            text.insert_str(at, &part);
        }
        Change::Cut(at) => text.truncate(place(*at)),
    }
}

#[test]
fn parameters_of_one_number_keep_their_order() {
    read(
        "HloModule m\nENTRY e { i = s32[] parameter(0) Ri = f32[] parameter(0) ROOT w = s32[] negate(i) }",
    );
    read(
        "HloModule m\nENTRY e { Ri = f32[] parameter(0) i = s32[] parameter(0) ROOT w = s32[] negate(i) }",
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_texts_are_read_or_refused(seed in 0..SEEDS.len(), changes in prop::collection::vec(change(), 0..5)) {
        let mut text = SEEDS[seed].to_owned();
        for change in &changes {
            apply(&mut text, change);
        }
        read(&text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Module::parse_bytes(&bytes, ParseOptions::default());
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for (open, close) in [("(", ")"), ("{", "}"), ("negate(", ")")] {
        let text = format!(
            "HloModule m\nENTRY e {{ p = f32[] parameter(0) ROOT r = f32[] negate({}p{}) }}",
            open.repeat(100_000),
            close.repeat(100_000)
        );
        assert!(Module::parse(&text).is_err());
    }
    let shape = format!(
        "ENTRY e {{ p = {}f32[]{} parameter(0) }}",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert!(Module::parse(&shape).is_err());
}
