//! Prints the header of a module.
use super::shape as print_shape;
use crate::Shape;
use crate::ir::{BufferDonor, HeaderAttr, InputOutputAlias, ModuleConfig, ProgramShape};
use crate::text::header::{TO_OUTPUT, TO_PARAMETERS};
use crate::text::number::{push_int, push_ints};

/// Prints the line of the header, without its end. The layout of the entry is always printed: as
/// stated, or from the shapes of the entry computation.
pub(in crate::text) fn print(
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
    print_aliases(out, &config.input_output_alias);
    print_donors(out, &config.buffer_donor);
    if config.alias_passthrough_params {
        out.push_str(", alias_passthrough_params=true");
    }
    out.push_str(", entry_computation_layout={");
    match &config.entry_layout {
        Some((parameters, result)) => print_layout(out, parameters.iter(), result),
        None => print_layout(out, entry.parameters.iter().copied(), entry.result),
    }
    out.push('}');
    print_bools(out, TO_PARAMETERS, &config.allow_spmd_sharding_propagation_to_parameters);
    print_bools(out, TO_OUTPUT, &config.allow_spmd_sharding_propagation_to_output);
    let counts =
        [(", replica_count=", config.replica_count), (", num_partitions=", config.num_partitions)];
    for (name, count) in counts {
        if count != 1 {
            out.push_str(name);
            push_int(out, count);
        }
    }
    if let Some(attributes) = &config.frontend_attributes {
        out.push_str(", frontend_attributes=");
        attributes.print(out);
    }
    if let Some(table) = &config.origin_recovery_table {
        out.push_str(", origin_recovery_table={\n");
        out.push_str(table);
        out.push_str("}\n");
    }
    if let Some(value) = &config.debug_attributes {
        print_raw(out, "debug_attributes", value);
    }
    for HeaderAttr { name, value } in &config.unknown {
        print_raw(out, name, value);
    }
}

fn print_raw(out: &mut String, name: &str, value: &str) {
    out.push_str(", ");
    out.push_str(name);
    out.push('=');
    out.push_str(value);
}

fn print_aliases(out: &mut String, aliases: &[InputOutputAlias]) {
    for (i, alias) in aliases.iter().enumerate() {
        out.push_str(if i == 0 { ", input_output_alias={ " } else { ", " });
        print_index(out, &alias.output_index);
        out.push_str(": (");
        push_int(out, alias.parameter);
        out.push_str(", ");
        print_index(out, &alias.parameter_index);
        out.push_str(", ");
        out.push_str(alias.kind.name());
        out.push(')');
    }
    if !aliases.is_empty() {
        out.push_str(" }");
    }
}

fn print_donors(out: &mut String, donors: &[BufferDonor]) {
    for (i, donor) in donors.iter().enumerate() {
        out.push_str(if i == 0 { ", buffer_donor={ (" } else { ", (" });
        push_int(out, donor.parameter);
        out.push_str(", ");
        print_index(out, &donor.parameter_index);
        out.push(')');
    }
    if !donors.is_empty() {
        out.push_str(" }");
    }
}

fn print_index(out: &mut String, index: &[i64]) {
    out.push('{');
    push_ints(out, index);
    out.push('}');
}

fn print_layout<'s>(out: &mut String, parameters: impl Iterator<Item = &'s Shape>, result: &Shape) {
    out.push('(');
    for (i, parameter) in (0..).zip(parameters) {
        if i > 0 {
            out.push_str(", ");
            // An index at every fifth item helps to find a parameter by its number.
            if i % 5 == 0 {
                out.push_str("/*index=");
                push_int(out, i);
                out.push_str("*/");
            }
        }
        print_shape(out, parameter, true);
    }
    out.push_str(")->");
    print_shape(out, result, true);
}

fn print_bools(out: &mut String, name: &str, flags: &[bool]) {
    if flags.is_empty() || flags == [false] {
        return;
    }
    out.push_str(", ");
    out.push_str(name);
    for (i, &flag) in flags.iter().enumerate() {
        out.push_str(if i == 0 { "={" } else { "," });
        out.push_str(if flag { "true" } else { "false" });
    }
    out.push('}');
}
