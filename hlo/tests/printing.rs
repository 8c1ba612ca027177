//! Any text in a name, a key or a value of a module: it is printed so that the same module is read,
//! or refused.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
use hlo::ir::{FrontendAttributes, HeaderAttr, ModuleConfig, ParseOptions, RawAttr, Statistics};
use hlo::proto::{decode, encode};
use hlo::text::Style;
use hlo::{Module, Shape};
use proptest::prelude::*;

const TEXT: &str = "HloModule m, frontend_attributes={k=\"v\"}\n\
    inner { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }, execution_thread=\"t\"\n\
    ENTRY e { p = f32[2] parameter(0), origin={{\"o\" {0}}}\n\
      c = f32[2] custom-call(p), custom_call_target=\"target\", metadata={op_name=\"name\" scheduling_name=\"s\"}, backend_config=\"config\"\n\
      s = ((f32[2]), f32[2], s32[]) async-start(c), async_execution_thread=\"t\", calls=inner\n\
      ROOT d = f32[2] async-done(s) }";

/// Fails unless the module is refused, or prints as a text that is read as the same module.
fn check(module: &Module) {
    if module.check_printable().is_err() {
        assert!(module.clone().verify().is_err());
        return;
    }
    for style in [Style::Full, Style::Short] {
        let text = module.print(style);
        let again = Module::parse_with(&text, ParseOptions { lenient: true });
        let again = again.unwrap_or_else(|errors| panic!("{errors}\n{text}")).module;
        assert_eq!(again.print(style), text);
        if style == Style::Full {
            // A text states the layout of the entry.
            let config =
                |module: &Module| ModuleConfig { entry_layout: None, ..module.config.clone() };
            assert_eq!(config(&again), config(module), "{text}");
            let common = |module: &Module| {
                let entry = module.entry();
                let all = entry.instructions.iter().map(|(_, i)| i.common.clone());
                all.collect::<Vec<_>>()
            };
            assert_eq!(common(&again), common(module), "{text}");
        }
    }
}

/// Returns a module with the text in this place.
fn module(place: usize, text: &str) -> Module {
    let mut module = Module::parse(TEXT).unwrap();
    let entry = module.entry;
    let computation = &mut module.computations[entry];
    let id = computation.instructions.ids().nth(1).unwrap();
    let common = computation.instructions[id].common.get_or_insert_default();
    let pair = || {
        let mut pairs = vec![(text.into(), "v".into()), ("~".into(), text.into())];
        pairs.sort();
        FrontendAttributes(pairs)
    };
    let raw = |name: &str, value: &str| RawAttr { name: name.into(), value: value.into() };
    match place {
        0 => module.name = text.into(),
        1 => computation.name = text.into(),
        2 => common.frontend_attributes = Some(pair()),
        3 => module.config.frontend_attributes = Some(pair()),
        4 => {
            let values = vec![(text.into(), 1.5)];
            common.statistics = Some(Statistics { visualizing_index: 0, values });
        }
        5 => common.unknown = vec![raw(text, "1")],
        6 => common.unknown = vec![raw("unknown", text)],
        7 => {
            let (name, value) = ("unknown".into(), text.into());
            module.config.unknown = vec![HeaderAttr { name, value }];
        }
        8 => module.config.debug_attributes = Some(text.into()),
        9 => module.config.origin_recovery_table = Some(text.into()),
        // An empty one is none.
        10 if text.is_empty() => common.backend_config = None,
        10 => common.backend_config.as_mut().unwrap().0 = text.into(),
        11 => common.metadata.as_mut().unwrap().scheduling_name = text.into(),
        12 => computation.execution_thread = text.into(),
        _ => unreachable!(),
    }
    module
}
const PLACES: usize = 13;

/// Texts that end what they are in, and any others.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "",
        "a",
        "ROOT",
        "ENTRY",
        "FileNames",
        "f32",
        "__a",
        "true",
        "a b",
        "a=",
        "a,b",
        "}",
        "{",
        "\"",
        "'",
        "\\",
        "`",
        "\n",
        "\0",
        "\u{7f}",
        "é",
        "\u{10ffab}",
        "\u{feff}",
        "1",
        "-",
        "a}, metadata={op_name=\"x\"",
        "{a={}}",
        "{\0}",
        "// x",
        "/* x",
        "metadata",
        "{ROOT x = f32[] y()}",
        "{\"a\": \"}\"}",
        "  {\"a\"} : {\"b\"}\n",
    ];
    prop_oneof![
        prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        prop::collection::vec(prop::sample::select(words.to_vec()), 2..4).prop_map(|w| w.concat()),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn texts_stay_in_their_place(place in 0..PLACES, text in text()) {
        // A key that is stored twice is no dictionary.
        prop_assume!(text != "~");
        let module = module(place, &text);
        check(&module);
        if let Ok(module) = encode(&module).and_then(|bytes| decode(&bytes)) {
            module.check_printable().unwrap();
            check(&module);
        }
    }
    #[test]
    fn names_and_targets_of_messages(text in text()) {
        // The names and strings of a message are bytes behind their length.
        let bytes = encode(&Module::parse(TEXT).unwrap()).unwrap();
        for old in ["target", "config", "inner", "name"] {
            let Some(at) = bytes.windows(old.len()).position(|part| part == old.as_bytes()) else { continue };
            let filled = text.bytes().chain(b"abcdef".iter().copied()).take(old.len());
            let mut bytes = bytes.clone();
            bytes.splice(at..at + old.len(), filled);
            if let Ok(module) = decode(&bytes) {
                check(&module);
            }
        }
    }
}

#[test]
fn shapes_of_any_rank_are_printed_or_refused() {
    let nested = |rank: usize, tuples: usize| {
        let dims = vec!["1"; rank].join(",");
        let (open, close) = ("(".repeat(tuples), ")".repeat(tuples));
        let (left, right) = ("{".repeat(rank), "}".repeat(rank));
        let shape = format!("{open}f32[{dims}]{close}");
        let constant = format!(
            "HloModule m\nENTRY e {{ ROOT c = {shape} constant({open}{left}1{right}{close}) }}"
        );
        (shape, constant)
    };
    for (rank, tuples) in [(1, 1), (Shape::NESTING_LIMIT, 0), (60, 30), (0, Shape::NESTING_LIMIT)] {
        let (_, text) = nested(rank, tuples);
        let module = Module::parse(&text).unwrap();
        check(&module);
        let module = decode(&encode(&module).unwrap()).unwrap();
        check(&module);
        assert!(module.verify().is_ok());
    }
    for (rank, tuples) in [(Shape::NESTING_LIMIT + 1, 0), (60, 31), (150, 0), (190, 0), (0, 120)] {
        let (shape, text) = nested(rank, tuples);
        assert_eq!(Module::parse(&text).unwrap_err().0[0].number(), "E0116");
        let parameter = format!("HloModule m\nENTRY e {{ ROOT p = {shape} parameter(0) }}");
        assert_eq!(Module::parse(&parameter).unwrap_err().0[0].number(), "E0116");
    }
}
