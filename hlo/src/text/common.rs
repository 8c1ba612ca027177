//! Attributes that every opcode may have.
use super::{Parser, balanced};
use crate::diag::Code;
use crate::ir::{
    BackendConfig, CommonAttrs, FrontendAttributes, InstructionId, Metadata, OriginalValue, Sharding,
    Statistics,
};
use crate::op::Field;
use crate::op::value::ResultAccuracy;
use crate::{Error, Opcode, Result, Shape};

/// Their names.
pub(crate) const NAMES: [&str; 9] = [
    "sharding",
    "frontend_attributes",
    "control-predecessors",
    "statistics",
    "parameter_replication",
    "result_accuracy",
    "origin",
    "metadata",
    "backend_config",
];

/// Reads the value of attribute `key` into `common`, if it is one of these.
#[inline]
pub(crate) fn parse(
    p: &mut Parser<'_>,
    opcode: Opcode,
    key: &str,
    common: &mut Option<Box<CommonAttrs>>,
) -> Result<Field> {
    if !NAMES.contains(&key) || (key == "result_accuracy" && !opcode.takes_result_accuracy()) {
        return Ok(Field::Unknown);
    }
    let attrs = common.get_or_insert_default();
    match key {
        "sharding" => once(&mut attrs.sharding, p, |p| Sharding::parse(&mut p.cursor)),
        "frontend_attributes" => {
            once(&mut attrs.frontend_attributes, p, |p| FrontendAttributes::parse(&mut p.cursor))
        }
        "control-predecessors" => once(&mut attrs.control, p, predecessors),
        "statistics" => once(&mut attrs.statistics, p, |p| Statistics::parse(&mut p.cursor)),
        "parameter_replication" => once(&mut attrs.parameter_replication, p, |p| {
            p.cursor.list(b'{', b'}', super::Cursor::bool)
        }),
        "result_accuracy" => {
            once(&mut attrs.result_accuracy, p, |p| ResultAccuracy::parse(&mut p.cursor))
        }
        "origin" => once(&mut attrs.origin, p, |p| OriginalValue::parse(&mut p.cursor)),
        "metadata" => once(&mut attrs.metadata, p, |p| Metadata::parse(&mut p.cursor)),
        _ => once(&mut attrs.backend_config, p, |p| BackendConfig::parse(&mut p.cursor)),
    }
}

fn once<'a, T>(
    slot: &mut Option<T>,
    p: &mut Parser<'a>,
    read: impl FnOnce(&mut Parser<'a>) -> Result<T>,
) -> Result<Field> {
    if slot.is_some() {
        return Ok(Field::Twice);
    }
    *slot = Some(read(p)?);
    Ok(Field::Taken)
}
