//! VHLO: its enums, and its ops as those of StableHLO that they stand for.
use crate::attributes::{integer, named};
use crate::error::{Error, Result};
use crate::ir::{Attribute, Attributes, Fields, Type};
use crate::ops::OpRow;
use hlo::ElementType;
use smol_str::SmolStr;
use std::borrow::Cow;

/// The enums of VHLO: their codes, their names in StableHLO, and their values from 0.
pub(crate) const ENUMS: [(u64, &str, &[&str]); 8] = [
    (3, "comparison_direction", &["EQ", "NE", "GE", "GT", "LE", "LT"]),
    (4, "comparison_type", &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]),
    (7, "fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"]),
    (11, "precision", &["DEFAULT", "HIGH", "HIGHEST"]),
    (12, "rng_algorithm", &["DEFAULT", "THREE_FRY", "PHILOX"]),
    (13, "rng_distribution", &["", "UNIFORM", "NORMAL"]),
    (16, "transpose", &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
    (19, "result_accuracy_mode", &["DEFAULT", "HIGHEST", "TOLERANCE"]),
];

/// Brings the attributes of an op of VHLO into the form of StableHLO.
pub(crate) fn convert(
    op: &OpRow,
    attributes: &mut Attributes,
    error: &dyn Fn(String) -> Error,
) -> Result<()> {
    let is_none =
        |value: &Attribute| matches!(value, Attribute::Type(Type::Other(name)) if name == "none");
    for split in op.split() {
        let mut fields = Vec::with_capacity(split.fields.len());
        attributes.0.retain_mut(|(name, value)| {
            let is_field = split.fields.contains(&name.as_str());
            if is_field {
                fields.push((name.clone(), std::mem::replace(value, Attribute::Unit)));
            }
            !is_field
        });
        if fields.iter().all(|(_, value)| is_none(value)) {
            continue;
        }
        for (name, value) in &mut fields {
            if name.ends_with("_dims") || name.ends_with("_dimensions") || name == "start_index_map"
            {
                let integers = crate::dense::integers(value);
                let wrong = || error(format!("`{name}` is not a list of integers"));
                *value = Attribute::Integers(integers.ok_or_else(wrong)?);
            }
        }
        let fields = Fields::Named(Attributes(fields));
        let value = Attribute::Dialect(SmolStr::new_static(split.value), fields);
        attributes.0.push((SmolStr::new_static(split.name), value));
    }
    channel(attributes);
    for (name, value) in &mut attributes.0 {
        match name.as_str() {
            "callee" | "decomposition" => symbol(value),
            "called_computations" => {
                if let Attribute::Array(all) = value {
                    all.iter_mut().for_each(symbol);
                }
            }
            _ => {}
        }
    }
    Ok(())
}
/// Returns the attributes of an op as VHLO has them, the inverse of [`convert`], but for symbols.
pub(crate) fn split<'p>(
    op: &OpRow,
    attributes: &'p Attributes,
) -> Vec<(&'p str, Cow<'p, Attribute>)> {
    let mut all = Vec::with_capacity(attributes.0.len());
    for (name, value) in &attributes.0 {
        let Attribute::Dialect(_, Fields::Named(fields)) = value else {
            all.push((name.as_str(), Cow::Borrowed(value)));
            continue;
        };
        if name == "channel_handle" {
            let number = |field| Cow::Owned(fields.get(field).cloned().unwrap_or(integer(0)));
            all.push(("channel_id", number("handle")));
            if op.has("channel_type") {
                all.push(("channel_type", number("type")));
            }
        } else if let Some(split) = op.split().iter().find(|split| split.name == name) {
            all.extend(split.fields.iter().filter_map(|field| {
                let value = fields.get(field).map(Cow::Borrowed);
                Some((*field, value.or_else(|| absent_field(field).map(Cow::Owned))?))
            }));
        } else {
            all.push((name.as_str(), Cow::Borrowed(value)));
        }
    }
    all
}
/// Returns the value of a field of a dot algorithm that may be absent.
fn absent_field(field: &str) -> Option<Attribute> {
    match field {
        "allow_imprecise_accumulation" => Some(Attribute::Bool(false)),
        "lhs_component_count" | "num_primitive_operations" | "rhs_component_count" => {
            Some(integer(1))
        }
        _ => None,
    }
}
/// Makes a symbol of the string that names a function in VHLO.
pub(crate) fn symbol(value: &mut Attribute) {
    if let Attribute::String(name) = value {
        *value = Attribute::Symbol(vec![SmolStr::new(String::from_utf8_lossy(name))]);
    }
}
/// Joins the number and the type of a channel; the type is 0 where ops do not have it.
fn channel(attributes: &mut Attributes) {
    let mut kind = integer(0);
    attributes.0.retain_mut(|(name, value)| {
        let found = name == "channel_type";
        if found {
            kind = std::mem::replace(value, Attribute::Unit);
        }
        !found
    });
    for (name, value) in &mut attributes.0 {
        if name == "channel_id" {
            let mut handle = std::mem::replace(value, Attribute::Unit);
            for number in [&mut handle, &mut kind] {
                if let Attribute::Integer(_, ty) = number {
                    *ty = Type::Element(ElementType::S64);
                }
            }
            let fields = named([("handle", handle), ("type", kind.clone())]);
            *value = Attribute::Dialect(SmolStr::new_static("stablehlo.channel_handle"), fields);
            *name = SmolStr::new_static("channel_handle");
        }
    }
}
