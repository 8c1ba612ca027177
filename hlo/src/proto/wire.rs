//! The encoding of messages: unknown fields are kept.
use super::bad;
use super::message::Known;
use crate::Result;
use bytes::Buf;
use prost::encoding::{DecodeContext, decode_key, skip_field};

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
