//! Ops of VHLO, as those of StableHLO that they stand for.
use crate::error::{Error, Result};
use crate::ir::{Attribute, Attributes, Fields, Type};
use crate::text::{integer, named};
use hlo::ElementType;
use smol_str::SmolStr;

/// Attributes that are parts of one in StableHLO: the ops, the whole attribute, and its parts.
const PARTS: &[(&[&str], &str, &str, &[&str])] = &[
    (
        &["stablehlo.convolution", "stablehlo.dynamic_conv"],
        "dimension_numbers",
        "stablehlo.conv",
        &[
            "input_batch_dimension",
            "input_feature_dimension",
            "input_spatial_dimensions",
            "kernel_input_feature_dimension",
            "kernel_output_feature_dimension",
            "kernel_spatial_dimensions",
            "output_batch_dimension",
            "output_feature_dimension",
            "output_spatial_dimensions",
        ],
    ),
    (
        &["stablehlo.dot_general"],
        "dot_dimension_numbers",
        "stablehlo.dot",
        &[
            "lhs_batching_dimensions",
            "lhs_contracting_dimensions",
            "rhs_batching_dimensions",
            "rhs_contracting_dimensions",
        ],
    ),
    (
        &["stablehlo.dot_general"],
        "algorithm",
        "stablehlo.dot_algorithm",
        &[
            "accumulation_type",
            "allow_imprecise_accumulation",
            "lhs_component_count",
            "lhs_precision_type",
            "num_primitive_operations",
            "rhs_component_count",
            "rhs_precision_type",
        ],
    ),
    (
        &["stablehlo.gather", "stablehlo.dynamic_gather"],
        "dimension_numbers",
        "stablehlo.gather",
        &[
            "collapsed_slice_dims",
            "index_vector_dim",
            "offset_dims",
            "operand_batching_dims",
            "start_index_map",
            "start_indices_batching_dims",
        ],
    ),
    (
        &["stablehlo.scatter"],
        "scatter_dimension_numbers",
        "stablehlo.scatter",
        &[
            "index_vector_dim",
            "input_batching_dims",
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "scatter_indices_batching_dims",
            "update_window_dims",
        ],
    ),
];

/// Returns the full name of an op in StableHLO; the name in VHLO ends in the version of the op: `add_v1`.
pub(crate) fn name(vhlo: &str) -> SmolStr {
    let name = vhlo.rsplit_once("_v").map_or(vhlo, |(name, _)| name);
    match name {
        "func" | "call" => SmolStr::new(format!("func.{name}")),
        _ => SmolStr::new(format!("stablehlo.{name}")),
    }
}

/// Brings the attributes of an op of VHLO into the form of StableHLO.
pub(crate) fn convert(
    op: &str,
    attributes: &mut Attributes,
    error: &dyn Fn(String) -> Error,
) -> Result<()> {
    let is_none =
        |value: &Attribute| matches!(value, Attribute::Type(Type::Other(name)) if name == "none");
    for (_, whole, dialect, parts) in PARTS.iter().filter(|(ops, ..)| ops.contains(&op)) {
        let mut fields = Vec::with_capacity(parts.len());
        attributes.0.retain_mut(|(name, value)| {
            let part = parts.contains(&name.as_str());
            if part {
                fields.push((name.clone(), std::mem::replace(value, Attribute::Unit)));
            }
            !part
        });
        if fields.iter().all(|(_, value)| is_none(value)) {
            continue;
        }
        for (name, value) in &mut fields {
            if name.ends_with("_dims") || name.ends_with("_dimensions") || name == "start_index_map"
            {
                let integers = crate::dense::integers(value);
                let wrong = || error(format!("`{name}` is not a list of integers"));
                *value = Attribute::Integers(integers.ok_or_else(wrong)?);
            }
        }
        let fields = Fields::Named(Attributes(fields));
        attributes.0.push((
            SmolStr::new_static(whole),
            Attribute::Dialect(SmolStr::new_static(dialect), fields),
        ));
    }
    channel(attributes);
    for (name, value) in &mut attributes.0 {
        match name.as_str() {
            "callee" | "decomposition" => symbol(value),
            "called_computations" => {
                if let Attribute::Array(all) = value {
                    all.iter_mut().for_each(symbol);
                }
            }
            _ => {}
        }
    }
    Ok(())
}
/// A function is named by a string in VHLO.
pub(crate) fn symbol(value: &mut Attribute) {
    if let Attribute::String(name) = value {
        *value = Attribute::Symbol(vec![SmolStr::new(String::from_utf8_lossy(name))]);
    }
}
/// Joins the number and the type of a channel; the type is 0 where ops do not have it.
fn channel(attributes: &mut Attributes) {
    let mut kind = integer(0);
    attributes.0.retain_mut(|(name, value)| {
        let found = name == "channel_type";
        if found {
            kind = std::mem::replace(value, Attribute::Unit);
        }
        !found
    });
    for (name, value) in &mut attributes.0 {
        if name == "channel_id" {
            let mut handle = std::mem::replace(value, Attribute::Unit);
            for number in [&mut handle, &mut kind] {
                if let Attribute::Integer(_, ty) = number {
                    *ty = Type::Element(ElementType::S64);
                }
            }
            let fields = named([("handle", handle), ("type", kind.clone())]);
            *value = Attribute::Dialect(SmolStr::new_static("stablehlo.channel_handle"), fields);
            *name = SmolStr::new_static("channel_handle");
        }
    }
}
