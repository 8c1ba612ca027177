//! The attributes of Shardy in bytecode.
use super::{Decoder, Reader};
use crate::attributes::{REDUCTIONS, Unreduced, axis, dimension, mesh, mesh_axis, named, sharding};
use crate::error::{Code, Result};
use crate::ir::{Attribute, Attributes, Fields};

/// Reads an attribute after its code.
pub(crate) fn read(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Attribute> {
    let code = reader.varint()?;
    let (name, fields) = match code {
        0 => ("manual_axes", named([("axes", Attribute::Array(decoder.attributes(reader)?))])),
        1 => return Ok(mesh_axis(decoder.string(reader)?.to_vec(), reader.signed()?)),
        2 => ("mesh", mesh(decoder.attributes(reader)?, reader.integers()?)),
        3 => return Ok(Attribute::Integers(vec![reader.signed()?, reader.signed()?])),
        4 => {
            let name = decoder.string(reader)?.to_vec();
            let part = match decoder.optional_attribute(reader)? {
                Some(Attribute::Integers(part)) if part.len() == 2 => Some((part[0], part[1])),
                Some(_) => return Err(reader.error("a part of an axis is not its sizes")),
                None => None,
            };
            return Ok(axis(name, part));
        }
        5 => {
            let axes = decoder.attributes(reader)?;
            let closed = reader.byte()? != 0;
            let (priority, present) = reader.size_and_flag()?;
            let priority = i64::try_from(priority).ok().filter(|_| present);
            return Ok(dimension(axes, closed, priority));
        }
        6 | 15 | 17 => {
            let mesh = decoder.attribute(reader)?;
            let (dimensions, replicated) =
                (decoder.attributes(reader)?, decoder.attributes(reader)?);
            let mut unreduced = Unreduced::default();
            if code != 6 {
                unreduced.axes = decoder.attributes(reader)?;
            }
            if code == 17 {
                let number = usize::try_from(reader.signed()?).ok();
                let known = number.and_then(|number| REDUCTIONS.get(number)).copied();
                let error = || reader.error("a sharding has an unknown reduction");
                unreduced.reduction = Some(known.ok_or_else(error)?);
            }
            ("sharding", sharding(mesh, dimensions, replicated, unreduced))
        }
        7 | 16 => (
            "sharding_per_value",
            named([("shardings", Attribute::Array(decoder.attributes(reader)?))]),
        ),
        8 => return reader.integers().map(Attribute::Integers),
        9 | 11 | 12 | 14 => return decoder.attributes(reader).map(Attribute::Array),
        // A rule says how shardings propagate; the op means the same without it.
        10 => {
            reader.integers()?;
            decoder.attributes(reader)?;
            decoder.attributes(reader)?;
            for _ in 0..4 {
                reader.integers()?;
            }
            reader.byte()?;
            ("op_sharding_rule", Fields::Named(Attributes::default()))
        }
        13 => {
            let axes = decoder.attributes(reader)?;
            let dims = vec![reader.signed()?, reader.signed()?];
            return Ok(Attribute::Array(vec![Attribute::Array(axes), Attribute::Integers(dims)]));
        }
        _ => {
            let message =
                format!("attribute {code} of Shardy is unknown: the program is newer than Etalon");
            return Err(Code::Version { message }.into());
        }
    };
    Ok(Attribute::Dialect(format!("sdy.{name}").into(), fields))
}
