//! The attributes of VHLO, as those of StableHLO that they stand for.
use super::{Decoder, Reader, builtin};
use crate::attributes::{integer, named};
use crate::error::{Code, Result};
use crate::ir::{Attribute, Fields, Type};
use crate::vhlo::ENUMS;
use hlo::ElementType;

fn dialect(name: &str, fields: Fields) -> Attribute {
    Attribute::Dialect(format!("stablehlo.{name}").into(), fields)
}
fn float(bits: u64) -> Attribute {
    Attribute::Float(f64::from_bits(bits), Type::Element(ElementType::F64))
}

/// Reads an attribute after its code.
pub(crate) fn read(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Attribute> {
    let code = reader.varint()?;
    Ok(match code {
        1 => Attribute::Array(decoder.attributes(reader)?),
        2 => Attribute::Bool(reader.varint()? != 0),
        5 => Attribute::Integer(reader.varint()?.into(), Type::Element(ElementType::S32)),
        6 => Attribute::Dictionary(decoder.dictionary(reader)?),
        8 => builtin::float(decoder, reader)?,
        9 => builtin::integer(decoder, reader)?,
        10 => {
            let output = Attribute::Integers(reader.integers()?);
            let operand = integer(reader.signed()?);
            let part = Attribute::Integers(reader.integers()?);
            let fields = [
                ("operand_index", operand),
                ("operand_tuple_indices", part),
                ("output_tuple_indices", output),
            ];
            dialect("output_operand_alias", named(fields))
        }
        14 => Attribute::String(decoder.string(reader)?.to_vec()),
        15 => {
            let ty = decoder.ty(reader)?;
            builtin::dense_elements(ty, reader)?
        }
        17 => Attribute::Type(decoder.ty(reader)?),
        // The bounds of a type, the only place of this attribute.
        18 => Attribute::Integers(reader.integers()?),
        20 => {
            let (absolute, relative) = (float(reader.bits(64)?), float(reader.bits(64)?));
            let ulps = integer(reader.signed()?);
            let mode = decoder.attribute(reader)?;
            dialect(
                "result_accuracy",
                named([("atol", absolute), ("mode", mode), ("rtol", relative), ("ulps", ulps)]),
            )
        }
        21 => {
            let fields =
                [("pre_size", integer(reader.signed()?)), ("size", integer(reader.signed()?))];
            dialect("sub_axis_info", named(fields))
        }
        22..=25 => mesh(code, decoder, reader)?,
        _ => enumeration(code, reader)?,
    })
}
fn enumeration(code: u64, reader: &mut Reader<'_>) -> Result<Attribute> {
    let Some((_, name, values)) = ENUMS.iter().find(|(known, ..)| *known == code) else {
        let message =
            format!("attribute {code} of VHLO is unknown: the program is newer than Etalon");
        return Err(Code::Version { message }.into());
    };
    let value = reader.size()?;
    let keyword = values.get(value).filter(|keyword| !keyword.is_empty());
    let keyword = keyword.ok_or_else(|| reader.error(format!("`{name}` has no value {value}")))?;
    Ok(dialect(name, Fields::Keyword((*keyword).into())))
}
/// Reads the parts of replica groups that are given as the axes of a mesh.
fn mesh(code: u64, decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Attribute> {
    let first = decoder.attribute(reader)?;
    Ok(match code {
        22 => {
            let part = if reader.varint()? == 0 { None } else { Some(decoder.attribute(reader)?) };
            dialect("axis_ref", with_optional("name", first, "sub_axis_info", part))
        }
        23 => {
            let mesh = match first {
                Attribute::String(name) => {
                    Attribute::Symbol(vec![String::from_utf8_lossy(&name).into()])
                }
                mesh => mesh,
            };
            dialect(
                "replica_group_mesh_axes",
                named([("axes", decoder.attribute(reader)?), ("mesh", mesh)]),
            )
        }
        24 => dialect("mesh_axis", named([("name", first), ("size", integer(reader.signed()?))])),
        _ => {
            let devices = decoder.optional_attribute(reader)?;
            dialect("mesh", with_optional("axes", first, "device_ids", devices))
        }
    })
}
fn with_optional(
    name: &'static str,
    value: Attribute,
    other: &'static str,
    optional: Option<Attribute>,
) -> Fields {
    match optional {
        Some(optional) => named([(name, value), (other, optional)]),
        None => named([(name, value)]),
    }
}
