//! Metadata of instructions and shardings.
use super::message::{OpMetadata, Payload};
use super::{bad, limit};
use crate::Result;
use crate::ir::Metadata;
use crate::text::strings;

pub(super) fn encode(metadata: &Metadata) -> OpMetadata {
    let bytes = |text: &str| strings::bytes(text).into_owned();
    OpMetadata {
        op_type: bytes(&metadata.op_type),
        op_name: bytes(&metadata.op_name),
        source_file: bytes(&metadata.source_file),
        source_line: metadata.source_line,
        source_end_line: metadata.source_end_line,
        source_column: metadata.source_column,
        source_end_column: metadata.source_end_column,
        // The parser accepts numbers from 0 to 3.
        profile_type: metadata.profile_type.iter().filter_map(|&kind| limit(kind).ok()).collect(),
        deduplicated_name: bytes(&metadata.deduplicated_name),
        scheduling_name: bytes(&metadata.scheduling_name),
        stack_frame_id: metadata.stack_frame_id,
        metadata_payload: (metadata.metadata_payload.as_ref())
            .map(|payload| Payload { value: Some(bytes(payload)), id: None }),
    }
}

pub(super) fn decode(proto: &OpMetadata) -> Result<Metadata> {
    let text = |bytes: &Vec<u8>| strings::from_bytes(bytes.clone()).into();
    if let Some(kind) = proto.profile_type.iter().find(|kind| !(0..=3).contains(*kind)) {
        return Err(bad(format!("{kind} is not a profile type: expected 0 to 3")));
    }
    Ok(Metadata {
        op_type: text(&proto.op_type),
        op_name: text(&proto.op_name),
        source_file: text(&proto.source_file),
        source_line: proto.source_line,
        source_end_line: proto.source_end_line,
        source_column: proto.source_column,
        source_end_column: proto.source_end_column,
        profile_type: proto.profile_type.iter().map(|&kind| kind.into()).collect(),
        deduplicated_name: text(&proto.deduplicated_name),
        scheduling_name: text(&proto.scheduling_name),
        stack_frame_id: proto.stack_frame_id,
        metadata_payload: (proto.metadata_payload.as_ref())
            .map(|payload| text(payload.value.as_ref().unwrap_or(&Vec::new()))),
    })
}
