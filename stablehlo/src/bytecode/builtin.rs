//! The attributes, types and locations of the dialect `builtin`.
use super::decoder::Decoder;
use super::reader::Reader;
use crate::element::{set_bounds, type_text, unranked};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Dim, Location, Tensor, Type};
use crate::{dense, element};
use hlo::{Class, ElementType};

/// The types without parts, with their codes.
pub(super) const SCALARS: [(u64, &str); 20] = [
    (1, "index"),
    (3, "bf16"),
    (4, "f16"),
    (5, "f32"),
    (6, "f64"),
    (7, "f80"),
    (8, "f128"),
    (12, "none"),
    (21, "tf32"),
    (22, "f8E5M2"),
    (23, "f8E4M3"),
    (24, "f8E4M3FN"),
    (25, "f8E5M2FNUZ"),
    (26, "f8E4M3FNUZ"),
    (27, "f8E4M3B11FNUZ"),
    (28, "f8E3M4"),
    (29, "f4E2M1FN"),
    (30, "f6E2M3FN"),
    (31, "f6E3M2FN"),
    (32, "f8E8M0FNU"),
];

/// Reads a type after its code.
pub(super) fn ty(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Type> {
    Ok(match reader.varint()? {
        0 => integer_type(reader.varint()?),
        2 => Type::Function(decoder.types(reader)?, decoder.types(reader)?),
        9 => element::complex(&decoder.ty(reader)?),
        13 => tensor(decoder, reader, &[])?,
        14 => encoded_tensor(decoder, reader)?,
        15 => Type::Tuple(decoder.types(reader)?),
        18 => unranked(&decoder.ty(reader)?),
        code => {
            let known = SCALARS.iter().find(|(known, _)| *known == code);
            let message = || format!("type {code} of the dialect `builtin` is not supported");
            element::scalar(known.ok_or_else(|| Error::unsupported(message()))?.1)
        }
    })
}
/// Returns the integer type whose width and sign are in one number.
fn integer_type(code: u64) -> Type {
    let sign = ["i", "si", "ui", "?"][usize::try_from(code & 3).unwrap_or(3)];
    element::scalar(&format!("{sign}{}", code >> 2))
}
/// Reads the sizes and the element type of a tensor.
pub(crate) fn tensor(
    decoder: &mut Decoder<'_>,
    reader: &mut Reader<'_>,
    bounds: &[Option<u64>],
) -> Result<Type> {
    let sizes = reader.integers()?;
    let dim = |size: &i64| match (*size, u64::try_from(*size)) {
        (i64::MIN, _) => Ok(Dim::Dynamic(None)),
        (_, Ok(size)) => Ok(Dim::Static(size)),
        (size, Err(_)) => Err(reader.error(format!("a tensor has a dimension of size {size}"))),
    };
    let mut dims = sizes.iter().map(dim).collect::<Result<Vec<Dim>>>()?;
    if !bounds.is_empty() && !set_bounds(&mut dims, bounds) {
        return Err(reader.error(format!("{} bounds for {} dimensions", bounds.len(), dims.len())));
    }
    let element = element::tensor_element(&decoder.ty(reader)?);
    Ok(Type::Tensor(Tensor { dims: dims.into(), element }))
}
/// Reads a tensor after its encoding, which must be bounds.
pub(crate) fn encoded_tensor(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Type> {
    let Attribute::Integers(bounds) = decoder.attribute(reader)? else {
        return Err(Error::unsupported(
            "tensors with an encoding other than bounds are not supported",
        ));
    };
    let bounds: Vec<Option<u64>> = bounds.iter().map(|bound| u64::try_from(*bound).ok()).collect();
    tensor(decoder, reader, &bounds)
}

/// Reads an attribute after its code.
pub(super) fn attribute(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Attribute> {
    Ok(match reader.varint()? {
        0 => Attribute::Array(decoder.attributes(reader)?),
        1 => Attribute::Dictionary(decoder.dictionary(reader)?),
        2 => Attribute::String(decoder.string(reader)?.to_vec()),
        3 => {
            let text = decoder.string(reader)?.to_vec();
            decoder.ty(reader)?;
            Attribute::String(text)
        }
        4 => Attribute::Symbol(vec![decoder.name(reader)?]),
        5 => {
            let mut path = vec![decoder.name(reader)?];
            for part in decoder.attributes(reader)? {
                let Attribute::Symbol(part) = part else {
                    return Err(reader.error("a symbol contains another attribute"));
                };
                path.extend(part);
            }
            Attribute::Symbol(path)
        }
        6 => Attribute::Type(decoder.ty(reader)?),
        7 => Attribute::Unit,
        8 => integer(decoder, reader)?,
        9 => float(decoder, reader)?,
        10..=15 | 22 => Attribute::Unit,
        17 => dense_array(decoder, reader)?,
        18 => {
            let ty = decoder.ty(reader)?;
            dense_elements(ty, reader)?
        }
        19 => {
            decoder.ty(reader)?;
            reader.varint()?;
            Attribute::Strings(reader.list(|reader| Ok(decoder.string(reader)?.to_vec()))?)
        }
        code @ (16 | 20) => {
            let name = if code == 16 { "dense_resource" } else { "sparse" };
            return Err(Error::unsupported(format!("`{name}` attributes are not supported")));
        }
        code => {
            let message = format!("attribute {code} of the dialect `builtin` is unknown");
            return Err(Code::Version { message }.into());
        }
    })
}
/// Reads an integer with its type.
pub(crate) fn integer(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Attribute> {
    let ty = decoder.ty(reader)?;
    if ty == Type::Element(ElementType::Pred) {
        return Ok(Attribute::Bool(reader.byte()? != 0));
    }
    let (width, signed) = match &ty {
        Type::Element(element) => (element.bits(), element.class() == Class::Signed),
        Type::Index => (64, true),
        Type::Other(name) => {
            let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            let width = digits.parse().ok().filter(|_| element::is_scalar(name));
            (
                width.ok_or_else(|| {
                    reader.error(format!("`{name}` is not the type of an integer"))
                })?,
                !name.starts_with("ui"),
            )
        }
        _ => return Err(reader.error("the type of an integer is not one of integers")),
    };
    let bits = reader.bits(width)?;
    let spare = 64u32.saturating_sub(width);
    let value = match signed {
        _ if spare >= 64 => 0,
        true => i128::from((bits << spare).cast_signed() >> spare),
        false => i128::from(bits << spare >> spare),
    };
    Ok(Attribute::Integer(value, ty))
}
/// Reads a float with its type.
pub(crate) fn float(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Attribute> {
    let ty = decoder.ty(reader)?;
    let format = match &ty {
        Type::Element(element) => element.float_format().map(|format| (format, element.bits())),
        _ => None,
    };
    let Some((format, width)) = format else {
        return Err(Error::unsupported(format!(
            "numbers of type `{}` are not supported",
            type_text(&ty)
        )));
    };
    let bits = reader.bits(width)?;
    let mask = u64::MAX >> 64u32.saturating_sub(width).min(63);
    Ok(Attribute::Float(format.decode(bits & mask), ty))
}
fn dense_array(decoder: &mut Decoder<'_>, reader: &mut Reader<'_>) -> Result<Attribute> {
    let ty = decoder.ty(reader)?;
    let count = reader.varint()?;
    let bytes = reader.blob()?;
    let Type::Element(element) = ty else {
        return Err(reader.error("an array is not one of numbers"));
    };
    let dense = crate::ir::Dense {
        ty: Tensor { dims: [Dim::Static(count)].into(), element: Ok(element) },
        bytes: bytes.to_vec(),
        splat: false,
    };
    if let Some(format) = element.float_format() {
        let read = |bytes: &[u8]| {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            Attribute::Float(format.decode(u64::from_le_bytes(wide)), Type::Element(element))
        };
        return Ok(Attribute::Array(
            bytes.chunks_exact(element.storage_bytes()).map(read).collect(),
        ));
    }
    let integers = dense::integers(&Attribute::Dense(dense));
    integers.map(Attribute::Integers).ok_or_else(|| reader.error("an array is not one of numbers"))
}
/// Reads the elements of a constant of this type.
pub(crate) fn dense_elements(ty: Type, reader: &mut Reader<'_>) -> Result<Attribute> {
    let bytes = reader.blob()?;
    let name = type_text(&ty);
    let Type::Tensor(tensor) = ty else { return Err(reader.error("a constant is not a tensor")) };
    if dense::element_bytes(&tensor).is_none() {
        return Err(Error::unsupported(format!("constants of type `{name}` are not supported")));
    }
    let dense = dense::from_bytes(tensor, bytes);
    dense.map(Attribute::Dense).ok_or_else(|| {
        reader.error(format!(
            "{} bytes are not the elements of `{name}`, and not one of them",
            bytes.len()
        ))
    })
}

/// Reads a location after its code; none if it is unknown.
pub(super) fn location(
    decoder: &mut Decoder<'_>,
    reader: &mut Reader<'_>,
) -> Result<Option<Location>> {
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    Ok(match reader.varint()? {
        10 => match (decoder.location(reader)?, decoder.location(reader)?) {
            (Some(callee), Some(caller)) => Some(Location::Call(callee, caller)),
            (callee, caller) => callee.or(caller).map(|part| Location::Fused(vec![part])),
        },
        11 => {
            let file = decoder.name(reader)?;
            Some(Location::File {
                file,
                line: small(reader.varint()?),
                column: small(reader.varint()?),
            })
        }
        code @ (12 | 13) => {
            let parts = reader.list(|reader| decoder.location(reader))?;
            if code == 13 {
                reader.size()?;
            }
            let parts: Vec<_> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then_some(Location::Fused(parts))
        }
        14 => {
            let name = decoder.name(reader)?;
            Some(Location::Name(name, decoder.location(reader)?))
        }
        22 => {
            let file = decoder.name(reader)?;
            let numbers = reader.list(Reader::varint)?;
            let number = |index: usize| numbers.get(index).map_or(0, |number| small(*number));
            Some(Location::File { file, line: number(0), column: number(1) })
        }
        _ => None,
    })
}
