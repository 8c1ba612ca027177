//! `HloModuleProto`: files of all kinds, unknown fields, and messages that are not valid.
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]
use hlo::Module;
use hlo::ir::ParseOptions;
use hlo::proto::{decode, encode, is_message, open};
use hlo::text::Style;
use proptest::prelude::*;

const TEXT: &str = "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}}, replica_count=2, new_thing={1}

sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }

ENTRY e {
  p = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}, parameter_replication={true}
  k = s4[3]{0} constant({-1, 7, -8}), metadata={op_name=\"a/b\\377\" source_line=3}
  l = f32[2,2]{0,1} constant({{1, 2}, {3, 4}})
  z = f32[] constant(-0), control-predecessors={k}, backend_config={\"x\": [1]}
  t = (f32[2,3]{1,0}, f32[]) tuple(p, z), origin={({\"x\" {0}}, {\"y\"})}
  r = f32[2]{0} reduce(p, z), dimensions={1}, to_apply=sum
  ROOT o = f32[2,3]{1,0} all-reduce(p), replica_groups=[1,2]<=[2], to_apply=sum, frontend_attributes={a=\"1\"}
}
";

fn module() -> Module {
    Module::parse_with(TEXT, ParseOptions { lenient: true }).unwrap().module
}

/// A field with a length.
fn field(tag: u64, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    prost::encoding::encode_varint(tag << 3 | 2, &mut out);
    prost::encoding::encode_varint(bytes.len().try_into().unwrap(), &mut out);
    out.extend_from_slice(bytes);
    out
}
/// A field with a number.
fn number(tag: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    prost::encoding::encode_varint(tag << 3, &mut out);
    prost::encoding::encode_varint(value, &mut out);
    out
}
/// A message with the shape of a scalar of a type.
fn scalar(ty: u64) -> Vec<u8> {
    number(2, ty)
}
/// An instruction `name = f32[] parameter(0)` with this id.
fn parameter(name: &str, id: u64) -> Vec<u8> {
    [field(1, name.as_bytes()), field(2, b"parameter"), field(3, &scalar(11)), number(35, id)]
        .concat()
}
/// A module with one computation, whose id is 1.
fn one(instructions: &[Vec<u8>], root: u64) -> Vec<u8> {
    let instructions: Vec<u8> = instructions.iter().flat_map(|bytes| field(2, bytes)).collect();
    let computation = [field(1, b"e"), instructions, number(5, 1), number(6, root)].concat();
    [field(1, b"m"), number(6, 1), field(3, &computation)].concat()
}
fn rejected(bytes: &[u8]) -> String {
    let error = decode(bytes).unwrap_err();
    let code = error.code();
    format!("{} {} {code}", code.number(), error.instruction().unwrap_or("-"))
}

#[test]
fn nothing_of_the_text_is_lost() {
    let module = module();
    let again = decode(&encode(&module).unwrap()).unwrap();
    assert_eq!(again.print(Style::Full), module.print(Style::Full));
    assert_eq!(encode(&again).unwrap(), encode(&module).unwrap());
}

#[test]
fn unknown_fields_are_kept() {
    // `epsilon`, which only other opcodes have, and fields that no version of XLA has yet.
    let epsilon = [vec![0xC5, 0x01], 1.5f32.to_le_bytes().to_vec()].concat();
    let parameter =
        [parameter("p", 0), number(101, 7), field(102, b"new"), epsilon.clone()].concat();
    let computation = [field(1, b"e"), field(2, &parameter), number(5, 1), number(999, 3)].concat();
    let bytes =
        [field(1, b"m"), number(6, 1), field(3, &computation), field(77, b"later")].concat();
    let again = encode(&decode(&bytes).unwrap()).unwrap();
    let contains = |part: &[u8]| again.windows(part.len()).any(|window| window == part);
    for part in [field(77, b"later"), number(999, 3), number(101, 7), field(102, b"new"), epsilon] {
        assert!(contains(&part), "{part:?} is lost");
    }
    assert_eq!(encode(&decode(&again).unwrap()).unwrap(), again);
}

#[test]
fn messages_around_a_module_are_recognized() {
    let module = module();
    let bytes = encode(&module).unwrap();
    let value = [field(1, &scalar(11)), field(8, &2.5f32.to_le_bytes())].concat();
    let config = [number(4, 8), number(5, 3)].concat();
    // The aliases of a buffer assignment have the number of the instructions of a computation.
    let assignment = [field(1, &number(2, 4)), field(2, &number(1, 24))].concat();
    let with_buffers = [field(1, &bytes), field(3, &assignment)].concat();
    let cases = [
        ("HloModuleProto", bytes.clone(), 0),
        ("HloProto", [field(1, &bytes), field(3, b"")].concat(), 0),
        ("HloProto with aliases", with_buffers.clone(), 0),
        ("HloSnapshot", [field(1, &field(1, &bytes)), field(2, &value)].concat(), 1),
        ("HloSnapshot with aliases", [field(1, &with_buffers), field(2, &value)].concat(), 1),
        (
            "HloUnoptimizedSnapshot",
            [field(1, &bytes), field(2, &field(1, &value)), field(2, &field(1, &value))].concat(),
            2,
        ),
        ("HloModuleProtoWithConfig", [field(1, &bytes), field(2, &config)].concat(), 0),
    ];
    for (name, file, lists) in cases {
        assert!(is_message(&file), "{name}");
        let contents = open(&file).unwrap();
        assert_eq!(contents.arguments.len(), lists, "{name}");
        for list in &contents.arguments {
            assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>(), ["f32[] 2.5"]);
        }
        let replicas = if name == "HloModuleProtoWithConfig" { 8 } else { 2 };
        assert_eq!(contents.module.config.replica_count, replicas, "{name}");
        let root = contents.module.entry().span(contents.module.entry().root);
        assert!(contents.text[root.range()].starts_with("all-reduce("), "{name}");
    }
    for text in [TEXT, "\nHloModule m", "", "\n", "ENTRY e { ROOT p = f32[] parameter(0) }"] {
        assert!(!is_message(text.as_bytes()), "{text}");
    }
    assert_eq!(open(b"\0\0").unwrap_err().code().number(), "E0121");
}

#[test]
fn old_opcodes_and_payloads() {
    let compare = [
        field(1, b"c"),
        field(2, b"less-than"),
        field(3, &scalar(1)),
        number(35, 7),
        field(36, &[0, 0]),
        field(99, &number(2, 0)),
    ]
    .concat();
    let bytes = [one(&[parameter("p", 0), compare], 7), field(22, b"config")].concat();
    let text = decode(&bytes).unwrap().print(Style::Short);
    assert!(
        text.contains("ROOT c = pred[] compare(p, p), direction=LT, backend_config=\"config\""),
        "{text}"
    );
}

#[test]
fn what_is_rejected() {
    let p = || parameter("p", 0);
    let with = |parts: &[Vec<u8>]| {
        let instruction =
            [vec![field(1, b"n"), field(3, &scalar(11)), number(35, 7)], parts.to_vec()].concat();
        one(&[p(), instruction.concat()], 7)
    };
    let opcode = |name: &str| field(2, name.as_bytes());
    for (bytes, expected) in [
        (vec![], "E0121 - the module has no computations"),
        (vec![0x0A], "E0121 - HloModuleProto: "),
        (one(&[p()], 5), "E0121 e no instruction has the id 5 of the root"),
        (one(&[p(), p()], 0), "E0121 e/p it has the id 0 of `p`"),
        (
            [one(&[p()], 0), number(6, 9)].concat(),
            "E0121 - no computation has the id 9 of the entry computation",
        ),
        (with(&[opcode("negatt"), field(36, &[0])]), "E0103 e/n unknown opcode `negatt`"),
        (
            with(&[opcode("negate"), field(36, &[9])]),
            "E0121 e/n its operand 9 is not an earlier instruction",
        ),
        (
            with(&[opcode("negate"), field(36, &[7])]),
            "E0121 e/n its operand 7 is not an earlier instruction",
        ),
        (with(&[opcode("negate")]), "E0202 e/n `negate` expects 1 operand, found 0"),
        (
            with(&[opcode("call"), field(36, &[0]), field(38, &[9])]),
            "E0121 e/n it calls computation 9, which the module does not have",
        ),
        (
            with(&[opcode("call"), field(36, &[0])]),
            "E0121 e/n `called_computation_ids`: it calls too few computations",
        ),
        (
            with(&[opcode("rng"), number(23, 9)]),
            "E0121 e/n `distribution`: 9 is not a valid distribution",
        ),
        (
            with(&[
                opcode("constant"),
                field(8, &[field(1, &scalar(11)), field(8, &[0; 8])].concat()),
            ]),
            "E0121 e/n a literal of shape f32[] has 2 elements",
        ),
        (
            with(&[opcode("negate"), field(36, &[0]), field(99, &number(2, 3))]),
            "E0121 e/n the module has no payload 3",
        ),
        (
            with(&[
                opcode("negate"),
                field(36, &[0]),
                field(40, &[number(1, 3), field(3, &[2]), field(4, &[0, 1, 2])].concat()),
            ]),
            "E0107 e/n the tiling has 2 tiles, but 3 devices",
        ),
        (
            with(&[
                field(3, &[number(3, 4), field(5, &field(1, &[0, 1]))].concat()),
                opcode("negate"),
                field(36, &[0]),
            ]),
            "E0121 e/n `shape`: the layout orders 2 dimensions, the shape has 1",
        ),
    ] {
        let found = rejected(&bytes);
        assert!(found.starts_with(expected), "expected {expected}\n   found {found}");
    }
}

/// Shapes nested deeper than messages may be.
#[test]
fn nesting_is_bounded() {
    let mut shape = scalar(11);
    for _ in 0..100_000 {
        shape = [number(2, 13), field(4, &shape)].concat();
        if shape.len() > 1 << 16 {
            break;
        }
    }
    let instruction = [field(1, b"p"), field(2, b"parameter"), field(3, &shape)].concat();
    assert!(rejected(&one(&[instruction], 0)).contains("recursion limit"));
}

/// A literal of these fields in a constant.
fn constant(literal: &[u8], shape: &[u8]) -> Vec<u8> {
    let fields = [field(1, b"c"), field(2, b"constant"), field(3, shape), field(8, literal)];
    one(&[fields.concat()], 0)
}

/// A few bytes that declare a large literal allocate nothing.
#[test]
fn literals_are_no_larger_than_their_message() {
    let huge = [number(2, 11), number(3, 1 << 40), number(3, 1 << 20)].concat();
    let bytes = constant(&[field(1, &huge), field(8, &[0; 4])].concat(), &huge);
    let found = rejected(&bytes);
    assert!(found.starts_with("E0121 e/c a literal of shape f32["), "{found}");
    assert!(found.ends_with(" has 1 element"), "{found}");
    let pair = [number(2, 13), field(4, &scalar(11)), field(4, &scalar(11))].concat();
    let many = field(10, b"").repeat(1 << 20);
    let found = rejected(&constant(&[field(1, &pair), many].concat(), &pair));
    let expected = "E0121 e/c a literal of shape (f32[], f32[]) has 1048576 elements";
    assert_eq!(found, expected);
    // Each level is decoded by itself.
    let (mut shape, mut literal) = (scalar(11), field(1, &scalar(11)));
    for _ in 0..95 {
        shape = [number(2, 13), field(4, &shape)].concat();
        literal = [field(1, &shape), field(10, &literal)].concat();
    }
    assert!(rejected(&constant(&literal, &shape)).starts_with("E0121"));
}

/// Names and payloads are in the message once, and in the module and its text wherever they are
/// used.
#[test]
fn repeated_names_and_payloads_are_bounded() {
    let name = "n".repeat(1 << 20);
    let tuple = |uses: usize| {
        let shape = [number(2, 13), field(4, &scalar(11)).repeat(uses)].concat();
        let fields = [field(1, b"t"), field(2, b"tuple"), field(3, &shape), number(35, 7)];
        let tuple = [fields.concat(), field(36, &vec![0; uses])].concat();
        one(&[parameter(&name, 0), tuple], 7)
    };
    decode(&tuple(10)).unwrap();
    let expected = "E0121 e/t the names and payloads of the module, repeated wherever they are used, are too large for a message of this size";
    assert_eq!(rejected(&tuple(1000)), expected);
    let payload = field(22, &vec![b'x'; 1 << 20]);
    let configured = |count: u64| {
        let one_of = |id| [parameter("p", id), field(99, &number(2, 0))].concat();
        [one(&(0..count).map(one_of).collect::<Vec<_>>(), 0), payload.clone()].concat()
    };
    decode(&configured(10)).unwrap();
    assert!(rejected(&configured(1000)).contains("are too large for a message of this size"));
}

/// The paths of an original value, which are lists of numbers.
#[test]
fn paths_of_an_original_value_are_bounded() {
    for (depth, fits) in [(90, true), (91, false), (1_000_000, false)] {
        let leaf = [field(1, &vec![0; depth]), field(2, &field(1, b"x"))].concat();
        let bytes = one(&[[parameter("p", 0), field(88, &field(1, &leaf))].concat()], 0);
        match fits {
            true => drop(decode(&bytes).unwrap()),
            false => assert_eq!(
                rejected(&bytes),
                format!(
                    "E0121 e/p a leaf of an original value is {depth} tuples deep; the limit is 90"
                )
            ),
        }
    }
}

/// A literal has the shape of its instruction.
#[test]
fn literals_of_another_shape_are_rejected() {
    let module =
        Module::parse("HloModule m\nENTRY e { ROOT c = f32[2] constant({1, 2}) }").unwrap();
    let mut bytes = encode(&module).unwrap();
    // The first dimension of the file that is 2 is the instruction's.
    let shape = [number(2, 11), number(3, 2)].concat();
    let packed = [number(2, 11), field(3, &[2])].concat();
    let at = [shape, packed].iter().find_map(|shape| {
        bytes.windows(shape.len()).position(|window| window == shape).map(|at| at + shape.len() - 1)
    });
    bytes[at.unwrap()] = 3;
    let expected = "E0121 e/c its literal has the shape f32[2]{0}, the instruction f32[3]{0}";
    assert_eq!(rejected(&bytes), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    /// Damaged messages are rejected, or are modules that print and encode.
    #[test]
    fn damaged_messages_do_no_harm(changes in prop::collection::vec((any::<usize>(), any::<u8>(), 0..3u8), 1..8)) {
        let mut bytes = encode(&module()).unwrap();
        for (at, byte, kind) in changes {
            let at = at % bytes.len().max(1);
            match kind {
                _ if bytes.is_empty() => {}
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let _ = open(&bytes);
        if let Ok(module) = decode(&bytes) {
            let _ = module.print(Style::Full);
            let _ = encode(&module);
            let _ = module.verify();
        }
    }
}
