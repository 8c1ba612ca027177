//! Reading of text: forms of ops, places of errors, damaged input.
use hlo::diag::{Source, render};
use rustc_hash::FxHashMap;
use stablehlo::ir::{Attribute, Location, Op, Program, Region, Type, ValueId};
use stablehlo::{Error, read};

fn program(text: &str) -> Program {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{}", shown(&error, text)))
}
fn error(text: &str) -> Error {
    read(text.as_bytes()).expect_err("the text should not be read")
}
fn shown(error: &Error, text: &str) -> String {
    render(&error.diagnostic(), Some(Source { name: "t.mlir", text }), false)
}

/// Numbers the values that an op defines from a number that no other value has, and removes places.
fn relative(op: &Op) -> Op {
    fn define(id: &mut ValueId, numbers: &mut FxHashMap<ValueId, ValueId>) {
        let number = ValueId(1_000_000 + u32::try_from(numbers.len()).expect("few values"));
        numbers.insert(*id, number);
        *id = number;
    }
    fn visit(op: &mut Op, numbers: &mut FxHashMap<ValueId, ValueId>) {
        (op.location, op.span) = (None, None);
        op.operands.iter_mut().for_each(|id| *id = *numbers.get(id).unwrap_or(id));
        for region in &mut op.regions {
            region.arguments.iter_mut().for_each(|value| define(&mut value.id, numbers));
            region.ops.iter_mut().for_each(|op| visit(op, numbers));
        }
        op.results.iter_mut().for_each(|value| define(&mut value.id, numbers));
    }
    let mut op = op.clone();
    visit(&mut op, &mut FxHashMap::default());
    op
}

#[test]
fn pretty_and_generic_forms_are_the_same() {
    let forms = program(include_str!("forms.mlir"));
    assert_eq!(forms.name.as_deref(), Some("forms"));
    let (main, top) = forms.ops.split_last().unwrap();
    let body = &main.regions[0].ops;
    for pair in top.chunks(2).chain(body[..body.len() - 1].chunks(2)) {
        assert_eq!(relative(&pair[0]), relative(&pair[1]));
    }
}

#[test]
fn ops_without_a_pretty_form() {
    let generic = program(include_str!("generic.mlir"));
    let ops = &generic.ops[0].regions[0].ops;
    let regions = |name: &str| ops.iter().find(|op| op.name == name).map(|op| op.regions.len());
    assert_eq!(regions("stablehlo.sort"), Some(1));
    assert_eq!(regions("stablehlo.select_and_scatter"), Some(2));
    assert_eq!(regions("stablehlo.gather"), Some(0));
    assert_eq!(ops.len(), 30);
}

#[test]
fn locations() {
    let text = "\
#loc1 = loc(\"a.py\":3:4)
module {
  func.func @main(%x: tensor<f32> loc(\"x\")) -> tensor<f32> {
    %0 = stablehlo.negate %x : tensor<f32> loc(#loc4)
    %1 = stablehlo.negate %0 : tensor<f32> loc(callsite(#loc1 at \"b.py\":1:2 to :9))
    %2 = stablehlo.negate %1 : tensor<f32> loc(fused<\"note\">[unknown, #loc1])
    return %2 : tensor<f32> loc(unknown)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc4 = loc(\"jit(f)/neg\"(#loc1))
";
    let program = program(text);
    let ops = &program.ops[0].regions[0].ops;
    let place = |index: usize| {
        let id = ops[index].location?;
        program.locations.get(usize::try_from(id.0).unwrap())
    };
    let file = |id: &stablehlo::ir::LocationId| &program.locations[usize::try_from(id.0).unwrap()];
    let Some(Location::Name(name, Some(inner))) = place(0) else { panic!("{:?}", place(0)) };
    assert_eq!(name, "jit(f)/neg");
    assert_eq!(*file(inner), Location::File { file: "a.py".into(), line: 3, column: 4 });
    let Some(Location::Call(callee, caller)) = place(1) else { panic!("{:?}", place(1)) };
    assert_eq!(file(callee), file(inner));
    assert_eq!(*file(caller), Location::File { file: "b.py".into(), line: 1, column: 2 });
    let Some(Location::Fused(parts)) = place(2) else { panic!("{:?}", place(2)) };
    assert_eq!(parts.len(), 1);
    assert_eq!(place(3), None);
}

/// A test of a program of JAX has a hundred frames and more.
#[test]
fn locations_may_have_many_callers() {
    use std::fmt::Write as _;
    let mut text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32> loc(#loc1000)
  return %0 : tensor<f32>
}
#loc0 = loc(\"a.py\":1:1)
"
    .to_owned();
    for frame in 1..=1000 {
        let _ = writeln!(text, "#loc{frame} = loc(callsite(#loc0 at #loc{}))", frame - 1);
    }
    let program = program(&text);
    let id = program.ops[0].regions[0].ops[0].location.unwrap();
    let place = &program.locations[usize::try_from(id.0).unwrap()];
    assert!(matches!(place, Location::Call(..)), "{place:?}");
}

fn constant(literal: &str) -> Result<stablehlo::ir::Dense, Error> {
    let text = format!("func.func @main() {{\n  %0 = stablehlo.constant {literal}\n  return\n}}");
    let program = read(text.as_bytes())?;
    match program.ops[0].regions[0].ops[0].attributes.get("value") {
        Some(Attribute::Dense(dense)) => Ok(dense.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn constants() {
    let bytes = |literal: &str| {
        let dense = constant(literal).unwrap();
        (dense.bytes, dense.splat)
    };
    assert_eq!(bytes("dense<[1, -2]> : tensor<2xi8>"), (vec![1, 0xfe], false));
    assert_eq!(bytes("dense<[[1, 1], [1, 1]]> : tensor<2x2xi8>"), (vec![1], true));
    assert_eq!(bytes("dense<0> : tensor<100000000x1000000xi8>"), (vec![0], true));
    assert_eq!(bytes("dense<0xFF> : tensor<ui8>"), (vec![0xff], false));
    assert_eq!(bytes("dense<255> : tensor<i8>"), (vec![0xff], false));
    assert_eq!(bytes("dense<[7, -8, 15]> : tensor<3xi4>"), (vec![7, 0xf8, 0xff], false));
    assert_eq!(bytes("dense<\"0x0708\"> : tensor<2xi4>"), (vec![7, 0xf8], false));
    assert_eq!(bytes("dense<[true, false]> : tensor<2xi1>"), (vec![1, 0], false));
    assert_eq!(bytes("dense<\"0xFF\"> : tensor<9xi1>"), (vec![1], true));
    assert_eq!(bytes("dense<\"0x0301\"> : tensor<9xi1>"), (vec![1, 1, 0, 0, 0, 0, 0, 0, 1], false));
    assert_eq!(bytes("dense<0x7FC0> : tensor<bf16>"), (vec![0xc0, 0x7f], false));
    assert_eq!(bytes("dense<1.0e0> : tensor<f16>"), (vec![0, 0x3c], false));
    assert_eq!(
        bytes("dense<(1.0, -1.0)> : tensor<complex<f32>>"),
        (vec![0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xbf], false)
    );
    assert_eq!(bytes("dense<> : tensor<0x3xf32>"), (vec![], false));
    assert_eq!(bytes("dense<[[], []]> : tensor<2x0xf32>"), (vec![], false));
    assert_eq!(bytes("dense<1.5> : tensor<0xf32>"), (vec![], false));
}

#[test]
fn constants_that_do_not_fit() {
    for literal in [
        "dense<[1, 2]> : tensor<3xi8>",
        "dense<[[1], [2, 3]]> : tensor<2x1xi8>",
        "dense<[1, [2]]> : tensor<2xi8>",
        "dense<[[1], 2]> : tensor<2x1xi8>",
        "dense<256> : tensor<i8>",
        "dense<-1> : tensor<ui8>",
        "dense<2> : tensor<i1>",
        "dense<1> : tensor<f32>",
        "dense<1.0> : tensor<i32>",
        "dense<1.0> : tensor<complex<f32>>",
        "dense<(1.0, 2.0)> : tensor<f32>",
        "dense<0x1FFFF> : tensor<bf16>",
        "dense<\"0x000\"> : tensor<2xi8>",
        "dense<\"0x0000\"> : tensor<3xi8>",
        "dense<\"text\"> : tensor<3xi8>",
        "dense<1> : tensor<?xi8>",
    ] {
        assert_eq!(constant(literal).unwrap_err().number(), "E0908", "{literal}");
    }
    let unsupported = constant("dense<1> : tensor<!quant.uniform<i8:f32, 1.0:1>>").unwrap_err();
    assert!(unsupported.to_string().contains("!quant.uniform<i8:f32, 1.0:1>"), "{unsupported}");
    assert_eq!(constant("dense_resource<blob> : tensor<4xi8>").unwrap_err().number(), "E0920");
}

/// Returns the function with this line in its body.
fn function(line: &str) -> String {
    format!("func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) {{\n  {line}\n  return\n}}")
}

#[test]
fn errors_have_a_place() {
    for (line, number, marked) in [
        ("%0 = stablehlo.add %x %x : tensor<2xf32>", "E0901", "%x"),
        ("%0 = stablehlo.add %x, %z : tensor<2xf32>", "E0903", "%z"),
        ("%0 = stablehlo.add %x, %x#1 : tensor<2xf32>", "E0903", "%x#1"),
        ("%x = stablehlo.add %x, %x : tensor<2xf32>", "E0904", "%x"),
        ("%0 = stablehlo.add %x, %y : tensor<2xf32>", "E0905", "%y"),
        ("%0:2 = stablehlo.add %x, %x : tensor<2xf32>", "E0905", "%0:2 = "),
        (
            "%0 = \"stablehlo.add\"(%x, %x) : (tensor<2xf32>) -> tensor<2xf32>",
            "E0905",
            "(tensor<2xf32>) -> tensor<2xf32>",
        ),
        ("%0 = stablehlo.ad %x, %x : tensor<2xf32>", "E0922", "stablehlo.ad"),
        ("%0 = stablehlo.sort %x : tensor<2xf32>", "E0906", "stablehlo.sort"),
        ("%0 = stablehlo.reduce_precision %x, format = e5 : tensor<2xf32>", "E0901", "e5"),
        (
            "%0 = stablehlo.iota dim = 99999999999999999999 : tensor<2xf32>",
            "E0907",
            "99999999999999999999",
        ),
        ("%0 = stablehlo.constant dense<[1, 2, x]> : tensor<3xi8>", "E0901", "x"),
        ("%0 = stablehlo.constant dense<[1, 300]> : tensor<2xi8>", "E0908", "300"),
        ("%0 = stablehlo.negate %x {a = \"b} : tensor<2xf32>", "E0902", "\""),
        ("%0 = stablehlo.negate %x {a = \"\\q\"} : tensor<2xf32>", "E0902", "\\"),
        ("%0 = stablehlo.negate %x {a = 1 : i32, a} : tensor<2xf32>", "E0904", "a"),
        ("%0 = stablehlo.negate %x {a = #b} : tensor<2xf32>", "E0903", "#b"),
        ("%0 = \"a.b\"(%x)[^bb1] : (tensor<2xf32>) -> tensor<2xf32>", "E0920", "["),
        (
            "%0 = stablehlo.iota dim = 0 : tensor<2xf32, #sparse_tensor.encoding<{}>>",
            "E0920",
            "#sparse_tensor.encoding<{}>",
        ),
        (
            "%0 = stablehlo.iota dim = 0 : tensor<2x?xf32, #stablehlo.bounds<3, 4>>",
            "E0907",
            "#stablehlo.bounds<3, 4>",
        ),
        (
            "%0 = stablehlo.iota dim = 0 : tensor<99999999999999999999xf32>",
            "E0907",
            "99999999999999999999",
        ),
    ] {
        let text = function(line);
        let error = error(&text);
        assert_eq!(error.number(), number, "{}", shown(&error, &text));
        let span = error.span().expect("a place");
        assert_eq!(&text[span.range()], marked, "{}", shown(&error, &text));
    }
}

#[test]
fn errors_are_drawn() {
    let text = function("%0 = stablehlo.add %x, %y : tensor<2xf32>");
    let drawn = shown(&error(&text), &text);
    assert!(
        drawn.contains("error[E0905]: `%y` has type `tensor<3xf32>`, not `tensor<2xf32>`"),
        "{drawn}"
    );
    assert!(drawn.contains("t.mlir:2:26"), "{drawn}");
    let text = function("%0 = stablehlo.ngate %x : tensor<2xf32>");
    assert!(shown(&error(&text), &text).contains("did you mean `stablehlo.negate`?"));
}

#[test]
fn programs_of_other_kinds() {
    assert_eq!(error("module {\n}\nmodule {\n}").number(), "E0920");
    assert_eq!(error("func.func @f() {\n^bb0:\n  return\n^bb1:\n  return\n}").number(), "E0920");
    assert_eq!(read(&[0xff, 0xfe]).unwrap_err().number(), "E0910");
    assert_eq!(error("#a = 1 : i32\n#a = 2 : i32").number(), "E0904");
    assert!(program("").ops.is_empty());
    assert!(program("{-#\n  dialect_resources: {}\n#-}").ops.is_empty());
}

#[test]
fn nesting_is_limited() {
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for text in [
        format!("module attributes {{a = {}}} {{}}", deep("[", "]")),
        format!("module attributes {{a = {}}} {{}}", deep("{b = ", "}")),
        format!("func.func @f(%x: {}) {{}}", deep("tuple<", ">")),
        format!("func.func @f(%x: {}) {{}}", deep("(", ")")),
        format!("module {{}} loc({})", deep("\"a\"(", ")")),
        "module {\n".repeat(100_000),
        "%0 = \"a.b\"() ({\n".repeat(100_000),
        format!(
            "func.func @f() {{ %0 = stablehlo.constant dense<{}> : tensor<1xi8> }}",
            deep("[", "]")
        ),
        "#a = [#a]\nmodule attributes {b = #a} {}".to_owned(),
        "!a = tuple<!a>\nfunc.func @f(%x: !a) {}".to_owned(),
    ] {
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error.number(), "E0909", "{}: {error}", &text[..40]);
    }
}

#[test]
fn aliases_that_stand_for_much_are_refused() {
    let mut text = String::from("#a0 = [1, 2]\n!t0 = tensor<2xf32>\n");
    for level in 1..60 {
        let inner = level - 1;
        text += &[
            format!("#a{level} = [#a{inner}, #a{inner}]\n"),
            format!("!t{level} = tuple<!t{inner}, !t{inner}>\n"),
        ]
        .concat();
    }
    assert_eq!(error(&format!("{text}module attributes {{a = #a59}} {{}}")).number(), "E0920");
    assert_eq!(error(&format!("{text}func.func @f(%x: !t59) {{}}")).number(), "E0920");
}

/// Every text is read or refused; `what` is run on all texts with a part missing, and with a part
/// doubled.
#[test]
fn damaged_text_is_refused() {
    let forms = include_str!("forms.mlir");
    let lines: Vec<&str> = forms.lines().collect();
    // A function of each few lines, so that a text is small.
    let header = &lines[lines.iter().position(|line| line.contains("@main")).unwrap()..][..5];
    for body in lines[header.len()..].chunks(4) {
        let text = format!("{}\n{}\n}}", header.join("\n"), body.join("\n"));
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)).step_by(3) {
            let _ = read(&text.as_bytes()[..end]);
        }
    }
}

#[test]
fn random_changes_of_text_do_no_harm() {
    let forms = include_str!("forms.mlir").as_bytes();
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(limit).unwrap()).unwrap()
    };
    let signs = b" ()[]{}<>:,=#%!@\"x?-.0/^~";
    for _ in 0..300 {
        let mut text = forms.to_vec();
        for _ in 0..3 {
            let at = random(text.len());
            match random(3) {
                0 => text[at] = signs[random(signs.len())],
                1 => drop(text.remove(at)),
                _ => text.insert(at, signs[random(signs.len())]),
            }
        }
        let _ = read(&text);
    }
}

#[test]
fn recognizes_programs() {
    for text in [
        "module @jit_f attributes {a = 1 : i32} {",
        "module attributes {a} {}",
        "module {\n}",
        "// a comment\nfunc.func @main() {",
        "\"builtin.module\"() ({",
        "#loc = loc(unknown)\nmodule {",
        "#map = affine_map<() -> ()>",
        "!t = tensor<f32>",
        "// -----\nHloModule",
        "builtin.module {",
        "sdy.mesh @m = <[]>",
    ] {
        assert!(stablehlo::is_mlir(text.as_bytes()), "{text}");
    }
    assert!(stablehlo::is_mlir(b"ML\xefR\x0d"));
    for text in [
        "HloModule m",
        "// ----------\n// A test\n// ----------\nHloModule m",
        "ENTRY main {",
        "module (p: f32[]) -> f32[] {",
        "%f (x: f32[]) -> f32[] {",
        "",
        "// module",
    ] {
        assert!(!stablehlo::is_mlir(text.as_bytes()), "{text}");
    }
}

#[test]
fn functions_keep_their_attributes() {
    let text = "func.func public @main(%x: tensor<f32> {jax.arg = \"a\"}, %y: tensor<f32>) -> (tensor<f32> {jax.info = 1 : i32}) \
                attributes {note = unit} {\n  return %x : tensor<f32>\n}\nfunc.func private @g(tensor<f32>) -> (f32)";
    let program = program(text);
    let main = &program.ops[0];
    assert_eq!(main.attributes.get("sym_visibility"), Some(&Attribute::String(b"public".to_vec())));
    assert_eq!(main.attributes.get("note"), Some(&Attribute::Unit));
    let Some(Attribute::Array(arguments)) = main.attributes.get("arg_attrs") else {
        panic!("{main:?}")
    };
    assert_eq!(arguments.len(), 2);
    assert_eq!(main.regions[0].ops[0].name, "func.return");
    let declared = &program.ops[1];
    assert_eq!(declared.regions, [Region::default()]);
    let Some(Attribute::Type(Type::Function(operands, _))) =
        declared.attributes.get("function_type")
    else {
        panic!("{declared:?}")
    };
    assert_eq!(operands.len(), 1);
}
