//! The module's header line.
use super::print::{push_int, separator, shape as print_shape};
use super::shape::shape;
use super::{Cursor, balanced};
use crate::diag::{Code, Diagnostic, nearest};
use crate::ir::{
    AliasKind, BufferDonor, FrontendAttributes, HeaderAttr, InputOutputAlias, ModuleConfig,
    ProgramShape,
};
use crate::{Error, Result, Shape};
use smol_str::SmolStr;

const NAMES: [&str; 13] = [
    "is_scheduled",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "entry_computation_layout",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "replica_count",
    "num_partitions",
    "frontend_attributes",
    "origin_recovery_table",
    "debug_attributes",
    "dynamic_parameter_binding",
];
/// Known attributes that say nothing about values; kept as they stand, in the order XLA prints them.
const RAW: [&str; 3] = ["origin_recovery_table", "debug_attributes", "dynamic_parameter_binding"];

/// Reads what follows `HloModule`.
pub(super) fn header(
    c: &mut Cursor<'_>,
    lenient: bool,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(SmolStr, ModuleConfig)> {
    let (name, _) = c.name("the module's name")?;
    if c.next_byte() == Some(b':') {
        c.skip(1);
    }
    let mut config = ModuleConfig::default();
    let mut seen = Vec::new();
    while c.eat(b',') {
        let (key, span) = c.attribute_name()?;
        if seen.contains(&key) {
            return Err(Error::from(Code::DuplicateAttribute { name: key.into() }).at(span));
        }
        seen.push(key);
        if !attribute(c, key, &mut config).map_err(|e| e.at(span))? {
            let code = Code::UnknownAttribute { op: "HloModule".into(), name: key.into() };
            let error = Error::from(code).at(span);
            let error = match nearest(key, NAMES) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            };
            if !lenient {
                return Err(error);
            }
            warnings.push(error.with_help("kept as it stands, because of --lenient").warning());
            let value = balanced::balanced_value(c)?.to_owned();
            config.raw.push(HeaderAttr { name: key.into(), value });
        }
    }
    Ok((name.into(), config))
}

/// Reads the value of a known attribute; gives false for an unknown one.
fn attribute(c: &mut Cursor<'_>, key: &str, config: &mut ModuleConfig) -> Result<bool> {
    match key {
        "is_scheduled" => config.is_scheduled = c.bool()?,
        "replica_count" => config.replica_count = c.int()?,
        "num_partitions" => config.num_partitions = c.int()?,
        "alias_passthrough_params" => config.alias_passthrough_params = c.bool()?,
        "input_output_alias" => config.input_output_alias = aliases(c)?,
        "buffer_donor" => {
            config.buffer_donor = c.list(b'{', b'}', |c| {
                c.expect(b'(')?;
                let parameter = c.size()?;
                c.expect(b',')?;
                let parameter_index = c.ints()?;
                c.expect(b')')?;
                Ok(BufferDonor { parameter, parameter_index })
            })?;
        }
        "entry_computation_layout" => config.entry_layout = Some(entry_layout(c)?),
        "allow_spmd_sharding_propagation_to_parameters" => {
            config.allow_spmd_sharding_propagation_to_parameters = bools(c)?;
        }
        "allow_spmd_sharding_propagation_to_output" => {
            config.allow_spmd_sharding_propagation_to_output = bools(c)?;
        }
        "frontend_attributes" => config.frontend_attributes = Some(FrontendAttributes::parse(c)?),
        _ if RAW.contains(&key) => {
            let value = balanced::balanced_value(c)?.to_owned();
            config.raw.push(HeaderAttr { name: key.into(), value });
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// `{ {0}: (1, {}, may-alias), ... }`; of an output named twice the first counts, as in XLA.
fn aliases(c: &mut Cursor<'_>) -> Result<Vec<InputOutputAlias>> {
    let mut aliases: Vec<InputOutputAlias> = Vec::new();
    let read = c.list(b'{', b'}', |c| {
        let output_index = c.ints()?;
        c.expect(b':')?;
        c.expect(b'(')?;
        let parameter = c.size()?;
        c.expect(b',')?;
        let parameter_index = c.ints()?;
        let mut kind = AliasKind::May;
        if c.eat(b',') {
            let (word, span) = c.word("`may-alias` or `must-alias`")?;
            kind = match word {
                "may-alias" => AliasKind::May,
                "must-alias" => AliasKind::Must,
                _ => {
                    let message = format!("`{word}` is neither may-alias nor must-alias");
                    return Err(Error::from(Code::AttributeValue { message }).at(span));
                }
            };
        }
        c.expect(b')')?;
        Ok(InputOutputAlias { output_index, parameter, parameter_index, kind })
    })?;
    for alias in read {
        if aliases.iter().all(|a| a.output_index != alias.output_index) {
            aliases.push(alias);
        }
    }
    // XLA keeps them sorted by the place in the result.
    aliases.sort_by(|a, b| a.output_index.cmp(&b.output_index));
    Ok(aliases)
}

/// `{(shape, ...)->shape}`
fn entry_layout(c: &mut Cursor<'_>) -> Result<(Vec<Shape>, Shape)> {
    c.expect(b'{')?;
    let parameters = c.list(b'(', b')', shape)?;
    c.expect_token("->")?;
    let result = shape(c)?;
    c.expect(b'}')?;
    Ok((parameters, result))
}

/// `true` or `{true,false}`
fn bools(c: &mut Cursor<'_>) -> Result<Vec<bool>> {
    match c.peek() {
        Some(b'{') => c.list(b'{', b'}', Cursor::bool),
        _ => Ok(vec![c.bool()?]),
    }
}

fn print_ints(out: &mut String, numbers: &[i64]) {
    out.push('{');
    for (i, &n) in numbers.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        push_int(out, n);
    }
    out.push('}');
}

fn print_bools(out: &mut String, name: &str, values: &[bool]) {
    // A single false is what leaving the attribute out means.
    if values.is_empty() || values == [false] {
        return;
    }
    out.push_str(name);
    out.push('{');
    for (i, &value) in values.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        out.push_str(if value { "true" } else { "false" });
    }
    out.push('}');
}

/// Prints the header without the newline after it.
pub(super) fn print_header(
    out: &mut String,
    name: &str,
    config: &ModuleConfig,
    entry: &ProgramShape<'_>,
) {
    out.push_str("HloModule ");
    out.push_str(name);
    if config.is_scheduled {
        out.push_str(", is_scheduled=true");
    }
    print_aliases(out, config);
    if config.alias_passthrough_params {
        out.push_str(", alias_passthrough_params=true");
    }
    out.push_str(", entry_computation_layout={(");
    let stated = config.entry_layout.as_ref();
    let parameters = stated.map_or_else(|| entry.parameters.clone(), |(p, _)| p.iter().collect());
    for (i, parameter) in parameters.into_iter().enumerate() {
        separator(out, i);
        print_shape(out, parameter, true);
    }
    out.push_str(")->");
    print_shape(out, stated.map_or(entry.result, |(_, result)| result), true);
    out.push('}');
    let (to_parameters, to_output) = (
        &config.allow_spmd_sharding_propagation_to_parameters,
        &config.allow_spmd_sharding_propagation_to_output,
    );
    print_bools(out, ", allow_spmd_sharding_propagation_to_parameters=", to_parameters);
    print_bools(out, ", allow_spmd_sharding_propagation_to_output=", to_output);
    for (name, count) in
        [(", replica_count=", config.replica_count), (", num_partitions=", config.num_partitions)]
    {
        if count != 1 {
            out.push_str(name);
            push_int(out, count);
        }
    }
    if let Some(attributes) = config.frontend_attributes.as_ref().filter(|a| !a.0.is_empty()) {
        out.push_str(", frontend_attributes=");
        attributes.print(out);
    }
    for raw in &config.raw {
        out.push_str(", ");
        out.push_str(&raw.name);
        out.push('=');
        out.push_str(&raw.value);
    }
}

fn print_aliases(out: &mut String, config: &ModuleConfig) {
    if !config.input_output_alias.is_empty() {
        out.push_str(", input_output_alias={ ");
        for (i, alias) in config.input_output_alias.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            print_ints(out, &alias.output_index);
            out.push_str(": (");
            push_int(out, alias.parameter);
            out.push_str(", ");
            print_ints(out, &alias.parameter_index);
            out.push_str(match alias.kind {
                AliasKind::May => ", may-alias)",
                AliasKind::Must => ", must-alias)",
            });
        }
        out.push_str(" }");
    }
    if !config.buffer_donor.is_empty() {
        out.push_str(", buffer_donor={ ");
        for (i, donor) in config.buffer_donor.iter().enumerate() {
            out.push_str(if i > 0 { ", (" } else { "(" });
            push_int(out, donor.parameter);
            out.push_str(", ");
            print_ints(out, &donor.parameter_index);
            out.push(')');
        }
        out.push_str(" }");
    }
}
