//! The form of ops that both readers produce: attributes sorted by name, lists of integers as such, and no attributes that
//! have their default values.
use crate::dense;
use crate::ir::{Attribute, Attributes, Dense, Fields};

/// Sorts attributes by name.
pub(crate) fn sort(attributes: &mut Attributes) {
    if !attributes.0.is_sorted_by(|a, b| a.0 <= b.0) {
        attributes.0.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// Brings the attributes of an op with this full name into the form that both readers produce.
pub(crate) fn normalize(op: &str, attributes: &mut Attributes) {
    sort(attributes);
    let Some((dialect @ ("stablehlo" | "chlo" | "func"), name)) = op.split_once('.') else {
        return;
    };
    for (attribute, value) in &mut attributes.0 {
        normalize_value(attribute, value);
    }
    let layouts = ["operand_layouts", "result_layouts"];
    let no_layouts = layouts.iter().all(|name| attributes.get(name).is_none_or(is_empty));
    attributes.0.retain(|(attribute, value)| {
        if layouts.contains(&attribute.as_str()) {
            return !no_layouts;
        }
        !is_default(dialect, name, attribute, value)
    });
}
fn normalize_value(attribute: &str, value: &mut Attribute) {
    if is_list(attribute)
        && let Some(integers) = dense::integers(value)
    {
        *value = Attribute::Integers(integers);
        return;
    }
    match (attribute, &mut *value) {
        ("use_global_device_ids" | "has_dynamic_root", Attribute::Bool(true)) => {
            *value = Attribute::Unit;
        }
        (_, Attribute::Dialect(name, Fields::Named(fields))) => {
            let names = [
                "stablehlo.gather",
                "stablehlo.scatter",
                "stablehlo.dot",
                "stablehlo.result_accuracy",
            ];
            if names.contains(&name.as_str()) {
                fields.0.retain(|(_, value)| !is_empty(value) && !is_zero(value));
            }
            sort(fields);
        }
        _ => {}
    }
}

/// Returns whether the attribute is a list of integers; old programs have it as `dense` elements.
pub(crate) fn is_list(attribute: &str) -> bool {
    matches!(
        attribute,
        "base_dilations"
            | "broadcast_dimensions"
            | "broadcast_sizes"
            | "dimensions"
            | "edge_padding_high"
            | "edge_padding_low"
            | "fft_length"
            | "interior_padding"
            | "known_expanding_dimensions"
            | "known_nonexpanding_dimensions"
            | "lhs_dilation"
            | "limit_indices"
            | "permutation"
            | "rhs_dilation"
            | "slice_sizes"
            | "start_indices"
            | "strides"
            | "window_dilations"
            | "window_dimensions"
            | "window_reversal"
            | "window_strides"
    )
}

/// Returns whether the op means the same without the attribute.
fn is_default(dialect: &str, op: &str, attribute: &str, value: &Attribute) -> bool {
    match (dialect, op, attribute) {
        ("func", _, "arg_attrs" | "res_attrs") => match value {
            Attribute::Array(all) => all.iter().all(is_empty),
            _ => false,
        },
        ("func", _, "sym_visibility") => is_empty(value),
        ("func", ..) => false,
        (_, "sort", "dimension") => is_integer(value, -1),
        (_, "sort", "is_stable") | (_, "cholesky", "lower") => *value == Attribute::Bool(false),
        ("chlo", "top_k", "is_stable") => *value == Attribute::Bool(true),
        (_, "send" | "recv", "source_target_pairs") => is_empty(value),
        (_, "send" | "recv", "channel_handle") => false,
        (_, _, "channel_handle") => match value {
            Attribute::Dialect(_, Fields::Named(fields)) => {
                fields.get("handle").is_some_and(|handle| is_integer(handle, 0))
            }
            _ => false,
        },
        (
            _,
            _,
            "indices_are_sorted"
            | "unique_indices"
            | "is_host_transfer"
            | "has_side_effect"
            | "use_global_device_ids"
            | "has_dynamic_root",
        ) => *value == Attribute::Bool(false),
        (
            _,
            _,
            "window_strides" | "lhs_dilation" | "rhs_dilation" | "base_dilations"
            | "window_dilations",
        ) => all_integers(value, 1),
        (_, _, "window_reversal" | "padding") => all_integers(value, 0),
        (_, _, "precision_config") => match value {
            Attribute::Array(all) => all.iter().all(|precision| is_keyword(precision, "DEFAULT")),
            _ => false,
        },
        (_, _, "compare_type") => is_keyword(value, "NOTYPE"),
        (_, _, "api_version") => is_integer(value, 1),
        (_, "composite", "version") => is_integer(value, 0),
        (_, _, "result_accuracy") => is_default_accuracy(value),
        (
            _,
            _,
            "infeed_config"
            | "outfeed_config"
            | "layout"
            | "backend_config"
            | "called_computations"
            | "output_operand_aliases"
            | "result_tilings"
            | "known_expanding_dimensions"
            | "known_nonexpanding_dimensions"
            | "composite_attributes",
        ) => is_empty(value),
        _ => false,
    }
}
fn is_empty(value: &Attribute) -> bool {
    match value {
        Attribute::Array(all) => all.is_empty(),
        Attribute::Dictionary(all) => all.0.is_empty(),
        Attribute::String(text) => text.is_empty(),
        Attribute::Integers(all) => all.is_empty(),
        Attribute::Dense(dense) => dense.bytes.is_empty(),
        _ => false,
    }
}
fn is_integer(value: &Attribute, expected: i128) -> bool {
    matches!(value, Attribute::Integer(integer, _) if *integer == expected)
}
fn is_zero(value: &Attribute) -> bool {
    is_integer(value, 0) || matches!(value, Attribute::Float(number, _) if *number == 0.0)
}
fn is_keyword(value: &Attribute, expected: &str) -> bool {
    matches!(value, Attribute::Dialect(_, Fields::Keyword(keyword)) if keyword == expected)
}
fn all_integers(value: &Attribute, expected: i64) -> bool {
    match value {
        Attribute::Integers(all) => all.iter().all(|integer| *integer == expected),
        // Only zeros are asked of those that stay dense.
        Attribute::Dense(Dense { bytes, .. }) => {
            expected == 0 && bytes.iter().all(|byte| *byte == 0)
        }
        _ => false,
    }
}
fn is_default_accuracy(value: &Attribute) -> bool {
    let Attribute::Dialect(_, Fields::Named(fields)) = value else { return false };
    fields.0.iter().all(|(name, value)| match (name.as_str(), value) {
        ("atol" | "rtol", Attribute::Float(tolerance, _)) => *tolerance == 0.0,
        ("ulps", ulps) => is_integer(ulps, 0),
        ("mode", mode) => is_keyword(mode, "DEFAULT"),
        _ => false,
    })
}
