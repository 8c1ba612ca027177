//! Attributes and whole programs as text.
use crate::TextStyle;
use crate::ir::{Attribute, Attributes, Type};
use hlo::ElementType;

/// Returns the text of a float of a type.
fn float(value: f64, ty: ElementType) -> String {
    let fields = Attributes(vec![("x".into(), Attribute::Float(value, Type::Element(ty)))]);
    let text = super::dictionary(&fields);
    text["{x = ".len()..].split(' ').next().unwrap().to_owned()
}

#[test]
fn floats_have_six_digits_or_as_many_as_they_need() {
    for (value, ty, text) in [
        (1.0, ElementType::F64, "1.000000e+00"),
        (-2.5e-7, ElementType::F64, "-2.500000e-07"),
        (1e300, ElementType::F64, "1.000000e+300"),
        (0.1, ElementType::F64, "1.000000e-01"),
        (0.1, ElementType::F32, "1.000000e-01"),
        (1.0 / 3.0, ElementType::F64, "0.33333333333333331"),
        (1.0 / 3.0, ElementType::F32, "0.333333343"),
        (16_777_217.0, ElementType::F64, "0x4170000010000000"),
        (1.844_674_407_370_955_2e19, ElementType::F64, "1.8446744073709552E+19"),
        (4_294_967_296.0, ElementType::F32, "4.2949673E+9"),
        (1e-5, ElementType::F32, "9.99999974E-6"),
        (9.999_946e-41, ElementType::F32, "9.999940e-41"),
        (3.389_531e38, ElementType::Bf16, "3.389530e+38"),
        (5.960_464e-8, ElementType::F16, "5.960460e-08"),
        (-0.0, ElementType::Bf16, "-0.000000e+00"),
        (f64::NAN, ElementType::F32, "0x7FC00000"),
        (f64::NEG_INFINITY, ElementType::F32, "0xFF800000"),
        (f64::INFINITY, ElementType::F16, "0x7C00"),
        (f64::NAN, ElementType::F8E4M3Fn, "0x7F"),
        (f64::NAN, ElementType::F8E8M0Fnu, "0xFF"),
    ] {
        assert_eq!(float(value, ty), text, "{value} of {ty}");
    }
}
#[test]
fn dictionaries_are_sorted() {
    let fields = Attributes(vec![
        ("uplo".into(), Attribute::Integer(76, Type::Element(ElementType::U8))),
        ("a b".into(), Attribute::String(b"x\"\n\xff\\".to_vec())),
    ]);
    assert_eq!(super::dictionary(&fields), r#"{"a b" = "x\22\0A\FF\\", uplo = 76 : ui8}"#);
}

/// Every op in its pretty and its generic form, but those of dialects of other parts of a compiler,
/// whose attributes have a syntax of their own.
#[test]
fn what_is_read_is_printed_and_read_again() {
    let file = include_str!("../../../tests/forms.mlir");
    let is_other = |line: &&str| {
        let other = ["sdy.", "vhlo", "quant", "check.", "arith.", "shape.", "tensor.", "uniform"];
        other.iter().any(|other| line.contains(other))
    };
    let mut lines = 0;
    for line in file.lines().filter(|line| !is_other(line)) {
        let Some((name, op)) = line.trim().split_once(" = ") else { continue };
        // Ops that use no values but those of the function are programs of their own.
        let own = ["x", "i", "c", "p", "m", "s", "f", "n", "j", "w", "a", "k", "t", "u"];
        let mut names = op.split('%').skip(1).map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
        });
        let count = name.split_once(':').map_or(1, |(_, count)| count.parse().unwrap());
        let has_region = op.ends_with('{') || (op.contains(" init: ") && !op.contains("applies"));
        if has_region || !names.all(|name| own.contains(&name)) || count > 4 {
            continue;
        }
        let program = format!("{HEAD} {{\n {line}\n return\n }}");
        let read = crate::read(program.as_bytes()).unwrap_or_else(|e| panic!("{line}: {e}"));
        for style in [TextStyle::Pretty, TextStyle::Generic] {
            let text = read.to_text(style);
            let again = crate::read(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(again.to_text(style), text, "{line}");
            assert_eq!(again.to_text(TextStyle::Pretty), read.to_string(), "{line}");
        }
        lines += 1;
    }
    assert!(lines > 200, "{lines} ops");
}
const HEAD: &str = "func.func private @callee(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  return %arg0 : tensor<2xf32>
}
func.func @main(
    %x: tensor<2xf32>, %i: tensor<2xi32>, %c: tensor<2xcomplex<f32>>, %p: tensor<2xi1>, %m: tensor<2x3xf32>, %s: tensor<3x3xf32>,
    %f: tensor<f32>, %n: tensor<i32>, %j: tensor<1xi32>, %w: tensor<2xui64>, %a: tensor<1x4x4x1xf32>, %k: tensor<2x2x1x1xf32>,
    %t: !stablehlo.token, %u: tuple<tensor<2xf32>, tensor<2xi32>>)";
