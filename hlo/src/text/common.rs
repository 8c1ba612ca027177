//! Attributes that every opcode may have.
use super::Parser;
use crate::diag::Code;
use crate::diag::quantity;
use crate::ir::{
    BackendConfig, CommonAttrs, FrontendAttributes, InstructionId, Metadata, OriginalValue,
    Sharding, Statistics,
};
use crate::op::Field;
use crate::op::value::ResultAccuracy;
use crate::text::grammar::{lift, list};
use crate::{Opcode, Result, Shape};

/// The names of these attributes.
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

/// Parses the value of attribute `key` into `common`; returns whether it is one of these.
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
            p.cursor.parse(list('{', lift(super::Cursor::bool), '}'))
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

/// Parses `{%a, %b}`: earlier instructions of this computation.
fn predecessors(p: &mut Parser<'_>) -> Result<Vec<InstructionId>> {
    p.cursor.expect(b'{')?;
    let mut found = Vec::new();
    loop {
        let (name, span) = p.cursor.name("the name of an instruction")?;
        let Some(&id) = p.scope().by_name.get(name) else { return Err(p.undefined(name, span)) };
        found.push(id);
        if !p.cursor.eat(b',') {
            break;
        }
    }
    p.cursor.expect(b'}')?;
    Ok(found)
}

/// Completes the attributes for the instruction they belong to.
pub(crate) fn complete(common: &mut CommonAttrs, opcode: Opcode, shape: &Shape) -> Result<()> {
    let leaves = || shape.leaves().len();
    common.sharding = common.sharding.take().map(|sharding| match shape {
        Shape::Tuple(_) => sharding.expand_to_leaves(leaves()),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => sharding,
    });
    if let Some(replication) = &common.parameter_replication {
        let (found, expected) = (replication.len(), leaves());
        let message = match opcode == Opcode::Parameter {
            true if found == expected => return Ok(()),
            true => {
                format!(
                    "parameter_replication has {}, expected {expected}: one per leaf",
                    quantity(found, "entry")
                )
            }
            false => "only a parameter can have parameter_replication".to_owned(),
        };
        return Err(Code::AttributeValue { message }.into());
    }
    Ok(())
}

fn key(out: &mut String, name: &str) {
    out.push_str(", ");
    out.push_str(name);
    out.push('=');
}

/// Prints the attributes that XLA prints before `control-predecessors`.
pub(super) fn print_before_control(out: &mut String, attrs: &CommonAttrs, metadata: bool) {
    for raw in &attrs.unknown {
        key(out, &raw.name);
        out.push_str(&raw.value);
    }
    if let Some(replication) = &attrs.parameter_replication {
        key(out, "parameter_replication");
        out.push('{');
        for (i, &same) in replication.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            out.push_str(if same { "true" } else { "false" });
        }
        out.push('}');
    }
    if let Some(sharding) = &attrs.sharding {
        key(out, "sharding");
        sharding.print(out, metadata);
    }
    if let Some(attributes) = attrs.frontend_attributes.as_ref().filter(|a| !a.0.is_empty()) {
        key(out, "frontend_attributes");
        attributes.print(out);
    }
}

/// Prints the attributes that XLA prints after `control-predecessors`.
pub(super) fn print_after_control(
    out: &mut String,
    attrs: &CommonAttrs,
    metadata: bool,
    backend_config: bool,
) {
    if let Some(statistics) = attrs.statistics.as_ref().filter(|s| !s.values.is_empty()) {
        key(out, "statistics");
        statistics.print(out);
    }
    if let Some(accuracy) = attrs.result_accuracy.filter(|a| *a != ResultAccuracy::default()) {
        key(out, "result_accuracy");
        accuracy.print(out);
    }
    if let Some(origin) = &attrs.origin {
        key(out, "origin");
        origin.print(out);
    }
    if let Some(place) = attrs.metadata.as_ref().filter(|m| metadata && m.is_printed()) {
        key(out, "metadata");
        place.print(out);
    }
    if let Some(config) =
        attrs.backend_config.as_ref().filter(|c| backend_config && !c.0.is_empty())
    {
        key(out, "backend_config");
        config.print(out);
    }
}
