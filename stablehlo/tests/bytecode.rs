//! Reading of bytecode: all versions, damaged files, files that stand for much more than they have.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
mod common;
#[path = "common/writer.rs"]
mod writer;

use stablehlo::ir::{Attribute, Fields, Program, Type};
use stablehlo::read;
use writer::{BUILTIN, OpToWrite, STABLEHLO, VHLO, Writer, varint, varints};

/// The program that [`sample`] writes.
const TEXT: &str = "module {
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.add %x, %x : tensor<2x3xf32>
    %z = stablehlo.reduce(%y init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %z : tensor<2xf32>
  }
}";

/// Writes a constant of this type.
fn dense(writer: &mut Writer, ty: usize, bytes: &[u8]) -> usize {
    let encoding = [varints(&[15, ty, bytes.len()]), bytes.to_vec()].concat();
    writer.attribute(VHLO, encoding)
}
/// Writes a function without arguments and results.
fn function(writer: &mut Writer, ty: usize, body: Vec<u8>) -> Vec<u8> {
    let (name, visibility) = (writer.text("main"), writer.text(""));
    let empty = writer.attribute(VHLO, varints(&[1, 0]));
    let ty = writer.attribute(VHLO, varints(&[17, ty]));
    let attributes = vec![
        ("arg_attrs", empty),
        ("function_type", ty),
        ("res_attrs", empty),
        ("sym_name", name),
        ("sym_visibility", visibility),
    ];
    let op = OpToWrite {
        name: "func_v1",
        attributes,
        regions: vec![body],
        isolated: true,
        ..OpToWrite::default()
    };
    writer.op(&op)
}
fn op(writer: &mut Writer, name: &str, operands: &[usize], results: &[usize]) -> Vec<u8> {
    let (operands, results) = (operands.to_vec(), results.to_vec());
    writer.op(&OpToWrite { name, results, operands, ..OpToWrite::default() })
}
fn module(mut writer: Writer, functions: &[Vec<u8>]) -> Vec<u8> {
    let body = writer.region(0, &[], functions);
    writer.file(body)
}
fn sample(version: usize) -> Vec<u8> {
    let mut writer = Writer::new(version);
    let f32 = writer.ty(&[4]);
    // A signed integer has its sign in the lowest bit.
    let matrix = writer.ty(&[20, 2, 4, 6, f32]);
    let (vector, scalar) = (writer.ty(&[20, 1, 4, f32]), writer.ty(&[20, 0, f32]));
    let i64 = writer.ty(&[14]);
    let one = writer.ty(&[20, 1, 2, i64]);
    let ty = writer.ty(&[8, 1, matrix, 1, vector]);
    let zero = dense(&mut writer, scalar, &[0; 4]);
    let dimensions = dense(&mut writer, one, &1i64.to_le_bytes());
    let attributes = vec![("value", zero)];
    let constant = OpToWrite {
        name: "constant_v1",
        attributes,
        results: vec![scalar],
        ..OpToWrite::default()
    };
    let constant = writer.op(&constant);
    let add = op(&mut writer, "add_v1", &[0, 0], &[matrix]);
    // The values of a region begin after all four of the function.
    let sum = op(&mut writer, "add_v1", &[4, 5], &[scalar]);
    let returned = op(&mut writer, "return_v1", &[6], &[]);
    let regions = vec![writer.region(3, &[scalar, scalar], &[sum, returned])];
    let attributes = vec![("dimensions", dimensions)];
    let reduce = OpToWrite {
        name: "reduce_v1",
        attributes,
        results: vec![vector],
        operands: vec![2, 1],
        regions,
        isolated: false,
    };
    let reduce = writer.op(&reduce);
    let returned = op(&mut writer, "return_v1", &[3], &[]);
    let body = writer.region(4, &[matrix], &[constant, add, reduce, returned]);
    let main = function(&mut writer, ty, body);
    module(writer, &[main])
}

#[test]
fn all_versions_are_the_same_program() {
    let canonical = |mut program: Program| {
        common::Canonical::default().program(&mut program);
        program
    };
    let expected = canonical(read(TEXT.as_bytes()).unwrap());
    for version in 0..=6 {
        let program =
            read(&sample(version)).unwrap_or_else(|error| panic!("version {version}: {error}"));
        let program = canonical(program);
        assert_eq!(common::difference(&program, &expected), None, "version {version}");
    }
    assert_eq!(read(&sample(7)).unwrap_err().number(), "E0912");
}

#[test]
fn damaged_files_are_refused() {
    for version in 0..=6 {
        let file = sample(version);
        for end in 4..file.len() {
            assert!(read(&file[..end]).is_err(), "version {version}, {end} bytes");
        }
        for at in 4..file.len() {
            for change in [1u8, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut file = file.clone();
                file[at] ^= change;
                let _ = read(&file);
            }
        }
    }
    let error = read(&sample(6)[..40]).unwrap_err();
    assert_eq!(error.number(), "E0911");
    assert!(error.to_string().contains("at byte"), "{error}");
}

#[test]
fn random_changes_do_no_harm() {
    let file = sample(6);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(limit).unwrap()).unwrap()
    };
    for _ in 0..20_000 {
        let mut file = file.clone();
        for _ in 0..3 {
            let at = 4 + random(file.len() - 4);
            file[at] = u8::try_from(random(256)).unwrap();
        }
        let _ = read(&file);
    }
}

/// Returns the number of the error of a module whose only function has an op with this attribute.
fn error_of(mut writer: Writer, value: usize) -> String {
    let f32 = writer.ty(&[4]);
    let ty = writer.ty(&[8, 0, 0]);
    let scalar = writer.ty(&[20, 0, f32]);
    let attributes = vec![("value", value)];
    let constant = OpToWrite {
        name: "constant_v1",
        attributes,
        results: vec![scalar],
        ..OpToWrite::default()
    };
    let constant = writer.op(&constant);
    let body = writer.region(1, &[], &[constant]);
    let main = function(&mut writer, ty, body);
    match read(&module(writer, &[main])) {
        Ok(_) => "none".to_owned(),
        Err(error) => {
            assert_eq!(error.span(), None);
            error.number().to_owned()
        }
    }
}

#[test]
fn attributes_that_stand_for_much_are_refused() {
    let mut writer = Writer::new(6);
    let mut value = writer.text("x");
    for _ in 0..60 {
        value = writer.attribute(VHLO, varints(&[1, 2, value, value]));
    }
    assert_eq!(error_of(writer, value), "E0920");
    // An array of itself: its number is that of the next attribute.
    let mut writer = Writer::new(6);
    let value = writer.attribute(VHLO, varints(&[1, 1, 0]));
    assert_eq!(error_of(writer, value), "E0909");
    let mut writer = Writer::new(6);
    let mut ty = writer.ty(&[4]);
    for _ in 0..60 {
        ty = writer.ty(&[23, 2, ty, ty]);
    }
    let value = writer.attribute(VHLO, varints(&[17, ty]));
    assert_eq!(error_of(writer, value), "E0920");
    let mut writer = Writer::new(6);
    let ty = writer.ty(&[23, 1, 0]);
    let value = writer.attribute(VHLO, varints(&[17, ty]));
    assert_eq!(error_of(writer, value), "E0909");
}

/// Each type is nested a level deeper than the one before, which is decoded already.
#[test]
fn values_are_not_nested_without_bound() {
    let mut writer = Writer::new(6);
    let mut types = vec![writer.ty(&[4])];
    for level in 0..10_000 {
        types.push(writer.ty(&[23, 1, types[level]]));
    }
    let all = [vec![8, 0, types.len()], types].concat();
    let all = writer.ty(&all);
    let value = writer.attribute(VHLO, varints(&[17, all]));
    assert_eq!(error_of(writer, value), "E0909");
    let mut writer = Writer::new(6);
    let mut values = vec![writer.text("x")];
    for level in 0..10_000 {
        values.push(writer.attribute(VHLO, varints(&[1, 1, values[level]])));
    }
    let all = [vec![1, values.len()], values].concat();
    let value = writer.attribute(VHLO, varints(&all));
    assert_eq!(error_of(writer, value), "E0909");
}

/// What a dialect does not encode is text.
#[test]
fn types_as_text() {
    let mut writer = Writer::new(6);
    let ty = writer.ty_of_text("f8E4M3FN");
    let value = writer.attribute(VHLO, varints(&[17, ty]));
    assert_eq!(error_of(writer, value), "none");
    let mut writer = Writer::new(6);
    let ty = writer.ty_of_text("f8E4M3FN junk");
    let value = writer.attribute(VHLO, varints(&[17, ty]));
    assert_eq!(error_of(writer, value), "E0911");
}

/// The tokens of ops of Shardy, in programs that are of VHLO otherwise.
#[test]
fn types_of_stablehlo() {
    for (code, expected) in [(0, "none"), (1, "E0920")] {
        let mut writer = Writer::new(6);
        let ty = writer.ty_of(STABLEHLO, &[code]);
        let value = writer.attribute(VHLO, varints(&[17, ty]));
        assert_eq!(error_of(writer, value), expected);
    }
}

#[test]
fn unknown_codes_are_of_newer_versions() {
    for (dialect, code) in [(VHLO, 99), (BUILTIN, 99)] {
        let mut writer = Writer::new(6);
        let value = writer.attribute(dialect, varint(code));
        assert_eq!(error_of(writer, value), "E0912");
    }
    let mut writer = Writer::new(6);
    let ty = writer.ty(&[99]);
    let value = writer.attribute(VHLO, varints(&[17, ty]));
    assert_eq!(error_of(writer, value), "E0912");
    let mut writer = Writer::new(6);
    let add = op(&mut writer, "add_v9", &[], &[]);
    assert_eq!(read(&module(writer, &[add])).unwrap_err().number(), "E0912");
}

#[test]
fn regions_are_not_nested_without_bound() {
    let mut writer = Writer::new(6);
    let mut body = Vec::new();
    for _ in 0..10_000 {
        let regions = vec![writer.region(0, &[], &body)];
        body = vec![writer.op(&OpToWrite { name: "case_v1", regions, ..OpToWrite::default() })];
    }
    assert_eq!(read(&module(writer, &body)).unwrap_err().number(), "E0909");
}

#[test]
fn a_splat_takes_one_element() {
    let mut writer = Writer::new(6);
    let (f32, none) = (writer.ty(&[4]), writer.ty(&[8, 0, 0]));
    let huge = writer.ty(&[20, 2, 1 << 40, 1 << 20, f32]);
    let value = dense(&mut writer, huge, &1.0f32.to_le_bytes());
    let attributes = vec![("value", value)];
    let constant =
        OpToWrite { name: "constant_v1", attributes, results: vec![huge], ..OpToWrite::default() };
    let constant = writer.op(&constant);
    let body = writer.region(1, &[], &[constant]);
    let main = function(&mut writer, none, body);
    let program = read(&module(writer, &[main])).unwrap();
    let Some(Attribute::Dense(dense)) = program.ops[0].regions[0].ops[0].attributes.get("value")
    else {
        panic!()
    };
    assert!(dense.splat);
    assert_eq!(dense.bytes, 1.0f32.to_le_bytes());
}

/// Old ops have the attributes of new ones.
#[test]
fn attributes_are_those_of_stablehlo() {
    let mut writer = Writer::new(6);
    let (f32, none, i64) = (writer.ty(&[4]), writer.ty(&[8, 0, 0]), writer.ty(&[14]));
    let scalar = writer.ty(&[20, 0, f32]);
    let list = writer.ty(&[20, 1, 2, i64]);
    let pairs = writer.ty(&[20, 2, 2, 4, i64]);
    let group = dense(&mut writer, pairs, &[0i64.to_le_bytes(), 1i64.to_le_bytes()].concat());
    let channel = writer.attribute(VHLO, varints(&[9, i64, 14]));
    let (yes, one) =
        (writer.attribute(VHLO, varints(&[2, 1])), dense(&mut writer, list, &1i64.to_le_bytes()));
    let attributes =
        vec![("channel_id", channel), ("replica_groups", group), ("use_global_device_ids", yes)];
    let all_reduce = OpToWrite {
        name: "all_reduce_v1",
        attributes,
        results: vec![scalar],
        ..OpToWrite::default()
    };
    let precision = writer.attribute(VHLO, varints(&[11, 2]));
    let precision = writer.attribute(VHLO, varints(&[1, 2, precision, precision]));
    let attributes = vec![
        ("lhs_batching_dimensions", one),
        ("lhs_contracting_dimensions", one),
        ("precision_config", precision),
        ("rhs_batching_dimensions", one),
        ("rhs_contracting_dimensions", one),
    ];
    let dot = OpToWrite {
        name: "dot_general_v1",
        attributes,
        results: vec![scalar],
        ..OpToWrite::default()
    };
    let ops = [writer.op(&all_reduce), writer.op(&dot)];
    let body = writer.region(2, &[], &ops);
    let main = function(&mut writer, none, body);
    let program = read(&module(writer, &[main])).unwrap();
    let [all_reduce, dot] = program.ops[0].regions[0].ops.as_slice() else { panic!("{program:?}") };
    assert_eq!(all_reduce.name, "stablehlo.all_reduce");
    assert_eq!(all_reduce.attributes.get("use_global_device_ids"), Some(&Attribute::Unit));
    let named = |attribute: Option<&Attribute>, field: &str| match attribute {
        Some(Attribute::Dialect(_, Fields::Named(fields))) => fields.get(field).cloned(),
        other => panic!("{other:?}"),
    };
    let seven = Attribute::Integer(7, Type::Element(hlo::ElementType::S64));
    assert_eq!(named(all_reduce.attributes.get("channel_handle"), "handle"), Some(seven));
    let dimensions = dot.attributes.get("dot_dimension_numbers");
    assert_eq!(named(dimensions, "rhs_contracting_dimensions"), Some(Attribute::Integers(vec![1])));
    let Some(Attribute::Array(precision)) = dot.attributes.get("precision_config") else {
        panic!("{dot:?}")
    };
    assert_eq!(
        precision[0],
        Attribute::Dialect("stablehlo.precision".into(), Fields::Keyword("HIGHEST".into()))
    );
    assert_eq!(dot.attributes.get("algorithm"), None);
}
