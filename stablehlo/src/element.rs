//! The names of types in MLIR.
use crate::ir::{Dim, Tensor, Type};
use hlo::ElementType;
use smol_str::SmolStr;
use std::fmt::Write as _;

/// The names of MLIR's numbers, and what they are in HLO.
const NAMES: &[(&str, ElementType)] = &[
    ("i1", ElementType::Pred),
    ("i2", ElementType::S2),
    ("i4", ElementType::S4),
    ("i8", ElementType::S8),
    ("i16", ElementType::S16),
    ("i32", ElementType::S32),
    ("i64", ElementType::S64),
    ("ui2", ElementType::U2),
    ("ui4", ElementType::U4),
    ("ui8", ElementType::U8),
    ("ui16", ElementType::U16),
    ("ui32", ElementType::U32),
    ("ui64", ElementType::U64),
    ("f16", ElementType::F16),
    ("bf16", ElementType::Bf16),
    ("f32", ElementType::F32),
    ("f64", ElementType::F64),
    ("f4E2M1FN", ElementType::F4E2M1Fn),
    ("f6E2M3FN", ElementType::F6E2M3Fn),
    ("f6E3M2FN", ElementType::F6E3M2Fn),
    ("f8E3M4", ElementType::F8E3M4),
    ("f8E4M3", ElementType::F8E4M3),
    ("f8E4M3FN", ElementType::F8E4M3Fn),
    ("f8E4M3FNUZ", ElementType::F8E4M3Fnuz),
    ("f8E4M3B11FNUZ", ElementType::F8E4M3B11Fnuz),
    ("f8E5M2", ElementType::F8E5M2),
    ("f8E5M2FNUZ", ElementType::F8E5M2Fnuz),
    ("f8E8M0FNU", ElementType::F8E8M0Fnu),
    ("complex<f32>", ElementType::C64),
    ("complex<f64>", ElementType::C128),
];

/// Returns the element type of this name in MLIR.
pub(crate) fn element(name: &str) -> Option<ElementType> {
    NAMES.iter().find(|(known, _)| *known == name).map(|&(_, element)| element)
}
/// Returns the name of an element type in MLIR.
pub(crate) fn name(element: ElementType) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == element).map_or(element.name(), |&(name, _)| name)
}
/// Returns the type that a word stands for: a number, `index`, or one without a meaning in HLO.
pub(crate) fn scalar(name: &str) -> Type {
    match (element(name), name) {
        (Some(element), _) => Type::Element(element),
        (None, "index") => Type::Index,
        (None, _) => Type::Other(SmolStr::new(name)),
    }
}
/// Returns whether a word is the name of a type: that of a number in HLO, or of one that MLIR has
/// besides.
pub(crate) fn is_scalar(name: &str) -> bool {
    let digits = ["si", "ui", "i", "f"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let numbered = digits.is_some_and(|digits| {
        !digits.is_empty() && digits.len() < 8 && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    numbered
        || element(name).is_some()
        || matches!(name, "index" | "none" | "tf32" | "token" | "witness")
}
/// Returns the type of complex numbers with this part.
pub(crate) fn complex(part: &Type) -> Type {
    if let Type::Element(element) = part
        && let Some(complex) = element.complex()
    {
        return Type::Element(complex);
    }
    Type::Other(SmolStr::new(format!("complex<{}>", type_text(part))))
}
/// Returns what a tensor of this type has as its element.
pub(crate) fn tensor_element(ty: &Type) -> Result<ElementType, SmolStr> {
    match ty {
        Type::Element(element) => Ok(*element),
        Type::Other(text) => Err(text.clone()),
        _ => Err(SmolStr::new(type_text(ty))),
    }
}
/// Returns a tensor of unknown rank.
pub(crate) fn unranked(element: &Type) -> Type {
    Type::Other(SmolStr::new(format!("tensor<*x{}>", type_text(element))))
}

/// Puts bounds on dynamic dimensions; returns whether they fit.
pub(crate) fn set_bounds(dims: &mut [Dim], bounds: &[Option<u64>]) -> bool {
    let mut fit = dims.len() == bounds.len();
    for (dim, bound) in dims.iter_mut().zip(bounds) {
        match dim {
            Dim::Dynamic(known) => *known = *bound,
            Dim::Static(_) => fit &= bound.is_none(),
        }
    }
    fit
}

/// Returns the text of a type, for messages.
pub(crate) fn type_text(ty: &Type) -> String {
    let list = |types: &[Type]| types.iter().map(type_text).collect::<Vec<_>>().join(", ");
    match ty {
        Type::Tensor(tensor) => tensor_text(tensor),
        Type::Element(element) => name(*element).to_owned(),
        Type::Index => "index".to_owned(),
        Type::Token => "!stablehlo.token".to_owned(),
        Type::Tuple(types) => format!("tuple<{}>", list(types)),
        Type::Function(operands, results) => format!("({}) -> ({})", list(operands), list(results)),
        Type::Other(text) => text.to_string(),
    }
}
fn tensor_text(tensor: &Tensor) -> String {
    let mut text = "tensor<".to_owned();
    for dim in tensor.dims.iter() {
        // Writing to a string does not fail.
        let _ = match dim {
            Dim::Static(size) => write!(text, "{size}x"),
            Dim::Dynamic(_) => write!(text, "?x"),
        };
    }
    match &tensor.element {
        Ok(element) => text += name(*element),
        Err(other) => text += other,
    }
    if tensor.dims.iter().any(|dim| matches!(dim, Dim::Dynamic(Some(_)))) {
        let bounds = tensor.dims.iter().map(|dim| match dim {
            Dim::Dynamic(Some(bound)) => bound.to_string(),
            Dim::Dynamic(None) | Dim::Static(_) => "?".to_owned(),
        });
        text += ", #stablehlo.bounds<";
        text += &bounds.collect::<Vec<_>>().join(", ");
        text += ">";
    }
    text + ">"
}
