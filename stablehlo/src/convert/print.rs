//! Attributes as MLIR's text, which HLO keeps in configurations.
use crate::ir::{Attribute, Attributes, Fields, Type};
use hlo::{Class, ElementType};
use std::fmt::Write;

/// Returns `{name = value, ...}`, sorted by name.
pub(super) fn dictionary(fields: &Attributes) -> String {
    let mut fields: Vec<_> = fields.0.iter().collect();
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    let field = |(name, value): &&(smol_str::SmolStr, Attribute)| match value {
        Attribute::Unit => name.to_string(),
        _ => format!("{name} = {}", attribute(value)),
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

/// Returns the text of an attribute.
fn attribute(value: &Attribute) -> String {
    let list = |items: &[Attribute]| items.iter().map(attribute).collect::<Vec<_>>().join(", ");
    match value {
        Attribute::Unit => "unit".into(),
        Attribute::Bool(value) => value.to_string(),
        Attribute::Integer(value, Type::Element(ElementType::Pred)) => (*value != 0).to_string(),
        Attribute::Integer(value, ty) => format!("{value} : {}", type_of(ty)),
        Attribute::Float(value, ty) => format!("{} : {}", float(*value), type_of(ty)),
        Attribute::String(bytes) => string(bytes),
        Attribute::Array(items) => format!("[{}]", list(items)),
        Attribute::Dictionary(fields) => dictionary(fields),
        Attribute::Type(ty) => type_of(ty),
        Attribute::Dense(dense) => {
            let elements = super::attrs::integers_of(dense).unwrap_or_default();
            let shape: String = dense
                .ty
                .dims
                .iter()
                .map(|dim| match dim {
                    crate::ir::Dim::Static(size) => format!("{size}x"),
                    crate::ir::Dim::Dynamic(_) => "?x".to_owned(),
                })
                .collect();
            let ty = match &dense.ty.element {
                Ok(ty) => element(*ty),
                Err(name) => name.to_string(),
            };
            format!("dense<{elements:?}> : tensor<{shape}{ty}>")
        }
        Attribute::Strings(all) => {
            format!("dense<[{}]>", all.iter().map(|s| string(s)).collect::<Vec<_>>().join(", "))
        }
        Attribute::Integers(all) => {
            let all: Vec<_> = all.iter().map(i64::to_string).collect();
            format!("array<i64: {}>", all.join(", "))
        }
        Attribute::Symbol(path) => format!("@{}", path.join("::@")),
        Attribute::Dialect(_, Fields::Keyword(word)) if word.starts_with('#') => word.to_string(),
        Attribute::Dialect(name, Fields::Keyword(word)) => {
            let (dialect, rest) = name.split_once('.').unwrap_or((name, ""));
            format!("#{dialect}<{rest} {word}>")
        }
        Attribute::Dialect(name, Fields::Named(fields)) => {
            let text = dictionary(fields);
            format!("#{name}<{}>", &text[1..text.len() - 1])
        }
    }
}

/// Returns a float as MLIR prints it: six digits in scientific notation, or as many as tell it from
/// all others.
fn float(value: f64) -> String {
    let (six, single) = (format!("{value:.6e}"), single(value));
    let (is_exact, full) = match single {
        Some(single) => (six.parse() == Ok(single), format!("{single:e}")),
        None => (six.parse() == Ok(value), format!("{value:e}")),
    };
    let text = if is_exact || !value.is_finite() { six } else { full };
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(rest) => ('-', rest),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Returns the value in single precision, if it is one.
#[expect(clippy::cast_possible_truncation, clippy::as_conversions, reason = "checked")]
fn single(value: f64) -> Option<f32> {
    let single = value as f32;
    (f64::from(single).to_bits() == value.to_bits()).then_some(single)
}

fn string(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => write!(out, "\\{byte:02X}").expect("a string grows"),
        }
    }
    out.push('"');
    out
}

/// Returns the name of a type.
fn type_of(ty: &Type) -> String {
    match ty {
        Type::Element(ty) => element(*ty),
        Type::Index => "index".into(),
        Type::Token => "!stablehlo.token".into(),
        Type::Other(text) => text.to_string(),
        Type::Tensor(_) | Type::Tuple(_) | Type::Function(..) => match super::types::shape(ty) {
            Ok(shape) => format!("{shape:#}"),
            Err(_) => "?".into(),
        },
    }
}
/// Returns MLIR's name of an element type.
fn element(ty: ElementType) -> String {
    match ty.class() {
        Class::Pred => "i1".into(),
        Class::Signed => format!("i{}", ty.bits()),
        Class::Unsigned => format!("ui{}", ty.bits()),
        Class::Float => ty.name().replace("f8e", "f8E").replace("fn", "FN").replace("uz", "UZ"),
        Class::Complex => format!("complex<{}>", ty.component().name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_six_digits() {
        assert_eq!(float(1.0), "1.000000e+00");
        assert_eq!(float(-2.5e-7), "-2.500000e-07");
        assert_eq!(float(1e300), "1.000000e+300");
    }
    #[test]
    fn floats_keep_all_their_digits() {
        assert_eq!(float(0.1), "1.000000e-01");
        assert_eq!(float(f64::from(0.1f32)), "1.000000e-01");
        assert_eq!(float(1.0 / 3.0), "3.333333333333333e-01");
        assert_eq!(float(f64::from(1.0f32 / 3.0)), "3.3333334e-01");
    }
    #[test]
    fn dictionaries_are_sorted() {
        let fields = Attributes(vec![
            ("uplo".into(), Attribute::Integer(76, Type::Element(ElementType::U8))),
            ("a".into(), Attribute::String(b"x\"\n".to_vec())),
        ]);
        assert_eq!(dictionary(&fields), r#"{a = "x\"\0A", uplo = 76 : ui8}"#);
    }
}
