//! The encoding of messages: unknown fields are kept.
use super::bad;
use super::message::Known;
use crate::Result;
use bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// A field: its number, and its bytes if it has a length.
pub(super) type Field<'b> = (u32, Option<&'b [u8]>);

/// Returns the fields of a message; `None` if the bytes are not one. Nothing in them is decoded.
pub(super) fn fields(mut bytes: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut fields = Vec::new();
    while bytes.has_remaining() {
        let (tag, kind) = decode_key(&mut bytes).ok()?;
        if kind != WireType::LengthDelimited {
            skip_field(kind, tag, &mut bytes, DecodeContext::default()).ok()?;
            fields.push((tag, None));
            continue;
        }
        let length = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
        fields.push((tag, Some(bytes.get(..length)?)));
        bytes.advance(length);
    }
    Some(fields)
}

/// Decodes a message; returns its unknown fields as they are encoded.
pub(super) fn decode<M: Known>(name: &str, mut bytes: &[u8]) -> Result<(M, Vec<u8>)> {
    let mut message = M::default();
    let mut unknown = Vec::new();
    let wrong = |error: prost::DecodeError| bad(format!("{name}: {error}"));
    while bytes.has_remaining() {
        let start = bytes;
        let (tag, kind) = decode_key(&mut bytes).map_err(wrong)?;
        if M::TAGS.contains(&tag) {
            message.merge_field(tag, kind, &mut bytes, DecodeContext::default()).map_err(wrong)?;
        } else {
            skip_field(kind, tag, &mut bytes, DecodeContext::default()).map_err(wrong)?;
            unknown.extend_from_slice(&start[..start.len() - bytes.len()]);
        }
    }
    Ok((message, unknown))
}
