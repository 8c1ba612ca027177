//! The types of VHLO.
use super::{Decoder, Reader, builtin};
use crate::element;
use crate::element::type_text;
use crate::error::{Code, Result};
use crate::ir::Type;
use crate::quantized::Quantized;
use crate::version::Version;
use smol_str::SmolStr;

const OLDEST: Version = Version::MINIMUM;
/// The types without parts: their codes, their names, and the versions that introduced them.
pub(super) const SCALARS: [(u64, &str, Version); 32] = [
    (0, "i1", OLDEST),
    (2, "bf16", OLDEST),
    (3, "f16", OLDEST),
    (4, "f32", OLDEST),
    (5, "f64", OLDEST),
    (6, "f8E4M3FN", OLDEST),
    (7, "f8E5M2", OLDEST),
    (9, "index", OLDEST),
    (10, "i4", OLDEST),
    (11, "i8", OLDEST),
    (12, "i16", OLDEST),
    (13, "i32", OLDEST),
    (14, "i64", OLDEST),
    (15, "ui4", OLDEST),
    (16, "ui8", OLDEST),
    (17, "ui16", OLDEST),
    (18, "ui32", OLDEST),
    (19, "ui64", OLDEST),
    (26, "!shape.witness", OLDEST),
    (27, "f8E4M3FNUZ", Version::new(0, 10, 0)),
    (28, "f8E5M2FNUZ", Version::new(0, 10, 0)),
    (29, "f8E4M3B11FNUZ", Version::new(0, 11, 0)),
    (31, "i2", Version::new(1, 2, 0)),
    (32, "ui2", Version::new(1, 2, 0)),
    (33, "none", Version::new(1, 6, 0)),
    (34, "tf32", Version::new(1, 6, 0)),
    (35, "f8E4M3", Version::new(1, 7, 0)),
    (36, "f8E3M4", Version::new(1, 7, 0)),
    (37, "f4E2M1FN", Version::new(1, 8, 0)),
    (38, "f6E2M3FN", Version::new(1, 8, 0)),
    (39, "f6E3M2FN", Version::new(1, 8, 0)),
    (40, "f8E8M0FNU", Version::new(1, 8, 0)),
];

/// Reads a type after its code.
pub(crate) fn read(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Type> {
    let code = reader.varint()?;
    Ok(match code {
        1 => element::complex(&decoder.ty(reader)?),
        8 => Type::Function(decoder.types(reader)?, decoder.types(reader)?),
        20 => builtin::tensor(decoder, reader, &[])?,
        21 => builtin::encoded_tensor(decoder, reader)?,
        22 => Type::Token,
        23 => Type::Tuple(decoder.types(reader)?),
        24 => quantized(decoder, reader, false)?,
        25 => element::unranked(&decoder.ty(reader)?),
        30 => quantized(decoder, reader, true)?,
        41 => {
            let buffer = type_text(&builtin::tensor(decoder, reader, &[])?);
            Type::Other(SmolStr::new(buffer.replacen("tensor", "memref", 1)))
        }
        42 => {
            let types = decoder.types(reader)?;
            let types = types.iter().map(type_text).collect::<Vec<_>>().join(", ");
            Type::Other(SmolStr::new(format!("!stablehlo.future<{types}>")))
        }
        _ => {
            let known = SCALARS.iter().find(|(known, ..)| *known == code);
            let message =
                || format!("type {code} of VHLO is unknown: the program is newer than Etalon");
            element::scalar(known.ok_or_else(|| Code::Version { message: message() })?.1)
        }
    })
}
/// Reads a quantized type, with a scale for each index of a dimension or one alone.
fn quantized(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>, has_axis: bool) -> Result<Type> {
    let signed = reader.varint()? & 1 != 0;
    let (storage, expressed) = (decoder.ty(reader)?, decoder.ty(reader)?);
    let width = match storage {
        Type::Element(element) if element.is_integral() && element.bits() <= 32 => element.bits(),
        _ => return Err(reader.error("a quantized type is not one of integers")),
    };
    let (axis, scales, range);
    if has_axis {
        axis = Some(reader.varint()?);
        range = (reader.signed()?, reader.signed()?);
        let numbers = reader.list(|reader| reader.bits(64).map(f64::from_bits))?;
        scales = numbers.into_iter().zip(reader.integers()?).collect();
    } else {
        axis = None;
        scales = vec![(f64::from_bits(reader.bits(64)?), reader.signed()?)];
        range = (reader.signed()?, reader.signed()?);
    }
    let quantized = Quantized { signed, width, range, expressed, axis, scales };
    Ok(Type::Other(SmolStr::new(quantized.to_string())))
}
